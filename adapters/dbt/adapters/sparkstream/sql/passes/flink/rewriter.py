"""Base of all rewriters of Flink's expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.tree import enclosing


class Rewriter:
    """Edits some kinds of nodes.

    Attributes:
        handlers: kind of node -> what gives its edits, or refuses it.
    """

    handlers: Mapping[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]]

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

    def edit(self, node: exp.Expr, text: Callable[[], str]) -> Edit:
        """An edit of all of a node."""
        return Edit(self.source.span(node), text)

    def join_start(self, relation: Span) -> int:
        """Where the join begins whose relation has a span: at LEFT, INNER or JOIN."""
        tokens = self.source.tokens
        at = tokens.at(relation[0]) - 1
        while tokens[at - 1].text.upper() in ("LEFT", "OUTER", "INNER"):
            at -= 1
        return tokens[at].start
