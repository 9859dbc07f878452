"""Questions to measure, each in the ways that people ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, Union

from dbt.adapters.sparkstream.sql import translate

if TYPE_CHECKING:
    import polars

SCHEMA = {
    "events": {"ts": "timestamp", "k": "int", "v": "int", "price": "double"},
    "events_ntz": {"ts": "timestamp_ntz", "k": "int", "v": "int", "price": "double"},
}
AGGREGATES = "count(*) AS n, sum(v) AS v, avg(v) AS mean, max(price) AS price"
FLINKS = AGGREGATES.replace("avg(v)", "avg(CAST(v AS DOUBLE))")
"""The same in Flink, whose averages of INT are INT."""
SUMS = "count(*) AS n, sum(v) AS v, avg(v) AS mean"
"""Aggregates that subtraction gives back."""
VALUES = "count(DISTINCT v) AS v"
MERGED = {
    AGGREGATES: "sum(n) AS n, sum(v) AS v, sum(v) / sum(n) AS mean, max(price) AS price",
    SUMS: "sum(n) AS n, sum(v) AS v, sum(v) / sum(n) AS mean",
}
"""Aggregates -> what they are of slices."""

SPARK = "Spark"
HAND = "Spark by hand"
PLAIN = "ours, plain"
OURS = "ours"
DUCKDB = "DuckDB"
POLARS = "Polars"
FLINK = "Flink"
COMET = "ours in Comet"

Query: TypeAlias = Union[str, "Callable[[Mapping[str, polars.LazyFrame]], polars.LazyFrame]"]
"""SQL; or for Polars, what makes a frame of the tables."""
COMET_ON = {"spark.comet.enabled": "true"}
TREE = {"spark.sql.window.segmentTree.enabled": "true"}
"""The setting of Spark that the adapter sets."""


@dataclass(frozen=True)
class Question:
    """A query as each engine takes it.

    Attributes:
        name: what is asked.
        x: the number that it is asked for: windows that a row is in, rows of a frame, ...
        queries: engine -> its query.
        conf: engine -> settings of Spark for it.
        asks: what is asked, in words.
    """

    name: str
    x: int
    queries: dict[str, Query]
    conf: dict[str, dict[str, str]]
    asks: str = ""

    def only(self, *engines: str) -> Question:
        """The same for some engines."""
        return replace(self, queries={engine: self.queries[engine] for engine in engines})

    def in_comet(self) -> Question:
        """The same, with ours asked in Comet, too."""
        conf = {**self.conf, COMET: {**self.conf.get(OURS, {}), **COMET_ON}}
        return replace(self, queries={**self.queries, COMET: self.queries[OURS]}, conf=conf)

    def also(self, name: str, asks: str, queries: Mapping[str, Query]) -> Question:
        """The same with another name, in words, and for further engines."""
        return replace(self, name=name, asks=asks, queries={**self.queries, **queries})


def _aggregated(window: str, aggregates: str = AGGREGATES) -> str:
    return f"SELECT window_start, window_end, k, {aggregates} FROM {window} GROUP BY window_start, window_end, k"


def _native(minutes: int, aggregates: str = AGGREGATES, table: str = "events") -> str:
    """Windows every minute, by hand."""
    window = f"window(ts, '{minutes} minutes', '1 minute')"
    return f"SELECT window.start, window.end, k, {aggregates} FROM {table} GROUP BY {window}, k"


def by_slices(sql: str, aggregates: str = AGGREGATES) -> str:
    """Aggregates of each minute and key as `slices`, behind which a query copies slices and not rows."""
    minute = "date_trunc('MINUTE', ts)"
    return f"WITH slices AS (SELECT {minute} AS m, k, {aggregates} FROM events GROUP BY {minute}, k){sql}"


def hops_of_slices(minutes: int, copies: str, start: str, aggregates: str = AGGREGATES) -> str:
    """HOP every minute, of slices that are copied into their windows.

    Args:
        copies: the copies of `slices`.
        start: where a copy's window begins.
    """
    end = f"{start} + INTERVAL '{minutes}' MINUTE"
    grouped = f" SELECT {start} AS s, {end} AS e, k, {MERGED[aggregates]} FROM {copies} GROUP BY s, e, k"
    return by_slices(grouped, aggregates)


def _hop_by_hand(minutes: int, aggregates: str = AGGREGATES) -> str:
    starts = f"sequence(m - INTERVAL '{minutes - 1}' MINUTE, m, INTERVAL '1' MINUTE)"
    return hops_of_slices(minutes, f"(SELECT *, explode({starts}) AS s FROM slices)", "s", aggregates)


def cumulated_slices(start: str, copies: str) -> str:
    """CUMULATE by a minute, of slices that are copied into their windows.

    Args:
        start: where a copy's windows begin.
        copies: the copies of `slices`, with the end of a window as `e`.
    """
    return by_slices(f" SELECT {start} AS s, e, k, {MERGED[AGGREGATES]} FROM {copies} GROUP BY {start}, e, k")


def _cumulate_by_hand(minutes: int) -> str:
    start = f"timestamp_seconds(unix_seconds(m) DIV {minutes * 60} * {minutes * 60})"
    ends = f"sequence(m + INTERVAL '1' MINUTE, {start} + INTERVAL '{minutes}' MINUTE, INTERVAL '1' MINUTE)"
    return cumulated_slices(start, f"(SELECT *, explode({ends}) AS e FROM slices)")


def _ours(window: str, optimize: bool = True, aggregates: str = AGGREGATES) -> str:
    return translate(_aggregated(window, aggregates), optimize=optimize, schema=SCHEMA)


def _all(name: str, minutes: int) -> dict[str, Query]:
    """Ours, plain and optimised, and Flink, whose intervals say how many digits they have."""
    window, flink = (
        f"{name}(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '{minutes}' {unit})"
        for unit in ("MINUTE", "MINUTE(3)")
    )
    return {PLAIN: _ours(window, False), OURS: _ours(window), FLINK: _aggregated(f"TABLE({flink})", FLINKS)}


def tumble() -> Question:
    """TUMBLE of a minute."""
    native = f"SELECT window.start, window.end, k, {AGGREGATES} FROM events GROUP BY window(ts, '1 minute'), k"
    window = "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    queries: dict[str, Query] = {SPARK: native, OURS: _ours(window), FLINK: _aggregated(f"TABLE({window})", FLINKS)}
    return Question("TUMBLE", 1, queries, {})


def hop(minutes: int) -> Question:
    """HOP every minute."""
    duckdb = f"""
        SELECT
          s + w * INTERVAL 1 MINUTE AS window_start, s + (w + {minutes}) * INTERVAL 1 MINUTE AS window_end, k,
          {AGGREGATES}
        FROM (SELECT *, date_trunc('minute', ts) - INTERVAL {minutes - 1} MINUTE AS s FROM events),
          range({minutes}) AS r(w)
        GROUP BY ALL"""
    in_spark: dict[str, Query] = {SPARK: _native(minutes), HAND: _hop_by_hand(minutes)}
    return Question("HOP", minutes, {**in_spark, **_all("HOP", minutes), DUCKDB: duckdb}, {})


def sums(minutes: int) -> Question:
    """HOP every minute, of nothing but sums; TUMBLE where it is a minute long."""
    asked = _of("SUMS", SUMS, minutes)
    return asked if minutes == 1 else asked.also("SUMS", "", {HAND: _hop_by_hand(minutes, SUMS)})


def values(minutes: int) -> Question:
    """HOP every minute, of which different values are counted."""
    return _of("VALUES", VALUES, minutes)


def wall(minutes: int) -> Question:
    """HOP every minute of a TIMESTAMP_NTZ; TUMBLE where it is a minute long."""
    return _of("NTZ", AGGREGATES, minutes, "events_ntz")


def _of(name: str, aggregates: str, minutes: int, table: str = "events") -> Question:
    bounds = "" if minutes == 1 else f", INTERVAL '{minutes}' MINUTE"
    window = f"{'HOP' if bounds else 'TUMBLE'}(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' MINUTE{bounds})"
    queries: dict[str, Query] = {
        SPARK: _native(minutes, aggregates, table),
        OURS: _ours(window, aggregates=aggregates),
    }
    return Question(name, minutes, queries, {})


def cumulate(minutes: int) -> Question:
    """CUMULATE by a minute."""
    duckdb = f"""
        SELECT s AS window_start, m + w * INTERVAL 1 MINUTE AS window_end, k, {AGGREGATES}
        FROM (
          SELECT *, time_bucket(INTERVAL {minutes} MINUTE, ts) AS s, date_trunc('minute', ts) AS m FROM events
        ), range(1, {minutes + 1}) AS r(w)
        WHERE m + w * INTERVAL 1 MINUTE <= s + INTERVAL {minutes} MINUTE
        GROUP BY ALL"""
    by_hand: dict[str, Query] = {HAND: _cumulate_by_hand(minutes)}
    return Question("CUMULATE", minutes, {**by_hand, **_all("CUMULATE", minutes), DUCKDB: duckdb}, {})


def over(rows: int) -> Question:
    """A sum and a maximum over the rows before each row."""
    frame = f"OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN {rows - 1} PRECEDING AND CURRENT ROW)"
    sql = f"SELECT k, ts, sum(v) {frame} AS v, max(price) {frame} AS price FROM events"
    return Question("OVER", rows, dict.fromkeys((SPARK, OURS, DUCKDB, FLINK), sql), {OURS: TREE})


def session(minutes: int) -> Question:
    """Sessions of each key, which rests three minutes of every ten."""
    rows = "(SELECT * FROM events WHERE pmod(minute(ts), 10) < 7)"
    native = f"SELECT session_window.start, session_window.end, k, {AGGREGATES} FROM {rows}"
    native += f" GROUP BY session_window(ts, '{minutes} minutes'), k"
    ours = f"SESSION({rows} PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{minutes}' MINUTE)"
    return Question("SESSION", minutes, {SPARK: native, OURS: _ours(ours)}, {})


def join(minutes: int) -> Question:
    """A join of HOPs every minute: one half of the events with the other, per key."""

    def side(half: str) -> str:
        rows = f"(SELECT * FROM events WHERE v {half})"
        return f"HOP({rows}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '{minutes}' MINUTE)"

    query = f"""
        SELECT L.k, L.v, R.v AS w, L.window_start, L.window_end
        FROM {side("< 500")} AS L
        JOIN {side(">= 500")} AS R
        ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end"""
    queries: dict[str, Query] = {name: translate(query, optimize=name == OURS, schema=SCHEMA) for name in (PLAIN, OURS)}
    return Question("JOIN", minutes, queries, {})
