"""Spans of a syntax tree's nodes in the text: parse methods that record them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.sparkstream.sql.core.source import SPAN, Span


def span_of(first: Token, last: Token) -> Span:
    """The span from the start of one token to the end of another."""
    return first.start, last.end + 1


def spanned(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: records in a node's meta from which token to which the wrapped parse method read the node.

    It runs some times for every token: what it does, it does without calls.
    """

    @functools.wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        first = self._curr
        start = first.start if first else None
        if args or kwargs:
            given = args[0] if args else kwargs.get("this")
            if isinstance(given, exp.Expr):
                start = start_of(given)  # the operand on the left of the next operator
        node = method(self, *args, **kwargs)
        last = self._prev
        if start is not None and last and last.end >= start and isinstance(node, exp.Expr):
            span = start, last.end + 1
            if node._meta is None:
                node._meta = {SPAN: span}
            else:
                node._meta[SPAN] = span
        return node

    return wrapper


def start_of(node: exp.Expr | None) -> int | None:
    """Start of an operand in the text; None where it isn't known."""
    while isinstance(node, exp.Expr) and SPAN not in node.meta:
        if isinstance(node, exp.Column):
            return node.parts[0].meta.get("start")
        node = node.args.get("this")
    return node.meta[SPAN][0] if isinstance(node, exp.Expr) else None


P = TypeVar("P", bound=type)


def with_spans(*names: str) -> Callable[[P], P]:
    """Class decorator: the named parse methods record the span of what they read."""

    def decorate(parser: P) -> P:
        for name in names:
            setattr(parser, name, spanned(getattr(parser, name)))
        return parser

    return decorate
