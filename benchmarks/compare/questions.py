"""Questions of the comparison, each of a table, in groups; windows' own questions are those of `benchmarks.windows`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.compare import in_polars, nexmark
from benchmarks.windows import queries
from benchmarks.windows.data import Auctions, Data
from benchmarks.windows.queries import DUCKDB, FLINK, HAND, OURS, POLARS, SCHEMA, SPARK, TREE, Query, Question
from tests.lib.macros import macros

from dbt.adapters.sparkstream.sql import translate


@dataclass(frozen=True)
class Part:
    """Questions of one table."""

    data: Data | Auctions
    questions: list[Question]


@dataclass(frozen=True)
class Group:
    """Questions that have a plot together.

    Attributes:
        name: of its plot's file.
        title: in words.
    """

    name: str
    title: str
    parts: list[Part]


def groups(rows: int, keys: int) -> list[Group]:
    """All of them.

    Args:
        rows: of the tables; NEXMark has half as many events.
        keys: that they have.
    """
    data = Data(rows, keys)
    dense, sparse = data.with_rows(20), data.with_rows(0.5)
    return [
        Group("windows", "Windows", [Part(data, [_tumble(), _hop(5), _hop(60), _cumulate(60)])]),
        Group(
            "sessions",
            "Sessions",
            [
                Part(dense, [_session("SESSION, dense", "about 20 rows in a gap")]),
                Part(sparse, [_session("SESSION, sparse", "a row in two gaps")]),
            ],
        ),
        Group(
            "asof",
            "Joins as of a time",
            [
                Part(data, [_asof("As of, many quotes"), _asof("As of, few quotes", "v = 777", 3600)]),
                Part(replace(data, skew=0.9), [_asof("As of, one hot key")]),
                Part(replace(data, rows=rows // 20), [_asof("As of, few rows", own=True)]),
            ],
        ),
        Group("frames", "Frames", [Part(data, [_sums(), _extremes(), _rows(100)])]),
        Group("nexmark", "NEXMark", [Part(Auctions(rows // 2), nexmark.questions())]),
    ]


def _tumble() -> Question:
    minute = "date_trunc('MINUTE', ts)"
    hand = f"SELECT {minute}, {minute} + INTERVAL '1' MINUTE, k, {queries.AGGREGATES} FROM events GROUP BY {minute}, k"
    asks = "A count, a sum, an average and a maximum of each key and minute."
    return queries.tumble().also("TUMBLE", asks, {HAND: hand, DUCKDB: hand, POLARS: in_polars.tumble})


def _hop(minutes: int) -> Question:
    copies = f"slices, range({minutes}) AS r(w)"
    engines: dict[str, Query] = {
        DUCKDB: queries.hops_of_slices(minutes, copies, "(m - w * INTERVAL 1 MINUTE)"),
        POLARS: in_polars.hop(minutes),
    }
    asks = f"The same of each key and {minutes} minutes, every minute: a row is in {minutes} windows."
    return queries.hop(minutes).also(f"HOP of {minutes} steps", asks, engines)


def _cumulate(minutes: int) -> Question:
    bucket = f"time_bucket(INTERVAL '{minutes}' MINUTE, m)"
    ends = f"(SELECT *, m + w * INTERVAL 1 MINUTE AS e FROM slices, range(1, {minutes + 1}) AS r(w)"
    within = f"{ends} WHERE m + w * INTERVAL 1 MINUTE <= {bucket} + INTERVAL '{minutes}' MINUTE)"
    engines: dict[str, Query] = {
        DUCKDB: queries.cumulated_slices(bucket, within),
        POLARS: in_polars.cumulate(minutes),
    }
    asks = f"The same of each key and {minutes} minutes, up to each minute of them."
    return queries.cumulate(minutes).also(f"CUMULATE of {minutes} steps", asks, engines)


def _session(name: str, rows: str) -> Question:
    def by_hand(aggregates: str) -> str:
        window = "OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)"
        return f"""
            WITH rests AS (
              SELECT *, ts > lag(ts) OVER (PARTITION BY k ORDER BY ts) + INTERVAL '1' MINUTE AS begins
              FROM events
              WHERE mod(minute(ts), 10) < 7
            ),
            numbered AS (SELECT *, sum(CASE WHEN begins THEN 1 ELSE 0 END) {window} AS number FROM rests)
            SELECT min(ts) AS s, max(ts) + INTERVAL '1' MINUTE AS e, k, {aggregates}
            FROM numbered
            GROUP BY k, number"""

    sql = by_hand(queries.AGGREGATES)
    more: dict[str, Query] = {HAND: sql, DUCKDB: sql, POLARS: in_polars.session, FLINK: by_hand(queries.FLINKS)}
    asks = f"The same of each key between two minutes of rest, {rows}. All keys rest three minutes of ten."
    return queries.session(1).also(name, asks, more)


def _asof(name: str, quote: str = "v >= 500", seconds: int = 20, *, own: bool = False) -> Question:
    """Trades and quotes; `own` asks Spark's own join, too, which compares each trade with all quotes of its key."""
    trades, quotes = (f"(SELECT k, ts, price FROM events WHERE {which})" for which in ("v < 500", quote))
    bid = {"price": "bid", "ts": "bid_ts"}
    sides = {"on": "k", "left_time": "ts", "right_time": "ts", "tolerance": f"{seconds} seconds", "columns": bid}
    ours = f"SELECT k, ts, price, bid, bid_ts FROM {macros().call('asof_join', trades, quotes, **sides)}"
    within = f"r.ts >= l.ts - INTERVAL '{seconds}' SECOND"
    found = f"SELECT l.*, if({within}, r.price, NULL) AS bid, if({within}, r.ts, NULL) AS bid_ts FROM"
    hand = f"""
        {found} (
          SELECT l, last_value(r) IGNORE NULLS OVER w AS r, trade
          FROM (
            SELECT k, ts, TRUE AS trade, struct(*) AS l, NULL AS r FROM {trades}
            UNION ALL
            SELECT k, ts, FALSE, NULL, struct(*) FROM {quotes}
          )
          WINDOW w AS (PARTITION BY k ORDER BY ts, trade ROWS UNBOUNDED PRECEDING)
        )
        WHERE trade"""
    join = f"{found} {trades} AS l {{}} {quotes} AS r"
    by_engine: dict[str, Query] = {
        OURS: translate(ours, schema=SCHEMA),
        SPARK: join.format("LEFT ASOF JOIN") + " MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k",
        HAND: hand,
        DUCKDB: join.format("ASOF LEFT JOIN") + " ON l.k = r.k AND l.ts >= r.ts",
        POLARS: in_polars.asof(quote, f"{seconds}s"),
    }
    asks = (
        f"Trades (`v < 500`), each with the last quote (`{quote}`) of its key before it, at most {seconds} seconds old."
    )
    if not own:
        del by_engine[SPARK]
    return Question(name, seconds, by_engine, {SPARK: {"spark.sql.join.asofJoin.enabled": "true"}}, asks)


