"""The text of a statement: its tokens, where its nodes stand, and the edits to make in it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import Finding, TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.core.traced import Span, Traced

SPAN = "span"
"""Key under which the parser keeps a node's Span in its meta."""
CLAUSES = "clauses"
"""Key under which the parser keeps in the meta of a SELECT where each clause begins: `where`, `order` and so on; and
`end`."""
INSIDE = "inside"
"""Key under which the parser keeps in the meta of a window of Spark's own the span between its parentheses."""
LAST_BOUND = "last_bound"
"""Key under which the parser keeps in the meta of a frame where the bound behind AND begins."""


_LONGEST = 5_000_000
"""Characters that an edit may write: calls within calls, each standing twice in Spark SQL, would fill the memory."""


@dataclass(frozen=True)
class Edit:
    """A change of the text.

    Attributes:
        span: the piece of the text that is replaced.
        text: gives the new text of the piece. It is called after all edits within the piece are made.
        level: order of edits with the same span: the edit with the higher level is made later, and its `text` renders
            what the earlier edit has written.
        whole: True if `text` holds what earlier edits have inserted at the start and the end of the span.
    """

    span: Span
    text: Callable[[], str]
    level: int = 0
    whole: bool = False

    @classmethod
    def to(cls, span: Span, text: str, level: int = 0) -> Edit:
        """An edit to a text that is known."""
        return cls(span, lambda: text, level)


class Kept:
    """The edited text of a piece, for use after an edit around the piece: the source then forgets the edits within."""

    def __init__(self, source: Source, span: Span) -> None:
        self.text = ""
        self._source = source
        self._span = span

    @property
    def edit(self) -> Edit:
        """Keeps the text when all other edits of the piece are made."""
        return Edit(self._span, self._keep, level=9)

    def _keep(self) -> str:
        self.text = self._source.render(self._span)
        return self.text


