"""A request for a row gives what the query gives for it, once it is inserted behind all others.

The recorded cases of OpenMLDB and SQLstream, each row of the main table in turn taken out and asked for.
"""

# A statement stays on one line.
# ruff: noqa: E501

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.requests import request_sql
from tests.golden.runner import Case, Relation, covering, create_view, load, rows_of
from tests.golden.test_openmldb import spark_type
from tests.golden.test_sqlstream import arrival as arrival_of
from tests.lib.support import sampled, seldom

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DIALECTS = {"openmldb": "openmldb_cases.json", "sqlstream": "sqlstream_cases.json"}
CASES = [
    (dialect, case)
    for dialect, file in DIALECTS.items()
    for case in load(file)
    if (case.expected and not {"group_by", "distinct"} & ({*case.tags} - {"sliding"}))
    or case.id == "count-distinct-over"
]
OFTEN = 2
"""Rows of a case that are asked for."""


def main_table(case: Case) -> str:
    """The first table of the case that stands behind FROM."""
    names = re.findall(r"\bFROM\s+\(?(?:SELECT[^)]*FROM\s+)?(\w+)", case.sql, re.I)
    return next(n for n in names if n in case.tables)


OF_CI = [(dialect, case) for dialect in DIALECTS for case in covering(c for d, c in CASES if d == dialect)]
"""Cases with every tag between them; `make test-all` takes all."""


