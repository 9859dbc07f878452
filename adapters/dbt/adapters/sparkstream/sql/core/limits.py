"""Limits of a query: windows of a row, and partial matches of a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WINDOWS = 1_000_000
"""Most windows that a row may be in, unless a setting changes it: Spark makes one array of a row's windows."""
MOST_PARTIAL_MATCHES = 10_000
"""Most partial matches that a search may hold, unless a setting changes it: each row is compared with all of them."""
_most_windows = ContextVar("most_windows", default=MOST_WINDOWS)
_most_partial_matches = ContextVar("most_partial_matches", default=MOST_PARTIAL_MATCHES)


@contextmanager
def at_most(windows: int | None = None, partial_matches: int | None = None) -> Iterator[None]:
    """Limits of the queries that are read within the block; None changes nothing.

    Args:
        windows: most windows that a row may be in.
        partial_matches: most partial matches that a MATCH_RECOGNIZE may hold at once.
    """
    before = _most_windows.set(most_windows() if windows is None else windows)
    also = _most_partial_matches.set(most_partial_matches() if partial_matches is None else partial_matches)
    try:
        yield
    finally:
        _most_windows.reset(before)
        _most_partial_matches.reset(also)


def most_windows() -> int:
    """Most windows that a row may be in."""
    return _most_windows.get()


def most_partial_matches() -> int:
    """Most partial matches that a MATCH_RECOGNIZE may hold at once."""
    return _most_partial_matches.get()
