"""Flink's answers for single expressions: functions, casts, operators and JSON over the rows of small tables.

The files have each expression with the type and the values that Flink gave for the rows of its table, in their
order, or with the error that it refused it with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.messages.diagnosis import version
from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import DATA, Relation, create_view, family, flink_type, same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILES = [
    json.loads((DATA / f"flink_{name}.json").read_text(encoding="utf-8"))
    for name in ("expressions", "rows", "functions", "time")
]
_TABLES = {
    name: Relation(tuple((column, type_) for column, type_ in table["columns"]), table["rows"])
    for file in _FILES
    for name, table in file["tables"].items()
}
SCHEMA = {name: {c: flink_type(t).lower() for c, t in table.columns} for name, table in _TABLES.items()}
_TOGETHER = 30
"""Expressions that one query has."""


@dataclass(frozen=True)
class Expression:
    """An expression over a table, and what Flink gives for its rows."""

    table: str
    sql: str
    type: str = ""
    values: tuple[Any, ...] = ()
    error: str = ""

    def translated(self) -> str:
        """The expression as Spark SQL."""
        query = translate(f"SELECT {self.sql} AS v FROM {self.table}", "flink", schema=SCHEMA, warn=lambda _: None)
        return query.removeprefix("SELECT ").removesuffix(f" AS v FROM {self.table}")


_EXPRESSIONS = [
    Expression(table, each["sql"], each.get("type", ""), tuple(each.get("values", ())), each.get("error", ""))
    for file in _FILES
    for table, listed in file["expressions"].items()
    for each in listed
]
_REFUSED_HERE = ("CURRENT_DATABASE()", "_UTF8'abc'")
"""What Flink answers and Spark has no counterpart of; docs/flink.md says so."""
ANSWERED = [each for each in _EXPRESSIONS if not each.error and each.sql not in _REFUSED_HERE]
_CHUNKS = [
    [each for each in ANSWERED if each.table == table][start : start + _TOGETHER]
    for table in _TABLES
    for start in range(0, sum(each.table == table for each in ANSWERED), _TOGETHER)
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[None]:
    """The tables as views."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    for name, table in _TABLES.items():
        if name != "daytimes" or version(spark.version) >= (4, 3):
            create_view(spark, name, table)
    yield
    for name in _TABLES:
        spark.catalog.dropTempView(name)


_NESTED = ("array", "map", "row", "bytes", "binary", "varbinary")


def kind_of(type_: str) -> str:
    """The family of a type, and the first word of one that has none: ARRAY, MAP, ROW, BYTES; TIME with its digits."""
    word = re.split(r"\W", type_)[0].lower()
    if word == "time":
        return type_.removesuffix(" NOT NULL").lower()
    return word if word in _NESTED or word in ("struct", "void", "null") else family(type_)


def _digits(type_: str) -> str:
    """A DECIMAL without the spaces and NOT NULL of Flink's types."""
    return type_.lower().replace(" not null", "").replace(" ", "")


def plain(value: Any) -> Any:
    """A value of Spark's as the file has it: a row and an array as a list, bytes in hexadecimal digits."""
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str, Decimal)) else str(value)


def same_value(want: Any, got: Any, kind: str) -> bool:
    """As `same`, with the elements of an array, a map and a row."""
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(same_value(a, b, "") for a, b in zip(want, got, strict=True))
    if isinstance(want, dict) and isinstance(got, dict):
        return want.keys() == got.keys() and all(same_value(want[key], got[key], "") for key in want)
    if kind.startswith("time(") and isinstance(want, str):
        if len(want) == len("10:00"):
            want += ":00"  # Java writes no seconds where there are none
        want = re.sub(r"([.]\d*[1-9])0+$", r"\1", want)  # and three digits behind them where there is one
    if kind:
        return same(want, got, kind)
    return want == got or (isinstance(got, Decimal) and Decimal(str(want)) == got)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("chunk", [pytest.param(chunk, id=f"{chunk[0].table}-{i}") for i, chunk in enumerate(_CHUNKS)])
def test_values(spark: SparkSession, chunk: list[Expression]) -> None:
    table = chunk[0].table
    if table == "daytimes" and version(spark.version) < (4, 3):
        pytest.skip("Spark casts times to TIME from 4.3 on")
    wrong = []
    spoken = []
    for each in chunk:
        try:
            each.translated()
            spoken.append(each)
        except TranslationError as error:
            wrong.append(f"{each.sql}\n  {error}")
    key = _TABLES[table].columns[0][0]
    texts = ", ".join(f"{each.translated()} AS v{i}" for i, each in enumerate(spoken))
    result = spark.sql(f"SELECT {texts} FROM {table} ORDER BY {key}")
    shown = [
        f"CAST(v{i} AS STRING) AS v{i}"
        if field.dataType.typeName() in ("timestamp", "timestamp_ntz", "date", "time")
        else f"v{i}"
        for i, field in enumerate(result.schema.fields)
    ]
    rows = result.selectExpr(*shown).collect()
    for i, (each, field) in enumerate(zip(spoken, result.schema.fields, strict=True)):
        got = [plain(row[i]) for row in rows]
        types = kind, _ = kind_of(each.type), kind_of(field.dataType.simpleString())
        nested = kind in _NESTED
        if not all(same_value(a, b, "" if nested else kind) for a, b in zip(each.values, got, strict=True)) or (
            not nested and types[0] != types[1]
        ):
            wrong.append(f"{each.sql}\n  Flink {types[0]} {list(each.values)}\n  here  {types[1]} {got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("sql", _REFUSED_HERE)
def test_refused_here(sql: str) -> None:
    with pytest.raises(TranslationError):
        Expression("emp", sql).translated()


@pytest.mark.parametrize("each", [pytest.param(each, id=each.sql) for each in _EXPRESSIONS if each.error])
def test_refused_by_flink(each: Expression) -> None:
    """What Flink refuses is refused in words, or left to Spark."""
    try:
        each.translated()
    except TranslationError as error:
        assert "fault of its own" not in str(error)
