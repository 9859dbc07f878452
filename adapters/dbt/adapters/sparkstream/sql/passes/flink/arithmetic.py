"""Arithmetic and functions of numbers of Flink SQL, and sums of times and lengths of time."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nodes import Difference
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import TypeOf, Types
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import (
    NUMBERS,
    FlinkCall,
    Rewriter,
    cast,
    constant,
    handles,
    known,
    widened,
)
from dbt.adapters.sparkstream.sql.passes.flink.times import constant_length, is_computed
from dbt.adapters.sparkstream.sql.passes.flink.typenames import MONTHS, family


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
    """Type of `MOD(a, b)`: b's where `_divides_whole`, else that of DECIMAL arithmetic; None for other types."""
    if len(arguments) != 2:
        return None
    left, right = arguments
    if _divides_whole(left, right):
        return right
    if left is None or right is None or not all(t in types.INTEGERS or types.is_decimal(t) for t in arguments):
        return None
    return numbers.decimal_arithmetic(exp.Mod(this=exp.Null(), expression=exp.Null()), left, right)


def _divides_whole(left: str | None, right: str | None) -> bool:
    """True if b is an integer and a is a whole number: then the remainder of a by b has the type of b."""
    is_whole = left in types.INTEGERS or (types.is_decimal(left) and types.decimal_parts(left or "")[1] == 0)
    return is_whole and right in types.INTEGERS


def narrowed(left: str | None, right: str | None) -> str | None:
    """Type of the integer b, if the remainder of a whole number a by b has another type in Spark; else None."""
    if not _divides_whole(left, right):
        return None
    return right if types.is_decimal(left) or types.wider(left or "", right or "") != right else None


def modulo(call: FlinkCall) -> str:
    """MOD, whose type depends on the digits that a constant is written with in Spark."""
    left, right = call.types
    result = narrowed(left, right) if _divides_whole(left, right) else type_of_modulo(call.types, NUMBERS)
    return cast(call.same(), result) if result else call.same()


