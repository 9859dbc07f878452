"""Base of the rewriters of Flink SQL; each kind of node has one of them as its owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, NoReturn, TypeVar

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.passes.flink.calls import NUMBERS, cast

_Handler = TypeVar("_Handler", bound=Callable[..., Iterable[Edit]])
Common = Callable[[Iterable["str | None"]], "str | None"]
"""Gives the type that values of some types take together."""


def handles(*kinds: type[exp.Expr]) -> Callable[[_Handler], _Handler]:
    """Decorator: makes a method of a Rewriter the one that gives the edits of some kinds of nodes, or refuses them."""

    def registered(method: _Handler) -> _Handler:
        vars(method)["kinds"] = kinds
        return method

    return registered


class Rewriter:
    """Edits some kinds of nodes.

    Attributes:
        handlers: kind of node -> name of the method that edits it.
    """

    handlers: ClassVar[dict[type[exp.Expr], str]] = {}

    def __init_subclass__(cls) -> None:
        methods = vars(cls).items()
        cls.handlers = {kind: name for name, method in methods for kind in getattr(method, "kinds", ())}

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self.source = source
        self.resolver = resolver

    def text(self, node: exp.Expr) -> str:
        """A node's text, with the edits made so far."""
        return self.source.rendered(node)

    def type(self, node: exp.Expr | None) -> str | None:
        """The Spark type of an expression, or None where it isn't known."""
        if node is None:
            return None
        return self.resolver.type(node, enclosing(node, exp.Select) or NO_SELECT)

    def refuse(self, node: exp.Expr | Span, message: str, hint: str | None = None) -> NoReturn:
        """Raises a TranslationError that points at a node or a span."""
        span = self.source.span(node) if isinstance(node, exp.Expr) else node
        raise self.source.error(span, message, hint)

    def edit(self, node: exp.Expr, text: Callable[[], str], *, level: int = 0) -> Edit:
        """An edit of all of a node."""
        return Edit(self.source.span(node), text, level=level)

    def alike(self, values: Sequence[exp.Expr], common: Common = NUMBERS.common) -> Iterator[Edit]:
        """Casts of values of which one is the result, to the type that Flink gives the result."""
        result = common([self.type(value) for value in values])
        for value in values:
            yield from self.as_type(value, widened(self.type(value), result))

    def as_type(self, value: exp.Expr, type_: str | None) -> Iterator[Edit]:
        """A value in a type; None for its own."""
        if type_ is not None and (type_ == "float" or not isinstance(value, exp.Literal)):
            yield self.edit(value, lambda: cast(self.text(value), type_), level=1)

    def join_start(self, relation: Span) -> int:
        """Where the join begins whose relation has a span: at LEFT, INNER or JOIN."""
        tokens = self.source.tokens
        at = tokens.at(relation[0]) - 1
        while tokens[at - 1].text.upper() in ("LEFT", "OUTER", "INNER"):
            at -= 1
        return tokens[at].start


def widened(type_: str | None, result: str | None) -> str | None:
    """The type to cast a value to, so that Spark finds the type `result` for several values; None without a cast.

    Beside a DECIMAL, a BIGINT has 19 digits in Flink and 20 in Spark. Spark makes a DOUBLE of an integer and a FLOAT,
    and of a FLOAT and a DOUBLE. Of a TIMESTAMP_LTZ beside a TIMESTAMP, Flink reads the former on the session's clock,
    where Spark gives the latter a zone.
    """
    if type_ == "timestamp" and result == types.NTZ:
        return types.NTZ
    if type_ == "bigint" and types.is_decimal(result):
        return f"decimal({NUMBERS.digits[type_]},0)"
    return "float" if type_ in (*types.INTEGERS, "double") and result == "float" else None


def constant(node: exp.Expr | None) -> float | None:
    """The value of a number such as `2` or `-(2)`; None for any other expression."""
    if isinstance(node, (exp.Neg, exp.Paren)):
        inner = constant(node.this)
        return None if inner is None else -inner if isinstance(node, exp.Neg) else inner
    return float(node.name) if isinstance(node, exp.Literal) and node.is_number else None
