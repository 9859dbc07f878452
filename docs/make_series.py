"""Draws the pictures of docs/asof.md, gapfill.md and aggregates.md: rows along time, and what the macros make of them.

    python docs/make_series.py

Matches, filled values and averages are not drawn by hand: the definitions that the tests compare Spark with say them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from dbt.adapters.sparkstream.explain.draw import style, svg
from dbt.adapters.sparkstream.explain.picture import Dot, Picture

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.property.asof_reference import AsOf  # noqa: E402
from tests.property.asof_reference import Row as AsOfRow  # noqa: E402
from tests.property.gapfill_reference import Gapfill  # noqa: E402
from tests.property.gapfill_reference import Row as Window  # noqa: E402
from tests.property.test_aggregates import Row as Reading  # noqa: E402
from tests.property.test_aggregates import expected  # noqa: E402
from tests.property.window_reference import MINUTE, Tumble  # noqa: E402

WIDTH = 760
LEFT, RIGHT = 96.0, WIDTH - 24.0
EIGHT = 8 * 60
"""Minutes of a day at which the pictures begin."""
DAY = 18_367 * 24 * 60
"""2020-04-15, in minutes since 1970."""

TRADES = (2, 9, 16, 24, 37, 41)
QUOTES = (0, 6, 7, 16, 20, 22, 45)
"""Minutes after 08:00. The trade at 08:37 has no quote within ten minutes before it."""
TOLERANCE = 10
AROUND = 3
"""The trade whose window of quotes is drawn, by its number: from BEFORE minutes before it to AFTER minutes after."""
BEFORE, AFTER = 5, 1

TEMPERATURES = ((0, 20), (10, 21), (40, 24))
"""Minutes after 08:00 at which a window of ten minutes begins, and its temperature: sensor a of docs/gapfill.md."""
READINGS = ((0, 20.0), (2, 22.0), (8, 21.0))
"""Minutes after 08:00 and temperatures: the first window of docs/aggregates.md."""
PRICES = ((0.4, 5.0), (1.5, 6.5), (2.2, 4.2), (3.1, 5.5), (5.2, 5.4), (6.0, 3.6), (7.1, 4.6), (8.8, 4.1))
"""Minutes after 08:00 and prices, for candlesticks of five minutes."""


@dataclass(frozen=True)
class Scale:
    """Where a value lies between two ends of the drawing."""

    first: float
    last: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.first) / (self.last - self.first)


def clock(minutes: float) -> str:
    """Minutes after 08:00 as a time."""
    return f"{(EIGHT + int(minutes)) // 60:02d}:{int(minutes) % 60:02d}"


def text(x: float, y: float, words: str, kind: str = "name", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" style="text-anchor: {anchor}">{escape(words)}</text>'


def line(points: Sequence[tuple[float, float]], color: str = "--soft", dash: str = "", width: float = 1.5) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f"; stroke-dasharray: {dash}" if dash else ""
    return f'<polyline points="{path}" style="fill: none; stroke: var({color}); stroke-width: {width}{dashed}"/>'


def dot(x: float, y: float, kind: str = "") -> str:
    """A row: hollow, or filled where `kind` is `in`."""
    return f'<g class="dot {kind}"><circle cx="{x:.1f}" cy="{y:.1f}" r="5"/></g>'


def ticks(at: Scale, y: float, minutes: Iterable[int]) -> list[str]:
    """The axis of time."""
    drawn = [f'<line class="axis" x1="{at.start:.1f}" x2="{at.end:.1f}" y1="{y}" y2="{y}"/>']
    for minute in minutes:
        x = at(minute)
        drawn.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 5}"/>')
        drawn.append(text(x, y + 18, clock(minute), "time", "middle"))
    return drawn


def document(title: str, height: float, parts: Iterable[str]) -> str:
    """An SVG file in the style of the other pictures."""
    size = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
    head = f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
    paper = f'<rect class="paper" width="{WIDTH}" height="{height:g}" rx="6"/>'
    sheet = f"<style>\n{style()}</style>"
    words = f"<title>{escape(title)}</title>"
    return "\n".join([head, words, sheet, paper, text(20, 24, title, "title"), *parts, "</svg>\n"])


def matches() -> str:
    """Trades, and the quote that each direction gives them."""
    at = Scale(-1, 47, LEFT, RIGHT)
    left = [AsOfRow("a", None, minute * MINUTE, None, i) for i, minute in enumerate(TRADES)]
    right = [AsOfRow("a", None, minute * MINUTE, None, i) for i, minute in enumerate(QUOTES)]
    parts, top = [], 44.0
    for direction in ("backward", "forward", "nearest"):
        upper, lower = top + 24, top + 66
        parts += [
            text(20, top + 4, f"direction='{direction}'", "key"),
            text(20, upper + 4, "trades"),
            text(20, lower + 4, "quotes"),
        ]
        for trade, quote in AsOf(direction, tolerance=TOLERANCE * MINUTE).rows(left, right):
            x = at(TRADES[trade])
            if quote is None:
                parts.append(text(x, upper - 10, "NULL", "key", "middle"))
            else:
                parts.append(line([(x, upper), (at(QUOTES[quote]), lower)], "--hit", width=2))
        parts += [dot(at(minute), upper, "in") for minute in TRADES] + [dot(at(minute), lower) for minute in QUOTES]
        top += 96
    return document("asof_join with tolerance='10 minutes'", top + 22, [*parts, *ticks(at, top - 4, range(0, 47, 10))])


def around() -> Picture:
    """A trade, and the quotes in its window."""
    minutes = [*((m, 0) for m in TRADES), *((m, 1) for m in QUOTES)]
    dots = tuple(Dot(i, (DAY + EIGHT + minute) * MINUTE, lane) for i, (minute, lane) in enumerate(minutes))
    start, end = TRADES[AROUND] - BEFORE, TRADES[AROUND] + AFTER
    inside = frozenset(i for i, (minute, lane) in enumerate(minutes) if lane and start <= minute <= end)
    return Picture(
        title=f"window_around, before='{BEFORE} minutes', after='{AFTER} minute'",
        dots=dots,
        lanes=("trades", "quotes"),
        band=((DAY + EIGHT + start) * MINUTE, (DAY + EIGHT + end) * MINUTE),
        current=AROUND,
        inside=inside,
    )


def filled() -> str:
    """A gap of two windows, filled in each way."""
    windows = [Window("a", (m * MINUTE, (m + 10) * MINUTE), value) for m, value in TEMPERATURES]
    rows = sorted(Gapfill(Tumble(10 * MINUTE), None).rows(windows), key=lambda row: row.start or 0)
    parts: list[str] = []
    for number, (name, column) in enumerate((("locf", "carried"), ("linear", "straight"), ("nearest", "near"))):
        left = 56 + number * 240.0
        at, high = Scale(0, 40, left, left + 168), Scale(19, 25, 152, 56)
        points = [(at((row.start or 0) / MINUTE), high(getattr(row, column)), row.is_filled) for row in rows]
        parts += [text(left - 36, 46, f"'{name}'", "key"), line([(x, y) for x, y, _ in points], "--line")]
        parts += [text(left - 12, high(value) + 4, str(value), "key", "end") for value in (20, 22, 24)]
        parts += [dot(x, y, "" if is_filled else "in") for x, y, is_filled in points]
        parts += ticks(at, 162, (0, 20, 40))
    parts += [dot(36, 206, "in"), text(46, 210, "a window of the relation", "key")]
    parts += [dot(226, 206), text(236, 210, "a window that was missing", "key")]
    return document("gapfill, fill={'temperature': ...}", 222, parts)


def weighted() -> str:
    """Values that hold for different times, their average, and the average along time."""
    at, high = Scale(0, 10, LEFT, RIGHT - 150), Scale(19, 23, 176, 48)
    rows = [Reading(minute * MINUTE, value, None) for minute, value in READINGS]
    average = expected(rows, 10 * MINUTE)["average_until"]
    assert average is not None
    plain = sum(value for _, value in READINGS) / len(READINGS)
    parts = [text(LEFT - 12, high(value) + 4, str(value), "key", "end") for value in (20, 21, 22)]
    for (minute, value), end in zip(READINGS, [*(m for m, _ in READINGS[1:]), 10], strict=True):
        area = f'x="{at(minute):.1f}" y="{high(value):.1f}" width="{at(end) - at(minute):.1f}"'
        parts.append(f'<rect class="shade" {area} height="{high(19) - high(value):.1f}"/>')
        parts.append(line([(at(minute), high(value)), (at(end), high(value))], "--hit", width=2))
    for value, words in ((average, f"along time {average:g}"), (plain, f"avg {plain:g}")):
        parts.append(line([(at(0), high(value)), (at(10), high(value))], "--mark", "3 4"))
        parts.append(text(at(10) + 8, high(value) + 4, words, "key"))
    parts += [dot(at(minute), high(value), "in") for minute, value in READINGS]
    return document("time_weighted_average, until='window_end'", 206, [*parts, *ticks(at, 180, (0, 2, 4, 6, 8, 10))])


def candles() -> str:
    """Prices, the candlesticks of five minutes that they make, and the one of ten minutes that both make."""
    high = Scale(3, 7, 176, 48)
    groups = [[price for minute, price in PRICES if start <= minute < start + 5] for start in (0, 5)]
    groups.append([price for _, price in PRICES])
    at = Scale(0, 10, LEFT, LEFT + 300)
    points = [(at(minute), high(price)) for minute, price in PRICES]
    parts = [line(points, "--line"), *(dot(x, y, "in") for x, y in points), *ticks(at, 180, (0, 5, 10))]
    parts += [text(LEFT - 12, high(value) + 4, str(value), "key", "end") for value in (4, 5, 6)]
    for x, prices, name in zip((470, 540, 650), groups, ("08:00", "08:05", "merge_ohlc, 10 minutes"), strict=True):
        parts.append(line([(x, high(max(prices))), (x, high(min(prices)))], "--bar-line", width=2))
        first, last = prices[0], prices[-1]
        body = f'x="{x - 12}" y="{high(max(first, last)):.1f}" width="24" height="{abs(high(first) - high(last)):.1f}"'
        fill = "--paper" if last >= first else "--hit"
        parts.append(f'<rect {body} style="fill: var({fill}); stroke: var(--bar-line); stroke-width: 2"/>')
        parts.append(text(x, 198, name, "time", "middle"))
    parts.append(text(458, 214, "filled: it closes lower than it opens", "key"))
    return document("ohlc: open, high, low and close of each window", 226, parts)


def pictures() -> dict[str, str]:
    """File name -> SVG."""
    return {
        "asof.svg": matches(),
        "around.svg": svg(around(), WIDTH),
        "gapfill.svg": filled(),
        "weighted.svg": weighted(),
        "ohlc.svg": candles(),
    }


if __name__ == "__main__":
    (HERE / "series").mkdir(exist_ok=True)
    for file, drawn in pictures().items():
        (HERE / "series" / file).write_text(drawn, encoding="utf-8")
