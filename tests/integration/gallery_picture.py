"""The gallery as a picture: the tables that the examples read, with their columns, and which example reads which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

LINE, TABLE_WIDTH, LEFT, MIDDLE, WIDTH = 19, 250, 12, 480, 1010
INK, FAINT, PAPER = "#1f2328", "#57606a", "#ffffff"
COLOURS = ["#0969da", "#8250df", "#1a7f37", "#bc4c00", "#cf222e", "#9a6700", "#0a7d8c", "#bf3989"]


@dataclass(frozen=True)
class Entry:
    """An example in the picture.

    Attributes:
        title: what it shows.
        reads: the tables that it reads.
        ways: how many models write it, each in its own way.
    """

    title: str
    reads: tuple[str, ...]
    ways: int


def overview(tables: Mapping[str, Sequence[tuple[str, str]]], pages: Mapping[str, Sequence[Entry]]) -> str:
    """An SVG.

    Args:
        tables: table -> its columns and their types.
        pages: title of a page -> its examples.
    """
    colours = dict(zip(tables, COLOURS, strict=True))
    boxes, tables_end = _stacked(tables)
    rows = sum(len(entries) + 2 for entries in pages.values())
    height = max(tables_end, rows * LINE) + 2 * LINE
    # The shorter side is spread over the height of the other.
    spread = (height - 2 * LINE - tables_end) / max(1, len(tables) - 1)
    middles = {name: top + i * spread + LINE / 2 for i, (name, top) in enumerate(boxes.items())}
    lines, texts = [], []
    y = float(LINE)
    for page, entries in pages.items():
        y += LINE * 0.5
        texts.append(f'<text x="{MIDDLE}" y="{y + 13}" font-weight="bold">{escape(page)}</text>')
        y += LINE * 1.2
        for entry in entries:
            at = y + LINE / 2
            texts += _entry(entry, y, [colours[name] for name in entry.reads])
            lines += [_curve(middles[name], at, colours[name]) for name in entry.reads]
            y += LINE
    drawn = [
        part
        for i, (name, top) in enumerate(boxes.items())
        for part in _table(name, tables[name], top + i * spread, colours[name])
    ]
    title = "Tables of Flink's pages, and the examples that read them"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img"'
            f' font-family="system-ui, sans-serif" font-size="12.5" fill="{INK}">',
            f"<title>{title}</title>",
            f'<rect width="{WIDTH}" height="{height:g}" fill="{PAPER}"/>',
            *lines,
            *drawn,
            *texts,
            "</svg>",
            "",
        ]
    )


def _stacked(tables: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[dict[str, float], float]:
    """Where each table begins, one under the other, and where the last ends."""
    tops, y = {}, float(LINE)
    for name, columns in tables.items():
        tops[name] = y
        y += LINE * (len(columns) + 1.3) + 10
    return tops, y


def _table(name: str, columns: Sequence[tuple[str, str]], top: float, colour: str) -> Iterator[str]:
    height = LINE * (len(columns) + 1.3)
    yield (
        f'<rect x="{LEFT}" y="{top:g}" width="{TABLE_WIDTH}" height="{height:g}" rx="4" fill="{PAPER}"'
        f' stroke="{colour}"/>'
    )
    yield f'<path d="M{LEFT} {top + LINE:g}h{TABLE_WIDTH}" stroke="{colour}"/>'
    yield f'<text x="{LEFT + 8}" y="{top + 14:g}" font-weight="bold" fill="{colour}">{escape(name)}</text>'
    for i, (column, type_) in enumerate(columns, 1):
        y = top + i * LINE + 15
        yield f'<text x="{LEFT + 8}" y="{y:g}">{escape(column)}</text>'
        yield (f'<text x="{LEFT + TABLE_WIDTH - 8}" y="{y:g}" text-anchor="end" fill="{FAINT}">{escape(type_)}</text>')


def _entry(entry: Entry, top: float, colours: Sequence[str]) -> Iterator[str]:
    for i, colour in enumerate(colours):
        yield f'<circle cx="{MIDDLE + 4 + 9 * i}" cy="{top + LINE / 2:g}" r="3.5" fill="{colour}"/>'
    shown = entry.title if len(entry.title) <= 54 else f"{entry.title[:52]}…"
    yield f'<text x="{MIDDLE + 14 + 9 * len(colours)}" y="{top + 14:g}">{escape(shown)}</text>'
    yield (
        f'<text x="{WIDTH - 12}" y="{top + 14:g}" text-anchor="end" fill="{FAINT}">'
        f"{entry.ways} way{'s' if entry.ways > 1 else ''}</text>"
    )


def _curve(start: float, end: float, colour: str) -> str:
    left, right = LEFT + TABLE_WIDTH, MIDDLE - 4
    middle = (left + right) / 2
    return (
        f'<path d="M{left} {start:g}C{middle:g} {start:g} {middle:g} {end:g} {right} {end:g}" fill="none"'
        f' stroke="{colour}" stroke-opacity="0.55"/>'
    )
