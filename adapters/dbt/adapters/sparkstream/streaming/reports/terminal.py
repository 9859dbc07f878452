"""Progress line of streaming models at the foot of the terminal, below dbt's own lines."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

CLEAR = "\r\x1b[K"
"""Control sequence that goes to the beginning of the line and clears it."""


class ProgressLine:
    """One line for all models that run, rewritten in place: in `stream`, or in the standard error, if a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lock = threading.RLock()
        self._texts: dict[object, str] = {}
        """Run -> the text of its progress; the latest comes last."""
        self._handlers: list[tuple[logging.Handler, Callable[[logging.LogRecord], None]]] = []

    @contextmanager
    def of(self, model: str, is_on: bool = True) -> Iterator[Callable[[str], None] | None]:
        """Function that shows a model's progress during its run; None without a terminal."""
        if not is_on or not self._out().isatty():
            yield None
            return
        with self._lock:
            if not self._texts:  # the line is taken away before dbt writes to a terminal, and put back below
                self._handlers = [(handler, handler.emit) for handler in _terminal_handlers()]
                for handler, emit in self._handlers:
                    handler.emit = self._above(emit)  # type: ignore[assignment,method-assign]
            run = object()  # two models may have one name, in two schemas
            self._texts[run] = ""
        try:
            yield lambda text: self._show(run, f"{model}: {text}")
        finally:
            with self._lock:
                del self._texts[run]
                if self._texts:
                    self._draw()
                else:
                    self._write(CLEAR)
                    for handler, emit in self._handlers:
                        handler.emit = emit  # type: ignore[assignment,method-assign]

    def _out(self) -> TextIO:
        return self._stream or sys.stderr

    def _show(self, run: object, text: str) -> None:
        with self._lock:
            del self._texts[run]
            self._texts[run] = text
            self._draw()

    def _draw(self) -> None:
        texts = [text for text in self._texts.values() if text]
        if texts:
            others = f"  (and {len(texts) - 1} more)" if len(texts) > 1 else ""
            room = _columns(self._out()) - 1 - len(others)
            # The cursor goes back, so that what others write begins in the first column.
            self._write(f"{CLEAR}{texts[-1][:room]}{others}\r")

    def _write(self, text: str) -> None:
        self._out().write(text)
        self._out().flush()

    # -- dbt's own lines -----------------------------------------------------------------------------
    def _above(self, emit: Callable[[logging.LogRecord], None]) -> Callable[[logging.LogRecord], None]:
        def write(record: logging.LogRecord) -> None:
            with self._lock:
                self._write(CLEAR)
                emit(record)
                self._draw()

        return write


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _terminal_handlers() -> list[logging.Handler]:
    """Handlers of Python's logging with which dbt's loggers write to a terminal.

    A logger of an earlier command in the same process may hold a stream that is closed by now.
    """
    from dbt_common.events.event_manager_client import get_event_manager

    names = [getattr(logger, "name", None) for logger in getattr(get_event_manager(), "loggers", [])]
    handlers = [handler for name in names if name for handler in logging.getLogger(name).handlers]
    streams = [handler for handler in handlers if isinstance(handler, logging.StreamHandler)]
    return [handler for handler in streams if not handler.stream.closed and handler.stream.isatty()]
