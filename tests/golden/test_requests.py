"""A request for a row gives what the query gives for it, once it is inserted behind all others.

The recorded cases of OpenMLDB and SQLstream, each row of the main table in turn taken out and asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.requests import request_sql
from tests.golden.runner import Case, Relation, create_view, load, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TYPES = {"bool": "boolean"}
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


@pytest.mark.parametrize(("dialect", "case"), [pytest.param(d, c, id=f"{d}-{c.id}") for d, c in CASES])
def test_a_request_is_the_last_row_of_a_batch(spark: SparkSession, dialect: str, case: Case) -> None:
    spark.conf.set("spark.sql.session.timeZone", case.zone)
    name = main_table(case)
    table = case.tables[name]
    arrival = case.more.get("arrival") or ("SEQ" if "ties" in case.tags else None)
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


def _batch(
    spark: SparkSession, case: Case, dialect: str, table: Relation, name: str, arrival: str | None
) -> tuple[list[Any], dict[str, dict[str, str]]]:
    schema = {
        n: create_view(spark, n, table if n == name else t, lambda x: _TYPES.get(x, x).upper())
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
