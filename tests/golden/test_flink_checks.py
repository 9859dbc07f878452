"""What Flink said of queries when it planned them: the names and types of their columns, or why it refused them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.diagnosis import version
from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import DATA, family, quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILE = json.loads((DATA / "flink_checks.json").read_text(encoding="utf-8"))
_SCHEMA: dict[str, dict[str, str]] = _FILE["tables"]
_WORDS = {"row": "struct", "bytes": "binary", "varbinary": "binary", "null": "void"}
_OTHERS = ("struct", "array", "map", "binary", "interval", "void")


@pytest.fixture(scope="module")
def empty_tables(spark: SparkSession) -> Any:
    """The tables as views without rows."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    for name, columns in _SCHEMA.items():
        nulls = ", ".join(f"CAST(NULL AS {type_}) AS {quoted(column)}" for column, type_ in columns.items())
        spark.sql(f"SELECT {nulls} WHERE FALSE").createOrReplaceTempView(quoted(name))
    yield
    for name in _SCHEMA:
        spark.catalog.dropTempView(name)


def _translated(sql: str) -> str:
    return translate(sql, "flink", schema=_SCHEMA, warn=lambda _: None)


def _kind(type_: str) -> str:
    """What a type holds, in the same word for both systems; the elements of an array aren't looked at."""
    word = re.split(r"\W", type_)[0].lower()
    word = _WORDS.get(word, word)
    return word if word in _OTHERS else family(word)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["sql"]) for case in _FILE["refused"]])
def test_refused(case: dict[str, str]) -> None:
    with pytest.raises(TranslationError) as raised:
        _translated(case["sql"])
    assert "fault of its own" not in str(raised.value)


@pytest.mark.usefixtures("empty_tables")
def test_columns(spark: SparkSession) -> None:
    """All in one test: Spark looks at a query for some milliseconds, and runs none."""
    if version(spark.version) < (4, 2):
        pytest.skip("some queries need Spark 4.2, which has QUALIFY")
    wrong = []
    for case in _FILE["answered"]:
        fields = spark.sql(_translated(case["sql"])).schema.fields
        got = [(f.name.casefold(), _kind(f.dataType.simpleString())) for f in fields]
        want = [(name.casefold(), _kind(type_)) for name, type_ in case["columns"]]
        if got != want:
            wrong.append(f"{case['sql']}\n  Flink {want}\n  here  {got}")
    assert not wrong, "\n".join(wrong)
