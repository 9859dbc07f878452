"""Rules of Flink's types that differ from Spark's (measured; see docs/flink.md)."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.matching import NAVIGATION
from dbt.adapters.sparkstream.sql.core.nested import fields, map_of
from dbt.adapters.sparkstream.sql.core.nodes import Difference, JsonConstructor, JsonPath, Unknown
from dbt.adapters.sparkstream.sql.core.types import (
    Numbers,
    decimal_parts,
    is_decimal,
    spark_type,
)
from dbt.adapters.sparkstream.sql.core.typing import SPARK, TypeOf, first_operand, fixed
from dbt.adapters.sparkstream.sql.passes.flink.arithmetic import arithmetic_type
from dbt.adapters.sparkstream.sql.passes.flink.arrays import field_at, is_map_constructor
from dbt.adapters.sparkstream.sql.passes.flink.clocks import WORDS, word
from dbt.adapters.sparkstream.sql.passes.flink.functions import FUNCTIONS, row_type
from dbt.adapters.sparkstream.sql.passes.flink.json import VARIANT
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import NUMBERS
from dbt.adapters.sparkstream.sql.passes.flink.typenames import length_type


def _interval(node: exp.Interval, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of `INTERVAL '1' DAY`."""
    unit = node.args.get("unit")
    first = unit.this if isinstance(unit, exp.IntervalSpan) else unit
    return "interval" if first is None else length_type(str(first.name or first.sql()))


def _literal(node: exp.Literal, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of a constant; the 0 of `0.5` counts as a digit, and `5.` is an INT."""
    whole, point, fraction = node.name.partition(".")
    if not node.is_string and point and not fraction:
        return SPARK.nodes[exp.Literal](exp.Literal.number(whole), of, numbers)
    if not node.is_string and point and whole.startswith("0") and (whole + fraction).isdecimal():
        return f"decimal({len(whole + fraction)},{len(fraction)})"
    return SPARK.nodes[exp.Literal](node, of, numbers)


def _floor_or_ceil(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of `FLOOR(x)`: of a DECIMAL(10,2) a DECIMAL(10,0); other types stay, also in `FLOOR(ts TO HOUR)`."""
    type_ = of(node.this)
    if type_ is None or node.args.get("to") or not is_decimal(type_):
        return type_
    return f"decimal({decimal_parts(type_)[0]},0)"


def _json(node: JsonPath, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of JSON_EXISTS, a BOOLEAN, and of JSON_VALUE and JSON_QUERY, a text or the type behind RETURNING."""
    to = node.args.get("returning")
    if node.args["kind"] == "EXISTS":
        return "boolean"
    if to is None:
        return "string"
    return "array<string>" if to.this == exp.DType.ARRAY else spark_type(to)


def _word(node: exp.Column, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of LOCALTIMESTAMP, LOCALTIME and CURRENT_TIME, reserved words that look like columns; else None."""
    clock = word(node)
    return WORDS[clock][1] if clock else None


def _bracket(node: exp.Bracket, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of `MAP['a', 1]`, of a field of a row, or of an element."""
    if not is_map_constructor(node):
        row = of(node.this)
        if row == VARIANT:
            return VARIANT
        if fields(row) is not None:
            found = field_at(row, node.expressions[0]) if node.expressions else None
            return found[1] if found else None
        return SPARK.nodes[exp.Bracket](node, of, numbers)
    types = [of(each) for each in node.expressions]
    return map_of(numbers.common(types[::2]), numbers.common(types[1::2]))


FLINK = SPARK.but(
    nodes={
        **dict.fromkeys(
            (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
            lambda node, of, numbers: arithmetic_type(node, of(node.left), of(node.right)),
        ),
        **dict.fromkeys((exp.Floor, exp.Ceil), _floor_or_ceil),
        **dict.fromkeys((exp.DPipe, exp.Substring, exp.Overlay), fixed("string")),
        **dict.fromkeys((exp.UnicodeString, exp.ByteString, exp.National), fixed("string")),
        exp.Interval: _interval,
        **dict.fromkeys((exp.Order, exp.IgnoreNulls, exp.RespectNulls), first_operand),
        Difference: lambda node, of, numbers: length_type(node.args["unit"]),
        JsonPath: _json,
        JsonConstructor: fixed("string"),
        exp.Bracket: _bracket,
        exp.Tuple: lambda node, of, numbers: row_type([of(value) for value in node.expressions], numbers),
        exp.Literal: _literal,
        exp.Extract: fixed("bigint"),
        exp.Column: _word,
        Unknown: fixed("boolean"),
    },
    functions={
        **{name: function.returns for name, function in FUNCTIONS.items() if function.returns},
        # FIRST and LAST of MATCH_RECOGNIZE have an offset behind the value.
        **dict.fromkeys(NAVIGATION, lambda types, numbers: types[0] if types else None),
    },
    calls={name: function.typed for name, function in FUNCTIONS.items() if function.typed},
    numbers=NUMBERS,
    unnamed="EXPR${position}",
    bare_fields=True,
)
"""The types of Flink SQL, as Spark types."""
