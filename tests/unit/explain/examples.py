"""Pictures and reports to draw, with windows from the tests' own arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from dbt.adapters.sparkstream.explain.picture import Bar, Dot, Picture
from dbt.adapters.sparkstream.explain.report import Count, Report, Section
from dbt.adapters.sparkstream.sql import explain
from tests.property.window_reference import MINUTE, Cumulate, Hop, Session, Tumble, assign

NASTY = "<script>alert('x')</script> & \"quoted\""
SQL = "select window_start, count(*) as n from hop(bid, bidtime, '1 minute', '20 minutes') group by window_start"


def micros(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def windows(window: Tumble | Hop | Cumulate | Session, times: Sequence[int], keys: Sequence[str] = ()) -> Picture:
    """Rows at some times, in the windows that the reference gives them."""
    names = tuple(sorted(set(keys))) if isinstance(window, Session) and window.keyed else ("",)
    lanes = [names.index(k) for k in keys] if len(names) > 1 or names[0] else [0] * len(times)
    dots = tuple(
        Dot(i, time, lane, (("id", str(i)), ("item", "pen"), ("note", None)))
        for i, (time, lane) in enumerate(zip(times, lanes, strict=True))
    )
    found: dict[tuple[int, int, int], list[int]] = {}
    for dot, bounds in zip(dots, assign(window, times, list(keys) or [""] * len(times)), strict=True):
        for start, end in bounds:
            found.setdefault((start, end, dot.lane), []).append(dot.id)
    bars = tuple(
        Bar(start, end, tuple(rows), lane if names[0] else None) for (start, end, lane), rows in sorted(found.items())
    )
    return Picture(type(window).__name__.lower(), dots, bars, names)


def frames() -> Picture:
    """Rows of two keys, each row with the frame of itself and the two rows before."""
    times = [micros(f"2024-03-01 10:00:{second:02d}") for second in (0, 5, 5, 12, 20, 31, 33, 50)]
    lanes = [0, 0, 1, 0, 1, 0, 1, 1]
    dots = tuple(Dot(i, t, lane, (("id", str(i)),)) for i, (t, lane) in enumerate(zip(times, lanes, strict=True)))
    bars = []
    for dot in dots:
        rows = [d for d in dots if d.lane == dot.lane and d.id <= dot.id][-3:]
        bars.append(Bar(rows[0].at, dot.at, tuple(r.id for r in rows), dot.lane, owner=dot.id))
    return Picture("w", dots, tuple(bars), ("A", "B"))


def report() -> Report:
    """Several windows of all sorts, with text that wants to be HTML."""
    start = micros("2024-03-01 10:00:00")
    times = [start + int(minute * MINUTE) for minute in (0.5, 1, 1, 3.2, 4, 9.9, 10, 14, 21, 22, 22.5, 31)]
    keys = ["A", "B", "A", "A", NASTY, "B", "A", "A", "B", "A", "A", "B"]
    nasty = Dot(0, times[0], 0, (("id", "0"), ("item", NASTY), ("note", None)))
    tumble = windows(Tumble(10 * MINUTE), times)
    pictures = (
        ("tumble", Picture("tumble", (nasty, *tumble.dots[1:]), tumble.bars)),
        ("hop", windows(Hop(MINUTE, 20 * MINUTE), times)),
        ("session", windows(Session(4 * MINUTE, keyed=True), times, keys)),
        ("w", frames()),
    )
    sections = [
        Section(
            name,
            "windows of 20 minutes every 1 minute" if name == "hop" else f"what {name} is",
            line,
            f"{name}(bid, bidtime, ...)",
            picture,
            untimed=((("id", "99"), ("item", NASTY), ("note", None)),) if name == "tumble" else (),
            notes=("1 row has no time: it is in no window.",) if name == "tumble" else (),
            count=Count(2_000_000, 2_000_000, 86400.0) if name == "hop" else None,
        )
        for line, (name, picture) in enumerate(pictures, 1)
    ]
    sections.append(Section("hop", "of no rows", 9, "hop(nothing, ts, ...)", notes=("There are no rows.",)))
    return Report(
        f"bids {NASTY}", f"-- {NASTY}\n{SQL}", "flink", explain(SQL), "rows of the warehouse", tuple(sections)
    )
