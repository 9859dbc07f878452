"""Sketches put together from those of slices: the same estimates as plain where Spark's own are always the same, and
estimates as good where they aren't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.lib.support import quick_session

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

BOUNDS = "window_start, window_end"
HOPS = "hop(sketched, ts, '1 minute', '20 minutes')"
CUMULATED = "cumulate(sketched, ts, '2 minutes', '1 hour')"
SESSIONS = "session(sketched PARTITION BY k, ts, '3 minutes')"
SCHEMA = {"sketched": {"ts": "timestamp", "k": "int", "v": "bigint", "d": "double", "f": "float"}}

EXACT = """\
theta_sketch_estimate(theta_sketch_agg(v)) AS theta, theta_sketch_estimate(theta_sketch_agg(v, 8)) AS small,
theta_sketch_estimate(theta_sketch_agg(v) FILTER (WHERE v % 3 = 0)) AS thirds,
bitmap_count(bitmap_construct_agg(bitmap_bit_position(v % 3000))) AS bits"""

GOOD = """\
hll_sketch_estimate(hll_sketch_agg(v)) AS hll,
CASE WHEN count(v) > 0 THEN kll_sketch_get_quantile_bigint(kll_sketch_agg_bigint(v), array(0.1D, 0.5D, 0.9D)) END AS b,
CASE WHEN count(d) > 0 THEN kll_sketch_get_quantile_double(kll_sketch_agg_double(d, 400), 0.5D) END AS d,
CASE WHEN count(f) > 0 THEN kll_sketch_get_quantile_float(kll_sketch_agg_float(f), 0.5D) END AS f"""

TRUE = """\
count(DISTINCT v) AS different, sort_array(collect_list(v)) AS vs, sort_array(collect_list(d)) AS ds"""


@pytest.fixture
def spark(embedded: SparkSession) -> SparkSession:
    if tuple(map(int, embedded.version.split(".")[:2])) < (4, 1):
        pytest.skip("Spark has KLL and Theta sketches from 4.1 on")
    return quick_session(embedded)


def make(spark: SparkSession, rows: int, seconds: int) -> None:
    """Rows in an hour or more, with gaps, NULLs and many of the same values."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.sql(
        f"SELECT timestamp_seconds((hash(id, 7) & 2147483647) % {seconds} DIV 90 * 90 + id % 60) AS ts, "
        "CAST(id % 3 AS INT) AS k, "
        "CASE WHEN id % 11 > 0 THEN CAST((hash(id) & 2147483647) % 30000 AS BIGINT) END AS v, "
        "CASE WHEN id % 13 > 0 THEN (hash(id, 1) & 2147483647) % 100000 / 8D END AS d, "
        f"CAST(id % 97 AS FLOAT) AS f FROM range({rows})"
    ).createOrReplaceTempView("sketched")


def rows(spark: SparkSession, sql: str, merged: str | None = None) -> list[Row]:
    """The rows of a query, put together from slices where `merged` says what has to stand in it, and plain else."""
    text = translate(sql, optimize=merged is not None, schema=SCHEMA)
    assert merged is None or (merged in text and "put together from slices" in text), text
    return spark.sql(f"SELECT * FROM (\n{text}\n) ORDER BY window_end, 1, 2").collect()


@pytest.mark.parametrize("window", [HOPS, CUMULATED, SESSIONS], ids=["hop", "cumulate", "session"])
def test_few_values_give_the_same(spark: SparkSession, window: str) -> None:
    make(spark, 90, 4000)
    keys = f"{BOUNDS}, k" if window == SESSIONS else BOUNDS
    sql = f"SELECT {keys}, {EXACT}, {GOOD} FROM {window} GROUP BY {keys}"
    found = rows(spark, sql, "kll_merge_agg_bigint")
    assert found == rows(spark, sql) and len(found) > 20
    assert any(row["b"] is not None for row in found)


@pytest.mark.full
@pytest.mark.parametrize("window", [HOPS, CUMULATED], ids=["hop", "cumulate"])
def test_many_values(spark: SparkSession, window: str) -> None:
    make(spark, 40_000, 7200)
    sql = f"SELECT {BOUNDS}, {EXACT} FROM {window} GROUP BY {BOUNDS}"
    exact = rows(spark, sql, "theta_union_agg")
    plain = rows(spark, sql)
    assert exact == plain
    good = rows(spark, f"SELECT {BOUNDS}, {GOOD} FROM {window} GROUP BY {BOUNDS}", "hll_union_agg")
    true = rows(spark, f"SELECT {BOUNDS}, {TRUE} FROM {window} GROUP BY {BOUNDS}")
    assert [row[:2] for row in good] == [row[:2] for row in true] and len(true) > 30
    largest = max(true, key=lambda row: row["different"])
    assert largest["different"] > 5000, "more than a sketch keeps"
    for one, other in zip(good, true, strict=True):
        # Five standard errors of an HLL sketch of this size.
        assert abs(one["hll"] - other["different"]) <= max(2, 0.08 * other["different"])
        for share, value in zip((0.1, 0.5, 0.9), one["b"], strict=True):
            assert abs(rank(other["vs"], value) - share) < 0.04
        assert abs(rank(other["ds"], one["d"]) - 0.5) < 0.03


def rank(values: list[Any], value: Any) -> float:
    """The share of values up to one."""
    return sum(v <= value for v in values) / len(values)


def test_sizes_that_can_not_be_merged() -> None:
    sql = f"SELECT {BOUNDS}, hll_sketch_agg(v, 14) AS h FROM {HOPS} GROUP BY {BOUNDS}"
    assert "put together from slices" not in translate(sql, schema=SCHEMA)
    assert "put together from slices" in translate(sql.replace("14", "12"), schema=SCHEMA)
    assert "put together from slices" not in translate(sql.replace("14", "12 + 0"), schema=SCHEMA)
    bits = sql.replace("hll_sketch_agg(v, 14)", "bitmap_construct_agg(v, 3)")
    assert "put together from slices" not in translate(bits, schema=SCHEMA)
