"""MATCH_RECOGNIZE with ways that are shared, and without."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.passes.match.query import _Search

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"k": "int", "ts": "timestamp_ntz", "v": "int"}
KEYS, ROWS = 40, 10
PATTERNS = ["A*? B*? C", "A+ B{1,3} C D", "A{1,2}? B*? C*? D", "A? B+? C{1,3}? D"]
CONDITIONS = {
    "A": ["A.v < 4", "A.v >= LAST(A.v, 1) OR LAST(A.v, 1) IS NULL", "SUM(A.v) < 9"],
    "B": ["B.v > A.v", "B.v <> LAST(B.v, 2) OR LAST(B.v, 2) IS NULL", "B.v > FIRST(A.v, 1) OR A.v IS NULL", "B.v > 1"],
    "C": ["C.v > LAST(B.v, 1)", "C.v > FIRST(v)", "C.v = FIRST(B.v) + 1", "C.v > 2"],
    "D": ["D.v > AVG(B.v)", "D.v > FIRST(A.v)", "D.v = 0 OR D.v = LAST(C.v, 1)", "D.v = 3"],
}
SKIPS = ["PAST LAST ROW", "TO NEXT ROW"]


def queries() -> list[str]:
    chance = random.Random(47)
    found = []
    for number, pattern in enumerate(PATTERNS * 2):
        defined = [name for name in CONDITIONS if name in pattern and (name > "B" or chance.random() < 0.6)]
        define = ", ".join(f"{name} AS {chance.choice(CONDITIONS[name])}" for name in defined)
        within = chance.choice(["", " WITHIN INTERVAL '6' SECOND"])
        found.append(
            "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.v) AS a, LAST(A.ts) AS la, "
            "FIRST(B.ts) AS fb, SUM(B.v) AS b, C.ts AS c, COUNT(C.v) AS n, MATCH_ROWTIME() AS ended "
            f"ONE ROW PER MATCH AFTER MATCH SKIP {SKIPS[number % 2]} PATTERN ({pattern}){within} DEFINE {define}) AS m"
        )
    return found


def test_shared_ways_give_the_same_matches(embedded: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(6)
    rows = [(k, i, chance.choice([None, *range(6)])) for k in range(KEYS) for i in range(ROWS)]
    spark = embedded.newSession()
    data = spark.createDataFrame(rows, "k int, i int, v int")
    data.selectExpr("k", "CAST(timestamp_seconds(i) AS timestamp_ntz) AS ts", "v").createOrReplaceTempView("t")

    def found(sql: str) -> list[str]:
        return sorted(map(str, spark.sql(translate(sql, "flink", schema={"t": TYPES})).collect()))

    shared = [found(sql) for sql in queries()]
    assert sum(map(len, shared)) > 200
    monkeypatch.setattr(_Search, "_next", _Search._ways)
    for sql, matches in zip(queries(), shared, strict=True):
        assert "AS same" not in translate(sql, "flink", schema={"t": TYPES})
        assert found(sql) == matches, sql


def test_ways_that_differ_are_bounded(embedded: SparkSession) -> None:
    """Of ways that are not shared, a row of 300 would leave as many as there are pairs of earlier rows."""
    spark = embedded.newSession()
    spark.sql(
        "SELECT 1 AS k, CAST(timestamp_seconds(id) AS timestamp_ntz) AS ts, CAST(id AS int) AS v FROM range(300)"
    ).createOrReplaceTempView("t")

    def found(define: str, most: int) -> list[tuple[int, int]]:
        sql = (
            "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(v) AS s, C.v AS c "
            f"AFTER MATCH SKIP PAST LAST ROW PATTERN (A*? B*? C) DEFINE {define}) AS m"
        )
        written = translate(sql, "flink", schema={"t": TYPES}, max_partial_matches=most)
        return [(row.s, row.c) for row in spark.sql(written).collect()]

    assert found("C AS C.v = 250", 900) == [(0, 250)]
    with pytest.raises(Exception, match=r"more than 400 partial matches at once: PATTERN \(A\*\? B\*\? C\)") as error:
        found("C AS C.v = 250", 400)
    assert "max_partial_matches" in str(error.value)
    with pytest.raises(Exception, match="more than 900 partial matches"):
        found("B AS B.v > FIRST(A.v), C AS C.v = 250 + SUM(B.v) - SUM(B.v)", 900)