def rounded_type(node: exp.Anonymous, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of `ROUND(x, 2)` or `TRUNCATE(x, 2)`: of a DECIMAL(10,4) a DECIMAL(9,2), with one more whole digit."""
    if not node.expressions:
        return None
    type_, *digits = of(node.expressions[0]), *node.expressions[1:]
    if type_ is None or not types.is_decimal(type_):
        return type_
    return _rounded(type_, constant(digits[0]) if digits else 0)


def _rounded(type_: str, digits: float | None) -> str:
    precision, scale = types.decimal_parts(type_)
    if digits is None or digits >= scale:
        return type_
    kept = max(int(digits), 0)
    return f"decimal({precision - scale + 1 + kept},{kept})"


def _digits(call: FlinkCall) -> int | None:
    """Digits behind the point that a call rounds to; None if they aren't constant, which Spark refuses."""
    text = "".join(call.args[1].split()) if len(call.args) > 1 else "0"  # `- 1`, also over two lines
    return int(text) if text.lstrip("-").isdecimal() else None


def round_(call: FlinkCall) -> str:
    """ROUND, which leaves a DECIMAL its type where it has no more digits."""
    digits = _digits(call)
    type_ = known(call)
    keeps = types.is_decimal(type_) and digits is not None and digits >= types.decimal_parts(type_)[1]
    return cast(call.same(), type_) if keeps else call.same()


def truncate(call: FlinkCall) -> str:
    """TRUNCATE: towards zero."""
    digits = _digits(call)
    type_, x = call.types[0], call.args[0]
    to = call.args[1] if digits is None else digits
    cut = f"CASE WHEN {x} < 0 THEN CEIL({x}, {to}) ELSE FLOOR({x}, {to}) END"
    if type_ is None:  # the same number, as a DECIMAL
        return cut
    return cast(cut, _rounded(type_, digits) if types.is_decimal(type_) else type_)


def arithmetic_type(node: exp.Binary, left: str | None, right: str | None) -> str | None:
    """The type of `left operator right` for + - * / %."""
    if left is None or right is None:
        return None
    if isinstance(node, (exp.Add, exp.Sub)):
        for one, other in ((left, right), (right, left)):
            if (one in (*types.TIMES, "date") or types.is_clock(one)) and other.startswith("interval"):
                return one
    if "interval" in (family(left), family(right)):
        return _length(node, left, right)
    if not (types.is_numeric(left) and types.is_numeric(right)):
        return None
    if "double" in (left, right) or "float" in (left, right):
        if {left, right} == {"float", "double"}:
            return left  # as measured: the left operand decides
        return "double" if "double" in (left, right) or types.is_decimal(left) or types.is_decimal(right) else "float"
    if isinstance(node, exp.Mod) and _divides_whole(left, right):
        return right
    if left in types.INTEGERS and right in types.INTEGERS:
        return NUMBERS.common([left, right])
    return NUMBERS.decimal_arithmetic(node, left, right)


def _length(node: exp.Binary, left: str, right: str) -> str | None:
    """Type of a sum or difference of two lengths of time of one type, or of a length times an integer; else None."""
    if isinstance(node, exp.Mul):
        return left if right in types.INTEGERS else right if left in types.INTEGERS else None
    return left if isinstance(node, (exp.Add, exp.Sub)) and left == right else None


class Arithmetic(Rewriter):
    """Edits `+`, `-`, `*`, `/` and `%`."""

    @handles(exp.Mul)
    def _product(self, node: exp.Mul) -> Iterator[Edit]:
        yield from self._numbers(node)
        yield from self._with_decimal(node)

    @handles(exp.Mod)
    def _remainder(self, node: exp.Mod) -> Iterator[Edit]:
        """`a % b`, which has the type of b where both are integers."""
        yield from self._numbers(node)
        result = narrowed(self.type(node.left), self.type(node.right))
        if result is not None:
            yield self.edit(node, lambda: cast(self.text(node), result), level=1)

    @handles(exp.Div)
    def _quotient(self, node: exp.Div) -> Iterator[Edit]:
        left, right = self.type(node.left), self.type(node.right)
        if left in types.INTEGERS and right in types.INTEGERS:
            result = NUMBERS.common([left, right]) or "bigint"
            yield self.edit(node, lambda: cast(f"{self._operand(node.left)} DIV {self._operand(node.right)}", result))
        elif "double" in (left, right) or "float" in (left, right):
            never_zero = isinstance(by := node.right, exp.Literal) and bool(
                constant(by) if by.is_number else by.name.strip("0. ")
            )
            narrow = arithmetic_type(node, left, right) == "float"
            yield from self.as_floats(node.left, [node.right])
            if narrow or not never_zero:
                yield self.edit(node, lambda: self._float_quotient(node, never_zero, narrow))
        else:
            yield from self._numbers(node)
        yield from self._with_decimal(node)

    @handles(exp.Add, exp.Sub)
    def _sum(self, node: exp.Add | exp.Sub) -> Iterator[Edit]:
        yield from self._numbers(node)
        yield from self._with_decimal(node)
        sign = "+" if isinstance(node, exp.Add) else "-"
        for time, length in ((node.left, node.right), *([(node.right, node.left)] if sign == "+" else [])):
            if family(self.type(length)) == "interval":
                yield from self._moved(node, time, sign, length)

    # -- numbers -------------------------------------------------------------------------------------
    def _operand(self, node: exp.Expr) -> str:
        text = self.text(node)
        return f"({text})" if isinstance(node, (exp.Add, exp.Sub)) else text

    def _float_quotient(self, node: exp.Div, never_zero: bool, narrow: bool) -> str:
        """Division that gives infinities, where Spark gives NULL or an error; narrow to give a FLOAT."""
        a, b = self._operand(node.left), self._operand(node.right)
        if never_zero:
            return f"CAST({a} / {b} AS FLOAT)"
        infinite = f"CASE WHEN {a} = 0 THEN 'NaN' WHEN {a} > 0 THEN 'Infinity' ELSE '-Infinity' END"
        text = f"CASE WHEN {b} = 0 AND {a} IS NOT NULL THEN CAST({infinite} AS DOUBLE) ELSE {a} / {b} END"
        return f"CAST({text} AS FLOAT)" if narrow else text

    def _numbers(self, node: exp.Binary) -> Iterator[Edit]:
        """Casts integer literals with a DECIMAL, as Spark sizes them by digits, and FLOAT with DOUBLE to FLOAT."""
        if isinstance(node.parent, Difference):
            return
        left, right = self.type(node.left), self.type(node.right)
        for operand, other in ((node.left, right), (node.right, left)):
            if types.is_decimal(other) and constant(operand) is not None and self.type(operand) in types.INTEGERS:
                digits = NUMBERS.digits[self.type(operand) or "int"]
                yield self.edit(operand, lambda o=operand, d=digits: cast(self.text(o), f"decimal({d},0)"))  # type: ignore[misc]
        yield from self.as_floats(node.left, [node.right])

    def _with_decimal(self, node: exp.Binary) -> Iterator[Edit]:
        if any(types.is_decimal(self.type(value)) for value in (node.left, node.right)):
            for value in (node.left, node.right):
                yield from self.as_type(value, widened(self.type(value), "decimal"))

    # -- times and lengths of time ---------------------------------------------------------------------
    def _moved(self, node: exp.Expr, time: exp.Expr, sign: str, length: exp.Expr) -> Iterator[Edit]:
        """A time plus or minus a length of time.

        To a TIMESTAMP_LTZ, the length elapses. Of a date's length, whole days count, towards zero; a constant is
        written in whole days. A TIME wraps at midnight.
        """
        type_, kind, constant = self.type(time), self.type(length), constant_length(self.source, length)
        if types.is_clock(type_):
            yield self.edit(node, lambda: clocks.moved(self.text(time), sign, self.text(length), type_ or ""))
        elif type_ == "timestamp" and kind == MONTHS:
            yield self.edit(node, lambda: clocks.months_later(self.text(time), sign, self.text(length)))
        elif type_ == "timestamp" and constant is None:
            yield self.edit(node, lambda: clocks.later_by(self.text(time), sign, self.text(length)))
        elif type_ == "timestamp" and constant is not None and clocks.is_long(constant):
            yield self.edit(node, lambda: clocks.later(self.text(time), sign, constant))
        elif (
            type_ == "date"
            and kind not in ("interval", MONTHS)
            and (is_computed(length) or not isinstance(length, exp.Interval))
        ):
            function, days = "DATE_ADD" if sign == "+" else "DATE_SUB", "CAST(EXTRACT(DAY FROM {}) AS INT)"
            yield self.edit(node, lambda: f"{function}({self.text(time)}, {days.format(self.text(length))})")
