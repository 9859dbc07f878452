"""Texts inserted around expressions, whose own text other passes may edit, such as a call over a window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dbt.adapters.sparkstream.sql.core.source import Edit, Span


class Insertions:
    """Texts to insert around pieces of a statement; of pieces that begin or end together, the longest is outermost."""

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