class Source:
    """A statement's text with edits that leave every other character as it is."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        self.tokens = tokens
        self._edits: dict[Span, str] = {}
        self._edited: list[Span] = []  # the keys of _edits, in order: none reaches into another

    # -- places ------------------------------------------------------------------------------------
    def tokens_in(self, span: Span) -> list[Token]:
        """The tokens that stand within a span."""
        places = self.tokens.within(span)
        return self.tokens[places.start : places.stop]

    def span(self, node: exp.Expr) -> Span:
        """Span of a node: as the parser recorded it, else from the first to the last of its parts."""
        recorded = node.meta.get(SPAN) if node._meta else None
        if recorded:
            return recorded
        spans = [self.span(child) for child in node.iter_expressions()]
        if node._meta and "start" in node.meta:
            spans.append((node.meta["start"], node.meta["end"] + 1))
        if not spans:
            raise self._unplaced(node)
        return min(s for s, _ in spans), max(e for _, e in spans)

    def _unplaced(self, node: exp.Expr) -> TranslationError:
        """An error about a node that the parser has made without a token; it points at the node around it."""
        around = node.parent
        while around is not None and not (around._meta and around.meta.get(SPAN)):
            around = around.parent
        return self.error(
            around.meta[SPAN] if around is not None else (0, len(self.text)),
            f"something is missing here, or is read as what it isn't ({type(node).__name__.lower()})",
            "write it in full, or in another way",
        )

    def call_span(self, node: exp.Expr) -> Span:
        """Span of a function call, from its name to its closing parenthesis, without OVER or FILTER."""
        start = node.meta["start"]
        closing = self.tokens.closing(self.tokens.at(start) + 1)
        return start, (node.meta["end"] if closing is None else self.tokens[closing].end) + 1

    def written(self, node: exp.Expr) -> str:
        """A node's text as its author wrote it."""
        return self.text[slice(*self.span(node))]

    def name_of(self, relation: exp.Expr) -> str:
        """Name of a relation in its query, as its author wrote it; empty without one."""
        alias = relation.args.get("alias")
        name = alias.this if alias is not None else relation.this if isinstance(relation, exp.Table) else None
        return self.written(name) if isinstance(name, exp.Identifier) else ""

    def full_name(self, table: exp.Table) -> Span:
        """The span of a table's name with its schema: `db.t` of `db.t AS u`."""
        return self.span(table.parts[0])[0], self.span(table.parts[-1])[1]

    def unaliased(self, relation: exp.Expr) -> Span:
        """The span of a relation without its alias."""
        start, end = self.span(relation)
        alias = relation.args.get("alias")
        if alias is None or alias.this is None:
            return start, end
        name = self.span(alias.this)[0]
        tokens = [t for t in self.tokens_in((start, name)) if t.start < name]
        last = tokens[-1]
        if last.text.upper() == "AS":
            last = tokens[-2]
        return start, last.end + 1

    def is_negated(self, predicate: exp.Expr) -> bool:
        """True if NOT is between a predicate's operand and its operator: `x NOT IN (1, 2)`."""
        behind = self.tokens_in((self.span(predicate.this)[1], self.span(predicate)[1]))
        return bool(behind) and behind[0].token_type == TokenType.NOT

    def indent(self, offset: int) -> str:
        """The white space that the line of an offset begins with."""
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip())]

    def error(self, place: exp.Expr | Span, message: str, hint: str | None = None) -> TranslationError:
        """An error that points at a node or a span."""
        return error_at(self.text, self._span_of(place), message, hint)

    def warning(self, place: exp.Expr | Span, message: str, hint: str | None = None) -> TranslationWarning:
        """A warning that points at a node or a span."""
        return _finding(TranslationWarning, self.text, self._span_of(place), message, hint)

    def _span_of(self, place: exp.Expr | Span) -> Span:
        return self.span(place) if isinstance(place, exp.Expr) else place

    # -- edits -------------------------------------------------------------------------------------
    def apply(self, edits: Iterable[Edit]) -> None:
        """Makes edits, inner ones first: the text of an outer edit has the inner edits in it."""
        for edit in sorted(edits, key=lambda e: (e.span[1] - e.span[0], e.level)):
            text = edit.text()
            if len(text) > _LONGEST:
                raise self.error(
                    edit.span,
                    f"this takes more than {_LONGEST:,} characters in Spark SQL, which says each call in several steps",
                    "take its innermost part into a subquery",
                )
            first, last = edit.span
            place = bisect_left(self._edited, (first,))
            while place < len(self._edited) and self._edited[place][1] <= first:
                place += 1  # behind what is inserted right before it
            begin = end = place
            while begin and self._edited[begin - 1][1] > first:
                begin -= 1
            while end < len(self._edited) and self._edited[end][0] < last:
                end += 1
            if edit.whole:
                begin -= begin > 0 and self._edited[begin - 1] == (first, first)
                end += end < len(self._edited) and self._edited[end] == (last, last)
            for gone in self._edited[begin:end]:
                del self._edits[gone]
            del self._edited[begin:end]
            if edit.span not in self._edits:
                insort(self._edited, edit.span)
            self._edits[edit.span] = text

    def render(self, span: Span | None = None, *, behind: bool = False) -> str:
        """The text of a span, or all of it, with the edits made so far.

        Args:
            behind: True if what is inserted at the start of the span belongs to a piece before it, and is left out.
        """
        pieces = self._pieces(span or (0, len(self.text)))
        left_out = (span[0], span[0]) if span and behind else None
        return "".join(text for place, text, copied in pieces if copied or place != left_out)

    def traced(self, span: Span | None = None) -> Traced:
        """The text of a span, or all of it, with the edits made so far, and where its pieces come from."""
        found = list(self._pieces(span or (0, len(self.text))))
        starts = accumulate((len(text) for _, text, _ in found), initial=0)
        pieces = tuple((start, origin, copied) for start, (origin, _, copied) in zip(starts, found, strict=False))
        return Traced("".join(text for _, text, _ in found), pieces)

    def after(self, edits: Iterable[Edit]) -> Traced:
        """The author's text after these edits alone, which this source doesn't keep."""
        source = Source(self.text, self.tokens)
        source.apply(edits)
        return source.traced()

    def _pieces(self, span: Span) -> Iterator[tuple[Span, str, bool]]:
        """Pieces of a span after the edits so far: (place in the author's text, text, is it a copy)."""
        at = span[0]
        for (first, last), sql in self._inside(*span):
            yield (at, first), self.text[at:first], True
            yield (first, last), sql, False
            at = last
        yield (at, span[1]), self.text[at : span[1]], True

    def rendered(self, node: exp.Expr) -> str:
        """A node's text, with the edits made so far."""
        return self.render(self.span(node))

    def term(self, node: exp.Expr) -> str:
        """A condition's text as a term of an AND: an OR is in parentheses."""
        text = self.rendered(node)
        return f"({text})" if isinstance(node, exp.Or) else text

    def operand(self, node: exp.Expr) -> str:
        """A value's text as an operand of a comparison or of IS: a condition is in parentheses."""
        text = self.rendered(node)
        return f"({text})" if isinstance(node, (exp.Connector, exp.Not, exp.Predicate)) else text

    def _inside(self, start: int, end: int) -> Iterable[tuple[Span, str]]:
        for place in range(bisect_left(self._edited, (start,)), len(self._edited)):
            span = self._edited[place]
            if span[0] > end:
                return
            if span[1] <= end:
                yield span, self._edits[span]


def error_at(text: str, span: Span, message: str, hint: str | None = None) -> TranslationError:
    """A TranslationError that points at a span of a text."""
    return _finding(TranslationError, text, span, message, hint)


@contextmanager
def blamed_on(text: str, written: Traced | Span) -> Iterator[None]:
    """Moves errors about generated SQL to the user's text: line 3 of the query becomes the `hop(...)` in line 1.

    Args:
        text: the user's text.
        written: the SQL with where its pieces come from; or the piece of the user's text that it stands for.
    """
    try:
        yield
    except TranslationError as error:
        span = written.place_of(error) if isinstance(written, Traced) else written
        raise error_at(text, span, error.message, error.hint) from error


_F = TypeVar("_F", bound=Finding)


def _finding(kind: type[_F], text: str, span: Span, message: str, hint: str | None) -> _F:
    start = min(max(span[0], 0), len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    return kind(
        message,
        line=text.count("\n", 0, start) + 1,
        column=start - line_start + 1,
        hint=hint,
        source_line=text[line_start:line_end].rstrip("\r"),
        width=max(1, min(span[1], line_end) - start),
    )
