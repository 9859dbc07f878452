"""SQLstream's answers: sliding, offset, hopping, snapping and tumbling windows of its manual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import Case, load
from tests.golden.test_openmldb import assert_rows, run, spark_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = [*load("sqlstream_cases.json"), *load("sqlstream_composed.json")]
ANSWERED = [case for case in CASES if case.expected]
REFUSED = [case for case in CASES if case.error]


def arrival(case: Case) -> str | None:
    """The column that numbers the case's rows in order of arrival."""
    return case.more.get("arrival") or ("SEQ" if "ties" in case.tags else None)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ANSWERED])
def test_rows_are_sqlstreams(spark: SparkSession, case: Case) -> None:
    assert_rows(case, run(spark, case, dialect="sqlstream", typed=True, arrival=arrival(case)))


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in ANSWERED if "needs_types" not in c.tags])
def test_translations_need_no_types(case: Case) -> None:
    """Rules for sums do; what is plain doesn't."""
    untyped = translate(case.sql, "sqlstream", arrival=arrival(case), optimize=False)
    assert untyped == translate(
        case.sql, "sqlstream", schema=case.schema(spark_type), arrival=arrival(case), optimize=False
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ANSWERED if "numbers" in case.tags])
def test_windows_over_numbers_without_types(spark: SparkSession, case: Case) -> None:
    assert_rows(case, run(spark, case, dialect="sqlstream", typed=False, arrival=arrival(case)))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED])
def test_faults_are_refused(case: Case) -> None:
    with pytest.raises(TranslationError) as refused:
        translate(case.sql, "sqlstream")
    assert refused.value.hint
