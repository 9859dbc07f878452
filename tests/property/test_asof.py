"""Joins as of a time of random tables: the definition, DuckDB, pandas and Spark give the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import translate
from tests.lib.macros import macros
from tests.property.asof_reference import AsOf, Row
from tests.property.window_reference import DAY, HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sides = tuple[tuple[Row, ...], tuple[Row, ...]]
Pairs = Counter[tuple[int, int | None]]

UNITS = (1, 250_000, SECOND, 7 * MINUTE, HOUR)
AROUND = (0, -(DAY + 17 * MINUTE), 1_586_937_900 * SECOND, 1_635_640_200 * SECOND)
"""1970, before it, 2020-04-15 08:05, and half an hour before the clocks of Berlin go back, in UTC."""
quick = settings(deadline=None, phases=(Phase.explicit, Phase.generate, Phase.shrink))
thorough = settings(
    max_examples=25, derandomize=True, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
)


@st.composite
def sides(draw: Callable[..., Any]) -> Sides:
    unit, around = draw(st.sampled_from(UNITS)), draw(st.sampled_from(AROUND))
    times = st.one_of(*[st.integers(-6, 6).map(lambda n: around + n * unit)] * 5, st.none())

    def rows(most: int) -> tuple[Row, ...]:
        made = st.tuples(
            st.sampled_from(("a", "a", "b", None)),
            st.sampled_from((1, 1, 2, None)),
            times,
            st.one_of(st.none(), st.integers(-3, 3)),
        )
        found = draw(st.lists(made, max_size=most))
        found += found[: draw(st.integers(0, 2))]
        return tuple(Row._make((*each, number)) for number, each in enumerate(found))

    return rows(9), rows(9)


joins = st.builds(
    AsOf,
    direction=st.sampled_from(("backward", "forward", "nearest")),
    exact=st.booleans(),
    tolerance=st.one_of(st.none(), st.sampled_from((0, 500_000, SECOND, 7 * MINUTE, 2 * HOUR))),
    inner=st.booleans(),
    keys=st.integers(0, 2),
)


# -- other systems ---------------------------------------------------------------------------------------
def one_per_time(join: AsOf, rows: Sequence[Row]) -> list[Row]:
    """The right rows of which each key and time has one, as other systems don't say which of several they take."""
    best: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: (row.v is not None, row.v or 0, row.id)):
        best[row[: join.keys], row.time] = row
    return list(best.values())


def in_pandas(join: AsOf, left: Sequence[Row], right: Sequence[Row]) -> Pairs:
    """What pandas.merge_asof gives, which has no NULL times, takes NULL keys for equal and has no inner join."""
    by = ["k1", "k2"][: join.keys]

    def frame(rows: Sequence[Row]) -> pd.DataFrame:
        named = (r for r in rows if r.time is not None and None not in r[: join.keys])
        made = pd.DataFrame(named, columns=Row._fields).astype({"time": "int64", "id": "int64"})
        return made.astype(dict(zip(by, ("object", "int64"), strict=False))).sort_values("time")

    merged = pd.merge_asof(
        frame(left)[[*by, "time", "id"]],
        frame(one_per_time(join, right))[[*by, "time", "id"]].rename(columns={"id": "found"}),
        on="time",
        by=by or None,
        direction=join.direction,
        allow_exact_matches=join.exact,
        tolerance=join.tolerance,
    )
    met = dict(zip(merged["id"], merged["found"], strict=True))
    pairs = ((row.id, None if pd.isna(met.get(row.id)) else int(met[row.id])) for row in left)
    return Counter(pair for pair in pairs if pair[1] is not None or not join.inner)


def in_duckdb(connection: duckdb.DuckDBPyConnection, join: AsOf, left: Sequence[Row], right: Sequence[Row]) -> Pairs:
    """What DuckDB's ASOF JOIN gives, which has neither a tolerance nor the nearest row."""
    for name, rows in (("l", left), ("r", one_per_time(join, right))):
        connection.execute(f"CREATE OR REPLACE TABLE {name} (k1 VARCHAR, k2 INT, time BIGINT, v INT, id INT)")
        if rows:
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)", rows)
    sign = (">" if join.direction == "backward" else "<") + ("=" if join.exact else "")
    on = " AND ".join([f"l.time {sign} r.time", *(f"l.{key} = r.{key}" for key in ("k1", "k2")[: join.keys])])
    kind = "" if join.inner else "LEFT"
    return Counter(connection.execute(f"SELECT l.id, r.id FROM l ASOF {kind} JOIN r ON {on}").fetchall())