@pytest.mark.parametrize(
    ("dialect", "case"),
    [*sampled(OF_CI, share=2), *seldom(each for each in CASES if each not in OF_CI)],
    ids=lambda value: getattr(value, "id", value),
)
def test_a_request_is_the_last_row_of_a_batch(spark: SparkSession, dialect: str, case: Case) -> None:
    spark.conf.set("spark.sql.session.timeZone", case.zone)
    name = main_table(case)
    table = case.tables[name]
    arrival = arrival_of(case)
    for i in range(0, len(table.rows), max(1, len(table.rows) // OFTEN)):
        row = table.rows[i]
        stored = replace(table, rows=[r for j, r in enumerate(table.rows) if j != i])
        if arrival:  # the last one to arrive
            at = [c.upper() for c, _ in table.columns].index(arrival.upper())
            row = [*row[:at], 10**6, *row[at + 1 :]]
        whole, _ = _batch(spark, case, dialect, replace(stored, rows=[*stored.rows, row]), name, arrival)
        without, schema = _batch(spark, case, dialect, stored, name, arrival)
        text = request_sql(
            case.sql,
            dialect,
            dict(zip([c for c, _ in table.columns], row, strict=True)),
            schema=schema,
            arrival=arrival,
        )
        answer = spark.sql(text)
        rows = [_rounded(r) for r in rows_of(answer)]
        assert len(rows) <= 1
        assert not rows or rows[0] in [_rounded(r) for r in whole]
        # Rows that were stored may see the new one in a batch; nothing but them may be left.
        assert len(whole) - len(without) == len(rows)


@pytest.mark.parametrize(("dialect", "case"), [pytest.param(d, c, id=f"{d}-{c.id}") for d, c in CASES])
def test_a_request_is_sparks_own_sql(dialect: str, case: Case) -> None:
    table = case.tables[main_table(case)]
    row = dict(zip([c for c, _ in table.columns], table.rows[0], strict=True))
    schema = case.schema(spark_type)
    text = request_sql(case.sql, dialect, row, schema=schema, arrival=arrival_of(case))
    assert translate(text, schema=schema) == text


def _batch(
    spark: SparkSession, case: Case, dialect: str, table: Relation, name: str, arrival: str | None
) -> tuple[list[Any], dict[str, dict[str, str]]]:
    schema = {
        n: create_view(spark, n, table if n == name else t, lambda type_: spark_type(type_).upper())
        for n, t in case.tables.items()
    }
    text = translate(case.sql, dialect, schema=schema, arrival=arrival)
    return rows_of(spark.sql(text.rstrip().rstrip(";"))), schema


def _rounded(row: list[Any]) -> list[Any]:
    return [round(v, 6) if isinstance(v, float) else v for v in row]


@pytest.mark.parametrize(
    ("dialect", "case"),
    [
        pytest.param("sqlstream", c, id=c.id)
        for c in load("sqlstream_cases.json")
        if c.expected and "group_by" in c.tags
    ],
)
def test_groups_have_no_request(dialect: str, case: Case) -> None:
    name = main_table(case)
    schema = {n: dict(t.columns) for n, t in case.tables.items()}
    row = dict(zip([c for c, _ in case.tables[name].columns], case.tables[name].rows[0], strict=True))
    with pytest.raises(TranslationError, match="single row"):
        request_sql(case.sql, dialect, row, schema=schema)


# -- shapes of queries -----------------------------------------------------------------------------
W = "PARTITION BY sym ORDER BY ts"
NEAR = "ROWS_RANGE BETWEEN 2s PRECEDING AND CURRENT ROW"
TABLES = {
    "trades": (
        "id INT, sym STRING, ts TIMESTAMP, qty INT",
        "(1, 'A', 0, 10), (2, 'A', 1, 20), (3, 'B', 1, 5), (4, 'A', 2, 40)",
    ),
    "quotes": ("id INT, sym STRING, ts TIMESTAMP, qty INT", "(101, 'A', 2, 1), (102, 'A', 3, 2), (103, 'B', 2, 3)"),
    "info": ("code STRING, label STRING", "('A', 'alpha'), ('B', 'beta')"),
    "wide": ("id INT, sym STRING, ts TIMESTAMP, qty INT, code STRING, label STRING", "(301, 'A', 2, 7, 'A', 'alpha')"),
}
SHAPES = {
    "cte": f"WITH t AS (SELECT * FROM trades WHERE qty > 5) SELECT t.*, sum(qty) OVER w AS s FROM t WINDOW w AS ({W} {NEAR})",
    "window over window": (
        f"SELECT *, count(*) OVER w AS n FROM (SELECT *, sum(qty) OVER w AS s FROM trades WINDOW w AS ({W} {NEAR})) AS q "
        f"WINDOW w AS (PARTITION BY sym ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    ),
    "features side by side": (
        f"SELECT * FROM (SELECT id AS a, sum(qty) OVER w AS s FROM trades WINDOW w AS ({W} {NEAR})) AS one LAST JOIN "
        f"(SELECT id AS b, max(qty) OVER w AS m FROM trades WINDOW w AS (UNION quotes {W} {NEAR})) AS two ON one.a = two.b"
    ),
    "join and union": (
        "SELECT trades.id, info.label, sum(trades.qty) OVER w AS s FROM trades LAST JOIN info ON trades.sym = info.code "
        f"WINDOW w AS (UNION wide PARTITION BY trades.sym ORDER BY trades.ts {NEAR})"
    ),
    "join with a condition": (
        f"SELECT *, sum(t.qty) OVER w AS s FROM trades AS t LAST JOIN quotes AS q ORDER BY q.ts ON t.sym = q.sym AND q.ts <= t.ts "
        f"WINDOW w AS (PARTITION BY t.sym ORDER BY t.ts {NEAR} MAXSIZE 2)"
    ),
    "union of subqueries": (
        f"SELECT id, sum(qty) OVER w AS s FROM (SELECT id, sym, ts, qty FROM trades WHERE qty < 1000) "
        f"WINDOW w AS (UNION (SELECT id, sym, ts, qty * 2 AS qty FROM quotes), quotes {W} {NEAR} EXCLUDE CURRENT_TIME)"
    ),
    "no window": "SELECT trades.*, info.label FROM trades LAST JOIN info ON trades.sym = info.code WHERE trades.qty > 1",
}
ASKED = (9, "A", 2, 100)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(spark: SparkSession, shape: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    values = {name: rows for name, (_, rows) in TABLES.items()}
    sql = SHAPES[shape]
    schema = _create(spark, {**values, "trades": f"{values['trades']}, {ASKED}"})
    batch = spark.sql(translate(sql, "openmldb", schema=schema))
    [want] = [tuple(r) for r in batch.collect() if r[0] == ASKED[0]]
    _create(spark, values)
    row = {"id": ASKED[0], "sym": ASKED[1], "ts": ASKED[2] * 1000, "qty": ASKED[3]}
    answer = spark.sql(request_sql(sql, "openmldb", row, schema=schema))
    assert ([tuple(r) for r in answer.collect()], answer.columns) == ([want], batch.columns)


def _create(spark: SparkSession, values: dict[str, str]) -> dict[str, dict[str, str]]:
    schema = {}
    for name, rows in values.items():
        types = dict(column.split() for column in TABLES[name][0].split(", "))
        items = ", ".join(
            f"timestamp_seconds({c}) AS {c}" if t == "TIMESTAMP" else f"CAST({c} AS {t}) AS {c}"
            for c, t in types.items()
        )
        view = spark.sql(f"SELECT {items} FROM VALUES {rows} AS t({', '.join(types)})")
        view.createOrReplaceTempView(name)
        schema[name] = dict(view.dtypes)
    return schema
