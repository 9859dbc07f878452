"""Arithmetic of Flink SQL: numbers, and sums of times and lengths of time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nodes import Difference
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.flink import clocks, instants
from dbt.adapters.sparkstream.sql.passes.flink.calls import cast
from dbt.adapters.sparkstream.sql.passes.flink.families import MONTHS, family
from dbt.adapters.sparkstream.sql.passes.flink.mathematics import NUMBERS, narrowed
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles, widened
from dbt.adapters.sparkstream.sql.passes.flink.times import constant_length, is_computed
from dbt.adapters.sparkstream.sql.passes.flink.typing import arithmetic_type


class Arithmetic(Rewriter):
    """Edits `+`, `-`, `*`, `/` and `%`."""

    @handles(exp.Mul)
    def _product(self, node: exp.Mul) -> Iterator[Edit]:
        yield from self._numbers(node)
        yield from self._beside_decimal(node)

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
            never_zero = isinstance(node.right, exp.Literal) and float(node.right.name or 0) != 0
            narrow = arithmetic_type(node, left, right) == "float"
            if narrow or not never_zero:
                yield self.edit(node, lambda: self._float_quotient(node, never_zero, narrow))
        else:
            yield from self._numbers(node)
        yield from self._beside_decimal(node)

    @handles(exp.Add, exp.Sub)
    def _sum(self, node: exp.Add | exp.Sub) -> Iterator[Edit]:
        yield from self._numbers(node)
        yield from self._beside_decimal(node)
        sign = "+" if isinstance(node, exp.Add) else "-"
        yield from self._later_instant(node, sign)
        yield from self._moved_date(node)
        yield from self._moved_clock(node, sign)

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
        """Integer literals beside a DECIMAL, which Spark sizes by their digits; and FLOAT with DOUBLE, a FLOAT."""
        if isinstance(node.parent, Difference):
            return
        left, right = self.type(node.left), self.type(node.right)
        for operand, other in ((node.left, right), (node.right, left)):
            if types.is_decimal(other) and isinstance(operand, exp.Literal) and self.type(operand) in types.INTEGERS:
                digits = NUMBERS.digits[self.type(operand) or "int"]
                yield self.edit(operand, lambda o=operand, d=digits: cast(self.text(o), f"decimal({d},0)"))  # type: ignore[misc]
        if left == "float" and right == "double":
            yield self.edit(node, lambda: cast(self.text(node), "float"), level=1)

    def _beside_decimal(self, node: exp.Binary) -> Iterator[Edit]:
        if any(types.is_decimal(self.type(value)) for value in (node.left, node.right)):
            for value in (node.left, node.right):
                yield from self.as_type(value, widened(self.type(value), "decimal"))

    # -- times and lengths of time ---------------------------------------------------------------------
    def _later_instant(self, node: exp.Add | exp.Sub, sign: str) -> Iterator[Edit]:
        """A TIMESTAMP_LTZ plus or minus a length of time, which elapses in Flink."""
        for time, length in ((node.left, node.right), *([(node.right, node.left)] if sign == "+" else [])):
            if self.type(time) == "timestamp" and family(self.type(length)) == "interval":
                yield from self._later(node, time, sign, length)

    def _later(self, node: exp.Expr, time: exp.Expr, sign: str, length: exp.Expr) -> Iterator[Edit]:
        constant = constant_length(self.source, length)
        if self.type(length) == MONTHS:
            yield self.edit(node, lambda: instants.months_later(self.text(time), sign, self.text(length)))
        elif constant is None:
            yield self.edit(node, lambda: instants.later_by(self.text(time), sign, self.text(length)))
        elif instants.is_long(constant):
            yield self.edit(node, lambda: instants.later(self.text(time), sign, constant))

    def _moved_date(self, node: exp.Add | exp.Sub) -> Iterator[Edit]:
        """A date and a length of time give a date in Flink: whole days of it count, towards zero."""
        for date, length in ((node.left, node.right), (node.right, node.left)):
            kind = self.type(length)
            if self.type(date) != "date" or family(kind) != "interval" or kind in ("interval", MONTHS):
                continue
            if isinstance(length, exp.Interval) and not is_computed(length):
                return  # a constant is written in whole days
            yield self.edit(node, partial(self._days_later, date, length, back=isinstance(node, exp.Sub)))
            return

    def _days_later(self, date: exp.Expr, length: exp.Expr, *, back: bool) -> str:
        days = f"CAST(EXTRACT(DAY FROM {self.text(length)}) AS INT)"
        return f"{'DATE_SUB' if back else 'DATE_ADD'}({self.text(date)}, {days})"

    def _moved_clock(self, node: exp.Add | exp.Sub, sign: str) -> Iterator[Edit]:
        """A TIME plus or minus a length of time, which wraps at midnight."""
        left, right = self.type(node.left), self.type(node.right)
        if types.is_clock(left) and family(right) == "interval":
            yield self.edit(node, lambda: clocks.moved(self.text(node.left), sign, self.text(node.right), left or ""))
        elif types.is_clock(right) and family(left) == "interval" and sign == "+":
            yield self.edit(node, lambda: clocks.moved(self.text(node.right), sign, self.text(node.left), right or ""))
