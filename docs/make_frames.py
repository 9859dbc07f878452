"""Draws the pictures of docs/frames.md: which rows are in a frame, for a marked current row.

    python docs/make_frames.py

Which rows are in is not drawn by hand: the evaluator that the tests compare Spark with says it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.sparkstream.explain.draw import svg
from dbt.adapters.sparkstream.explain.picture import Dot, Picture

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.property.frame_reference import Frame, Row, frame_of  # noqa: E402

# Key, source (0: the table, 1: the UNION table), in order of arrival.
KEYS = [(0, 0), (1, 0), (3, 0), (3, 0), (4, 0), (6, 0), (6, 0), (6, 0), (8, 0), (9, 0)]
UNION_KEYS = [(2, 1), (5, 1), (6, 1), (7, 1)]
CURRENT = 6
"""The current row: the second of three at its time."""
WIDTH = 660


@dataclass(frozen=True)
class Example:
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

    @property
    def keys(self) -> list[tuple[int, int]]:
        return [*KEYS, *(UNION_KEYS if self.union else [])]


EXAMPLES = {
    "rows": Example("ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", Frame(True, 3, 0)),
    "range": Example("RANGE 3 s .. CURRENT ROW (Spark)", Frame(False, 3, 0), (3, 6), peers=True),
    "rows_range": Example("ROWS_RANGE 3 s .. CURRENT ROW", Frame(False, 3, 0), (3, 6)),
    "offset": Example("ROWS_RANGE 5 s .. 2 s PRECEDING", Frame(False, 5, 2), (1, 4)),
    "open": Example("ROWS_RANGE 3 s OPEN .. 0 s OPEN PRECEDING", Frame(False, 2, 1), (3.5, 5.5)),
    "unbounded": Example("UNBOUNDED PRECEDING .. CURRENT ROW", Frame(False, None, 0), (-0.1, 6)),
    "exclude_current_time": Example(
        "ROWS_RANGE 3 s .. CURRENT ROW EXCLUDE CURRENT_TIME", Frame(False, 3, 0, exclude_time=True), (3, 6)
    ),
    "exclude_current_row": Example(
        "ROWS_RANGE 3 s .. CURRENT ROW EXCLUDE CURRENT_ROW", Frame(False, 3, 0, exclude_row=True), (3, 6)
    ),
    "maxsize": Example("ROWS_RANGE 6 s .. CURRENT ROW MAXSIZE 3", Frame(False, 6, 0, 3), (0, 6)),
    "union": Example("UNION quotes, ROWS_RANGE 3 s .. CURRENT ROW", Frame(False, 3, 0), (3, 6), union=True),
    "instance_not_in_window": Example(
        "UNION quotes, ROWS_RANGE 3 s .. CURRENT ROW INSTANCE_NOT_IN_WINDOW",
        Frame(False, 3, 0, instance_not_in_window=True),
        (3, 6),
        union=True,
    ),
    "hopping": Example("ORDER BY FLOOR(time TO hop), RANGE 1 hop", Frame(False, 4, 0), (0, 6), floor=4),
    "snapping": Example(
        "PARTITION BY FLOOR(time TO hop), UNBOUNDED", Frame(False, None, 0), (4, 6), floor=4, restarts=True
    ),
}


def rows_of(example: Example) -> list[Row]:
    """The rows of an example; for the frame their keys are rounded down."""
    hop = example.floor
    return [
        Row(
            i,
            source,
            i,
            key // hop if example.restarts else 0,
            key if example.restarts else key // hop * hop,
            None,
            None,
        )
        for i, (key, source) in enumerate(example.keys)
    ]


def inside(example: Example) -> frozenset[int]:
    """The ids of the rows that are in the frame of the current row."""
    rows = rows_of(example)
    found = {r.id for r in frame_of(rows[CURRENT], rows, example.frame)}
    if example.peers:
        found |= {r.id for r in rows if r.key == rows[CURRENT].key}
    return frozenset(found)


def picture(example: Example) -> Picture:
    """An example as what is drawn."""
    return Picture(
        title=example.title,
        dots=tuple(Dot(i, key, source) for i, (key, source) in enumerate(example.keys)),
        lanes=("trades", "quotes") if example.union else ("trades",),
        timed=False,
        unit=" s",
        band=example.band,
        rules=tuple(key - 0.45 for key in range(0, 10, example.floor)) if example.floor > 1 else (),
        current=CURRENT,
        inside=inside(example),
    )


def pictures() -> dict[str, str]:
    """File name -> SVG."""
    return {f"{name}.svg": svg(picture(example), WIDTH) for name, example in EXAMPLES.items()}


if __name__ == "__main__":
    (HERE / "frames").mkdir(exist_ok=True)
    for file, text in pictures().items():
        (HERE / "frames" / file).write_text(text, encoding="utf-8")
