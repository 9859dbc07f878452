"""OpenMLDB's answers: what its window clause gives, function by function and flag by flag."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import Case, create_view, load, params, rows_of, same
from tests.lib.support import sampled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CASES = load("openmldb_cases.json")
COMPOSED = load("openmldb_composed.json")
RECORDED = load("openmldb_recorded.json")
ANSWERED = [case for case in CASES if case.expected]
REFUSED = [case for case in CASES if case.error and "verdict" not in case.more]
TAKEN = [case for case in CASES if case.error and case.more.get("verdict") == "spark-answers"]


def spark_type(type_: str) -> str:
    """The Spark type of a column of OpenMLDB's or SQLstream's."""
    return {"bool": "boolean"}.get(type_, type_)


def run(spark: SparkSession, case: Case, *, dialect: str, typed: bool, arrival: str | None = None) -> DataFrame:
    """The rows of a case's translation, on views of its tables."""
    spark.conf.set("spark.sql.session.timeZone", case.zone)
    schema = {
        name: create_view(spark, name, table, lambda type_: spark_type(type_).upper(), zone="Z")
        for name, table in case.tables.items()
    }
    text = translate(case.sql, dialect, schema=schema if typed else None, arrival=arrival)
    return spark.sql(text.rstrip().rstrip(";"))


def assert_rows(case: Case, result: DataFrame) -> None:
    """Asserts that a result has a case's rows, in any order, and its column names; values count more than types."""
    assert case.expected
    left = rows_of(result)
    missing = []
    for row in case.expected.rows:
        found = next((i for i, got in enumerate(left) if all(map(same, row, got, case.expected.families))), None)
        if found is None:
            missing.append(row)
        else:
            del left[found]
    assert not missing and not left, f"missing {missing}\ntoo many {left}"
    assert [c.lower() for c in result.columns] == [name.lower() for name, _ in case.expected.columns]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ANSWERED])
def test_rows_are_openmldbs(spark: SparkSession, case: Case) -> None:
    assert_rows(case, run(spark, case, dialect="openmldb", typed=True))


def assert_types(case: Case, result: DataFrame) -> None:
    """Asserts that a result has the types of a case's columns."""
    assert case.expected
    assert [type_ for _, type_ in result.dtypes] == [spark_type(type_) for _, type_ in case.expected.columns]


@pytest.mark.parametrize("case", sampled([*COMPOSED, *RECORDED], share=2), ids=attrgetter("id"))
def test_names_and_types_are_openmldbs(spark: SparkSession, case: Case) -> None:
    result = run(spark, case, dialect="openmldb", typed=True)
    assert_rows(case, result)
    assert_types(case, result)
    if "needs_types" not in case.tags:
        assert_rows(case, run(spark, case, dialect="openmldb", typed=False))


@pytest.mark.parametrize("case", params(ANSWERED))
def test_rows_without_types(spark: SparkSession, case: Case) -> None:
    assert_rows(case, run(spark, case, dialect="openmldb", typed=False))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED])
def test_faults_are_refused(case: Case) -> None:
    with pytest.raises(TranslationError) as refused:
        translate(case.sql, "openmldb", schema=case.schema(spark_type))
    assert refused.value.line >= 1 and refused.value.hint
    if "needs_schema" not in case.tags:
        with pytest.raises(TranslationError):
            translate(case.sql, "openmldb")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in TAKEN])
def test_what_openmldb_refuses_and_spark_answers(spark: SparkSession, case: Case) -> None:
    assert run(spark, case, dialect="openmldb", typed=True).collect()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED if "needs_schema" in case.tags])
def test_faults_that_only_types_show_are_refused_by_spark(spark: SparkSession, case: Case) -> None:
    with pytest.raises(Exception):  # noqa: B017
        run(spark, case, dialect="openmldb", typed=False).collect()
