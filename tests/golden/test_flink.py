"""Flink's answers: every example of its documents on windows, and more cases, each computed by Flink itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import Case, compare, create_view, load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CASES = load("flink_documented.json") + load("flink_cases.json")
ANSWERED = [case for case in CASES if case.expected]
REFUSED = [case for case in CASES if case.error]

_VIEW = re.compile(r"CREATE\s+(?:TEMPORARY\s+)?VIEW\s+(`(?:[^`]|``)+`|\w+)\s*(\([^()]*\))?\s+AS\s+(.*)", re.I | re.S)

# Flink answers in the type of the column, so these need to know it.
NEED_TYPES = {"typing-avg-int", "typing-int-division", "typing-over-avg-int", "doc-over-window-clause-int"}


class Door:
    """A Spark session with a case's tables and views, which takes Flink SQL."""

    def __init__(self, spark: SparkSession, case: Case, *, typed: bool) -> None:
        self._session = spark.newSession()
        self._session.conf.set("spark.sql.session.timeZone", case.zone)
        self._typed = typed
        self._schema = {name: create_view(self._session, name, table) for name, table in case.tables.items()}
        for statement in case.setup:
            view = _VIEW.fullmatch(statement.strip().rstrip(";"))
            assert view, f"no CREATE VIEW: {statement}"
            name, columns, query = view.groups()
            made = self._session.sql(self.translated(query))
            if columns:
                made = made.toDF(*(c.strip(" `") for c in columns.strip("()").split(",")))
            made.createOrReplaceTempView(name)
            self._schema[name.strip("`")] = dict(made.dtypes)

    def translated(self, sql: str) -> str:
        return translate(sql, "flink", schema=self._schema if self._typed else None)

    def run(self, sql: str) -> DataFrame:
        return self._session.sql(self.translated(sql))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ANSWERED])
def test_rows_with_types(spark: SparkSession, case: Case) -> None:
    assert case.expected
    compare(case.expected, Door(spark, case, typed=True).run(case.sql))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ANSWERED if case.id not in NEED_TYPES])
def test_rows_without_types(spark: SparkSession, case: Case) -> None:
    """The same rows where nobody tells the translator what the tables hold."""
    assert case.expected
    untyped = Door(spark, case, typed=False)
    if case.setup or untyped.translated(case.sql) != Door(spark, case, typed=True).translated(case.sql):
        compare(case.expected, untyped.run(case.sql))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED])
def test_refused_as_in_flink(spark: SparkSession, case: Case) -> None:
    door = Door(spark, case, typed=True)
    with pytest.raises(TranslationError) as raised:
        door.translated(case.sql)
    assert raised.value.source_line in case.sql
