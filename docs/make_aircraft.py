"""Draws the pictures of examples/aircraft/README.md from the tables of examples/aircraft.

cd examples/aircraft && python prepare.py && dbt build --project-dir . --profiles-dir .
python docs/make_aircraft.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

HERE = Path(__file__).parent
TABLES = HERE.parent / "examples" / "aircraft" / ".sparkstream" / "session" / "warehouse" / "aircraft.db"
OUT = HERE / "aircraft"

EAST, WEST, QUIET, INK = "#c2571a", "#1f77b4", "#c9ced3", "#333"
AIRPORTS = {"Charles de Gaulle": (49.0097, 2.5479), "Orly": (48.7262, 2.3652)}


def document(width: int, height: int, parts: Iterable[str]) -> str:
    """An SVG file, on white in dark pages too."""
    view = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {view}>'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>\n"])


def text(x: float, y: float, words: str, anchor: str = "start", color: str = INK, size: int = 12) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}" font-size="{size}">{escape(words)}</text>'
    )


def line(points: Sequence[tuple[float, float]], color: str, width: float = 1, dash: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"{dashed}/>'


def table(name: str) -> pd.DataFrame:
    return pd.read_parquet(TABLES / name)


def tracks(pings: pd.DataFrame, approaches: pd.DataFrame, flights: pd.DataFrame) -> str:
    """Where the aircraft flew: a position every 20 seconds; the last ten minutes before each landing in colour."""
    width, height = 720, 560
    south, north, west, east = 48.45, 49.25, 1.55, 3.35

    def place(latitude: float, longitude: float) -> tuple[float, float]:
        return width * (longitude - west) / (east - west), height * (north - latitude) / (north - south)

    landed = {(a.icao24, a.ts): a.direction for a in approaches.itertuples()}
    quiet, coloured = [], []
    thinned = pings[pings.ts.dt.second % 20 == 0].sort_values("ts")
    by_aircraft = dict(list(thinned.groupby("icao24")))
    for flight in flights.itertuples():
        track = by_aircraft.get(flight.icao24)
        if track is None:
            continue
        track = track[track.ts.between(flight.heard_from, flight.heard_to)]
        quiet.append(line([place(p.latitude, p.longitude) for p in track.itertuples()], QUIET, 0.8))
        direction = landed.get((flight.icao24, flight.last_at_2000))
        if direction:
            final = track[track.ts >= flight.last_at_2000 - pd.Timedelta("10min")]
            color = EAST if direction == "from the east" else WEST
            coloured.append(line([place(p.latitude, p.longitude) for p in final.itertuples()], color, 1.2))
    names = []
    for name, (latitude, longitude) in AIRPORTS.items():
        x, y = place(latitude, longitude)
        names.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="{INK}"/>')
        names.append(text(x, y - 10, name, "middle"))
    legend = [
        text(14, 24, "The last ten minutes before a landing", size=13),
        line([(14, 38), (44, 38)], EAST, 2), text(50, 42, "from the east"),
        line([(14, 56), (44, 56)], WEST, 2), text(50, 60, "from the west"),
    ]  # fmt: skip
    return document(width, height, [*quiet, *coloured, *names, *legend])


def time_axis(times: Sequence[pd.Timestamp], left: float, right: float, bottom: float) -> tuple[Any, list[str]]:
    """Where a time is, and the hours and half hours below."""
    first, last = min(times), max(times)

    def at(time: pd.Timestamp) -> float:
        return left + (right - left) * ((time - first) / (last - first))

    step = "30min" if last - first > pd.Timedelta("1h") else "5min"
    marks = pd.date_range(first.ceil(step), last, freq=step)
    return at, [text(at(mark), bottom + 18, f"{mark:%H:%M}", "middle") for mark in marks]


def runway(windows: pd.DataFrame) -> str:
    """Landings of the last 20 minutes by direction: a bar for each window, up and down."""
    width, height, left, right = 720, 240, 60, 700
    both = windows.groupby("window_end")[["from_the_east", "from_the_west"]].sum().sort_index()
    middle, unit = 116, 88 / both.to_numpy().max()
    at, marks = time_axis(list(both.index), left, right, height - 30)
    bars = []
    for end, row in both.iterrows():
        x = at(end) - 6
        for count, color, top in (
            (row.from_the_east, EAST, middle - row.from_the_east * unit),
            (row.from_the_west, WEST, middle),
        ):
            if count:
                bars.append(f'<rect x="{x:.1f}" y="{top:.1f}" width="12" height="{count * unit:.1f}" fill="{color}"/>')
                label = top - 3 if color == EAST else top + count * unit + 12
                bars.append(text(at(end), label, f"{count:.0f}", "middle", size=10))
    words = [text(left, 18, "Landings of the last 20 minutes", size=13)]
    words += [text(right, 18, "from the east", "end", EAST), text(left, height - 60, "from the west", "start", WEST)]
    return document(width, height, [*bars, line([(left - 10, middle), (right + 10, middle)], INK), *marks, *words])


def heights(windows: pd.DataFrame, callsign: str) -> str:
    """The altitude of a flight: what was heard, and what was filled."""
    width, height, left, right, top, bottom = 720, 240, 60, 700, 30, 200
    windows = windows[windows.altitude.notna()].sort_values("window_start")
    at, marks = time_axis(list(windows.window_start), left, right, bottom)
    most = windows.altitude.max()

    def place(row: Any) -> tuple[float, float]:
        return at(row.window_start), bottom - (bottom - top) * max(row.altitude, 0) / most

    drawn = []
    for row in windows.itertuples():
        x, y = place(row)
        color, size = (EAST, 2.6) if row.is_filled else (WEST, 1.8)
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{color}"/>')
    step = 5000 if most > 10_000 else 500
    feet = [text(left - 8, bottom - (bottom - top) * f / most + 4, f"{f:,}", "end") for f in range(0, int(most), step)]
    words = [
        text(left, 18, f"{callsign}: altitude in feet, every 10 seconds", size=13),
        text(right - 90, 18, "heard", "end", WEST),
        text(right, 18, "filled", "end", EAST),
    ]
    return document(width, height, [*drawn, *marks, *feet, *words])


def longest_silence(windows: pd.DataFrame) -> Any:
    """The flight with the most windows that were filled in the air, of those whose altitude never jumps."""
    known = windows[windows.altitude.notna()].sort_values("window_start")
    known = known.assign(in_the_air=known.is_filled & (known.altitude > 1000))
    by_flight = known.groupby(["icao24", "heard_from"])
    smooth = by_flight.altitude.agg(lambda altitudes: altitudes.diff().abs().max() < 1600)
    return by_flight.in_the_air.sum()[smooth].idxmax()


def main() -> None:
    OUT.mkdir(exist_ok=True)
    pings, flights, approaches = table("pings"), table("flights"), table("approaches")
    filled = table("heights")
    icao24, heard_from = longest_silence(filled)
    flight = flights[(flights.icao24 == icao24) & (flights.heard_from == heard_from)].iloc[0]
    of_flight = filled[(filled.icao24 == icao24) & (filled.heard_from == heard_from)]
    for name, picture in {
        "tracks": tracks(pings, approaches, flights),
        "runway": runway(table("runway_in_use")),
        "heights": heights(of_flight, flight.callsign),
    }.items():
        (OUT / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
