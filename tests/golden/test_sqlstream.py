"""SQLstream's answers: sliding, offset, hopping, snapping and tumbling windows of its manual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import Case, load
from tests.golden.test_openmldb import assert_rows, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = load("sqlstream_cases.json")
ANSWERED = [case for case in CASES if case.expected]
REFUSED = [case for case in CASES if case.error]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in ANSWERED])
def test_rows_are_sqlstreams(spark: SparkSession, case: Case, typed: bool) -> None:
    arrival = case.more.get("arrival") or ("SEQ" if "ties" in case.tags else None)
    assert_rows(case, run(spark, case, dialect="sqlstream", typed=typed, arrival=arrival))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED])
def test_faults_are_refused(case: Case) -> None:
    with pytest.raises(TranslationError) as refused:
        translate(case.sql, "sqlstream")
    assert refused.value.hint
