"""Aggregates around each row of random tables: Spark gives what DuckDB's join of all rows within the window does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql.core.interval import Interval
from tests.lib.macros import macros
from tests.property.window_reference import HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AROUND = 1_635_640_200 * SECOND
"""Half an hour before the clocks of Berlin go back."""
COLUMNS = {
    "n": "count",
    "seen": ["count", "v"],
    "s": ["sum", "v + 1"],
    "least": ["min", "v"],
    "most": ["max", "v"],
    "ids": ["collect_set", "id"],
}
thorough = settings(
    max_examples=20, derandomize=True, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
)


class Row(NamedTuple):
    number: int
    k1: str | None
    k2: int | None
    time: int | None
    v: int | None
    id: int


class Case(NamedTuple):
    left: tuple[Row, ...]
    right: tuple[Row, ...]
    keys: int
    before: int
    after: int
    type: str
    zone: str


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    """Twelve pairs of tables at once, told apart by a key more; each with ties and NULLs."""
    unit = draw(st.sampled_from((250_000, SECOND, 7 * MINUTE, HOUR)))
    time = st.one_of(*[st.integers(-6, 6).map(lambda n: AROUND + n * unit)] * 5, st.none())
    rows = st.tuples(
        st.integers(0, 11),
        st.sampled_from(("a", "a", "b", None)),
        st.sampled_from((1, 1, 2, None)),
        time,
        st.one_of(st.none(), st.integers(-3, 3)),
    )

    def table() -> tuple[Row, ...]:
        found = draw(st.lists(rows, min_size=1, max_size=90))
        return tuple(Row._make((*row, i)) for i, row in enumerate(found))

    before = draw(st.sampled_from((-2, -1, 0, 1, 3)))
    after = draw(st.integers(-before, 4))
    kinds = draw(st.sampled_from(("timestamp", "timestamp_ntz")))
    zone = draw(st.sampled_from(("UTC", "Europe/Berlin")))
    return Case(table(), table(), draw(st.integers(0, 2)), before * unit, after * unit, kinds, zone)


def keys(case: Case) -> list[str]:
    return ["number", "k1", "k2"][: case.keys + 1]


def in_duckdb(connection: duckdb.DuckDBPyConnection, case: Case) -> list[tuple[Any, ...]]:
    for name, rows in (("l", case.left), ("r", case.right)):
        connection.execute(
            f"CREATE OR REPLACE TABLE {name} (number INT, k1 VARCHAR, k2 INT, time BIGINT, v INT, id INT)"
        )
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?)", rows)
    on = " AND ".join(f"l.{key} = r.{key}" for key in keys(case))
    found = connection.execute(
        "SELECT l.id, count(r.id), count(r.v), sum(r.v + 1), min(r.v), max(r.v), list(r.id) FILTER (r.id IS NOT NULL) "
        f"FROM l LEFT JOIN r ON {on} AND r.time BETWEEN l.time - ({case.before}) AND l.time + ({case.after}) "
        "GROUP BY l.id ORDER BY l.id"
    ).fetchall()
    return [(*row[:-1], sorted(row[-1] or [])) for row in found]


def view(spark: SparkSession, name: str, rows: Sequence[Row], type_: str) -> None:
    frame = spark.createDataFrame(list(rows), "number INT, k1 STRING, k2 INT, time BIGINT, v INT, id INT")
    # A TIMESTAMP_NTZ shows what UTC would: a time that no clock shows twice.
    ntz = "TIMESTAMP_NTZ'1970-01-01' + make_dt_interval(0, 0, 0, time / 1e6)"
    time = "timestamp_micros(time)" if type_ == "timestamp" else ntz
    frame.selectExpr("number", "k1", "k2", f"{time} AS ts", "v", "id").createOrReplaceTempView(name)


@pytest.mark.long
def test_spark_gives_what_duckdb_does(spark: SparkSession) -> None:
    connection = duckdb.connect()

    @thorough
    @given(cases())
    def test(case: Case) -> None:
        spark.conf.set("spark.sql.session.timeZone", case.zone)
        for name, rows in (("l", case.left), ("r", case.right)):
            view(spark, name, rows, case.type)
        lengths = [Interval(length).words() for length in (case.before, case.after)]
        sql = macros("spark").call("window_around", "l", "r", keys(case), "ts", "ts", *lengths, COLUMNS)
        frame = spark.sql(f"SELECT * FROM {sql}")
        assert frame.columns == ["number", "k1", "k2", "ts", "v", "id", *COLUMNS]
        found = frame.selectExpr("id", "n", "seen", "s", "least", "most", "sort_array(ids)").orderBy("id").collect()
        assert [tuple(row) for row in found] == in_duckdb(connection, case)

    try:
        test()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        for name in ("l", "r"):
            spark.catalog.dropTempView(name)
