"""Sums over sliding frames from running sums: the rows, names and types of the frames themselves, on random tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import explain, translate
from dbt.adapters.sparkstream.sql.passes.optimize import oversums
from dbt.adapters.sparkstream.sql.statement import Statement
from tests.property.test_windows import BEFORE_1970, CLOCK_CHANGES, DAY, HOUR, MINUTE, MS, SECOND, thorough

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = {
    "numbers": {
        "id": "int", "k": "string", "ts": "timestamp", "wall": "timestamp_ntz", "day": "date",
        "v": "int", "b": "bigint", "m": "decimal(10,2)", "x": "decimal(14,4)", "wide": "decimal(27,4)",
        "t": "tinyint",
    }
}  # fmt: skip
AGGREGATES = (
    "count(*) OVER w AS n, count(v) OVER w AS nv, count(v, m) OVER w AS both, count_if(v > 0) OVER w AS up,"
    " sum(v) OVER w AS v, sum(b) OVER w AS b, sum(b + v) OVER w AS bv,"
    " sum(m) OVER w AS m, avg(m) OVER w AS am, sum(x) OVER w AS x, avg(x) OVER w AS ax,"
    " sum(wide) OVER w AS wide, sum(t + v) OVER w AS tv,"
    " avg(v) OVER w AS av, mean(t) OVER w AS at, -sum(v * 2) OVER w + 1 AS twice"
)
LENGTHS = (0, 1, MS, 5 * SECOND, 5 * MINUTE, HOUR, HOUR + 1, DAY - 1, DAY, DAY + HOUR)
EXTREMES = (2**31 - 1, -(2**31), 2**31 - 2, 32_768)
LARGE = (2**63 - 1, -(2**63), 2**62, 2**62 - 1, -1, -(2**62), -(2**62), -1)
"""BIGINTs of which any two neighbours have a sum that fits, also the largest and the least, and some three haven't."""


@dataclass(frozen=True)
class Table:
    """Rows in a time zone, and the frames that are asked of them."""

    zone: str
    rows: tuple[tuple[int | None, str | None, int | None, int | None], ...]
    windows: tuple[str, ...]


def bounds(draw: Callable[..., Any], lengths: st.SearchStrategy[int], written: Callable[[int], str]) -> str:
    """A start that is bounded, and an end."""

    def text(at: int) -> str:
        return "CURRENT ROW" if at == 0 else f"{written(abs(at))} {'PRECEDING' if at < 0 else 'FOLLOWING'}"

    start, end = sorted((draw(lengths), draw(lengths)))
    return f"BETWEEN {text(start)} AND {draw(st.sampled_from((text(end), text(end), 'UNBOUNDED FOLLOWING')))}"


@st.composite
def windows(draw: Callable[..., Any]) -> str:
    order = draw(st.sampled_from(("", "", "", " DESC", " DESC NULLS FIRST", " NULLS LAST")))
    key = draw(st.sampled_from(("ts", "ts", "wall", "day", "rows", "rows", "unix_millis(ts)")))
    sign = st.sampled_from((-1, -1, 1))
    if key == "rows":
        frame = bounds(draw, st.integers(-9, 9), str)
        return f"PARTITION BY k ORDER BY ts{order}, id ROWS {frame}"
    if key == "day":
        frame = bounds(draw, st.integers(-2, 2), lambda n: f"INTERVAL '{n}' DAY")
    elif key == "unix_millis(ts)":
        frame = bounds(draw, st.builds(int.__mul__, sign, st.sampled_from((0, 1, 999, 300_000, 86_400_000))), str)
    else:
        lengths = st.builds(int.__mul__, sign, st.sampled_from(LENGTHS))
        frame = bounds(draw, lengths, lambda n: f"INTERVAL '{n // SECOND}.{n % SECOND:06}' SECOND")
    return f"PARTITION BY k ORDER BY {key}{order} RANGE {frame}"


