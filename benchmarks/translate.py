"""Cost of translating a statement: dbt calls the translator for every model and every statement.

    python benchmarks/translate.py

Prints the median and the slowest tenth of many runs of each statement, in milliseconds, and ends with status 1 when a
median is above its limit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from dbt.adapters.sparkstream.sql import translate

WITH_WINDOWS_MS = 30.0
"""Limit for a model of 200 lines with three windows."""
WITHOUT_WINDOWS_MS = 0.2
"""Limit for a statement of 200 lines with none of our constructs."""


@dataclass(frozen=True)
class Measure:
    """A statement to translate, and the limit for its median time in milliseconds."""

    name: str
    sql: str
    limit_ms: float
    dialect: str = "spark"
    schema: dict[str, dict[str, str]] | None = None
    runs: int = 30


def model(first: str, second: str, third: str) -> str:
    """A model of about 200 lines that reads three relations."""
    flags = "\n".join(
        f"    case when dep_delay > {i} and origin = 'JFK' then coalesce(air_time, 0) / 60.0 else null end as late_{i},"
        for i in range(40)
    )
    sums = "\n".join(f"    sum(late_{i}) as total_late_{i}," for i in range(40))
    averages = "\n".join(
        f"    round(sum(total_late_{i}) over (partition by origin order by window_start), 2) as running_{i},"
        for i in range(40)
    )
    ranks = "\n".join(
        f"    rank() over (partition by origin, running_{i} order by window_end desc) as rank_{i}," for i in range(40)
    )
    return f"""\
-- Delays of departures, per airport and window.
with flights as (
  select
{flags}
    f.*, to_timestamp(concat_ws('-', year, month, day, hour), 'yyyy-M-d-H') as departure
  from airline.flights as f
  left join airline.planes as p using (tailnum)
  where f.cancelled is null and (f.origin in ('JFK', 'LGA', 'EWR') or p.seats between 100 and 200)
),

hourly as (
  select
{sums}
    origin, window_start, window_end, window_time
  from {first}
  group by origin, window_start, window_end, window_time
  having count(*) > 1
),

running as (
  select
{averages}
    origin, window_start, window_end, window_time as hour_end
  from hourly
),

spells as (
  select tailnum, window_start, window_end, count(*) as legs, max(dep_delay) as worst
  from {second}
  group by tailnum, window_start, window_end
),

ranked as (
  select
{ranks}
    origin, hour_end
  from running
)

select d.window_start, d.window_end, d.origin, count(distinct d.rank_1) as ranks, max(s.legs) as legs
from {third} as d
left join spells as s on s.window_start <= d.window_start and s.window_end > d.window_start
where d.rank_1 <= 10 and not exists (select 1 from airline.strikes as x where x.day = cast(d.window_start as date))
group by d.window_start, d.window_end, d.origin
order by d.window_start, d.origin
"""


SPARK = model(
    "tumble(flights, departure, '1 hour')",
    "<< session(flights partition by tailnum, departure, '4 hours') >>",
    "hop((select rank_1, origin, hour_end from ranked), hour_end, '1 hour', '1 day')",
)
FLINK = model(
    "TABLE(TUMBLE(TABLE flights, DESCRIPTOR(departure), INTERVAL '1' HOUR))",
    "SESSION(TABLE flights PARTITION BY tailnum, DESCRIPTOR(departure), INTERVAL '4' HOURS)",
    "HOP((SELECT rank_1, origin, hour_end FROM ranked), DESCRIPTOR(hour_end), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
)
PLAIN = model("flights", "flights", "ranked")
SCHEMA = {
    "airline.flights": {
        **dict.fromkeys(("year", "month", "day", "hour", "dep_delay", "air_time", "cancelled"), "int"),
        **dict.fromkeys(("origin", "tailnum"), "string"),
    },
    "airline.planes": {"tailnum": "string", "seats": "int"},
    "airline.strikes": {"day": "date"},
}

MEASURES = [
    Measure("three windows", SPARK, WITH_WINDOWS_MS),
    Measure("three windows, types known", SPARK, WITH_WINDOWS_MS, schema=SCHEMA),
    Measure("three windows, Flink SQL's spelling", FLINK, WITH_WINDOWS_MS),
    Measure("no window", PLAIN, WITHOUT_WINDOWS_MS, runs=2_000),
    Measure(
        "no window, Spark's own windows",
        PLAIN.replace("count(*) > 1", "count(*) > 1 and max(session_window.start) is null").replace(
            "group by tailnum", "group by session_window(departure, '5 minutes'), window(departure, '1 hour'), tailnum"
        ),
        WITHOUT_WINDOWS_MS,
        runs=2_000,
    ),
    Measure(
        "no window, columns session_start and session_end",
        PLAIN.replace("window_start", "session_start").replace("window_end", "session_end"),
        WITHOUT_WINDOWS_MS,
        runs=2_000,
    ),
    Measure(
        "no window, our words in comments and strings",
        PLAIN.replace("-- Delays", "-- tumble (not hop) - session / cumulate: delays").replace("'JFK'", "'hop'"),
        WITHOUT_WINDOWS_MS,
        runs=2_000,
    ),
    Measure(
        "an insert of 2,000 rows", "insert into t values " + "(1, 'a', null), " * 2_000, WITHOUT_WINDOWS_MS, runs=2_000
    ),
]


def times_ms(measure: Measure) -> list[float]:
    """Processor time of each run, which other work on the machine does not change, after a few runs to warm up."""

    def run() -> float:
        start = time.process_time()
        translate(measure.sql, measure.dialect, schema=measure.schema)
        return (time.process_time() - start) * 1_000

    for _ in range(3):
        run()
    return [run() for _ in range(measure.runs)]


def main(measures: Sequence[Measure] = MEASURES) -> int:
    """Prints a table; 1 when a limit is missed, else 0."""
    start = time.process_time()
    translate(SPARK)
    print(f"first translation of a process, imports included: {(time.process_time() - start) * 1_000:.0f} ms\n")
    print(f"{'statement':<52}{'lines':>6}{'median':>10}{'slowest 10%':>13}{'limit':>8}   (ms)")
    missed = 0
    for measure in measures:
        times = times_ms(measure)
        lines = measure.sql.count("\n") + 1
        over = median(times) > measure.limit_ms
        missed += over
        slow = quantiles(times, n=10)[-1]
        figures = f"{lines:>6}{median(times):>10.3f}{slow:>13.3f}{measure.limit_ms:>8.1f}"
        print(f"{measure.name:<52}{figures}{'  MISSED' * over}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
