"""Draws the pictures of docs/frames.md: which rows are in a frame, for a marked current row.

    python docs/make_frames.py

Which rows are in is not drawn by hand: the evaluator that the tests compare Spark with says it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.property.frame_reference import Frame, Row, frame_of  # noqa: E402

# Key, source (0: the table, 1: the UNION table), in order of arrival.
KEYS = [(0, 0), (1, 0), (3, 0), (3, 0), (4, 0), (6, 0), (6, 0), (6, 0), (8, 0), (9, 0)]
UNION_KEYS = [(2, 1), (5, 1), (6, 1), (7, 1)]
CURRENT = 6
"""The current row: the second of three at its time."""

STEP, LANE, RADIUS, LEFT, TOP = 56, 30, 9, 96, 30
IN, OUT, EDGE, BAND, INK, PAPER = "#1f6feb", "#ffffff", "#8b949e", "#dbe9ff", "#1f2328", "#ffffff"


@dataclass(frozen=True)
class Picture:
    """A frame to draw.

    Attributes:
        title: what stands above it.
        frame: the frame, as the reference evaluator has it.
        band: keys of the frame's bounds, to be shaded; None for a frame that counts rows.
        union: whether there is a UNION table.
        peers: whether later rows of the same key are in, as in SQL's RANGE.
        floor: keys are rounded down to multiples of it for the frame.
        restarts: whether the frame starts over at each multiple of `floor`.
    """

    title: str
    frame: Frame
    band: tuple[float, float] | None = None
    union: bool = False
    peers: bool = False
    floor: int = 1
    restarts: bool = False


PICTURES = {
    "rows": Picture("ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", Frame(True, 3, 0)),
    "range": Picture("RANGE 3 s .. CURRENT ROW (Spark)", Frame(False, 3, 0), (3, 6), peers=True),
    "rows_range": Picture("ROWS_RANGE 3 s .. CURRENT ROW", Frame(False, 3, 0), (3, 6)),
    "offset": Picture("ROWS_RANGE 5 s .. 2 s PRECEDING", Frame(False, 5, 2), (1, 4)),
    "open": Picture("ROWS_RANGE 3 s OPEN .. 0 s OPEN PRECEDING", Frame(False, 2, 1), (3.5, 5.5)),
    "unbounded": Picture("UNBOUNDED PRECEDING .. CURRENT ROW", Frame(False, None, 0), (-0.1, 6)),
    "exclude_current_time": Picture(
        "ROWS_RANGE 3 s .. CURRENT ROW EXCLUDE CURRENT_TIME", Frame(False, 3, 0, exclude_time=True), (3, 6)
    ),
    "exclude_current_row": Picture(
        "ROWS_RANGE 3 s .. CURRENT ROW EXCLUDE CURRENT_ROW", Frame(False, 3, 0, exclude_row=True), (3, 6)
    ),
    "maxsize": Picture("ROWS_RANGE 6 s .. CURRENT ROW MAXSIZE 3", Frame(False, 6, 0, 3), (0, 6)),
    "union": Picture("UNION quotes, ROWS_RANGE 3 s .. CURRENT ROW", Frame(False, 3, 0), (3, 6), union=True),
    "instance_not_in_window": Picture(
        "UNION quotes, ROWS_RANGE 3 s .. CURRENT ROW INSTANCE_NOT_IN_WINDOW",
        Frame(False, 3, 0, instance_not_in_window=True),
        (3, 6),
        union=True,
    ),
    "hopping": Picture("ORDER BY FLOOR(time TO hop), RANGE 1 hop", Frame(False, 4, 0), (0, 6), floor=4),
    "snapping": Picture(
        "PARTITION BY FLOOR(time TO hop), UNBOUNDED", Frame(False, None, 0), (4, 6), floor=4, restarts=True
    ),
}


def rows_of(picture: Picture) -> list[Row]:
    """The rows of a picture; for the frame their keys are rounded down."""
    keys = [*KEYS, *(UNION_KEYS if picture.union else [])]
    hop = picture.floor
    return [
        Row(
            i,
            source,
            i,
            key // hop if picture.restarts else 0,
            key if picture.restarts else key // hop * hop,
            None,
            None,
        )
        for i, (key, source) in enumerate(keys)
    ]


def inside(picture: Picture) -> set[int]:
    """The ids of the rows that are in the frame of the current row."""
    rows = rows_of(picture)
    found = {r.id for r in frame_of(rows[CURRENT], rows, picture.frame)}
    if picture.peers:
        found |= {r.id for r in rows if r.key == rows[CURRENT].key}
    return found


def svg(picture: Picture) -> str:
    """A picture as SVG."""
    keys = [*KEYS, *(UNION_KEYS if picture.union else [])]
    lanes = {0: max(sum(1 for k in KEYS if k == other) for other in KEYS), 1: 1 if picture.union else 0}
    base = TOP + lanes[0] * LANE + 14
    union_base = base + 34
    axis = (union_base if picture.union else base) + 22
    width, height = LEFT + 9 * STEP + 60, axis + 58

    def x(key: float) -> float:
        return LEFT + key * STEP

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="ui-sans-serif, system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{picture.title}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="{PAPER}"/>',
        f'<text x="16" y="22" fill="{INK}" font-weight="600">{picture.title}</text>',
    ]
    if picture.band:
        first, last = picture.band
        parts.append(
            f'<rect x="{x(first) - 16}" y="{TOP + 4}" width="{x(last) - x(first) + 32}" height="{axis - TOP - 4}" '
            f'rx="6" fill="{BAND}"/>'
        )
    if picture.floor > 1:
        for key in range(0, 10, picture.floor):
            parts.append(
                f'<line x1="{x(key) - 24}" x2="{x(key) - 24}" y1="{TOP + 4}" y2="{axis}" stroke="{EDGE}" '
                'stroke-dasharray="3 4"/>'
            )
    parts.append(f'<text x="16" y="{base + 4}" fill="{INK}">trades</text>')
    if picture.union:
        parts.append(f'<text x="16" y="{union_base + 4}" fill="{INK}">quotes</text>')
    parts.append(f'<line x1="{LEFT - 24}" x2="{width - 20}" y1="{axis}" y2="{axis}" stroke="{EDGE}"/>')
    for key in range(10):
        parts.append(f'<text x="{x(key)}" y="{axis + 17}" fill="{EDGE}" text-anchor="middle">{key} s</text>')
    frame = inside(picture)
    for i, (key, source) in enumerate(keys):
        above = sum(1 for other in keys[:i] if other == (key, source))
        y = (union_base if source else base) - above * LANE * 0.8
        parts.append(
            f'<circle cx="{x(key)}" cy="{y:g}" r="{RADIUS}" fill="{IN if i in frame else OUT}" '
            f'stroke="{IN if i in frame else EDGE}" stroke-width="1.5"/>'
        )
        if i == CURRENT:
            parts.append(
                f'<circle cx="{x(key)}" cy="{y:g}" r="{RADIUS + 4}" fill="none" stroke="{INK}" stroke-width="2"/>'
            )
    parts += legend(axis + 42)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def legend(y: int) -> list[str]:
    """What the circles mean."""
    parts = []
    for x, text, style in (
        (16, "current row", f'fill="none" stroke="{INK}" stroke-width="2"'),
        (130, "in the frame", f'fill="{IN}" stroke="{IN}"'),
        (250, "not in the frame", f'fill="{OUT}" stroke="{EDGE}"'),
    ):
        parts.append(f'<circle cx="{x + 8}" cy="{y}" r="7" {style}/>')
        parts.append(f'<text x="{x + 22}" y="{y + 4}">{text}</text>')
    return [*parts, f'<text x="392" y="{y + 4}" fill="{EDGE}">of one time: above = arrived later</text>']


def pictures() -> dict[str, str]:
    """File name -> SVG."""
    return {f"{name}.svg": svg(picture) for name, picture in PICTURES.items()}


if __name__ == "__main__":
    (HERE / "frames").mkdir(exist_ok=True)
    for file, text in pictures().items():
        (HERE / "frames" / file).write_text(text, encoding="utf-8")