@quick
@given(joins, sides())
def test_the_definition_is_what_pandas_does(join: AsOf, tables: Sides) -> None:
    assert Counter(join.rows(*tables)) == in_pandas(join, *tables)


def test_the_definition_is_what_duckdb_does() -> None:
    connection = duckdb.connect()

    @quick
    @given(joins.filter(lambda join: join.direction != "nearest"), sides())
    def test(join: AsOf, tables: Sides) -> None:
        join = replace(join, tolerance=None)
        assert Counter(join.rows(*tables)) == in_duckdb(connection, join, *tables)

    test()


# -- Spark -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Batch:
    """Tables that one query joins, each by its number, which is a key more."""

    join: AsOf
    tables: tuple[Sides, ...]
    numbered: bool
    type: str
    zone: str
    ties: str | None


@st.composite
def batches(draw: Callable[..., Any]) -> Batch:
    numbered = draw(st.sampled_from((True, True, True, False)))
    made = st.lists(sides(), min_size=12 if numbered else 1, max_size=12 if numbered else 1)
    return Batch(
        draw(joins),
        tuple(draw(made)),
        numbered,
        draw(st.sampled_from(("timestamp", "timestamp_ntz"))),
        draw(st.sampled_from(("UTC", "Europe/Berlin"))),
        draw(st.sampled_from((None, "v, id"))),
    )


def literal(value: object, type_: str) -> str:
    if value is None:
        return f"CAST(NULL AS {type_})"
    return f"'{value}'" if isinstance(value, str) else str(value)


def view(spark: SparkSession, batch: Batch, side: int) -> None:
    """A temporary view of the rows of one side, with the numbers of their tables."""
    types = ("STRING", "INT", "BIGINT", "INT", "INT")
    rows = [
        f"({number}, {', '.join(map(literal, row, types))})"
        for number, tables in enumerate(batch.tables)
        for row in tables[side]
    ]
    none = ", ".join(f"CAST(NULL AS {type_})" for type_ in types)
    # A time that no clock shows twice: a TIMESTAMP_NTZ shows what UTC would.
    micros = "timestamp_micros(time)"
    time = micros if batch.type == "timestamp" else "TIMESTAMP_NTZ'1970-01-01' + make_dt_interval(0, 0, 0, time / 1e6)"
    name, column = (("l", "ts"), ("r", "at"))[side]
    spark.sql(
        f"SELECT number, k1, k2, {time} AS {column}, v, id FROM VALUES "
        f"{', '.join([*rows, f'(-1, {none})'])} AS t(number, k1, k2, time, v, id) "
        "WHERE number >= 0"
    ).createOrReplaceTempView(name)


def call(batch: Batch) -> str:
    """The macro's SQL."""
    join = batch.join
    on = [*(["number"] if batch.numbered else []), *("k1", "k2")[: join.keys]]
    tolerance = None if join.tolerance is None else f"{join.tolerance / SECOND} seconds"
    return str(
        macros("spark").call(
            *("asof_join", "l", "r", on, "ts", "at"),
            direction=join.direction,
            tolerance=tolerance,
            allow_exact=join.exact,
            type="inner" if join.inner else "left",
            columns={"id": "found", "v": "met"} if batch.ties else None,
            ties=batch.ties.split(", ") if batch.ties else None,
        )
    )


def expected(batch: Batch) -> Iterator[tuple[int, int, int | None]]:
    for number, tables in enumerate(batch.tables):
        yield from ((number, *pair) for pair in batch.join.rows(*tables))


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    for name in ("l", "r"):
        spark.catalog.dropTempView(name)


