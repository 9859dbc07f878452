"""MATCH_RECOGNIZE on streams: matches of the rows of each micro-batch and the kept ones are the matches of all rows."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.streaming.endings import SO_FAR, UNTIL, OnMatches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"k": "int", "ts": "timestamp", "id": "int", "v": "int"}
COLUMNS = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
KEYS, ROWS, SPREAD = 60, 25, 100

PATTERNS = [
    "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.v > A.v",
    "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) WITHIN INTERVAL '15' SECOND "
    "DEFINE B AS B.v < A.v, C AS C.v > LAST(B.v)",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (A B* C) WITHIN INTERVAL '12' SECOND DEFINE A AS A.v > 1, B AS B.v < 4, "
    "C AS C.v >= 3",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (A B*? C) DEFINE A AS A.v = 4, C AS C.v = 3",
    "AFTER MATCH SKIP TO LAST B PATTERN (A B+ C) WITHIN INTERVAL '20' SECOND DEFINE A AS A.v > 2, B AS B.v <= 3, "
    "C AS C.v > 2 AND SUM(B.v) > 4",
    "AFTER MATCH SKIP TO FIRST B PATTERN (A B{2} C? D) WITHIN INTERVAL '30' SECOND DEFINE B AS B.v <> A.v, "
    "C AS C.v = 0, D AS D.v > AVG(B.v)",
    "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B{1,3} C) DEFINE A AS A.v < 3, B AS B.v >= LAST(B.v, 1) OR "
    "LAST(B.v, 1) IS NULL, C AS C.v = 1",
]


def matched(pattern: str) -> str:
    return (
        "SELECT k, a, b, n, ended FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES A.id AS a, "
        f"LAST(B.id) AS b, COUNT(B.v) AS n, MATCH_ROWTIME() AS ended ONE ROW PER MATCH {pattern}) AS m"
    )


@pytest.mark.full
def test_matches_of_micro_batches_are_those_of_all_rows(embedded: SparkSession) -> None:
    """Of random rows of many keys, with ties and NULLs, cut in random places."""
    chance = random.Random(7)
    rows = [
        (k, chance.randrange(SPREAD), k * ROWS + i, chance.choice([None, *range(6)]))
        for k in range(KEYS)
        for i in range(ROWS)
    ]
    # After the last micro-batch, no match waits for a way that WITHIN ends.
    cuts = [0, *sorted(chance.sample(range(1, SPREAD), 4)), SPREAD, SPREAD + 60]
    spark = embedded.newSession()
    data = spark.createDataFrame(rows, "k int, at int, id int, v int").selectExpr(
        "k", "timestamp_seconds(1000 + at) AS ts", "id", "v", "at"
    )
    data.cache()
    data.drop("at").createOrReplaceTempView("events")
    for pattern in PATTERNS:
        sql = matched(pattern)
        ending = plan(sql, "flink", streams=["events"], schema={"events": TYPES}).ending
        assert isinstance(ending, OnMatches)
        kept, found = spark.createDataFrame([], COLUMNS), []
        for since, until in itertools.pairwise(cuts):
            new = data.where(f"at >= {since} AND at < {until}").drop("at")
            kept.unionByName(new).createOrReplaceTempView(SO_FAR)
            spark.sql(f"SELECT timestamp_seconds({1000 + until}) AS until_at").createOrReplaceTempView(UNTIL)
            spark.sql(ending.closed).createOrReplaceTempView("__closed_rows")
            found += spark.sql(ending.query).collect()
            left = spark.sql(ending.kept)
            kept = spark.createDataFrame(left.collect(), left.schema)
        batch = spark.sql(translate(sql, "flink", schema={"events": TYPES})).collect()
        assert len(batch) > KEYS / 6, pattern
        assert sorted(found, key=str) == sorted(batch, key=str), pattern
        if "WITHIN" in pattern:
            assert kept.count() == 0, pattern
