"""One SELECT as pieces of text: its projections, FROM, WHERE and WINDOW clause, and the calls in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.source import CLAUSES, SPAN, Source, Span


class Block:
    """A SELECT of a statement.

    Attributes:
        select: its node.
        span: from SELECT to the end of its last clause.
        projections: span of each item of the SELECT list, with its alias.
        clauses: clause -> the span from its keyword to its end.
    """

    def __init__(self, source: Source, select: exp.Select) -> None:
        self.source = source
        self.select = select
        span, tokens = select.meta[SPAN], source.tokens
        places = dict(select.meta.get(CLAUSES) or {"select": span[0], "end": span[1]})
        end = places.pop("end")
        clauses = sorted((start, name) for name, start in places.items())
        ends = [*(tokens[tokens.at(start) - 1].end + 1 for start, _ in clauses[1:]), end]
        self.clauses: dict[str, Span] = {name: (start, last) for (start, name), last in zip(clauses, ends, strict=True)}
        # The CTEs before SELECT are no part of it.
        self.span: Span = places["select"], end
        self.projections: list[Span] = list(map(source.span, select.expressions))

    def trim(self, span: Span) -> Span:
        """A span without the white space and comments around it."""
        tokens = self.source.tokens_in(span)
        return (tokens[0].start, tokens[-1].end + 1) if tokens else span

    def with_space(self, span: Span) -> Span:
        """A span with the white space before it."""
        start = span[0]
        while self.source.text[start - 1].isspace():
            start -= 1
        return start, span[1]

    def text(self, span: Span, replaced: Iterable[tuple[Span, str]] = (), rendered: Collection[Span] = ()) -> str:
        """The text of a span with the edits made so far, and other text in the place of some pieces of it.

        Args:
            rendered: the pieces whose text holds what edits have inserted at their end.
        """
        out: list[str] = []
        at, behind = span[0], False
        for (first, last), text in sorted(replaced):
            if first < at or last > span[1]:
                continue
            out += (self.source.render((at, first), behind=behind), text)
            at, behind = last, (first, last) in rendered
        out.append(self.source.render((at, span[1]), behind=behind))
        return "".join(out)

    def keyword(self, clause: str) -> str:
        """The keyword of a clause as it is written, such as `from`."""
        start = self.clauses[clause][0]
        return self.source.text[start : start + len(clause)]

    def body(self, clause: str) -> Span:
        """The span of a clause behind its keyword, such as FROM."""
        start, end = self.clauses[clause]
        return self.trim((start + len(clause), end))

    def condition(self) -> str | None:
        """The condition of WHERE."""
        return self.text(self.body("where")) if "where" in self.clauses else None

    def star(self, index: int) -> exp.Star | None:
        """The star of an item of the SELECT list, such as `*`, `t.*` and `* EXCEPT (a)`; None for another item."""
        item = self.select.expressions[index]
        star = item.this if isinstance(item, exp.Column) else item
        return star if isinstance(star, exp.Star) else None

    def without(self, index: int, star: exp.Star, names: Iterable[str]) -> tuple[Span, str]:
        """A piece that leaves columns out of the star of an item, after those that its author leaves out."""
        end, listed = self.projections[index][1], ", ".join(names)
        if star.args.get("except_"):
            return (end - 1, end - 1), f", {listed}"
        return (end, end), f" EXCEPT ({listed})"


def holding(span: Span, spans: Sequence[Span]) -> int | None:
    """Index of the span that holds a span; None if none does.

    Args:
        spans: spans side by side, in the order of the text, such as the items of a SELECT list.
    """
    before = bisect_right(spans, span[0], key=lambda s: s[0]) - 1
    return before if before >= 0 and span[1] <= spans[before][1] else None


def inside(inner: Span, outer: Span) -> bool:
    """True if a span lies within another, or is the same."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]
