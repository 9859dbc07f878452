"""Removal of secrets from dbt's output: its logs, its exceptions, and the results of its nodes.

dbt has one list of logs, which get each event in turn before other listeners do, one function that its exceptions give
their messages to, and one that makes a node's result. They are used where they are found; without them, all else works.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dbt.adapters.sparkstream.compiling.wrapping import wrap
from dbt.adapters.sparkstream.secrecy.redaction import redacted

INTERRUPTED = "Interrupted"

_MARK = "_keeps_secrets"


def install() -> None:
    """Wraps the logs that dbt has now, its exceptions and its results, each once."""
    wrap("dbt_common.exceptions.base", "scrub_secrets", _scrubbing)
    wrap("dbt.task.base", "BaseRunner._build_run_result", _resulting)
    try:
        from dbt_common.events.event_manager_client import get_event_manager
    except ImportError:
        return
    logs = getattr(get_event_manager(), "loggers", None)
    if not isinstance(logs, list):
        return
    if not any(isinstance(log, _Redaction) for log in logs):
        logs.insert(0, _Redaction())
    for log in logs:
        if hasattr(log, "filter") and not hasattr(log, _MARK):
            log.filter = _without_traceback(log.filter)
            setattr(log, _MARK, True)


class _Redaction:
    """The first of dbt's logs. It writes nothing, and takes the secrets out of events before others see them."""

    _keeps_secrets = True

    def filter(self, event: Any) -> bool:
        """Takes the secrets out of an event; False, as this log writes none."""
        if hasattr(event, "ListFields"):
            _redact(event)
        return False

    def write_line(self, event: Any) -> None:
        """Writes nothing."""

    def flush(self) -> None:
        """Has nothing to write."""


def _redact(message: Any) -> None:
    """Redacts each text of a protobuf message."""
    for field, value in message.ListFields():
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if isinstance(value, str):
            setattr(message, field.name, redacted(value))
        elif not is_map and hasattr(value, "ListFields"):
            _redact(value)
        elif is_map or (hasattr(value, "__setitem__") and not isinstance(value, (bytes, dict))):
            for key in list(value) if is_map else range(len(value)):
                if isinstance(value[key], str):
                    value[key] = redacted(value[key])
                elif hasattr(value[key], "ListFields"):
                    _redact(value[key])


def _scrubbing(scrub: Callable[..., Any]) -> Callable[..., Any]:
    def scrubbed(message: Any, secrets: list[str]) -> Any:
        left = scrub(message, secrets)
        shown = redacted(str(left))
        return left if shown == str(left) else shown

    return scrubbed


def _resulting(build: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps dbt's maker of a node's result: it takes secrets out of the message, which may be any exception's text."""

    def built(*args: Any, **kwargs: Any) -> Any:
        result = build(*args, **kwargs)
        if isinstance(getattr(result, "message", None), str):
            result.message = redacted(result.message)
        return result

    return built


def _without_traceback(passes: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Shortens dbt's message of a KeyboardInterrupt: no line of dbt's own code."""

    def filtered(event: Any) -> bool:
        if isinstance(sys.exc_info()[1], KeyboardInterrupt):
            if event.info.name == "MainStackTrace":
                return False
            if event.info.name == "MainEncounteredError":
                event.info.msg = INTERRUPTED
        return passes(event)

    return filtered