@st.composite
def tables(draw: Callable[..., Any]) -> Table:
    zone = draw(st.sampled_from(list(CLOCK_CHANGES)))
    around = draw(st.sampled_from((0, BEFORE_1970, *CLOCK_CHANGES[zone] * 2)))
    near = st.builds(
        lambda units, unit, nudge: around + units * unit + nudge,
        st.integers(-6, 6),
        st.sampled_from((MS, SECOND, MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY)),
        st.sampled_from((0, 0, 0, 1, -1)),
    )
    row = st.tuples(
        st.one_of(near, near, near, st.none()),
        st.sampled_from((None, "a", "a", "b")),
        st.one_of(st.none(), st.integers(-9, 9), st.sampled_from(EXTREMES)),
        st.one_of(st.none(), st.integers(-9, 9)),
    )
    rows = draw(st.lists(row, min_size=8, max_size=40))
    return Table(zone, (*rows, rows[0], rows[0]), tuple(draw(st.lists(windows(), min_size=8, max_size=8))))


def make(spark: SparkSession, table: Table, *, large: bool = False) -> None:
    """The view `numbers` of a table's rows.

    Args:
        large: True if their last values are no numbers for its DECIMALs and TINYINT.
    """
    others = "1" if large else "b"
    spark.conf.set("spark.sql.session.timeZone", table.zone)

    def value(number: int | str | None) -> str:
        if isinstance(number, int):
            return f"CAST({number}BD AS BIGINT)"
        return "NULL" if number is None else repr(number)

    values = ", ".join(f"({i}, {', '.join(map(value, row))})" for i, row in enumerate(table.rows))
    spark.sql(
        "SELECT id, CAST(k AS STRING) AS k, timestamp_micros(CAST(ts AS BIGINT)) AS ts,"
        " CAST(timestamp_micros(CAST(ts AS BIGINT)) AS TIMESTAMP_NTZ) AS wall,"
        " CAST(timestamp_micros(CAST(ts AS BIGINT)) AS DATE) AS day, CAST(v AS INT) AS v, CAST(b AS BIGINT) AS b,"
        f" CAST({others} * 11111111.11 AS DECIMAL(10,2)) AS m,"
        f" CAST({others} * 1111111111.1111 - 0.0003 AS DECIMAL(14,4)) AS x,"
        f" CAST({others} * 11111111111111111111111.1111 AS DECIMAL(27,4)) AS wide,"
        f" CAST({others} * 14 AS TINYINT) AS t FROM VALUES {values} AS numbers(id, ts, k, v, b)"
    ).createOrReplaceTempView("numbers")


def answer(frame: DataFrame) -> tuple[list[tuple[str, str]], list[str]]:
    """The columns of a query with their types, and its rows in one order."""
    return frame.dtypes, sorted(map(str, frame.collect()))


def by_the_rule(sql: str) -> str:
    """Spark SQL, rewritten as what is translated from another dialect is."""
    statement = Statement.parse(sql, "spark", whole=True)
    source, _ = statement._edited(SCHEMA, None, rules=True, frames=True)
    return source.render()


@pytest.fixture(autouse=True)
def every_frame_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oversums, "MOST_SUMS", 999)
    monkeypatch.setattr(oversums, "LEAST_ROWS", 0)


@pytest.mark.parametrize("examples", [2, pytest.param(12, marks=pytest.mark.full)])
def test_same_sums(spark: SparkSession, examples: int) -> None:
    rewritten: list[bool] = []

    @settings(thorough, max_examples=examples)
    @given(tables())
    def same(table: Table) -> None:
        make(spark, table)
        selects = [
            f"SELECT {i} AS q, id, {AGGREGATES} FROM numbers WINDOW w AS ({w})" for i, w in enumerate(table.windows)
        ]
        ours = [by_the_rule(select) for select in selects]
        rewritten.extend("__gone" in text for text in ours)
        want, got = (answer(spark.sql(" UNION ALL ".join(texts))) for texts in (selects, ours))
        assert got == want

    same()
    assert sum(rewritten) > 3 * examples


