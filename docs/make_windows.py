"""Draws the pictures of docs/explain.md: the bids of Flink's documentation in windows of each kind.

    python docs/make_windows.py

Which bids are in which windows is not drawn by hand: the arithmetic that the tests compare Spark with says it.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path

from dbt.adapters.sparkstream.explain.draw import svg
from dbt.adapters.sparkstream.explain.picture import Bar, Dot, Picture

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.property.window_reference import MINUTE, Cumulate, Hop, Session, Tumble, assign  # noqa: E402

BIDS = [
    ("08:05", "4.00", "C", "supplier1"),
    ("08:07", "2.00", "A", "supplier1"),
    ("08:09", "5.00", "D", "supplier2"),
    ("08:11", "3.00", "B", "supplier2"),
    ("08:13", "1.00", "E", "supplier1"),
    ("08:17", "6.00", "F", "supplier2"),
]
WINDOWS = {
    "tumble": ("TUMBLE: windows of 10 minutes", Tumble(10 * MINUTE)),
    "hop": ("HOP: windows of 10 minutes every 5 minutes", Hop(5 * MINUTE, 10 * MINUTE)),
    "cumulate": ("CUMULATE: windows that grow by 2 minutes up to 10 minutes", Cumulate(2 * MINUTE, 10 * MINUTE)),
    "session": ("SESSION: a gap of 5 minutes, per supplier", Session(5 * MINUTE, keyed=True)),
}
WIDTH = 760


def _micros(time: str) -> int:
    return (datetime.fromisoformat(f"2020-04-15 {time}") - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def picture(name: str) -> Picture:
    """A kind of window with the bids in it."""
    title, window = WINDOWS[name]
    keyed = isinstance(window, Session)
    lanes = tuple(sorted({bid[3] for bid in BIDS})) if keyed else ("",)
    dots = tuple(
        Dot(i, _micros(time), lanes.index(supplier) if keyed else 0, (("item", item), ("price", price)))
        for i, (time, price, item, supplier) in enumerate(BIDS)
    )
    found: dict[tuple[int, int, int], list[int]] = {}
    times = [_micros(bid[0]) for bid in BIDS]
    for dot, bounds in zip(dots, assign(window, times, [bid[3] for bid in BIDS]), strict=True):
        for start, end in bounds:
            found.setdefault((start, end, dot.lane), []).append(dot.id)
    bars = tuple(
        Bar(start, end, tuple(rows), lane if keyed else None) for (start, end, lane), rows in sorted(found.items())
    )
    return Picture(title, dots, bars, lanes)


def pictures() -> dict[str, str]:
    """File name -> SVG."""
    return {f"{name}.svg": svg(picture(name), WIDTH) for name in WINDOWS}


if __name__ == "__main__":
    (HERE / "windows").mkdir(exist_ok=True)
    for file, text in pictures().items():
        (HERE / "windows" / file).write_text(text, encoding="utf-8")
