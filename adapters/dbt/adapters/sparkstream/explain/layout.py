"""Layout of a picture: the place of each mark, in units of the drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log10

from dbt.adapters.sparkstream.explain.picture import Bar, Dot, Picture, clock

RADIUS = 7
_EDGE = 20
"""Space at the left and the right."""
_GUTTER = 150
"""Most width that names of lanes take."""
_CHARACTER = 6.8
"""Width of a character, about."""
_SECOND = 1_000_000
_MOST_LEVELS = 12
"""Windows that would lie in more levels are folded: the windows of one row are shown."""
_STEPS = tuple(
    int(unit * n)
    for unit, numbers in (
        (1e-6 * _SECOND, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (1e-3 * _SECOND, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (_SECOND, (1, 2, 5, 10, 15, 30)),
        (60 * _SECOND, (1, 2, 5, 10, 15, 30)),
        (3600 * _SECOND, (1, 2, 3, 6, 12)),
        (86400 * _SECOND, (1, 2, 7, 14, 28, 91, 182, 365, 730, 1826, 3652, 18262, 36525, 365250)),
    )
    for n in numbers
)
"""Distances of the marks on an axis of time."""


@dataclass(frozen=True)
class PlacedDot:
    """A row's circle."""

    dot: Dot
    x: float
    y: float
    r: float


@dataclass(frozen=True)
class PlacedBar:
    """A window's bar.

    Attributes:
        cut: True for a side, left and right, at which it goes on beyond the picture.
        folded: True if it is left out until a row in it is pointed at.
    """

    bar: Bar
    x: float
    y: float
    width: float
    height: float
    cut: tuple[bool, bool]
    text: str
    folded: bool = False


@dataclass(frozen=True)
class Fold:
    """Folded windows: those of one row are shown.

    Attributes:
        row: id of this row.
        step: distance from one window to the next below it.
        y: place of the note about the others.
        text: this note, with `{place}` and `{shown}` to fill in for another row.
        note: this note for the row.
    """

    row: int
    step: float
    y: float
    text: str
    note: str


@dataclass(frozen=True)
class Lane:
    """A lane: its name, shortened if need be, and its top and bottom."""

    name: str
    full: str
    top: float
    bottom: float
    line: float


@dataclass(frozen=True)
class Tick:
    """A mark on the axis, and the date if it is the first of a day."""

    x: float
    text: str
    date: str


@dataclass(frozen=True)
class Layout:
    """A picture's places; the axis is at `axis`, rows and windows are between `left` and `right`, from `top` on."""

    width: float
    height: float
    left: float
    right: float
    top: float
    axis: float
    dots: tuple[PlacedDot, ...]
    bars: tuple[PlacedBar, ...]
    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    band: tuple[float, float] | None
    rules: tuple[float, ...]
    fold: Fold | None = None


class _Scale:
    """Conversion of places on the axis to units of the drawing."""

    def __init__(self, first: float, last: float, left: float, right: float) -> None:
        self.first, self.last, self.left, self.right = first, last, left, right

    def __call__(self, at: float) -> float:
        return self.left + (at - self.first) / (self.last - self.first) * (self.right - self.left)


def lay_out(picture: Picture, width: float = 1000, top: float = 14) -> Layout:
    """Places everything of a picture.

    Args:
        width: width of the drawing.
        top: space that is left free above.
    """
    longest = max((len(name) for name in picture.lanes), default=0)
    left = _EDGE + (min(_GUTTER, longest * _CHARACTER + 16) if longest else 0)
    right = width - _EDGE
    scale = _Scale(*_view(picture), left, right)
    y = top
    bars: list[PlacedBar] = []
    dots: list[PlacedDot] = []
    lanes: list[Lane] = []
    common = [b for b in picture.bars if b.lane is None]
    fold, placed_bars, y = _fold(common, picture, scale, y) or (None, *_bars(common, picture, scale, y))
    bars += placed_bars
    for number, name in enumerate(picture.lanes):
        start = y
        own, y = _bars([b for b in picture.bars if b.lane == number], picture, scale, y)
        bars += own
        placed, y = _dots([d for d in picture.dots if d.lane == number], scale, y)
        dots += placed
        shown = name if len(name) * _CHARACTER <= _GUTTER - 16 else name[: int((_GUTTER - 16) / _CHARACTER) - 1] + "…"
        lanes.append(Lane(shown, name, start, y, y - RADIUS - 7))
        y += 5 if number + 1 < len(picture.lanes) else 0
    return Layout(
        width=width,
        height=y + 46,
        left=left,
        right=right,
        top=top,
        axis=y + 4,
        dots=tuple(sorted(dots, key=lambda d: (d.dot.at, d.dot.id))),
        bars=tuple(bars),
        lanes=tuple(lanes),
        ticks=tuple(_ticks(picture, scale)),
        band=None if picture.band is None else (scale(picture.band[0]), scale(picture.band[1])),
        rules=tuple(scale(at) for at in picture.rules),
        fold=fold,
    )


