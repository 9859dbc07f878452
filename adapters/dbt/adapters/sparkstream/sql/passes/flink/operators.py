"""Operators of Flink SQL: what they give for numbers, and which operands they refuse."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import Difference, row_pairs
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.casttexts import text_of
from dbt.adapters.sparkstream.sql.passes.flink.clauses import QUANTIFIERS
from dbt.adapters.sparkstream.sql.passes.flink.families import family
from dbt.adapters.sparkstream.sql.passes.flink.mathematics import NUMBERS
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.typing import arithmetic_type


class Operators(Rewriter):
    """Edits arithmetic and comparisons."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Div: self._divide,
            **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod), self._arithmetic),
            **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), self._compare),
            exp.In: self._in,
        }

    def _divide(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Div)
        left, right = self.type(node.left), self.type(node.right)
        if left in types.INTEGERS and right in types.INTEGERS:
            result = NUMBERS.common([left, right]) or "bigint"
            yield self.edit(
                node, lambda: f"CAST({self._operand(node.left)} DIV {self._operand(node.right)} AS {result.upper()})"
            )
            return
        if "double" in (left, right) or "float" in (left, right):
            never_zero = isinstance(node.right, exp.Literal) and float(node.right.name or 0) != 0
            narrow = arithmetic_type(node, left, right) == "float"
            if narrow or not never_zero:
                yield self.edit(node, lambda: self._float_division(node, never_zero, narrow))
            return
        yield from self._arithmetic(node)

    def _operand(self, node: exp.Expr) -> str:
        text = self.text(node)
        return f"({text})" if isinstance(node, (exp.Add, exp.Sub)) else text

    def _float_division(self, node: exp.Div, never_zero: bool, narrow: bool) -> str:
        """Division that gives infinities, where Spark gives NULL or an error; narrow to give a FLOAT."""
        a, b = self._operand(node.left), self._operand(node.right)
        if never_zero:
            return f"CAST({a} / {b} AS FLOAT)"
        infinite = f"CASE WHEN {a} = 0 THEN 'NaN' WHEN {a} > 0 THEN 'Infinity' ELSE '-Infinity' END"
        text = f"CASE WHEN {b} = 0 AND {a} IS NOT NULL THEN CAST({infinite} AS DOUBLE) ELSE {a} / {b} END"
        return f"CAST({text} AS FLOAT)" if narrow else text

    def _arithmetic(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        if isinstance(node.parent, Difference):
            return
        left, right = self.type(node.left), self.type(node.right)
        for operand, other in ((node.left, right), (node.right, left)):
            if types.is_decimal(other) and isinstance(operand, exp.Literal) and self.type(operand) in types.INTEGERS:
                # Spark sizes an integer literal by its digits.
                digits = NUMBERS.digits[self.type(operand) or "int"]
                yield self.edit(operand, lambda o=operand, d=digits: f"CAST({self.text(o)} AS DECIMAL({d},0))")  # type: ignore[misc]
        if left == "float" and right == "double":
            yield Edit(self.source.span(node), lambda: f"CAST({self.text(node)} AS FLOAT)", level=1)

    def _compare(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        right = node.right
        called = right.name.upper() if isinstance(right, exp.Anonymous) else ""
        if isinstance(right, (exp.All, exp.Any)) or called in QUANTIFIERS:
            return  # x > ALL (...), whose values are compared one by one
        pairs = row_pairs(node.left, right)
        if pairs and isinstance(node, exp.EQ):
            yield self.edit(node, lambda: self._rows(pairs))
        elif not pairs:
            yield from self._unlike(node)

    def _unlike(self, node: exp.Binary) -> Iterator[Edit]:
        """Comparisons that Spark lacks: a string with a BOOLEAN, and two maps."""
        kinds = {family(self.type(node.left)), family(self.type(node.right))}
        equal = isinstance(node, (exp.EQ, exp.NEQ))
        if kinds == {"text", "boolean"} and equal:
            # Flink compares what they are written as, which is never the same.
            known = lambda: " AND ".join(f"{self.text(side)} IS NOT NULL" for side in (node.left, node.right))  # noqa: E731
            answer = "FALSE" if isinstance(node, exp.EQ) else "TRUE"
            yield self.edit(node, lambda: f"CASE WHEN {known()} THEN {answer} END")
        elif kinds == {"map"} and equal:
            sign = "=" if isinstance(node, exp.EQ) else "<>"
            entries = lambda side: f"ARRAY_SORT(MAP_ENTRIES({self.text(side)}))"  # noqa: E731
            yield self.edit(node, lambda: f"{entries(node.left)} {sign} {entries(node.right)}")

    def _rows(self, pairs: list[tuple[exp.Expr, exp.Expr]]) -> str:
        """`(a, b) = (c, d)` field by field: it is NULL if one is NULL and no other differs, where Spark says FALSE."""
        return f"({' AND '.join(f'{self.text(left)} = {self.text(right)}' for left, right in pairs)})"

    def _in(self, node: exp.Expr) -> Iterator[Edit]:
        wide = len(node.this.expressions) if isinstance(node.this, exp.Tuple) else 0
        if not wide and (yield from self._converted(node)):
            return
        rows = [row_pairs(node.this, value) for value in node.expressions]
        if rows and all(rows):
            negated = "NOT " if self.source.is_negated(node) else ""
            yield self.edit(node, lambda: f"{negated}({' OR '.join(self._rows(pairs) for pairs in rows if pairs)})")

    def _converted(self, node: exp.Expr) -> Generator[Edit, None, bool]:
        """`n IN ('1', '2')` reads its texts as numbers, `s IN (1, 2)` writes its numbers as texts; so with BOOLEANs."""
        wanted = self.type(node.this)
        if wanted == "float":  # `f IN (0.1)` finds the FLOAT that is written 0.1, which f = 0.1 doesn't
            for value in node.expressions:
                if types.is_decimal(self.type(value)):
                    yield self.edit(value, lambda v=value: f"CAST({self.text(v)} AS FLOAT)")  # type: ignore[misc]
        known = {value: kind for value in node.expressions if (kind := family(self.type(value)))}
        kinds = set(known.values())
        if {family(wanted), *kinds} not in ({"number", "text"}, {"boolean", "text"}):
            return False
        if len(kinds) > 1:
            return False
        type_ = str(wanted).upper()
        for value in known:
            yield Edit(self.source.span(value), lambda v=value: self._as(v, type_), level=1)  # type: ignore[misc]
        return True

    def _as(self, value: exp.Expr, type_: str) -> str:
        """A value of IN in the type of what is looked for."""
        text, own = self.text(value), self.type(value)
        return text_of(text, own) if own == "boolean" else f"CAST({text} AS {type_})"
