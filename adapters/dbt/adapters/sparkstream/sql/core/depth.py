"""Work that recurses as deep as a statement is nested, with a stack that is large enough for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

_T = TypeVar("_T")
_FRAMES = 50_000
"""Most Python calls within each other: a level of parentheses takes 25, so a thousand levels fit."""
_STACK = 128 << 20
"""Bytes of a stack for `_FRAMES` calls: Python 3.10 takes 32 MB. The system gives only what is used."""


def with_depth(work: Callable[[], _T]) -> _T:
    """Does some work; if it recurses too deep for this thread, once more in a thread with a larger stack.

    Raises:
        RecursionError: it recurses too deep for the larger stack.
    """
    if getattr(_here, "works", False):  # as part of other work
        return work()
    if _limit.enter_usual():
        try:
            _here.works = True
            return work()
        except RecursionError:
            pass
        finally:
            _here.works = False
            _limit.leave_usual()
    with _limit.raised():
        return _in_thread(work)


def _in_thread(work: Callable[[], _T]) -> _T:
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        _here.works = True
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    with _starting:
        usual = threading.stack_size(_STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(usual)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class _Limit:
    """Python's limit of calls within each other, which is one for all threads.

    While it is raised, no work is done in a thread with a usual stack: it would run over the stack's end before it
    reached the limit, and take the process with it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._usual = 0
        self._raised = 0
        self._before = 0

    def enter_usual(self) -> bool:
        """Begins work in a thread with a usual stack; False if it may not begin, while the limit is raised."""
        with self._changed:
            self._usual += not self._raised
            return not self._raised

    def leave_usual(self) -> None:
        """Ends work that `enter_usual` allowed."""
        with self._changed:
            self._usual -= 1
            self._changed.notify_all()

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raises the limit for the block to what the larger stack has room for, once no usual work runs."""
        with self._changed:
            self._raised += 1
            if self._raised == 1:
                self._before = sys.getrecursionlimit()
        try:
            with self._changed:
                self._changed.wait_for(lambda: not self._usual)
                sys.setrecursionlimit(max(self._before, _FRAMES))
            yield
        finally:
            with self._changed:
                self._raised -= 1
                if not self._raised:
                    sys.setrecursionlimit(self._before)


_limit = _Limit()
_here = threading.local()
_starting = threading.Lock()