def _view(picture: Picture) -> tuple[float, float]:
    """First and last place that the axis shows: all rows, and of windows, at each side, as much as the rows span."""
    places = [d.at for d in picture.dots]
    if not places:
        places = [at for bar in picture.bars for at in (bar.start, bar.end)] or [0.0, 1.0]
    first, last = min(places), max(places)
    span = last - first
    sizes = [bar.end - bar.start for bar in picture.bars]
    reach = span or (max(sizes, default=0) * 2) or 1.0
    low = max(min([first, *(b.start for b in picture.bars)]), first - reach)
    high = min(max([last, *(b.end for b in picture.bars)]), last + reach)
    pad = (high - low or reach) * 0.02
    return low - pad, high + pad


def _bars(bars: Sequence[Bar], picture: Picture, scale: _Scale, y: float) -> tuple[list[PlacedBar], float]:
    """Bars, one below another where they overlap, and the place below the last one."""
    if not bars:
        return [], y
    placed = _levels(bars, scale)
    count = 1 + max(level for _, level, _, _ in placed)
    height, gap = _height(count)
    out = []
    for bar, level, x, end in placed:
        text = _bar_text(bar, picture) if height >= 14 else ""
        fits = text if len(text) * (_CHARACTER - 0.6) < end - x - 12 else ""
        if not fits and height >= 14 and end - x > 18 + 8 * len(str(len(bar.rows))):
            fits = str(len(bar.rows))
        out.append(_placed(bar, x, end, y + level * (height + gap), height, scale, fits))
    return out, y + count * (height + gap) + 8


def _levels(bars: Sequence[Bar], scale: _Scale) -> list[tuple[Bar, int, float, float]]:
    """Bars, each with its level, so that none overlap, and with its left and right end."""
    levels: list[float] = []
    placed = []
    for bar in sorted(bars, key=lambda b: (b.start, b.end, b.owner or 0)):
        x = max(scale(bar.start), scale.left)
        end = max(min(scale(bar.end), scale.right), x + 6)
        if bar.owner is not None:  # a frame reaches around its rows
            x, end = x - RADIUS - 1, max(end, x) + RADIUS + 1
        level = next((i for i, taken in enumerate(levels) if taken <= x + 0.01), len(levels))
        levels[level:] = [end, *levels[level + 1 :]]
        placed.append((bar, level, x, end))
    return placed


def _height(levels: int) -> tuple[float, float]:
    return next((h, g) for most, h, g in _HEIGHTS if levels <= most)


def _placed(bar: Bar, x: float, end: float, y: float, height: float, scale: _Scale, text: str = "") -> PlacedBar:
    cut = scale(bar.start) < scale.left - 0.01, scale(bar.end) > scale.right + 0.01
    return PlacedBar(bar, x + 0.75, y, max(end - x - 1.5, 3), height, cut, text)


