"""What is measured: one question in the ways that people ask it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql import translate

SCHEMA = {
    "events": {"ts": "timestamp", "k": "int", "v": "int", "price": "double"},
    "events_ntz": {"ts": "timestamp_ntz", "k": "int", "v": "int", "price": "double"},
    "bid": {"auction": "bigint", "bidder": "bigint", "price": "bigint", "dateTime": "timestamp_ntz"},
    "person": {"id": "bigint", "name": "string", "dateTime": "timestamp_ntz"},
    "auction": {"id": "bigint", "seller": "bigint", "dateTime": "timestamp_ntz"},
}
AGGREGATES = "count(*) AS n, sum(v) AS v, avg(v) AS mean, max(price) AS price"
SUMS = "count(*) AS n, sum(v) AS v, avg(v) AS mean"
"""Aggregates that subtraction gives back."""
VALUES = "count(DISTINCT v) AS v"

SPARK = "Spark"
PLAIN = "ours, plain"
OURS = "ours"
DUCKDB = "DuckDB"
FLINK = "Flink"


@dataclass(frozen=True)
class Question:
    """A query in the SQL of each engine.

    Attributes:
        name: what is asked.
        x: the number that it is asked for: windows that a row is in, rows of a frame, ...
        sql: engine -> its SQL.
        conf: engine -> settings of Spark for it.
    """

    name: str
    x: int
    sql: dict[str, str]
    conf: dict[str, dict[str, str]]

    def only(self, engine: str) -> Question:
        """The same for one engine."""
        return replace(self, sql={engine: self.sql[engine]})


def _aggregated(window: str, aggregates: str = AGGREGATES) -> str:
    return f"SELECT window_start, window_end, k, {aggregates} FROM {window} GROUP BY window_start, window_end, k"


def _native(minutes: int, aggregates: str = AGGREGATES, table: str = "events") -> str:
    """Windows every minute, by hand."""
    window = f"window(ts, '{minutes} minutes', '1 minute')"
    return f"SELECT window.start, window.end, k, {aggregates} FROM {table} GROUP BY {window}, k"


def _ours(window: str, optimize: bool = True, aggregates: str = AGGREGATES) -> str:
    return translate(_aggregated(window, aggregates), optimize=optimize, schema=SCHEMA)


def _all(name: str, minutes: int) -> dict[str, str]:
    """Ours, plain and optimised, and Flink, whose intervals say how many digits they have."""
    window, flink = (
        f"{name}(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '{minutes}' {unit})"
        for unit in ("MINUTE", "MINUTE(3)")
    )
    return {PLAIN: _ours(window, False), OURS: _ours(window), FLINK: _aggregated(f"TABLE({flink})")}


def tumble() -> Question:
    """TUMBLE of a minute: what the others are compared with."""
    native = f"SELECT window.start, window.end, k, {AGGREGATES} FROM events GROUP BY window(ts, '1 minute'), k"
    window = "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    sql = {SPARK: native, OURS: _ours(window), FLINK: _aggregated(f"TABLE({window})")}
    return Question("TUMBLE", 1, sql, {})


def hop(minutes: int) -> Question:
    """HOP every minute."""
    duckdb = f"""
        SELECT s + w * INTERVAL 1 MINUTE AS window_start, k, {AGGREGATES}
        FROM (SELECT *, date_trunc('minute', ts) - INTERVAL {minutes - 1} MINUTE AS s FROM events),
          range({minutes}) AS r(w)
        GROUP BY ALL"""
    sql = {SPARK: _native(minutes), **_all("HOP", minutes), DUCKDB: duckdb}
    return Question("HOP", minutes, sql, {})


def sums(minutes: int) -> Question:
    """HOP every minute, of nothing but sums; TUMBLE where it is a minute long."""
    return _of("SUMS", SUMS, minutes)


def values(minutes: int) -> Question:
    """HOP every minute, of which different values are counted."""
    return _of("VALUES", VALUES, minutes)


def wall(minutes: int) -> Question:
    """HOP every minute of a TIMESTAMP_NTZ; TUMBLE where it is a minute long."""
    return _of("NTZ", AGGREGATES, minutes, "events_ntz")


def _of(name: str, aggregates: str, minutes: int, table: str = "events") -> Question:
    bounds = "" if minutes == 1 else f", INTERVAL '{minutes}' MINUTE"
    window = f"{'HOP' if bounds else 'TUMBLE'}(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' MINUTE{bounds})"
    sql = {SPARK: _native(minutes, aggregates, table), OURS: _ours(window, aggregates=aggregates)}
    return Question(name, minutes, sql, {})


def cumulate(minutes: int) -> Question:
    """CUMULATE by a minute."""
    duckdb = f"""
        SELECT s AS window_start, m + w * INTERVAL 1 MINUTE AS window_end, k, {AGGREGATES}
        FROM (
          SELECT *, time_bucket(INTERVAL {minutes} MINUTE, ts) AS s, date_trunc('minute', ts) AS m FROM events
        ), range(1, {minutes + 1}) AS r(w)
        WHERE m + w * INTERVAL 1 MINUTE <= s + INTERVAL {minutes} MINUTE
        GROUP BY ALL"""
    return Question("CUMULATE", minutes, {**_all("CUMULATE", minutes), DUCKDB: duckdb}, {})


def over(rows: int) -> Question:
    """A sum and a maximum over the rows before each row."""
    frame = f"OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN {rows - 1} PRECEDING AND CURRENT ROW)"
    sql = f"SELECT k, ts, sum(v) {frame} AS v, max(price) {frame} AS price FROM events"
    tree = {"spark.sql.window.segmentTree.enabled": "true"}
    return Question("OVER", rows, {SPARK: sql, OURS: sql, DUCKDB: sql, FLINK: sql}, {OURS: tree})


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
    sql = {name: translate(query, optimize=name == OURS, schema=SCHEMA) for name in (PLAIN, OURS)}
    return Question("JOIN", minutes, sql, {})


def _nexmark(number: int, spark: str, flink: str) -> Question:
    sql = {SPARK: spark}
    sql |= {name: translate(flink, "flink", schema=SCHEMA, optimize=name == OURS) for name in (PLAIN, OURS)}
    return Question("NEXMark", number, sql, {})


def nexmark() -> list[Question]:
    """NEXMark's queries 5, 7, 8 and 11: HOP and a window join, TUMBLE and window joins, SESSION."""
    ten = "INTERVAL '10' SECOND"
    bounds = "window_start, window_end"
    two_seconds = "window(dateTime, '10 seconds', '2 seconds')"
    tumble = "window(dateTime, '10 seconds').start AS s"

    def tumbling(table: str) -> str:
        return f"TUMBLE(TABLE {table}, DESCRIPTOR(`dateTime`), {ten})"

    def on(column: str, other: str) -> str:
        return f"ON x.window_start = y.window_start AND x.window_end = y.window_end AND x.{column} = y.{other}"

    return [
        _nexmark(
            5,
            f"""
            WITH c AS (
              SELECT auction, {two_seconds}.start AS s, count(*) AS num FROM bid GROUP BY auction, {two_seconds}
            )
            SELECT c.* FROM c JOIN (SELECT s, max(num) AS num FROM c GROUP BY s) USING (s, num)""",
            f"""
            WITH x AS (
              SELECT auction, {bounds}, COUNT(*) AS num
              FROM HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, {ten})
              GROUP BY auction, {bounds}
            )
            SELECT x.*
            FROM x JOIN (SELECT {bounds}, MAX(num) AS num FROM x GROUP BY {bounds}) AS y {on("num", "num")}""",
        ),
        _nexmark(
            7,
            f"""
            SELECT x.*
            FROM (SELECT *, {tumble} FROM bid) AS x
            JOIN (SELECT s, max(price) AS price FROM (SELECT price, {tumble} FROM bid) GROUP BY s) USING (s, price)""",
            f"""
            SELECT x.*
            FROM {tumbling("bid")} AS x
            JOIN (SELECT {bounds}, MAX(price) AS price FROM {tumbling("bid")} GROUP BY {bounds}) AS y
            {on("price", "price")}""",
        ),
        _nexmark(
            8,
            f"""
            SELECT x.*
            FROM (SELECT DISTINCT id, name, {tumble} FROM person) AS x
            JOIN (SELECT DISTINCT seller AS id, {tumble} FROM auction) USING (id, s)""",
            f"""
            SELECT x.id, x.name, x.window_start
            FROM (SELECT id, name, {bounds} FROM {tumbling("person")} GROUP BY id, name, {bounds}) AS x
            JOIN (SELECT seller, {bounds} FROM {tumbling("auction")} GROUP BY seller, {bounds}) AS y
            {on("id", "seller")}""",
        ),
        _nexmark(
            11,
            """
            SELECT bidder, session_window.start, session_window.end, count(*) AS n
            FROM bid
            GROUP BY bidder, session_window(dateTime, '10 seconds')""",
            f"""
            SELECT bidder, {bounds}, COUNT(*) AS n
            FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(`dateTime`), {ten})
            GROUP BY bidder, {bounds}""",
        ),
    ]
