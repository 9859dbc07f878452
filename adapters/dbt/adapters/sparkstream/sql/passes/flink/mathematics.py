"""Flink's functions of numbers in Spark SQL: logarithms, remainders and rounding."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import TypeOf, Types
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, cast, known

NUMBERS = Numbers(
    digits={"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19},
    literals_by_digits=False,
    capped=True,
    beside_float="float",
    first_of_floats=True,
    first_of_times=True,
)
"""How numbers, and times with and without a zone, combine in Flink."""


def logarithm(name: str, x: str) -> str:
    """LN, LOG10 and LOG2: -Infinity of 0 and NaN of less, where Spark gives NULL."""
    if _is_positive(x):
        return f"{name}({x})"
    beyond = f"CAST(CASE WHEN {x} = 0 THEN '-Infinity' WHEN {x} < 0 THEN 'NaN' END AS DOUBLE)"
    return f"COALESCE({name}({x}), {beyond})"


def _is_positive(x: str) -> bool:
    return x.replace(".", "", 1).isdecimal() and float(x) > 0


def log(call: FlinkCall) -> str:
    """LOG of a number, or of a base and a number, which is a quotient of logarithms."""
    if len(call.args) == 1:
        return logarithm("LN", call.args[0])
    base, x = call.args
    divides = _is_positive(base) and float(base) != 1
    if divides and _is_positive(x):
        return call.same()
    quotient = f"{logarithm('LN', x)} / {logarithm('LN', base)}"
    if divides:
        return quotient
    # The logarithm of 1 is 0, and so much divided by 0 is NaN or infinite: Spark gives NULL.
    infinite = f"WHEN {x} > 1 THEN 'Infinity' WHEN {x} < 1 AND {x} >= 0 THEN '-Infinity'"
    by_zero = f"CAST(CASE {infinite} WHEN {x} IS NOT NULL THEN 'NaN' END AS DOUBLE)"
    return f"CASE WHEN {base} = 1 THEN {by_zero} ELSE {quotient} END"


def type_of_modulo(arguments: Types, numbers: Numbers) -> str | None:
    """`MOD(a, b)`: the type of b where both are integers."""
    if len(arguments) != 2:
        return None
    left, right = arguments
    if left in types.INTEGERS and right in types.INTEGERS:
        return right
    if left is None or right is None or not all(t in types.INTEGERS or types.is_decimal(t) for t in arguments):
        return None
    return numbers.decimal_arithmetic(exp.Mod(this=exp.Null(), expression=exp.Null()), left, right)


def narrowed(left: str | None, right: str | None) -> str | None:
    """The type of b, where the remainder of two integers a and b has the wider type of a in Spark; else None."""
    if left in types.INTEGERS and right in types.INTEGERS and types.wider(left, right) != right:
        return right
    return None


def modulo(call: FlinkCall) -> str:
    """MOD, whose type depends on the digits that a constant is written with in Spark."""
    left, right = call.types
    of_integers = left in types.INTEGERS and right in types.INTEGERS
    result = narrowed(left, right) if of_integers else type_of_modulo(call.types, NUMBERS)
    return cast(call.same(), result) if result else call.same()


def rounded_type(node: exp.Anonymous, of: TypeOf, numbers: Numbers) -> str | None:
    """`ROUND(x, 2)` and `TRUNCATE(x, 2)`: a DECIMAL keeps so many digits behind the point, and one more before it."""
    if not node.expressions:
        return None
    type_, *digits = of(node.expressions[0]), *node.expressions[1:]
    if type_ is None or not types.is_decimal(type_):
        return type_
    return _rounded(type_, _constant(digits[0]) if digits else 0)


def _constant(node: exp.Expr) -> int | None:
    """The number that a constant such as `2` or `-1` is."""
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        return None if inner is None else -inner
    return int(node.name) if isinstance(node, exp.Literal) and node.name.isdecimal() else None


def _rounded(type_: str, digits: int | None) -> str:
    precision, scale = types.decimal_parts(type_)
    if digits is None or digits >= scale:
        return type_
    return f"decimal({precision - scale + 1 + max(digits, 0)},{max(digits, 0)})"


def _digits(call: FlinkCall) -> int:
    """The digits behind the point that a call asks for."""
    text = call.args[1] if len(call.args) > 1 else "0"
    if not text.lstrip("-").strip().isdecimal():
        raise RefusedError(
            f"{call.name} takes a constant number of digits here", f"write such as {call.name}({call.args[0]}, 2)"
        )
    return int("".join(text.split()))  # `- 1`, also over two lines


def round_(call: FlinkCall) -> str:
    """ROUND, which gives a DECIMAL no digits that it hasn't."""
    digits = _digits(call)
    type_ = known(call)
    adds_digits = types.is_decimal(type_) and digits > types.decimal_parts(type_)[1]
    return cast(call.same(), type_) if adds_digits else call.same()


def truncate(call: FlinkCall) -> str:
    """TRUNCATE: towards zero."""
    digits = _digits(call)
    type_, x = call.types[0], call.args[0]
    cut = f"CASE WHEN {x} < 0 THEN CEIL({x}, {digits}) ELSE FLOOR({x}, {digits}) END"
    if type_ is None:  # the same number, as a DECIMAL
        return cut
    return cast(cut, _rounded(type_, digits) if types.is_decimal(type_) else type_)
