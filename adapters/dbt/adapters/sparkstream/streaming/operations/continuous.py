"""Models that are left running: `sparkstream stream`, until it is told to stop."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from types import FrameType

from dbt.adapters.sparkstream.sql.core.interval import Interval

DEFAULT_INTERVAL = Interval.parse("10 seconds")
"""Time between two micro-batches of a model whose trigger doesn't say."""

_stop: threading.Event | None = None


def is_on() -> bool:
    """Whether models are left running, in this process."""
    return _stop is not None


def is_stopping() -> bool:
    """Whether they were told to stop."""
    return _stop is not None and _stop.is_set()


def run(dbt_arguments: Sequence[str], models: Sequence[str]) -> bool:
    """Runs models by dbt until SIGINT (Ctrl-C) or SIGTERM; the micro-batches that run then are ended first.

    Args:
        dbt_arguments: for `dbt run`.
        models: what it selects.

    Returns:
        Whether all went well.
    """
    from dbt.cli.main import dbtRunner

    global _stop
    _stop = event = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        print("stopping after this micro-batch; once more to stop at once", file=sys.stderr)
        event.set()

    # A model that is left running keeps its thread, so there is one for each, whatever the profile says.
    chosen = ["--select", *models]
    with redirect_stdout(io.StringIO()):  # dbt prints the names
        listed = dbtRunner().invoke(["--quiet", "ls", "--resource-type", "model", *dbt_arguments, *chosen])
    threads = len(listed.result) if isinstance(listed.result, list) else 0
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return bool(dbtRunner().invoke(["run", *dbt_arguments, "--threads", str(max(threads, 1)), *chosen]).success)
    finally:
        _stop = None
        for number, handler in before.items():
            signal.signal(number, handler)
