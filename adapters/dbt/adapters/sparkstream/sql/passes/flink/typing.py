"""Rules of Flink's types that differ from Spark's (measured; see docs/flink.md)."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.matching import NAVIGATION
from dbt.adapters.sparkstream.sql.core.nested import fields, map_of
from dbt.adapters.sparkstream.sql.core.nodes import Difference, JsonConstructor, JsonPath, Unknown
from dbt.adapters.sparkstream.sql.core.types import (
    INTEGERS,
    TIMES,
    Numbers,
    decimal_parts,
    is_clock,
    is_decimal,
    is_numeric,
    spark_type,
)
from dbt.adapters.sparkstream.sql.core.typing import SPARK, TypeOf, first_operand, fixed
from dbt.adapters.sparkstream.sql.passes.flink.clocks import WORDS, word
from dbt.adapters.sparkstream.sql.passes.flink.constructs import field_at, is_map_constructor
from dbt.adapters.sparkstream.sql.passes.flink.families import family, length_type
from dbt.adapters.sparkstream.sql.passes.flink.functions import FUNCTIONS
from dbt.adapters.sparkstream.sql.passes.flink.json import VARIANT
from dbt.adapters.sparkstream.sql.passes.flink.mathematics import NUMBERS


def arithmetic_type(node: exp.Binary, left: str | None, right: str | None) -> str | None:
    """The type of `left operator right` for + - * / %."""
    if left is None or right is None:
        return None
    if isinstance(node, (exp.Add, exp.Sub)):
        for one, other in ((left, right), (right, left)):
            if (one in (*TIMES, "date") or is_clock(one)) and other.startswith("interval"):
                return one
    if "interval" in (family(left), family(right)):
        return _length(node, left, right)
    if not (is_numeric(left) and is_numeric(right)):
        return None
    if "double" in (left, right) or "float" in (left, right):
        if {left, right} == {"float", "double"}:
            return left  # as measured: the left operand decides
        return "double" if "double" in (left, right) or is_decimal(left) or is_decimal(right) else "float"
    if left in INTEGERS and right in INTEGERS:
        return right if isinstance(node, exp.Mod) else NUMBERS.common([left, right])
    return NUMBERS.decimal_arithmetic(node, left, right)


def _length(node: exp.Binary, left: str, right: str) -> str | None:
    """The type of a sum of two lengths of time, or of one that is multiplied."""
    if isinstance(node, exp.Mul):
        return left if right in INTEGERS else right if left in INTEGERS else None
    return left if isinstance(node, (exp.Add, exp.Sub)) and left == right else None


def _interval(node: exp.Interval, of: TypeOf, numbers: Numbers) -> str | None:
    """`INTERVAL '1' DAY`."""
    unit = node.args.get("unit")
    first = unit.this if isinstance(unit, exp.IntervalSpan) else unit
    return "interval" if first is None else length_type(str(first.name or first.sql()))


def _literal(node: exp.Literal, of: TypeOf, numbers: Numbers) -> str | None:
    """A constant; the 0 of `0.5` is a digit."""
    whole, point, fraction = node.name.partition(".")
    if not node.is_string and point and whole.startswith("0") and (whole + fraction).isdecimal():
        return f"decimal({len(whole + fraction)},{len(fraction)})"
    return SPARK.nodes[exp.Literal](node, of, numbers)


def _whole(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """`FLOOR(x)` of a DECIMAL(10,2) is a DECIMAL(10,0); of other types, and in `FLOOR(ts TO HOUR)`, it stays."""
    type_ = of(node.this)
    if type_ is None or node.args.get("to") or not is_decimal(type_):
        return type_
    return f"decimal({decimal_parts(type_)[0]},0)"


def _json(node: JsonPath, of: TypeOf, numbers: Numbers) -> str | None:
    """JSON_EXISTS is a BOOLEAN; JSON_VALUE and JSON_QUERY are texts, or have the type behind RETURNING."""
    to = node.args.get("returning")
    if node.args["kind"] == "EXISTS":
        return "boolean"
    if to is None:
        return "string"
    return "array<string>" if to.this == exp.DType.ARRAY else spark_type(to)


def _word(node: exp.Column, of: TypeOf, numbers: Numbers) -> str | None:
    """LOCALTIMESTAMP, LOCALTIME and CURRENT_TIME, which Flink reserves, look like columns."""
    clock = word(node)
    return WORDS[clock][1] if clock else None


def _bracket(node: exp.Bracket, of: TypeOf, numbers: Numbers) -> str | None:
    """`MAP['a', 1]`, a field of a row, or an element."""
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


def _tuple(node: exp.Tuple, of: TypeOf, numbers: Numbers) -> str | None:
    """`(a, b)` is ROW(a, b)."""
    return FUNCTIONS["ROW"].returns([of(value) for value in node.expressions], numbers)  # type: ignore[misc]


FLINK = SPARK.but(
    nodes={
        **dict.fromkeys(
            (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
            lambda node, of, numbers: arithmetic_type(node, of(node.left), of(node.right)),
        ),
        **dict.fromkeys((exp.Floor, exp.Ceil), _whole),
        **dict.fromkeys((exp.DPipe, exp.Substring, exp.Overlay), fixed("string")),
        **dict.fromkeys((exp.UnicodeString, exp.ByteString, exp.National), fixed("string")),
        exp.Interval: _interval,
        **dict.fromkeys((exp.Order, exp.IgnoreNulls, exp.RespectNulls), first_operand),
        Difference: lambda node, of, numbers: length_type(node.args["unit"]),
        JsonPath: _json,
        JsonConstructor: fixed("string"),
        exp.Bracket: _bracket,
        exp.Tuple: _tuple,
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
