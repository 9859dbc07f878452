"""Base of what edits some constructs of a statement, and texts that are inserted around expressions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
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


class Insertions:
    """Texts to insert around pieces of a statement, whose own text other passes may edit, such as a call over a window.

    Of pieces that begin or end together, the longest is outermost.
    """

    def __init__(self) -> None:
        self._around: list[tuple[Span, tuple[str, str]]] = []
        self._appended: dict[int, str] = defaultdict(str)

    def wrap(self, span: Span, around: tuple[str, str]) -> None:
        """Inserts one text before a piece and one behind it; of the same piece, the first texts are outermost."""
        self._around.append((span, around))

    def append(self, place: int, text: str) -> None:
        """Inserts a text behind all that ends at a place."""
        self._appended[place] += text

    def edits(self) -> Iterator[Edit]:
        """One edit for each place."""
        opening: dict[int, str] = defaultdict(str)
        closing: dict[int, str] = defaultdict(str)
        for (start, end), (before, behind) in sorted(self._around, key=lambda each: each[0][0] - each[0][1]):
            opening[start] += before
            closing[end] = behind + closing[end]
        for place in {**closing, **self._appended, **opening}:
            text = closing[place] + self._appended[place] + opening[place]
            yield Edit.to((place, place), text)
