"""The nodes around a node, and those of one SELECT, each found in time that doesn't grow with a tree's depth."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, TypeVar

from sqlglot import exp

_E = TypeVar("_E", bound=exp.Expr)
_STEPS = 16
"""Every so manyth node on a climb keeps what the climb has found."""


def enclosing(node: exp.Expr, *kinds: type[_E]) -> _E | None:
    """The innermost node of some kinds around a node.

    A condition of a thousand parts is a thousand nodes deep, and a pass asks for each of them. So a climb ends where
    an earlier one has kept its answer. The tree mustn't change after the first question.
    """
    found: Any = node.parent
    passed: list[exp.Expr] = []
    steps = 0
    while found is not None and not isinstance(found, kinds):
        known = vars(found).get("enclosing")
        if known is not None and kinds in known:
            found = known[kinds]
            break
        steps += 1
        if steps % _STEPS == 0:
            passed.append(found)
        found = found.parent
    for each in passed:
        vars(each).setdefault("enclosing", {})[kinds] = found
    return found


def own(part: exp.Expr, *kinds: type[_E]) -> Iterator[_E]:
    """The nodes of some kinds in a SELECT, or in a part of one, that are in no SELECT within it."""
    waiting: deque[exp.Expr] = deque(part.iter_expressions() if isinstance(part, exp.Select) else [part])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, kinds):
            yield node
        if not isinstance(node, exp.Select):
            waiting.extend(node.iter_expressions())