@pytest.mark.long
def test_spark_gives_the_rows_of_the_definition(session: SparkSession) -> None:
    @thorough
    @given(batches())
    def test(batch: Batch) -> None:
        session.conf.set("spark.sql.session.timeZone", batch.zone)
        for side in (0, 1):
            view(session, batch, side)
        frame = session.sql(f"SELECT * FROM {call(batch)}")
        names = frame.columns
        left = ["number", "k1", "k2", "ts", "v", "id"]
        assert names[: len(left)] == left
        assert dict(frame.dtypes)["ts"] == batch.type
        found = len(left) if batch.ties else len(names) - 1
        assert names[found] == ("found" if batch.ties else "id")
        rows = frame.toDF(*map(str, range(len(names)))).select("0", "5", str(found)).collect()
        assert Counter(map(tuple, rows)) == Counter(expected(batch)), call(batch)

    test()


def keys_of(batch: Batch) -> list[str]:
    return [*(["number"] if batch.numbered else []), *("k1", "k2")[: batch.join.keys]]


def with_one_per_time(batch: Batch, join: AsOf) -> Batch:
    """Tables for a join that doesn't say which of several rows of a time it takes."""
    tables = tuple((left, tuple(one_per_time(join, right))) for left, right in batch.tables)
    return replace(batch, join=join, tables=tables)


def translated(session: SparkSession, sql: str, dialect: str) -> str:
    text = translate(sql, dialect, schema={name: dict(session.table(name).dtypes) for name in "lr"})
    assert "in order of time" in text
    return text


def last_join(batch: Batch) -> str:
    """An OpenMLDB query that gives the numbers of each left row and of its match."""
    on = [*(f"l.{key} = r.{key}" for key in keys_of(batch)), f"l.ts {'>=' if batch.join.exact else '>'} r.at"]
    return f"SELECT l.number, l.id, r.id AS found FROM l LAST JOIN r ORDER BY r.at ON {' AND '.join(on)}"


def asof_join(batch: Batch) -> str:
    """The same of Spark 4.3's ASOF JOIN."""
    join = batch.join
    sign = (">" if join.direction == "backward" else "<") + ("=" if join.exact else "")
    equal = "IS NOT DISTINCT FROM" if join.null_keys else "="
    on = " AND ".join(f"l.{key} {equal} r.{key}" for key in keys_of(batch))
    return (
        f"SELECT l.number, l.id, r.id AS found FROM l {'' if join.inner else 'LEFT '}ASOF JOIN r "
        f"MATCH_CONDITION (l.ts {sign} r.at){f' ON {on}' if on else ''}"
    )


@pytest.mark.long
def test_a_last_join_back_in_time_gives_the_rows_of_the_definition(session: SparkSession) -> None:
    @thorough
    @given(batches())
    def test(batch: Batch) -> None:
        join = replace(batch.join, direction="backward", tolerance=None, inner=False, null_keys=True)
        batch = with_one_per_time(batch, join)
        session.conf.set("spark.sql.session.timeZone", batch.zone)
        for side in (0, 1):
            view(session, batch, side)
        sql = translated(session, last_join(batch), "openmldb")
        assert Counter(map(tuple, session.sql(sql).collect())) == Counter(expected(batch)), sql

    test()


def test_an_asof_join_gives_the_rows_of_the_definition_and_of_spark(session: SparkSession) -> None:
    @thorough
    @given(batches().filter(lambda batch: batch.join.direction != "nearest"), st.booleans())
    def test(batch: Batch, null_keys: bool) -> None:
        batch = with_one_per_time(batch, replace(batch.join, tolerance=None, null_keys=null_keys))
        session.conf.set("spark.sql.session.timeZone", batch.zone)
        for side in (0, 1):
            view(session, batch, side)
        sql = translated(session, asof_join(batch), "spark")
        assert Counter(map(tuple, session.sql(sql).collect())) == Counter(expected(batch)), sql
        if own and not null_keys:
            assert Counter(map(tuple, session.sql(asof_join(batch)).collect())) == Counter(expected(batch))

    own = session.version >= "4.3"
    session.conf.set("spark.sql.join.asofJoin.enabled", own)
    try:
        test()
    finally:
        session.conf.unset("spark.sql.join.asofJoin.enabled")
