"""Searches of a syntax tree that take no longer in a deep one: they keep answers, so the tree may not change."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from sqlglot import exp

_E = TypeVar("_E", bound=exp.Expr)
_T = TypeVar("_T")
_STEPS = 16
"""Distance of the nodes on a climb that keep what the climb has found."""


def once(answer: Callable[[_E], _T]) -> Callable[[_E], _T]:
    """Decorator: keeps a function's answer about a node with the node, but not with its copies."""
    key = f"{answer.__module__}.{answer.__qualname__}"

    @wraps(answer)
    def kept(node: _E) -> _T:
        answers = vars(node)
        if key not in answers:
            answers[key] = answer(node)
        return answers[key]

    return kept


@once
def every(tree: exp.Expr) -> list[exp.Expr]:
    """All nodes of a statement, breadth first, which are collected once: a dozen passes read them."""
    found = [tree]
    for node in found:  # and those that are added on the way
        for value in node.args.values():
            for child in value if type(value) is list else (value,):
                if isinstance(child, exp.Expr):
                    found.append(child)
    return found


def find(tree: exp.Expr, *kinds: type[_E]) -> Iterator[_E]:
    """The nodes of some kinds in a statement."""
    return (node for node in every(tree) if isinstance(node, kinds))


def enclosing(node: exp.Expr, *kinds: type[_E]) -> _E | None:
    """The innermost node of some kinds around a node."""
    return _climb(node, kinds, lambda around: isinstance(around, kinds))


def enclosing_such(node: exp.Expr, test: Callable[[exp.Expr], bool]) -> exp.Expr | None:
    """The innermost node around a node that passes a test, which is always the same function."""
    found: exp.Expr | None = _climb(node, test, test)
    return found


def _climb(node: exp.Expr, question: Any, ends: Callable[[Any], bool]) -> Any:
    """The innermost node around a node that passes the test `ends`.

    A condition of a thousand parts is a thousand nodes deep, and a pass asks for each of them. So some nodes on the way
    keep the answer, and a later climb ends there.
    """
    found = node.parent
    passed: list[exp.Expr] = []
    steps = 0
    while found is not None and not ends(found):
        known = vars(found).get("climbs")
        if known is not None and question in known:
            found = known[question]
            break
        steps += 1
        if steps % _STEPS == 0:
            passed.append(found)
        found = found.parent
    for each in passed:
        vars(each).setdefault("climbs", {})[question] = found
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


def within(node: exp.Expr, outer: exp.Expr) -> bool:
    """True if `node` is `outer`, or is within it."""
    at: exp.Expr | None = node
    while at is not None:
        if at is outer:
            return True
        at = at.parent
    return False
