"""Texts that know where their pieces come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.errors import Finding

Span = tuple[int, int]
"""Start and end (exclusive) of a piece of the text, in characters."""


@dataclass(frozen=True)
class Traced:
    """A text after edits, and the place in the original text that each of its pieces comes from.

    Attributes:
        pieces: for each piece of the text its first character, the span of the original text that it was made from, and
            whether it is a copy of this span.
    """

    text: str
    pieces: tuple[tuple[int, Span, bool], ...]

    @classmethod
    def same(cls, text: str) -> Traced:
        """A text without edits."""
        return cls(text, ((0, (0, len(text)), True),))

    def after(self, earlier: Traced) -> Traced:
        """This text with places in the text before `earlier`: two steps as a single map."""
        pieces: list[tuple[int, Span, bool]] = []
        for start, span, copied in self.pieces:
            if copied:
                pieces += ((start + first - span[0], origin, same) for first, origin, same in earlier._within(span))
            else:
                pieces.append((start, earlier.place(span), False))
        return Traced(self.text, tuple(pieces))

    def within(self, before: str, after: str) -> Traced:
        """This text between two other texts, whose place is the span of the whole text."""
        whole = self.pieces[0][1][0], self.pieces[-1][1][1]
        moved = ((start + len(before), span, copied) for start, span, copied in self.pieces)
        behind = len(before) + len(self.text), whole, False
        return Traced(before + self.text + after, ((0, whole, False), *moved, behind))

    def place(self, span: Span) -> Span:
        """The span of the original text that a span of this text was made from."""
        return self._origin(span[0])[0], self._origin(max(*span, 1) - 1)[1]

    def exact(self, offset: int) -> int | None:
        """The place of a character in the original text; None in a piece that isn't a copy."""
        start, span, copied = self._piece(offset)
        return span[0] + offset - start if copied else None

    def place_of(self, finding: Finding) -> Span:
        """The span of the original text that a finding about this text points at."""
        start = 0
        for _ in range(finding.line - 1):
            start = self.text.index("\n", start) + 1
        start += finding.column - 1
        return self.place((start, start + finding.width))

    def _origin(self, offset: int) -> Span:
        """The span of the original text that the character at an offset was made from."""
        start, span, copied = self._piece(offset)
        at = span[0] + offset - start
        return (at, at + 1) if copied else span

    def _piece(self, offset: int) -> tuple[int, Span, bool]:
        return self.pieces[self._number(offset)]

    def _number(self, offset: int) -> int:
        return max(0, bisect_right(self.pieces, offset, key=lambda piece: piece[0]) - 1)

    def _within(self, span: Span) -> Iterator[tuple[int, Span, bool]]:
        """The pieces of a span of the text, the first and the last cut to it."""
        for start, (first, last), copied in self.pieces[self._number(span[0]) : self._number(span[1]) + 1]:
            begin = max(start, span[0])
            if begin < span[1] or begin == span[0]:
                yield begin, (first + begin - start, last) if copied else (first, last), copied
