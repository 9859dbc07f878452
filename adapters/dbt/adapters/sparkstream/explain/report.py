"""Report about a statement: its windows with rows in them, its SQL, and the optimiser's decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from dbt.adapters.sparkstream.explain.picture import Picture
from dbt.adapters.sparkstream.sql.explain import Explanation, decision_lines
from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision


@dataclass(frozen=True)
class Count:
    """Number of rows in a window's input.

    Attributes:
        rows: all rows.
        timed: rows with a time.
        seconds: time from the first of them to the last; None if the order isn't one of time.
    """

    rows: int
    timed: int
    seconds: float | None = None


@dataclass(frozen=True)
class Size:
    """Size of a window's input, for estimates.

    Attributes:
        rows: number of rows; None if unknown.
        keys: number of groups that they form apart from the windows.
        seconds: time from the first row to the last; None if unknown.
    """

    rows: int | None = None
    keys: int = 1
    seconds: float | None = None


@dataclass(frozen=True)
class Section:
    """One window of a statement.

    Attributes:
        name: its name.
        words: the window in words.
        line: its line in the statement.
        written: its text there.
        picture: rows and windows; None where there are no rows to draw.
        untimed: rows without a time: column -> value.
        notes: remarks on the picture.
        count: number of rows in its input.
    """

    name: str
    words: str
    line: int
    written: str
    picture: Picture | None = None
    untimed: tuple[tuple[tuple[str, str | None], ...], ...] = ()
    notes: tuple[str, ...] = ()
    count: Count | None = None

    def numbers(self) -> dict[str, int]:
        """Counts in a drawing, such as `rows` -> 12 and `windows` -> 3."""
        if self.picture is None:
            return {}
        bars = self.picture.bars
        framed = bool(bars and bars[0].owner is not None)
        held = [len(bar.rows) for bar in bars]
        return {
            "rows drawn": len(self.picture.dots),
            "frames" if framed else "windows": len(bars),
            f"rows in all {'frames' if framed else 'windows'}": sum(held),
            f"most rows in a {'frame' if framed else 'window'}": max(held, default=0),
        }

    @property
    def columns(self) -> list[str]:
        """The names of the rows' columns."""
        rows = [dot.columns for dot in self.picture.dots] if self.picture else []
        return list(dict.fromkeys(name for row in (*rows, *self.untimed) for name, _ in row))


@dataclass(frozen=True)
class Change:
    """A window in two versions of a statement; None for a version without it.

    Attributes:
        now: the window.
        before: the window in the other version.
    """

    now: Section | None
    before: Section | None

    def lines(self, other: str) -> Iterator[str]:
        """Lines on what has changed; `other` names the other version."""
        if self.now is None or self.before is None:
            there = self.now or self.before
            assert there is not None
            yield f"{there.name}: {there.words}: only {'here' if self.now else f'in {other}'}"
            return
        yield f"{self.now.name}: {self.now.words}"
        if (self.now.name, self.now.words) != (self.before.name, self.before.words):
            yield f"  in {other}: {self.before.name}: {self.before.words}"
        for what, now in self.now.numbers().items():
            before = self.before.numbers().get(what)
            yield f"  {what}: {now:,}, as in {other}" if now == before else f"  {what}: {now:,}, in {other} {before:,}"


@dataclass(frozen=True)
class Report:
    """A statement explained.

    Attributes:
        name: the model or the file.
        written: its text as its author wrote it.
        dialect: the dialect that the text is written in.
        explanation: the SQL that runs, and the optimiser's decisions.
        origin: origin of the rows, in words.
        sections: its windows.
        stream: lines on a stream's last runs.
        before: another version of it, named by a file or a revision.
    """

    name: str
    written: str
    dialect: str
    explanation: Explanation
    origin: str = ""
    sections: tuple[Section, ...] = field(default=())
    stream: tuple[str, ...] = ()
    before: Report | None = None

    def changes(self) -> list[Change]:
        """The windows paired with the other version's windows, in the order of the text."""
        before = self.before.sections if self.before else ()
        return [Change(now, then) for now, then in zip_longest(self.sections, before)]

    def lines(self, size: Size) -> Iterator[str]:
        """Lines on decisions with rows of each step, on rows that can't be read, on streams, and on another version."""
        if not self.explanation.decisions:
            yield from self.explanation.lines()
        for decision in self.explanation.decisions:
            rows = self.size_of(decision, size)
            yield from decision_lines(decision, rows.rows, rows.keys, rows.seconds)
        uncounted = (section for section in self.sections if section.count is None)
        yield from dict.fromkeys(note for section in uncounted for note in section.notes)
        yield from self.stream
        if self.before:
            yield f"against {self.before.name}:"
            for change in self.changes():
                for line in change.lines(self.before.name):
                    yield f"  {line}"
            if not self.changes():
                yield "  no windows in either"

    def size_of(self, decision: Decision, size: Size) -> Size:
        """Size of a window function's input: as given, else as counted."""
        counted = next(
            (
                s.count
                for s in self.sections
                if s.count and (s.name, s.words) == (decision.window.name.lower(), decision.window.words())
            ),
            None,
        )
        if size.rows is not None or counted is None:
            return size
        return Size(counted.timed, size.keys, counted.seconds if size.seconds is None else size.seconds)
