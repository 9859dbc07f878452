"""Flink's answers: every example of its documents on windows, and more cases, each computed by Flink itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.messages.diagnosis import version
from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.passes.optimize import cumulate, hop, joins
from tests.golden.runner import Case, Relation, compare, covering, flink_type, load, params, quoted, rows_query
from tests.lib.support import sampled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CASES = [
    case
    for name in ("documented", "cases", "clauses", "from", "rows", "functions", "time", "queries")
    for case in load(f"flink_{name}.json")
]
ANSWERED = [case for case in CASES if case.expected]
REFUSED = [case for case in CASES if case.error]

_VIEW = re.compile(r"CREATE\s+(?:TEMPORARY\s+)?VIEW\s+(`(?:[^`]|``)+`|\w+)\s*(\([^()]*\))?\s+AS\s+(.*)", re.I | re.S)

# Flink answers in the type of the column, so these need to know it.
NEED_TYPES = {"typing-avg-int", "typing-int-division", "typing-over-avg-int", "doc-over-window-clause-int"}
NEED_TYPES |= {case.id for case in CASES if "needs types" in case.tags}


_TABLES: dict[tuple[str, str], DataFrame] = {}
"""Time zone of the session and query -> its rows, in the Spark of this process."""


class Door:
    """A Spark session with a case's tables and views, which takes Flink SQL."""

    def __init__(self, spark: SparkSession, case: Case, *, typed: bool) -> None:
        self._spark = spark
        self._typed = typed
        spark.conf.set("spark.sql.session.timeZone", case.zone)
        self._schema = {name: self._view(name, table, case.zone) for name, table in case.tables.items()}
        for statement in case.setup:
            view = _VIEW.fullmatch(statement.strip().rstrip(";"))
            assert view, f"no CREATE VIEW: {statement}"
            name, columns, query = view.groups()
            made = self.run(query)
            if columns:
                made = made.toDF(*(c.strip(" `") for c in columns.strip("()").split(",")))
            made.createOrReplaceTempView(name)
            self._schema[name.strip("`")] = dict(made.dtypes)

    def _view(self, name: str, table: Relation, zone: str) -> dict[str, str]:
        """Makes a view of a table, which Spark analyses once for all cases that have it."""
        query = rows_query(table)
        rows = _TABLES.get((zone, query))
        if rows is None:
            rows = _TABLES[zone, query] = self._spark.sql(query)
        rows.createOrReplaceTempView(quoted(name))
        return dict(rows.dtypes)

    def translated(self, sql: str, *, optimize: bool = True) -> str:
        return translate(sql, "flink", schema=self._schema if self._typed else None, optimize=optimize)

    def run(self, sql: str, *, optimize: bool = True) -> DataFrame:
        return self._spark.sql(self.translated(sql, optimize=optimize))

    def close(self) -> None:
        for name in self._schema:
            self._spark.catalog.dropTempView(name)


@pytest.fixture
def door(spark: SparkSession) -> Iterator[Callable[..., Door]]:
    """Opens a Door to a case's tables, and closes it when the test is over."""
    doors: list[Door] = []

    def open_door(case: Case, *, typed: bool) -> Door:
        doors.append(Door(spark, case, typed=typed))
        return doors[-1]

    yield open_door
    for opened in doors:
        opened.close()


def skip_what_spark_lacks(spark: SparkSession, sql: str) -> None:
    """Skips a case that Spark can't say before 4.2, or one with a TIME, which Spark has from 4.3 on."""
    if version(spark.version) < (4, 3) and re.search(r"\bdaytimes\b|\bAS TIME\b", sql):
        pytest.skip("Spark casts times to TIME from 4.3 on")
    if version(spark.version) < (4, 2) and re.search(r"\bQUALIFY\b|ORDER BY GROUPING", sql):
        pytest.skip("Spark has QUALIFY, and GROUPING of a key that isn't selected in ORDER BY, from 4.2 on")


_ROWS = [case for name in ("rows", "queries") for case in load(f"flink_{name}.json") if case.expected]
_MORE = {case.id for case in _ROWS} - {case.id for case in covering(_ROWS)}
"""Cases of what others have as well."""


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.id, marks=pytest.mark.full if case.id in _MORE else ()) for case in ANSWERED],
)
def test_rows_with_types(door: Callable[..., Door], case: Case, spark: SparkSession) -> None:
    assert case.expected
    skip_what_spark_lacks(spark, case.sql)
    compare(case.expected, door(case, typed=True).run(case.sql))


@pytest.mark.parametrize("case", params(case for case in ANSWERED if case.id not in NEED_TYPES))
def test_rows_without_types(door: Callable[..., Door], case: Case) -> None:
    """The same rows where nobody tells the translator what the tables hold."""
    assert case.expected
    untyped = door(case, typed=False)
    if case.setup or untyped.translated(case.sql) != door(case, typed=True).translated(case.sql):
        compare(case.expected, untyped.run(case.sql))


@pytest.fixture
def every_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules apply to windows that are too short for them to pay, as most recorded ones are."""
    monkeypatch.setattr(hop, "LEAST_OVERLAP", 2)
    monkeypatch.setattr(cumulate, "LEAST_STEPS", 2)
    monkeypatch.setattr(joins, "LEAST_OVERLAP", 2)


OPTIMISED = {"hop", "cumulate", "session"}
"""Tags of cases that a rule may apply to."""


@pytest.mark.parametrize(
    "case", sampled((c for c in ANSWERED if OPTIMISED & set(c.tags)), share=2), ids=attrgetter("id")
)
def test_rows_by_the_optimiser(door: Callable[..., Door], case: Case, every_rule: None) -> None:
    """The same rows however a case is computed; names and types are Flink's in both."""
    assert case.expected
    for typed in (True, False) if case.id not in NEED_TYPES else (True,):
        opened = door(case, typed=typed)
        if opened.translated(case.sql) != opened.translated(case.sql, optimize=False):
            compare(case.expected, opened.run(case.sql))
            compare(case.expected, opened.run(case.sql, optimize=False))


def test_the_optimiser_has_something_to_do(every_rule: None) -> None:
    known = [c for c in ANSWERED if c.id not in NEED_TYPES]
    rewritten = (c for c in known if translate(c.sql, "flink") != translate(c.sql, "flink", optimize=False))
    assert len([*islice(rewritten, 12)]) == 12


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED])
def test_refused_by_flink(case: Case) -> None:
    """What Flink refuses is refused at its place, or left to Spark."""
    try:
        translate(case.sql, "flink", schema=case.schema(flink_type))
    except TranslationError as error:
        assert "fault of its own" not in str(error)
        assert error.source_line in case.sql
