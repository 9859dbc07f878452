"""OpenMLDB's functions and operators: the examples of its pages."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import DATA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPRESSIONS = json.loads((DATA / "openmldb_expressions.json").read_text(encoding="utf-8"))["expressions"]["one"]


def test_values_are_those_of_the_pages(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    items = ",\n".join(f"{each['sql']} AS v{i}" for i, each in enumerate(EXPRESSIONS))
    result = spark.sql(translate(f"SELECT {items}", "openmldb"))
    found = result.selectExpr(*(f"CAST({name} AS STRING) AS {name}" for name in result.columns)).collect()[0]
    wrong = [
        f"{each['sql']} is {got}, and should be {each['value']}"
        for each, got in zip(EXPRESSIONS, found, strict=True)
        if not _same(each["value"], got)
    ]
    assert not wrong, "\n".join(wrong)


def _same(want: str | None, got: str | None) -> bool:
    if want is None or got is None or want.lower() == got.lower():
        return want is got or (want or "").lower() == (got or "").lower()
    try:
        return math.isclose(float(want), float(got), rel_tol=1e-9)
    except ValueError:
        return False


@pytest.mark.parametrize("sql", ["hash64(90)", "farm_fingerprint('x')", "get_json_object('{}', x)"])
def test_what_spark_has_not_is_refused(sql: str) -> None:
    with pytest.raises(TranslationError) as refused:
        translate(f"SELECT {sql} AS v FROM t", "openmldb")
    assert refused.value.hint
