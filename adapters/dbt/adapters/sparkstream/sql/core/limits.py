"""How much a query may ask of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WINDOWS = 1_000_000
"""In so many windows a row may be, unless a setting says otherwise: Spark makes one array of a row's windows."""
_most_windows = ContextVar("most_windows", default=MOST_WINDOWS)


@contextmanager
def at_most(windows: int | None) -> Iterator[None]:
    """Lets a row be in so many windows of those that are read within the block; None changes nothing."""
    before = _most_windows.set(most_windows() if windows is None else windows)
    try:
        yield
    finally:
        _most_windows.reset(before)


def most_windows() -> int:
    """In how many windows a row may be."""
    return _most_windows.get()
