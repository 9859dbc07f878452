"""Base of what edits some constructs of a statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.nodes import enclosing
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span


class Editor:
    """Edits some constructs of a statement.

    Args:
        source: the text of the statement, with the edits made so far.
        resolver: finds columns and types.
    """

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
        raise self.source.error(node, message, hint)

    def edit(self, node: exp.Expr, text: Callable[[], str], *, level: int = 0) -> Edit:
        """An edit of all of a node."""
        return Edit(self.source.span(node), text, level=level)
