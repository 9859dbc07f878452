"""Plots as SVG, with logarithmic axes: lines, and ratios with their spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.windows.queries import COMET, DUCKDB, FLINK, HAND, OURS, PLAIN, POLARS, SPARK

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
COLORS = {
    SPARK: "#c0392b",
    HAND: "#8e44ad",
    PLAIN: "#7f8c8d",
    OURS: "#1f77b4",
    DUCKDB: "#e6a817",
    POLARS: "#16a085",
    FLINK: "#2ca02c",
    COMET: "#d35400",
}

Points = Sequence[tuple[float, float]]


def svg(title: str, x_name: str, series: Mapping[str, Points]) -> str:
    """The plot of series of (x, seconds), by engine."""
    points = [p for line in series.values() for p in line]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low_y, high_y = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys)))

    def place(x: float, y: float) -> tuple[float, float]:
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        across = math.log(x / min(xs)) / (math.log(max(xs) / min(xs)) or 1)
        return LEFT + width * across, TOP + height * (1 - math.log(y / low_y) / (math.log(high_y / low_y) or 1))

    out = [
        *_head(title, HEIGHT),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_name)}</text>',
        f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">seconds</text>',
    ]
    tick = low_y
    while tick <= high_y * 1.01:
        _, y = place(min(xs), tick)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
        tick *= 10
    for x in sorted(set(xs)):
        at, y = place(x, low_y)
        out.append(f'<text x="{at:.1f}" y="{y + 18:.1f}" text-anchor="middle">{_short(x)}</text>')
    labels: list[float] = []
    # From the top down: a label that has no room goes below the others, in the order of the lines.
    for name, line in sorted(series.items(), key=lambda named: place(*max(named[1]))[1]):
        color = COLORS[name]
        placed = [place(x, y) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in placed]
        x, y = placed[-1]
        while any(abs(y - other) < 14 for other in labels):
            y += 14
        labels.append(y)
        out.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{color}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>\n"])


def ratios(title: str, rows: Mapping[str, Mapping[str, tuple[float, float, float]]]) -> str:
    """The plot of how many times as long as other engines ours takes.

    Args:
        rows: question -> engine -> the least ratio, the median and the most.
    """
    right, line, gap = 110, 17, 12
    left = max(150, 20 + 7 * max(map(len, rows)))
    spreads = [spread for engines in rows.values() for spread in engines.values()]
    low, high = min(1.0, *(s[0] for s in spreads)) / 1.2, max(1.0, *(s[2] for s in spreads)) * 1.2
    height = TOP + BOTTOM + sum(line * len(engines) + gap for engines in rows.values())

    def place(ratio: float) -> float:
        return left + (WIDTH - left - right) * math.log(ratio / low) / math.log(high / low)

    out = _head(title, height)
    for step in (n * 10.0**power for power in range(-4, 5) for n in (1, 2, 5)):
        if low <= step <= high:
            stroke = '#333" stroke-width="1.5' if step == 1 else "#ddd"
            out.append(f'<path d="M{place(step):.1f} {TOP}V{height - BOTTOM}" stroke="{stroke}"/>')
            at = f'x="{place(step):.1f}" y="{height - BOTTOM + 16}"'
            out.append(f'<text {at} text-anchor="middle">{step:g}</text>')
    y = TOP + gap
    for question, engines in rows.items():
        middle = y + line * (len(engines) - 1) / 2 + 4
        out.append(f'<text x="{left - 10}" y="{middle:.1f}" text-anchor="end">{escape(question)}</text>')
        for engine, (least, median, most) in engines.items():
            color = COLORS[engine]
            out.append(f'<path d="M{place(least):.1f} {y}H{place(most):.1f}" stroke="{color}" stroke-width="2"/>')
            out.append(f'<circle cx="{place(median):.1f}" cy="{y}" r="4" fill="{color}"/>')
            label = f"{escape(engine)} {median:.2f}"
            out.append(f'<text x="{place(most) + 8:.1f}" y="{y + 4}" fill="{color}">{label}</text>')
            y += line
        y += gap
    words = "times as long as the other engine; right of 1, the other one is faster"
    out.append(f'<text x="{WIDTH / 2}" y="{height - 12}" text-anchor="middle">{words}</text>')
    return "\n".join([*out, "</svg>\n"])


def _head(title: str, height: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
