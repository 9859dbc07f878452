"""Where the nodes of a syntax tree stand in the text: parse methods that note it."""

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


def _spanned(method: Callable[..., Any]) -> Callable[..., Any]:
    """Notes in a node's meta from which token to which the wrapped parse method read it."""

    @functools.wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.noted is not None and not self.noted[self._index]:
            return method(self, *args, **kwargs)
        start = self._curr.start if self._curr else None
        given = args[0] if args else kwargs.get("this")
        if isinstance(given, exp.Expr):  # what stands left of the operator that comes now
            start = given.meta[SPAN][0] if SPAN in given.meta else None
        node = method(self, *args, **kwargs)
        if isinstance(node, exp.Expr) and start is not None and self._prev and self._prev.end >= start:
            node.meta[SPAN] = (start, self._prev.end + 1)
        return node

    return wrapper


P = TypeVar("P", bound=type)


def with_spans(*names: str) -> Callable[[P], P]:
    """Class decorator: the named parse methods note the span of what they read."""

    def decorate(parser: P) -> P:
        for name in names:
            setattr(parser, name, _spanned(getattr(parser, name)))
        return parser

    return decorate
