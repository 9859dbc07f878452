"""A sample of a window's input, and the windows that its rows are in: Spark computes both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dbt.adapters.sparkstream.explain.picture import Bar, Dot, Picture
from dbt.adapters.sparkstream.explain.report import Count, Section
from dbt.adapters.sparkstream.sql.core.literals import read_time
from dbt.adapters.sparkstream.sql.membership import FrameUse, Key, SampleRow, Use

Ask = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a query on Spark."""

FETCHED = 2000
"""Most rows that are read; the rows of a few groups are drawn."""
LANES = 4
"""Most groups that are drawn."""
UNTIMED = 5
"""Most rows without a time that are shown."""
MOST_BARS = 4000
"""Most windows in the page; where they overlap, the windows of one row are drawn."""

_EPOCH = datetime(1970, 1, 1)
Columns = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class _Row:
    """A row as it came from Spark; `at` is None if it has no time."""

    part: str | None
    at: float | None
    keys: tuple[Key, ...]
    columns: Columns


@dataclass(frozen=True)
class _Chosen:
    """The rows that are drawn: of each input, and the names of the groups they are in."""

    rows: list[list[_Row]]
    parts: list[str | None]
    timed: bool
    notes: list[str]


def section(use: Use, ask: Ask, most: int, since: str | None = None) -> Section:
    """A window with rows in it.

    Args:
        most: most rows to draw; 0 to count them only.
        since: draw rows from this time on.
    """
    count, timed = _counted(use, ask)
    if not most:
        return Section(use.name, use.words, use.line, use.written, count=count)
    fetched = [[_read(r[0]) for r in ask(i.rows(FETCHED, UNTIMED, since))] for i in use.inputs]
    untimed = tuple(row.columns for row in fetched[0] if row.at is None)
    chosen = _choose(use, [[r for r in rows if r.at is not None] for rows in fetched], most, timed, count, since)
    notes = _untimed_notes(use, count) + chosen.notes
    if not chosen.rows[0]:
        notes.append("There are no rows to draw." if count.rows else "There are no rows.")
        return Section(use.name, use.words, use.line, use.written, None, untimed, tuple(notes), count)
    picture, more = _picture(use, chosen, ask)
    return Section(use.name, use.words, use.line, use.written, picture, untimed, (*notes, *more), count)


def _counted(use: Use, ask: Ask) -> tuple[Count, bool]:
    """Number of rows, and True if their order is one of time, or there are none."""
    found = json.loads(ask(use.inputs[0].counts())[0][0], parse_float=str)
    first, last = _micros(found["first"]), _micros(found["last"])
    timed = first is not None or found["first"] is None
    seconds = None if first is None or last is None else (last - first) / 1e6
    return Count(found["rows"], found["timed"], seconds), timed


def _read(text: str) -> _Row:
    """A row from the JSON of `Input.rows`."""
    found = json.loads(text, parse_float=str, parse_int=str)
    exact = list(found["keys"].values())
    # Text of a TIMESTAMP without its zone is of two times when the clock is set back.
    keys = tuple(
        Key(type_, value if type_ == "timestamp" else text_)
        for type_, text_, value in zip(found["types"], found["texts"], exact, strict=True)
    )
    columns = tuple((name, _shown(value)) for name, value in json.loads(found["columns"], parse_float=str).items())
    return _Row(found["part"], _place(found["time"]), keys, columns)


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value.removesuffix(".000000") if value else value
    return json.dumps(value, ensure_ascii=False)


def _place(text: str | None) -> float | None:
    """Place of a value on the axis, for a day or time in microseconds since 1970; None for a value that has none."""
    if text is None:
        return None
    micros = _micros(text)
    if micros is not None:
        return micros
    try:
        return float(text)
    except ValueError:
        return None


def _micros(text: Any) -> int | None:
    """A time as microseconds since 1970; None if it is none, or beyond the years 1 to 9999."""
    try:
        time = read_time(text)
    except (TypeError, ValueError, AttributeError):
        return None
    return (time - _EPOCH) // timedelta(microseconds=1)


