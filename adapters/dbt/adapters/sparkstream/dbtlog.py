"""What dbt writes to the terminal and to its log: no secrets, and one line for Ctrl-C.

dbt has no public place for either. It has a filter and a scrubber for each of its logs, which are wrapped where they
are found; without them, all else works.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dbt.adapters.sparkstream.redaction import redacted

INTERRUPTED = "Interrupted"

_MARK = "_keeps_secrets"


def install() -> None:
    """Wraps the logs that dbt has now, each once."""
    try:
        from dbt_common.events.event_manager_client import get_event_manager
    except ImportError:
        return
    for log in getattr(get_event_manager(), "loggers", []):
        if hasattr(log, "scrubber") and hasattr(log, "filter") and not hasattr(log, _MARK):
            log.scrubber = _without_secrets(log.scrubber)
            log.filter = _without_traceback(log.filter)
            setattr(log, _MARK, True)


def _without_secrets(scrub: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: redacted(scrub(text))


def _without_traceback(passes: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Has dbt say of a KeyboardInterrupt that there was one, and not which of its lines it was at."""

    def filtered(event: Any) -> bool:
        if isinstance(sys.exc_info()[1], KeyboardInterrupt):
            if event.info.name == "MainStackTrace":
                return False
            if event.info.name == "MainEncounteredError":
                event.info.msg = INTERRUPTED
        return passes(event)

    return filtered
