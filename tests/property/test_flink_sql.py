"""Flink SQL on random tables against Spark SQL written by hand: table functions, groupings, joins, Top-N, OVER.

The hand-written side says each construct in another way than the translator does: bounds by integer arithmetic on
seconds, joins on window numbers, ranks by counting.
"""

# ruff: noqa: E501
from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": "int", "k": "string", "g": "int", "v": "int", "ts": "timestamp_ntz"}
SCHEMA = {"l": COLUMNS, "r": COLUMNS}

# Seconds since 1970 of each row, of the start of its five minutes and of the starts of its hops; on both tables.
HAND = """
WITH ls AS (SELECT *, unix_seconds(CAST(ts AS TIMESTAMP)) AS s FROM l WHERE ts IS NOT NULL),
     rs AS (SELECT *, unix_seconds(CAST(ts AS TIMESTAMP)) AS s FROM r WHERE ts IS NOT NULL),
     lt AS (SELECT *, s - pmod(s, 300) AS w FROM ls),
     rt AS (SELECT *, s - pmod(s, 300) AS w FROM rs),
     lh AS (SELECT *, explode(array(s - pmod(s, 120), s - pmod(s, 120) - 120, s - pmod(s, 120) - 240)) AS w FROM ls),
     lc AS (SELECT *, s - pmod(s, 600) AS w, explode(sequence(1, 5)) AS n FROM ls)
"""
L = "(SELECT * FROM TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) L"
R = "(SELECT * FROM TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) R"
SAME = "L.window_start = R.window_start AND L.window_end = R.window_end"


def at(seconds: str) -> str:
    return f"CAST(timestamp_seconds({seconds}) AS TIMESTAMP_NTZ)"


def join(kind: str) -> tuple[str, str]:
    return (
        f"SELECT L.id AS lid, R.id AS rid, L.window_start AS lw, R.window_end AS rw FROM {L} {kind} {R} "
        f"ON L.k = R.k AND {SAME}",
        f"{HAND} SELECT a.id, b.id, {at('a.w')}, {at('b.w + 300')} FROM lt a {kind} rt b ON a.k = b.k AND a.w = b.w",
    )


def grouping(flink: str, hand: str) -> tuple[str, str]:
    return (
        "SELECT window_start, k, g, COUNT(*) AS n, SUM(v) AS s FROM TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '5' MINUTE) "
        f"GROUP BY window_start, window_end, {flink}",
        " UNION ALL ".join(
            f"SELECT {at('w')}, {'k' if 'k' in keys else 'NULL'}, {'g' if 'g' in keys else 'NULL'}, count(*), "
            f"CAST(sum(v) AS INT) FROM (SELECT *, s - pmod(s, 300) AS w FROM (SELECT *, "
            f"unix_seconds(CAST(ts AS TIMESTAMP)) AS s FROM l WHERE ts IS NOT NULL)) GROUP BY w{''.join(', ' + x for x in keys)}"
            for keys in hand.split("|")
        ),
    )


