"""OpenMLDB's rarer functions: the examples of its reference, over a frame that holds all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.lib.support import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_XYZ = (
    "(0, true, 'x'), (1, true, 'y'), (2, false, 'x'), (3, true, 'y'), (4, false, 'x'), (5, true, 'z'), (6, true, 'z')"
)
_FIVE = "(0, true, 'x'), (1, false, 'y'), (2, false, 'x'), (3, true, 'y'), (4, true, 'x')"
_RATIO = (
    "(0, true, 'x'), (2, true, 'x'), (4, true, 'x'), (1, true, 'y'), (3, false, 'y'), (5, true, 'z'), (6, true, 'z')"
)
_FALL = "(1, true, 'x'), (8, true, 'x'), (5, true, 'x'), (2, true, 'x'), (10, true, 'x'), (4, true, 'x')"

EXAMPLES = [
    (_FIVE, "sum_cate(v, c)", "x:6,y:4"),
    (_FIVE, "avg_cate(v, c)", "x:2.000000,y:2.000000"),
    (_FIVE, "min_cate(v, c)", "x:0,y:1"),
    (_FIVE, "max_cate(v, c)", "x:4,y:3"),
    (_FIVE, "count_cate(v, c)", "x:3,y:2"),
    (_FIVE, "sum_cate_where(v, b, c)", "x:4,y:3"),
    (_FIVE, "count_cate_where(v, b, c)", "x:2,y:1"),
    (_XYZ, "top_n_key_sum_cate_where(v, b, c, 2)", "z:11,y:4"),
    (_XYZ, "top_n_value_sum_cate_where(v, b, c, 2)", "z:11,y:4"),
    (_RATIO, "top_n_key_ratio_cate(v, b, c, 2)", "z:1.000000,y:0.500000"),
    (_RATIO, "top_n_value_ratio_cate(v, b, c, 2)", "z:1.000000,x:1.000000"),
    (_FIVE, "top(v, 3)", "4,3,2"),
    (_FIVE, "topn_frequency(c, 3)", "x,y,NULL"),
    (_FIVE, "top1_ratio(c)", 0.6),
    (_FIVE, "ew_avg(v, 0.5)", 6.125 / 1.9375),
    (_FALL, "drawdown(v)", 0.75),
    (_FIVE, "median(v)", 2.0),
    (_FIVE, "nth_value_where(v, 1, c = 'y')", 1),
    (_FIVE, "nth_value_where(v, -1, c = 'y')", 3),
    (_FIVE, "nth_value_where(v, 9, c = 'y')", None),
    (_FIVE, "distinct_count(c)", 2),
    (_FIVE, "sum_where(v, v > 2)", 7),
    (_FIVE, "min_where(v, v > 2)", 3),
    (_FIVE, "first_value(v)", 0),
    (_FIVE, "last_value(v)", 4),
    (_FIVE, "window_split(c, ',')", ["x", "y", "x", "y", "x"]),
]
FRAMES = {
    "rows": "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "rows_range": "ROWS_RANGE BETWEEN 100s PRECEDING AND CURRENT ROW",
    "exclude_time": "ROWS_RANGE BETWEEN 100s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME",
    "maxsize": "ROWS_RANGE BETWEEN 100s PRECEDING AND CURRENT ROW MAXSIZE 50 EXCLUDE CURRENT_TIME",
    "exclude_time_rows": "ROWS BETWEEN 50 PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME",
}


@pytest.mark.parametrize("ansi", sampled(["false", "true"], share=2), ids=["lenient", "ansi"])
@pytest.mark.parametrize("frame", FRAMES)
def test_examples_of_the_reference(spark: SparkSession, frame: str, ansi: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        for rows in dict.fromkeys(rows for rows, _, _ in EXAMPLES):
            calls = [(call, want) for of, call, want in EXAMPLES if of == rows]
            got = _newest(spark, rows, [call for call, _ in calls], FRAMES[frame])
            for (call, want), have in zip(calls, got, strict=True):
                assert have == (pytest.approx(want) if isinstance(want, float) else want), call
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "false")


_IN_ORDER = ("ew_avg", "drawdown", "nth_value_where", "first_value", "last_value", "window_split")


def test_examples_of_the_reference_in_groups(spark: SparkSession) -> None:
    examples = [example for example in EXAMPLES if not example[1].startswith(_IN_ORDER)]
    for typed in (True, False):
        for rows in dict.fromkeys(rows for rows, _, _ in examples):
            calls = [(call, want) for of, call, want in examples if of == rows]
            items = ", ".join(f"{call} AS y{i}" for i, (call, _) in enumerate(calls))
            _create(spark, rows)
            schema = {"examples": {"k": "int", "ts": "timestamp", "v": "int", "b": "boolean", "c": "string"}}
            for group in ("", " GROUP BY k HAVING count_where(v, v >= 0) > 1"):
                sql = f"SELECT {items} FROM examples{group}"
                got = spark.sql(translate(sql, "openmldb", schema=schema if typed else None)).collect()
                assert len(got) == 1
                for (call, want), have in zip(calls, got[0], strict=True):
                    assert have == (pytest.approx(want) if isinstance(want, float) else want), call
    spark.catalog.dropTempView("examples")


def _create(spark: SparkSession, rows: str) -> None:
    """The rows in their order, a second apart, as a view."""
    spark.sql(
        "SELECT 1 AS k, timestamp_seconds(monotonically_increasing_id()) AS ts, v, b, c "
        f"FROM (SELECT /*+ COALESCE(1) */ * FROM VALUES {rows} AS t(v, b, c))"
    ).createOrReplaceTempView("examples")


def _newest(spark: SparkSession, rows: str, calls: list[str], frame: str) -> list[Any]:
    """What calls over a frame give for the newest row."""
    _create(spark, rows)
    items = ", ".join(f"{call} OVER w AS y{i}" for i, call in enumerate(calls))
    sql = f"SELECT ts, {items} FROM examples WINDOW w AS (PARTITION BY k ORDER BY ts {frame})"
    found = spark.sql(translate(sql, "openmldb")).collect()
    spark.catalog.dropTempView("examples")
    return list(max(map(tuple, found)))[1:]