def test_a_sum_overflows_where_the_frame_does(spark: SparkSession) -> None:
    """With ANSI mode on, what all rows before add up to is no matter; a frame that doesn't fit is an error."""
    make(spark, Table("UTC", tuple((i * SECOND, "a", 1, LARGE[i % 8]) for i in range(80)), ()), large=True)
    for ansi in ("false", "true"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        for rows in (1, 2, 3):
            frame = f"PARTITION BY k ORDER BY ts ROWS BETWEEN {rows - 1} PRECEDING AND CURRENT ROW"
            plain = f"SELECT id, sum(b) OVER w AS b FROM numbers WINDOW w AS ({frame})"
            text = by_the_rule(plain)
            assert "__gone" in text
            if rows == 3 and ansi == "true":
                for sql in (plain, text):
                    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
                        spark.sql(sql).collect()
            else:
                assert answer(spark.sql(text)) == answer(spark.sql(plain))
    spark.conf.set("spark.sql.ansi.enabled", "false")


DIALECTS = {
    "flink": (
        "SELECT id, SUM(v) OVER w AS v, COUNT(*) OVER w AS n, AVG(v) OVER w AS av, AVG(m) OVER w AS am,"
        " MIN(v) OVER x AS low, VAR_POP(v) OVER x AS var, SUM(t) OVER (PARTITION BY k ORDER BY wall RANGE BETWEEN"
        " INTERVAL '1' HOUR PRECEDING AND INTERVAL '1' SECOND PRECEDING), SUM(b) OVER x AS b,"
        " SUM(t) OVER (PARTITION BY k ORDER BY ts, id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS t FROM numbers"
        " WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW),"
        " x AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '6' MINUTE PRECEDING AND CURRENT ROW)"
        " ORDER BY id LIMIT 100"
    ),
    "openmldb": (
        "SELECT id, sum(v) OVER w AS v, count(m) OVER w AS n, avg(v) OVER x AS av, sum(b) OVER y,"
        " max(v) OVER y AS high FROM numbers"
        " WINDOW w AS (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 5m PRECEDING AND 1s PRECEDING),"
        " x AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 12 PRECEDING AND CURRENT ROW),"
        " y AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 13 PRECEDING AND CURRENT ROW)"
    ),
    "sqlstream": (
        "SELECT STREAM id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING"
        " AND INTERVAL '1' SECOND PRECEDING) AS v, AVG(v) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS a"
        " FROM numbers"
    ),
    "openmldb rows_range": (
        "SELECT id, sum(v) OVER w AS v, avg(v) OVER w AS a, count(*) OVER w AS n, count_where(v, v > 0) OVER x AS c,"
        " sum(m) OVER x AS m, sum(v + 1) OVER y AS y, avg(t) OVER z AS z FROM numbers"
        " WINDOW w AS (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 5m PRECEDING AND CURRENT ROW),"
        " x AS (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 1h OPEN PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW),"
        " y AS (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 0s PRECEDING AND CURRENT ROW),"
        " z AS (PARTITION BY k ORDER BY id ROWS_RANGE BETWEEN 3 PRECEDING AND CURRENT ROW)"
    ),
    "sqlstream rows_range": (
        "SELECT STREAM id, SUM(v) OVER w AS v, SUM(m) OVER w AS m, COUNT(*) OVER w AS n FROM numbers"
        " WINDOW w AS (PARTITION BY k ORDER BY ts RANGE INTERVAL '5' MINUTE PRECEDING)"
    ),
    "spark rows_range": (
        "SELECT id, sum(v) OVER w AS v, sum(wide) OVER w AS wide, count(*) FILTER (WHERE v > 0) OVER w AS n,"
        " avg(t) OVER (PARTITION BY k ORDER BY t ROWS_RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS t"
        " FROM numbers WINDOW w AS (PARTITION BY k ORDER BY wall"
        " ROWS_RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
def test_same_sums_of_other_dialects(spark: SparkSession, name: str) -> None:
    sql, dialect = DIALECTS[name], name.partition(" ")[0]
    assert "frame-sums" in {d.rule for d in explain(sql, dialect, schema=SCHEMA).decisions}

    @settings(thorough, max_examples=1)
    @given(tables())
    def same(table: Table) -> None:
        make(spark, table)
        want, got = (answer(spark.sql(translate(sql, dialect, schema=SCHEMA, optimize=on))) for on in (False, True))
        assert got == want

    same()