PAIRS = {
    "tumble": (
        "SELECT * FROM TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
        f"{HAND} SELECT id, k, g, v, ts, {at('w')}, {at('w + 300')}, {at('w + 300')} - INTERVAL '0.001' SECOND FROM lt",
    ),
    "hop": (
        "SELECT k, window_start, window_end, COUNT(*) AS n, MAX(v) AS m "
        "FROM HOP(TABLE l, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '5' MINUTE) GROUP BY k, window_start, window_end",
        f"{HAND} SELECT k, {at('w')}, {at('w + 300')}, count(*), max(v) FROM lh WHERE s < w + 300 GROUP BY k, w",
    ),
    "cumulate": (
        "SELECT window_start, window_end, COUNT(v) AS n, MIN(id) AS m "
        "FROM CUMULATE(TABLE l, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE) GROUP BY window_start, window_end",
        f"{HAND} SELECT {at('w')}, {at('w + 120 * n')}, count(v), min(id) FROM lc WHERE s < w + 120 * n GROUP BY w, n",
    ),
    "session": (
        "SELECT k, window_start, window_end, COUNT(*) AS n FROM SESSION(TABLE l PARTITION BY k, DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE) GROUP BY k, window_start, window_end",
        "SELECT k, session_window.start, session_window.end, count(*) FROM l "
        "WHERE ts IS NOT NULL GROUP BY k, session_window(ts, '1 minute')",
    ),
    "group tumble": (
        "SELECT g, TUMBLE_START(ts, INTERVAL '5' MINUTE) AS w, COUNT(*) AS n FROM l GROUP BY g, TUMBLE(ts, INTERVAL '5' MINUTE)",
        f"{HAND} SELECT g, {at('w')}, count(*) FROM lt GROUP BY g, w",
    ),
    "grouping sets": grouping("GROUPING SETS ((k, g), (k), ())", "kg|k|"),
    "rollup": grouping("ROLLUP (k, g)", "kg|k|"),
    "cube": grouping("CUBE (k, g)", "kg|k|g|"),
    **{kind.lower(): join(kind) for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")},
    "semi in": (
        f"SELECT id FROM {L} WHERE L.g IN (SELECT g FROM {R} WHERE {SAME})",
        f"{HAND} SELECT id FROM lt WHERE (SELECT count(*) FROM rt WHERE rt.w = lt.w AND rt.g = lt.g) > 0",
    ),
    "semi exists": (
        f"SELECT id FROM {L} WHERE EXISTS (SELECT * FROM {R} WHERE L.k = R.k AND {SAME})",
        f"{HAND} SELECT id FROM lt WHERE (SELECT count(*) FROM rt WHERE rt.w = lt.w AND rt.k = lt.k) > 0",
    ),
    "anti in": (
        f"SELECT id FROM {L} WHERE L.g NOT IN (SELECT g FROM {R} WHERE {SAME})",
        f"{HAND} SELECT id FROM lt WHERE coalesce((SELECT count(*) FROM rt WHERE rt.w = lt.w), 0) = 0 OR (lt.g IS NOT NULL "
        "AND coalesce((SELECT count_if(rt.g IS NULL) FROM rt WHERE rt.w = lt.w), 0) = 0 "
        "AND coalesce((SELECT count(*) FROM rt WHERE rt.w = lt.w AND rt.g = lt.g), 0) = 0)",
    ),
    "anti exists": (
        f"SELECT id FROM {L} WHERE NOT EXISTS (SELECT * FROM {R} WHERE L.k = R.k AND {SAME})",
        f"{HAND} SELECT id FROM lt WHERE coalesce((SELECT count(*) FROM rt WHERE rt.w = lt.w AND rt.k = lt.k), 0) = 0",
    ),
    "top n": (
        "SELECT id, window_start, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, id)"
        " AS rn FROM TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) WHERE rn <= 2",
        f"{HAND}, ranked AS (SELECT a.id, a.w, count_if(coalesce(b.v, -1) > coalesce(a.v, -1) OR "
        "(coalesce(b.v, -1) = coalesce(a.v, -1) AND b.id <= a.id)) AS rn FROM lt a JOIN lt b ON a.w = b.w GROUP BY a.id, a.w) "
        f"SELECT id, {at('w')}, CAST(rn AS INT) FROM ranked WHERE rn <= 2",
    ),
    "over range": (
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '3' MINUTE PRECEDING AND CURRENT ROW) AS s, "
        "AVG(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '3' MINUTE PRECEDING AND CURRENT ROW) AS a "
        "FROM l WHERE ts IS NOT NULL",
        f"{HAND} SELECT a.id, CAST(sum(b.v) AS INT), CAST(sum(b.v) DIV count(b.v) AS INT) FROM ls a JOIN ls b "
        "ON a.k <=> b.k AND b.s BETWEEN a.s - 180 AND a.s GROUP BY a.id",
    ),
}  # fmt: skip


def make_table(spark: SparkSession, name: str, seed: int, rows: int) -> None:
    """A table full of ties, NULLs, gaps and duplicates, around 1970 and in 2020."""
    draw = random.Random(seed)
    values = []
    for i in range(rows):
        base = draw.choice((0, 1_586_937_900))
        seconds = base + draw.choice(
            (draw.randrange(-900, 900), draw.randrange(-5, 6) * 60, draw.randrange(-3, 4) * 300)
        )
        time = "NULL" if draw.random() < 0.1 else f"CAST(timestamp_seconds({seconds}) AS TIMESTAMP_NTZ)"
        key = draw.choice(("NULL", "'a'", "'b'", "'c'", "''"))
        number = draw.choice(("NULL", "1", "2", "3"))
        values.append(f"({i}, {key}, {number}, {draw.choice(('NULL', str(draw.randrange(50))))}, {time})")
    body = ", ".join(values)
    spark.sql(
        "SELECT CAST(id AS INT) AS id, CAST(k AS STRING) AS k, CAST(g AS INT) AS g, CAST(v AS INT) AS v, "
        f"CAST(ts AS TIMESTAMP_NTZ) AS ts FROM (VALUES {body}) AS x(id, k, g, v, ts)"
    ).createOrReplaceTempView(name)


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=1, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10_000), rows=st.integers(80, 120))
def test_flink_sql_gives_the_rows_of_hand_written_sql(spark: SparkSession, name: str, seed: int, rows: int) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    make_table(spark, "l", seed, rows)
    make_table(spark, "r", seed + 1, rows)
    flink, hand = PAIRS[name]
    translated = spark.sql(translate(flink, dialect="flink", schema=SCHEMA))
    want = sorted(map(str, map(tuple, spark.sql(hand).collect())))
    got = sorted(map(str, map(tuple, translated.collect())))
    assert want, "the random tables give this query no rows"
    assert got == want
