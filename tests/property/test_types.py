"""The types that the translator gives expressions, against Spark's own."""

# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.typing import SPARK
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {
    "ti": "tinyint", "sm": "smallint", "i": "int", "b": "bigint", "f": "float", "d": "double", "d10": "decimal(10,2)",
    "d20": "decimal(20,5)", "d38": "decimal(38,10)", "s": "string", "bo": "boolean", "da": "date", "ts": "timestamp",
    "at": "timestamp_ntz", "bin": "binary", "xs": "array<int>", "iv": "interval day to second",
}
NUMBERS = ("ti", "sm", "i", "b", "f", "d", "d10", "d20", "d38", "7", "-7", "(7)", "3000000000", "1.5", "-0.25")
OPERATORS = ("+", "-", "*", "/", "%")
VALUES = (*COLUMNS, "7", "1.5", "NULL")

SCALARS = [
    *(f"{a} {operator} {b}" for operator in OPERATORS for a in NUMBERS for b in NUMBERS),
    *(f"ts {operator} INTERVAL '1' DAY" for operator in "+-"), *(f"at {operator} INTERVAL '1' HOUR" for operator in "+-"),
    "1", "2147483647", "2147483648", "1.50", "0.05", "1e3", "'x'", "NULL", "TRUE", "-b", "(b)", "CAST(s AS INT)", "s::bigint",
    "CAST(s AS DECIMAL)", "CAST(s AS DECIMAL(7))", "CAST(s AS DECIMAL(7,3))", "CAST(s AS TIMESTAMP)", "CAST(s AS TIMESTAMP_NTZ)", "TRY_CAST(s AS DATE)",
    "CAST(xs AS ARRAY<BIGINT>)", "TIMESTAMP '2020-01-01 00:00:00'", "DATE '2020-01-01'", "i > 1", "i = 1 AND bo", "NOT bo", "s LIKE 'a%'", "i IS NULL", "i IN (1, 2)",
    "i BETWEEN 1 AND 2", "s RLIKE 'a'", "i <=> 1", "s || s", "CASE WHEN bo THEN i ELSE b END", "CASE WHEN bo THEN i END", "CASE i WHEN 1 THEN d10 ELSE i END",
    "IF(bo, i, NULL)", "IF(bo, d10, d20)", "TRIM(s)", "SUBSTRING(s FROM 2)", "SUBSTRING(s, 2, 1)", "POSITION('a' IN s)", "OVERLAY(s PLACING 'b' FROM 2)", "CURRENT_TIMESTAMP", "CURRENT_DATE",
    "FLOOR(d)", "FLOOR(i)", "CEIL(d10)", "FLOOR(d38)", "CEIL(CAST(i AS DECIMAL(5,0)))", "FLOOR(f)", "(SELECT 1)", "(SELECT max(i) FROM types_of)",
    *(f"COALESCE({a}, {b})" for a in VALUES for b in VALUES if a == b or "NULL" in (a, b) or (a in NUMBERS and b in NUMBERS)),
    *(f"ABS({a})" for a in NUMBERS), *(f"ROUND({a})" for a in NUMBERS), *(f"GREATEST({a}, {b})" for a in NUMBERS for b in NUMBERS),
    *(f"{name}({argument})" for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING") for argument in ("i", "s")),
    "DATE(s)", "TIMESTAMP(s)", "NEGATIVE(i)", "POSITIVE(i)", "NVL(i, b)", "IFNULL(i, b)", "LEAST(i, b)", "NULLIF(d10, i)", "NVL2(s, i, b)", "BROUND(d, 1)", "BROUND(i, 1)",
    "SUBSTR(s, 1)", "SUBSTR(bin, 1)", "LEFT(s, 1)", "RIGHT(s, 1)", "LPAD(s, 3, 'x')", "RPAD(s, 3, 'x')", "REVERSE(s)", "REVERSE(xs)",
    "UNIX_TIMESTAMP(ts)", "UNIX_SECONDS(ts)", "UNIX_MILLIS(ts)", "UNIX_MICROS(ts)", "LENGTH(s)", "CHAR_LENGTH(s)", "CHARACTER_LENGTH(s)", "ASCII(s)", "INSTR(s, 'a')", "POSITION('a', s)",
    "LOCATE('a', s)", "SIZE(xs)", "CARDINALITY(xs)", *(f"{name}(ts)" for name in ["YEAR", "QUARTER", "MONTH", "WEEKOFYEAR", "DAY", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE", "SECOND"]),
    *(f"{name}({argument})" for name in ["SQRT", "EXP", "LN", "LOG", "LOG10", "LOG2", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "DEGREES", "RADIANS", "SIGN"] for argument in ("i", "d10", "f")),
    "POWER(i, 2)", "ATAN2(i, i)", "PI()", "E()", "RAND()", "REGEXP(s, 'a')", "REGEXP_LIKE(s, 'a')", "ISNULL(s)", "ISNOTNULL(s)",
    *(f"{name}(s)" for name in ["UPPER", "LOWER", "UCASE", "LCASE", "LTRIM", "RTRIM", "BTRIM", "INITCAP", "MD5", "SHA1", "URL_ENCODE", "URL_DECODE"]),
    "REPLACE(s, 'a', 'b')", "REPEAT(s, 2)", "REGEXP_REPLACE(s, 'a', 'b')", "REGEXP_EXTRACT(s, 'a', 0)", "TRANSLATE(s, 'a', 'b')", "SHA2(s, 256)", "PARSE_URL(s, 'HOST')", "CHR(i)",
    "CONCAT_WS('-', s, s)", "FROM_UNIXTIME(b)", "PRINTF('%s', s)", "BASE64(bin)", "BIN(b)", "HEX(b)", "UUID()", "DATE_FORMAT(ts, 'yyyy')",
    "TO_DATE(s)", "CURRENT_DATE()", "LAST_DAY(da)", "NEXT_DAY(da, 'MON')", "ADD_MONTHS(da, 1)", "NOW()", "CURRENT_TIMESTAMP()", "DATE_TRUNC('HOUR', ts)", "DATE_TRUNC('HOUR', at)",
    "TIMESTAMP_SECONDS(b)", "TIMESTAMP_MILLIS(b)", "TIMESTAMP_MICROS(b)", "LOCALTIMESTAMP()", "TO_TIMESTAMP(s)", "TO_TIMESTAMP(s, 'yyyy')", "TO_TIMESTAMP_NTZ(s)",
]
AGGREGATES = [
    *(f"{name}({a})" for name in ("SUM", "AVG", "MEAN", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP") for a in NUMBERS if a != "(7)"),
    *(f"{name}({a})" for name in ("MIN", "MAX", "ANY_VALUE", "FIRST", "FIRST_VALUE", "LAST", "LAST_VALUE") for a in ("i", "d10", "s", "ts", "at", "xs")),
    *(f"{name}(bo)" for name in ("BOOL_AND", "BOOL_OR", "EVERY", "SOME", "ANY", "COUNT_IF")), "COUNT(*)", "COUNT(DISTINCT s)", "APPROX_COUNT_DISTINCT(s)", "SUM(i) FILTER (WHERE bo)",
    "SUM(DISTINCT d10)", "SUM(i) / COUNT(*)", "SUM(d10 * d20)",
]
WINDOWS = [
    *(f"{call} OVER (ORDER BY i)" for call in ("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(2)", "PERCENT_RANK()", "CUME_DIST()", "LAG(d10)", "LEAD(s, 2)", "SUM(i)", "NTH_VALUE(ts, 2)", "FIRST_VALUE(s) IGNORE NULLS")),
]
GROUPING = ["GROUPING(i)", "GROUPING_ID(i)"]
UNKNOWN = {"COALESCE(NULL, NULL)", "REVERSE(xs)", "ROUND(-0.25)", "ROUND(1.5)", "ROUND(d10)", "SUBSTRING(bin, 1)"}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> SparkSession:
    columns = ", ".join(f"CAST(NULL AS {type_.upper()}) AS {name}" for name, type_ in COLUMNS.items())
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW types_of AS SELECT {columns}")
    return spark


@pytest.mark.parametrize(("expressions", "grouped"), [(SCALARS, ""), (AGGREGATES, ""), (WINDOWS, ""), (GROUPING, "GROUP BY CUBE (i)")], ids=["scalars", "aggregates", "windows", "grouping"])
def test_types(rows: SparkSession, expressions: list[str], grouped: str) -> None:
    """Whatever type is known is the one that Spark gives."""
    items = ", ".join(f"{e} AS c{i}" for i, e in enumerate(expressions))
    query = f"SELECT {items} FROM types_of {grouped}"
    [tree] = SparkStream().parse(query)
    assert isinstance(tree, exp.Select)
    known = Resolver({"types_of": COLUMNS}).columns(tree).items
    given = [field.dataType.simpleString() for field in rows.sql(query).schema.fields]
    wrong = [f"{e}: {k.type} is {g}" for e, k, g in zip(expressions, known, given, strict=True) if k.type not in (None, g)]
    assert not wrong, "\n".join(wrong)


def test_unknown() -> None:
    """Unknown is only what depends on a setting of Spark (a FLOAT beside another number, more than 38 digits), and little else."""
    [tree] = SparkStream().parse(f"SELECT {', '.join((*SCALARS, *AGGREGATES, *WINDOWS, *GROUPING))} FROM types_of")
    assert isinstance(tree, exp.Select)
    resolver = Resolver({"types_of": COLUMNS})
    unknown = {item.sql("spark") for item in tree.expressions if resolver.type(item, tree) is None}
    assert {e for e in unknown if not re.search(r"\b(f|d38|d20)\b", e)} == UNKNOWN


def test_every_function() -> None:
    """Each function that has a rule stands in the expressions above."""
    written = " ".join((*SCALARS, *AGGREGATES, *WINDOWS, *GROUPING))
    assert not [name for name in SPARK.functions if f"{name}(" not in written]
