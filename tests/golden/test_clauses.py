"""Clauses behind a SELECT's windows: each stays a clause of its own, wherever the rows of FROM are put."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.messages.diagnosis import version
from dbt.adapters.sparkstream.sql import TranslationError, translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TEN = "PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 10s PRECEDING AND CURRENT ROW"
_SUM = f"SELECT id, sum(n) OVER ({_TEN} EXCLUDE CURRENT_TIME) AS s FROM t"
_UNION = f"SELECT id, sum(n) OVER (UNION u {_TEN}) AS s FROM t"
_LIST = f"SELECT id, top(n, 2) OVER ({_TEN}) AS s FROM t"
_FIRST = "QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts DESC, id) = 1"

CASES = [
    (f"{_SUM} {_FIRST}", [(2, 5), (4, 7)]),
    (f"{_SUM} WHERE id > 1 {_FIRST}", [(2, 3), (4, 7)]),
    (f"{_SUM} WHERE id < 3 OR n < 0 QUALIFY s > 3 ORDER BY id LIMIT 5", [(2, 5)]),
    (f"{_SUM} WINDOW v AS (PARTITION BY k) QUALIFY count(*) OVER v > 1", [(1, 2), (2, 5), (3, 7)]),
    (f"{_SUM} QUALIFY count(*) OVER v > 1 WINDOW v AS (PARTITION BY k)", [(1, 2), (2, 5), (3, 7)]),
    (f"{_SUM} UNION ALL {_SUM} QUALIFY s > 3 ORDER BY id DESC LIMIT 3", [(3, 7), (4, 7), (4, 7)]),
    (f"{_SUM} |> WHERE s > 2", [(2, 5), (3, 7), (4, 7)]),
    # These windows become columns, and Spark takes QUALIFY beside a window alone.
    (f"{_UNION} QUALIFY s > 13", [(2, 15), (3, 20), (4, 14)]),
    (f"{_UNION} {_FIRST}", [(2, 15), (4, 14)]),
    (f"{_UNION} WHERE id > 1 QUALIFY sum(n) OVER (UNION u {_TEN}) > 13 OR id = 2", [(2, 13), (3, 18), (4, 14)]),
    (f"{_LIST} QUALIFY s = '3,2'", [(2, "3,2")]),
]
_KEPT = [
    ("LATERAL VIEW explode(array(1)) x AS y WHERE n > 2 DISTRIBUTE BY id SORT BY id", "DISTRIBUTE BY id SORT BY id"),
    ("WHERE n > 2 CLUSTER BY id", "CLUSTER BY id"),
    ("WHERE n > 2 LIMIT 4 OFFSET 2", "LIMIT 4 OFFSET 2"),
    ("WHERE n > 2 OFFSET 2", "OFFSET 2"),
    ("WHERE n > 2 FETCH FIRST 2 ROWS ONLY", "FETCH FIRST 2 ROWS ONLY"),
    ("WHERE n > 2 QUALIFY s > 3 ORDER BY id LIMIT 2", "QUALIFY s > 3 ORDER BY id LIMIT 2"),
    ("WHERE n > 2 ORDER BY id FETCH FIRST 2 ROWS ONLY", "ORDER BY id FETCH FIRST 2 ROWS ONLY"),
    ("WHERE n > 2 UNION ALL SELECT id, n FROM u SORT BY id", "UNION ALL SELECT id, n FROM u SORT BY id"),
    ("WHERE n > 2 |> WHERE n > 2 |> LIMIT 3", "|> WHERE n > 2 |> LIMIT 3"),
]  # fmt: skip


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    values = "(1, 'a', 0, 2), (2, 'a', 5, 3), (3, 'a', 5, 5), (4, 'b', 0, 7)"
    made = spark.sql(f"SELECT id, k, timestamp_seconds(at) AS ts, n FROM VALUES {values} AS v(id, k, at, n)")
    for name in ("t", "u"):
        made.createOrReplaceTempView(name)
    yield
    for name in ("t", "u"):
        spark.catalog.dropTempView(name)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(("sql", "expected"), CASES)
def test_rows(spark: SparkSession, sql: str, expected: list[tuple[object, ...]]) -> None:
    if "QUALIFY" in sql and version(spark.version) < (4, 2):
        pytest.skip("Spark has QUALIFY from 4.2 on")
    assert sorted(tuple(row) for row in spark.sql(translate(sql)).collect()) == expected


@pytest.mark.parametrize(("behind", "kept"), _KEPT)
def test_a_clause_stays_behind_the_rows(behind: str, kept: str) -> None:
    """WHERE goes to the rows, and what follows it stays behind the windows, as it is written."""
    made = translate(f"{_SUM} {behind}")
    assert made.endswith(f" {kept}")
    below = made.removesuffix(kept)
    assert below.count("WHERE n > 2") == 1
    assert not any(word in below for word in ("LIMIT", "OFFSET", "FETCH", "QUALIFY", "SORT BY", "CLUSTER BY", "|>"))


def test_a_pipe_holds_no_window_of_ours() -> None:
    with pytest.raises(TranslationError, match="can't stand behind") as raised:
        translate(f"FROM t |> EXTEND sum(n) OVER ({_TEN}) AS s |> WHERE s > 3")
    assert raised.value.column == len("FROM t |> EXTEND sum(n) OVER (")