def _fold(bars: Sequence[Bar], picture: Picture, scale: _Scale, y: float) -> tuple[Fold, list[PlacedBar], float] | None:
    """Layout with one row's windows below each other and the others folded; None with room for all."""
    placed = _levels([bar for bar in bars if bar.owner is None], scale)
    if len(placed) < len(bars) or max((level for _, level, _, _ in placed), default=0) < _MOST_LEVELS:
        return None
    holding = Counter(row for bar in bars for row in bar.rows)
    most = max(holding.values())
    rows = [dot.id for dot in sorted(picture.dots, key=lambda d: (d.at, d.id)) if holding[dot.id] == most]
    shown = rows[len(rows) // 2]
    height, gap = _height(most)
    out = []
    rank = 0
    top = y + 16
    for bar, _, x, end in placed:
        folded = shown not in bar.rows
        at = _placed(bar, x, end, top if folded else top + rank * (height + gap), height, scale)
        out.append(replace(at, folded=folded))
        rank += not folded
    text = f"windows of the row at {{place}}: {{shown}} of {len(bars)}, the others are folded"
    place = next(picture.place(dot.at) for dot in picture.dots if dot.id == shown)
    fold = Fold(shown, height + gap, y + 6, text, text.format(place=place, shown=most))
    return fold, out, top + most * (height + gap) + 8


_HEIGHTS = ((10, 18, 4), (24, 9, 3), (40, 6, 2), (70, 2.5, 2.5), (float("inf"), 2.5, 1))
"""Most levels of bars, with the height of a bar and the space between two."""


def _bar_text(bar: Bar, picture: Picture) -> str:
    count = "1 row" if len(bar.rows) == 1 else f"{len(bar.rows)} rows"
    if bar.owner is not None:
        return count
    first, last = picture.place(bar.start), picture.place(bar.end)
    if picture.timed and first[:10] == last[:10]:
        first, last = first[11:], last[11:]
    elif picture.timed:
        first, last = first[5:], last[5:]
    return f"{first} – {last} · {count}"


def _dots(dots: Sequence[Dot], scale: _Scale, y: float) -> tuple[list[PlacedDot], float]:
    """Circles, one above another where they would overlap, and the bottom of the lane."""
    ends: list[float] = []
    levels: list[tuple[Dot, float, int]] = []
    for dot in sorted(dots, key=lambda d: (d.at, d.id)):
        x = scale(dot.at)
        level = next((i for i, end in enumerate(ends) if end <= x), len(ends))
        ends[level:] = [x + 2 * RADIUS + 1, *ends[level + 1 :]]
        levels.append((dot, x, level))
    highest = max(len(ends), 1)
    radius = RADIUS if highest <= 8 else max(3.0, RADIUS * 8 / highest)
    step = 2 * radius + 2.5
    bottom = y + 8 + (highest - 1) * step + 2 * RADIUS
    placed = [PlacedDot(dot, x, bottom - RADIUS - level * step, radius) for dot, x, level in levels]
    return placed, bottom + 7


def _ticks(picture: Picture, scale: _Scale) -> Iterable[Tick]:
    span = scale.last - scale.first
    width = scale.right - scale.left
    if not picture.timed:
        step = _number_step(span / max(2, width / 56))
        at = ceil(scale.first / step)
        while at * step <= scale.last:
            yield Tick(scale(at * step), f"{round(at * step, 12):g}{picture.unit}", "")
            at += 1
        return
    wanted = next((s for s in _STEPS if span / s <= max(2, width / 92)), _STEPS[-1])
    at = ceil(scale.first / wanted) * wanted
    day = ""
    while at <= scale.last:
        text = clock(at)
        date, time = text[:10], text[11:]
        if wanted >= 86400 * _SECOND:
            yield Tick(scale(at), date, "")
        else:
            yield Tick(scale(at), _exact(time, wanted), date if date != day else "")
        day = date
        at += wanted


def _exact(time: str, step: int) -> str:
    """The time of a mark, with as many digits as the distance between marks needs."""
    if step >= 60 * _SECOND:
        return time
    time = time if len(time) > 5 else f"{time}:00"
    if step >= _SECOND:
        return time
    digits = 3 if step >= 1000 else 6
    whole, _, part = time.partition(".")
    return f"{whole}.{part.ljust(digits, '0')}"


def _number_step(least: float) -> float:
    power: float = 10 ** floor(log10(least))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= least * 0.999)
