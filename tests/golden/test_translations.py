"""Every recorded case through the translator alone; the other tests here run what comes out on Spark."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.golden import test_openmldb as openmldb
from tests.golden import test_sqlstream as sqlstream
from tests.golden.runner import Case, flink_type, load

FILES = {
    "flink_documented.json": ("flink", flink_type),
    "flink_cases.json": ("flink", flink_type),
    "openmldb_cases.json": ("openmldb", openmldb.spark_type),
    "sqlstream_cases.json": ("sqlstream", openmldb.spark_type),
}
CASES = [pytest.param(file, case, id=case.id) for file in FILES for case in load(file) if case.expected]


@pytest.mark.parametrize(("file", "case"), CASES)
def test_a_translation_needs_no_other(file: str, case: Case) -> None:
    """Nothing of ours or of another system is left in it, so that the translator takes it for Spark's own SQL."""
    dialect, spark_type = FILES[file]
    arrival = sqlstream.arrival(case)
    for schema in (case.schema(spark_type), None):
        for optimize in (True, False):
            made = translate(case.sql, dialect, schema=schema, optimize=optimize, arrival=arrival)
            assert translate(made, schema=schema, arrival=arrival) == made