LAST = "OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW)"


def _sums() -> Question:
    def by(average: str) -> str:
        return f"SELECT k, ts, SUM(v) {LAST} AS s, {average} AS a, COUNT(*) {LAST} AS n FROM events"

    asks = "A sum, an average (a whole number, as in Flink) and a count of the last 20 minutes of each row."
    spark = by(f"CAST(AVG(v) {LAST} AS INT)")
    duckdb = by(f"CAST(trunc(AVG(v) {LAST}) AS INT)")
    return _frame("RANGE, sums", asks, spark, by(f"AVG(v) {LAST}"), {DUCKDB: duckdb, POLARS: in_polars.frame_sums})


def _extremes() -> Question:
    sql = f"SELECT k, ts, MIN(v) {LAST} AS low, MAX(price) {LAST} AS high FROM events"
    asks = "A minimum and a maximum of the last 20 minutes of each row."
    return _frame("RANGE, extremes", asks, sql, sql, {DUCKDB: sql, POLARS: in_polars.frame_extremes})


def _rows(rows: int) -> Question:
    question = queries.over(rows)
    asks = f"A sum and a maximum of the last {rows} rows of each row."
    more = {HAND: question.queries[SPARK], POLARS: in_polars.frame_rows(rows)}
    return replace(question.also(f"ROWS, {rows}", asks, more), conf={**question.conf, HAND: TREE})


def _frame(name: str, asks: str, spark: str, flink: str, more: dict[str, Query]) -> Question:
    """A frame: Spark with its own settings and with the segment tree, ours in Flink's SQL.

    Flink compiles no RANGE of an interval in batch, so its own frame is one of microseconds.
    """
    micros = "CAST(TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', ts) AS BIGINT) * 1000000"
    whole = flink.replace("ORDER BY ts", "ORDER BY u").replace("INTERVAL '20' MINUTE", "1200000000")
    in_flink = whole.replace(
        "FROM events", f"FROM (SELECT *, {micros} + EXTRACT(MICROSECOND FROM ts) AS u FROM events)"
    )
    ours = translate(flink, "flink", schema=SCHEMA)
    found = {OURS: ours, SPARK: spark, HAND: spark, FLINK: in_flink, **more}
    return Question(name, 20, found, {OURS: TREE, HAND: TREE}, asks)
