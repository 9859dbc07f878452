"""Windows in Spark's own way, in ours, and in ours with the optimiser, side by side.

    python -m benchmarks.windows [--rows 2000000] [--keys 100] [--minutes 1440] [--skew 0] [--csv] [--runs 5] [--out X]

Writes a table and plots into a folder, and ends with status 1 when a ratio is above its limit. DuckDB is measured too
where it is installed, and Flink where `--flink` names a Python that has apache-flink: for the plots, all read CSV then.
All engines of a question run in turn, run after run, so that a busy machine is busy for all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.windows import queries
from benchmarks.windows.bench import Bench, Measured
from benchmarks.windows.data import Data
from benchmarks.windows.engines import Engines
from benchmarks.windows.plot import svg
from benchmarks.windows.queries import DUCKDB, FLINK, HAND, OURS, PLAIN, SPARK, Question

OTHERS = (DUCKDB, FLINK)
"""Engines that no limit is about."""


DENSE = 5
"""With so many rows in a slice, SESSION must be faster than `session_window`."""


@dataclass(frozen=True)
class Limit:
    """A ratio of two medians that must hold."""

    name: str
    ratio: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit

    def row(self) -> str:
        """The limit as a row of a table."""
        sign = "≥" if self.at_least else "≤"
        return f"| {self.name} | {self.ratio:.2f} | {sign} {self.limit:g} | {'yes' if self.holds else 'no'} |"


def limits(bench: Bench, data: Data) -> list[Limit]:
    """Measures what must hold beside what people would write in Spark's SQL, never beside another query of ours."""
    tumble, hop, _, steps, one_sum, sums = bench.run(
        data,
        [
            queries.tumble(),
            queries.hop(60),
            queries.hop(600).only(OURS),  # copies would take minutes
            queries.cumulate(60),
            queries.sums(1),
            queries.sums(60),
        ],
        skip=OTHERS,
    )
    peaks = {}
    for asked in (hop.question, sums.question):
        peaks[asked.name] = bench.peak(asked, OURS) / bench.peak(asked, SPARK)
    # Spark's default goes through the whole frame for each row: on all rows it would take a quarter of an hour.
    tenth = replace(data, rows=data.rows // 10, keys=max(1, data.keys // 10))
    (long,) = bench.run(tenth, [queries.over(10_000)], skip=OTHERS)
    (values,) = bench.run(tenth, [queries.values(60)], skip=OTHERS)
    (hop_sparse,) = bench.run(data.with_rows(2), [queries.hop(12)], skip=OTHERS)
    sessions = {n: bench.run(data.with_rows(n), [queries.session(1)], skip=OTHERS)[0] for n in (0.5, 2, 5, 14)}
    (joined,) = bench.run(_halves(data), [queries.join(60)], skip=OTHERS)
    return [
        Limit("TUMBLE : window()", _by_hand(tumble), 1.1),
        Limit("TUMBLE : window(), sums", _by_hand(one_sum), 1.1),
        Limit("HOP of 60 steps : by hand", _by_hand(hop), 1.1),
        Limit("HOP of 60 steps : by hand, sums", _by_hand(sums), 1.1),
        Limit("Spark's window() : HOP of 60 steps", hop.times[SPARK] / hop.times[OURS], 7, True),
        Limit("CUMULATE of 60 steps : by hand", _by_hand(steps), 1.1),
        Limit("CUMULATE of 60 steps exploded : by slices", steps.times[PLAIN] / steps.times[OURS], 4, True),
        Limit("OVER 10,000 rows, Spark's default : ours", long.times[SPARK] / long.times[OURS], 10, True),
        Limit("HOP of 12 steps, 2 rows per slice : by hand", _by_hand(hop_sparse), 1.1),
        *(Limit(f"SESSION, {n} rows per slice : session_window", _by_hand(m), 1.1) for n, m in sessions.items()),
        *(
            Limit(f"session_window : SESSION, {n} rows per slice", 1 / _by_hand(m), 1.5, True)
            for n, m in sessions.items()
            if n >= DENSE
        ),
        Limit("count(DISTINCT) of HOP of 60 steps, window() : ours", values.times[SPARK] / values.times[OURS], 3, True),
        Limit("join of HOPs of 60 steps, copies : rows", joined.times[PLAIN] / joined.times[OURS], 3, True),
        Limit("peak memory of HOP of 60 steps : Spark's window()", peaks["HOP"], 1.0),
        Limit("peak memory of HOP of 60 steps : Spark's window(), sums", peaks["SUMS"], 1.0),
    ]


def _by_hand(measured: Measured) -> float:
    """How many times as long as the best in Spark's own SQL ours takes."""
    best = min(measured.times[engine] for engine in (SPARK, HAND) if engine in measured.times)
    return measured.times[OURS] / best


def types(bench: Bench, data: Data) -> None:
    """Measures TUMBLE and HOP of the two types of time: TUMBLE of a TIMESTAMP_NTZ converts nothing."""
    bench.run(data, [queries.tumble(), queries.hop(60).only(OURS)], skip=OTHERS)
    bench.run(replace(data, type="timestamp_ntz"), [queries.wall(1), queries.wall(60).only(OURS)], skip=OTHERS)


def density(bench: Bench, data: Data) -> None:
    """Measures SESSION and HOP of an hour against the rows that a key has in a minute: what a slice saves."""
    for rows in (0.5, 1, 2, 5, 10, 50):
        print(f"{rows} rows in a slice")
        asked = [queries.session(1), queries.tumble(), queries.hop(60).only(HAND, OURS)]
        bench.run(data.with_rows(rows), asked, skip=OTHERS)


def joins(bench: Bench, data: Data) -> list[Measured]:
    """Measures joins of HOPs against the number of windows that a row is in."""
    return [one for n in (4, 15, 60, 240) for one in bench.run(_halves(data), [queries.join(n)])]


def _halves(data: Data) -> Data:
    """Few rows of many keys: those of a join, whose halves are its sides."""
    return replace(data, rows=max(1, data.rows // 50), keys=data.keys * 10)


def curves(bench: Bench, data: Data) -> Iterator[tuple[str, str]]:
    """Measures time against one number after the other; a file name and a plot for each."""

    def line(found: list[Measured], x: Callable[[Measured], float]) -> dict[str, list[tuple[float, float]]]:
        series: dict[str, list[tuple[float, float]]] = {}
        for one in found:
            for engine, seconds in one.times.items():
                series.setdefault(engine, []).append((x(one), seconds))
        return series

    def each(tables: list[Data], ask: Callable[[], Question]) -> list[Measured]:
        return [one for table in tables for one in bench.run(table, [ask()])]

    def by_x(one: Measured) -> float:
        return one.question.x

    overlap = [one for n in (4, 15, 60, 240, 600) for one in bench.run(data, [queries.hop(n)])]
    yield "overlap.svg", svg("HOP: windows that a row is in", "size / slide", line(overlap, by_x))
    steps = [one for n in (4, 15, 60, 240) for one in bench.run(data, [queries.cumulate(n)])]
    yield "steps.svg", svg("CUMULATE: windows that a row is in", "size / step", line(steps, by_x))
    rows = each([replace(data, rows=data.rows // n) for n in (8, 4, 2, 1)], lambda: queries.hop(60))
    yield "rows.svg", svg("HOP of 60 steps", "rows", line(rows, lambda m: m.data.rows))
    keys = each([replace(data, keys=n) for n in (1, 100, 10_000)], lambda: queries.hop(15))
    yield "keys.svg", svg("HOP of 15 steps", "keys", line(keys, lambda m: m.data.keys))
    bench.run(replace(data, skew=0.5), [queries.tumble(), queries.hop(60), queries.session(1)])
    yield "join.svg", svg("Join of HOPs: windows that a row is in", "size / slide", line(joins(bench, data), by_x))
    frames = [one for n in (10, 100, 1000, 10_000) for one in bench.run(data, [queries.over(n)])]
    yield "frame.svg", svg("OVER ROWS n PRECEDING", "rows in a frame", line(frames, by_x))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.windows", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--minutes", type=int, default=1440, help="the time from the first row to the last")
    parser.add_argument("--skew", type=float, default=0.0, help="the part of the rows that one key has, from 0 to 1")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="4g", help="of Spark")
    parser.add_argument("--patience", type=float, default=60, help="seconds; a slower engine is asked no more")
    parser.add_argument("--flink", metavar="PYTHON", help="an interpreter that has apache-flink")
    parser.add_argument("--csv", action="store_true", help="read CSV, as with Flink, and not parquet")
    parser.add_argument("--only", choices=("limits", "curves", "joins", "types", "density"), help="measure one part")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    chosen = parser.parse_args()

    engines = Engines(chosen.cores, chosen.memory, chosen.flink)
    bench = Bench(engines, engines.folder, chosen.runs, chosen.patience, chosen.csv)
    data = Data(chosen.rows, chosen.keys, chosen.minutes, chosen.skew)
    chosen.out.mkdir(parents=True, exist_ok=True)
    held: list[Limit] = []
    lines = [
        f"{chosen.rows:,} rows, {chosen.keys} keys, {chosen.minutes} minutes, {chosen.cores} cores: medians of",
        "",
    ]
    lines[0] += f" {chosen.runs} runs in seconds"
    if chosen.only in (None, "limits"):
        held = limits(bench, data)
        lines += ["| ratio | measured | limit | holds |", "|---|---|---|---|", *(one.row() for one in held), ""]
    if chosen.only == "joins":
        joins(bench, data)
    if chosen.only == "density":
        density(bench, data)
    if chosen.only == "types":
        types(bench, data)
    if chosen.only in (None, "curves"):
        for name, plot in curves(bench, data):
            (chosen.out / name).write_text(plot, encoding="utf-8")
    names = list(dict.fromkeys(e for m in bench.measured for e in m.times))
    lines += [f"| question | n | rows | keys | {' | '.join(names)} |", "|---|" + "---|" * (3 + len(names))]
    for one in bench.measured:
        times = " | ".join(f"{one.times[n]:.2f}" if n in one.times else "" for n in names)
        lines.append(f"| {one.question.name} | {one.question.x} | {one.data.rows:,} | {one.data.keys:,} | {times} |")
    (chosen.out / "windows.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))
    return 0 if all(one.holds for one in held) else 1


if __name__ == "__main__":
    sys.exit(main())