def _choose(use: Use, rows: list[list[_Row]], most: int, timed: bool, count: Count, since: str | None) -> _Chosen:
    """The first rows of the groups with the most rows."""
    notes = []
    main = rows[0]
    groups = Counter(row.part for row in main)
    parts: list[str | None] = [None]
    if use.lanes:
        kept = sorted(part for part, _ in groups.most_common(LANES) if part is not None)
        parts = list(kept)
        if len(groups) > LANES:
            more = "or more " if len(main) >= FETCHED else ""
            notes.append(f"Drawn are {LANES} of {len(groups)} {more}groups, those with most rows at the start.")
        main = [row for row in main if row.part in kept]
    main = main[:most]
    drawn = f"the first {len(main)}" if since is None else f"{len(main)}, from {since} on,"
    if main and len(main) < count.timed:
        notes.append(f"A sample: {drawn} of {count.timed:,} rows.{_edges(use, since)}")
    others = []
    for union in rows[1:]:
        last = main[-1].at if main else None
        fitting = [r for r in union if (not use.lanes or r.part in parts) and last is not None and (r.at or 0) <= last]
        others.append(fitting[-most:])
    return _Chosen([main, *others], parts, timed, notes)


def _edges(use: Use, since: str | None) -> str:
    """Sentence on the edges at which windows may hold rows that aren't drawn; empty for none."""
    if not isinstance(use, FrameUse):
        edges = "At the right edge" if since is None else "At both edges"
        return f" {edges}, windows may hold rows that aren't drawn."
    if "FOLLOWING" in use.words.upper():
        return " At the right edge, frames may hold rows that aren't drawn."
    return "" if since is None else " At the left edge, frames may hold rows that aren't drawn."


def _untimed_notes(use: Use, count: Count) -> list[str]:
    missing = count.rows - count.timed
    if not missing:
        return []
    rows = "1 row has" if missing == 1 else f"{missing:,} rows have"
    it = "it is" if missing == 1 else "they are"
    return [f"{rows} no time: {it} {'not drawn' if isinstance(use, FrameUse) else 'in no window'}."]


def _picture(use: Use, chosen: _Chosen, ask: Ask) -> tuple[Picture, list[str]]:
    """Picture of rows and of their windows, which Spark computes; and notes on it."""
    dots: list[Dot] = []
    samples: list[list[SampleRow]] = []
    tables = len(chosen.rows)
    for table, rows in enumerate(chosen.rows):
        sample = []
        for row in rows:
            part = chosen.parts.index(row.part) if use.lanes else 0
            sample.append(SampleRow(len(dots), part, row.keys))
            assert row.at is not None
            dots.append(Dot(len(dots), row.at, part * tables + table, row.columns))
        samples.append(sample)
    lanes = tuple(_lane(part, table) for part in chosen.parts for table in range(tables))
    answers = ask(use.members(samples))
    bars = _frames(answers, dots) if isinstance(use, FrameUse) else _windows(answers, dots, use.lanes)
    notes = []
    if len(bars) > MOST_BARS:
        notes.append(f"Drawn are the first {MOST_BARS} of {len(bars):,} windows.")
    return Picture(use.name, tuple(dots), tuple(bars[:MOST_BARS]), lanes, timed=chosen.timed), notes


def _lane(part: str | None, table: int) -> str:
    """The name of a lane: the values that its rows share."""
    values: Mapping[str, Any] = json.loads(part, parse_float=str) if part else {}
    name = ", ".join("NULL" if value is None else str(_shown(value)) for value in values.values())
    union = f"UNION {table}" if table else ""
    return " · ".join(text for text in (name, union) if text)


def _windows(answers: Sequence[Sequence[Any]], dots: Sequence[Dot], lanes: bool) -> list[Bar]:
    """Bars of windows, each with its rows, in order of time."""
    found: dict[tuple[int, int, int], list[int]] = {}
    for row, start, end in answers:
        lane = dots[row].lane if lanes else -1
        found.setdefault((start, end, lane), []).append(row)
    return [
        Bar(start, end, tuple(sorted(rows)), lane if lanes else None)
        for (start, end, lane), rows in sorted(found.items())
    ]


def _frames(answers: Sequence[Sequence[Any]], dots: Sequence[Dot]) -> list[Bar]:
    """Bars of frames, one for each row of the first table."""
    bars = []
    for row, members in sorted((int(r), json.loads(m or "[]")) for r, m in answers):
        places = [dots[m].at for m in members] or [dots[row].at]
        bars.append(Bar(min(places), max(places), tuple(members), dots[row].lane, owner=row))
    return bars
