"""Operators of Flink SQL: what they give for numbers, and which operands they refuse."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.difference import Difference
from dbt.adapters.sparkstream.sql.core.rows import row_pairs
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.casttexts import text_of
from dbt.adapters.sparkstream.sql.passes.flink.clauses import QUANTIFIERS
from dbt.adapters.sparkstream.sql.passes.flink.families import family, incomparable, incompatible
from dbt.adapters.sparkstream.sql.passes.flink.mathematics import NUMBERS
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.typing import arithmetic_type

_CALCULATED = (None, "number", "date", "time", "clock", "interval", "text")
"""Kinds of what + - * / and % take; a text has an error of its own."""


class Operators(Rewriter):
    """Edits arithmetic, and refuses operands that Flink refuses."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Div: self._divide,
            **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod), self._arithmetic),
            **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), self._compare),
            exp.In: self._in,
            exp.DPipe: self._concat,
            **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), self._set_operation),
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
        self._check_difference(node, left, right)
        self._check_kinds(node, left, right)
        self._check_lengths(node, left, right)
        self._check_times(node, left, right)
        for operand, other in ((node.left, right), (node.right, left)):
            if types.is_decimal(other) and isinstance(operand, exp.Literal) and self.type(operand) in types.INTEGERS:
                # Spark sizes an integer literal by its digits.
                digits = NUMBERS.digits[self.type(operand) or "int"]
                yield self.edit(operand, lambda o=operand, d=digits: f"CAST({self.text(o)} AS DECIMAL({d},0))")  # type: ignore[misc]
        if left == "float" and right == "double":
            yield Edit(self.source.span(node), lambda: f"CAST({self.text(node)} AS FLOAT)", level=1)

    def _check_difference(self, node: exp.Binary, left: str | None, right: str | None) -> None:
        """Refuses a difference of two timestamps, or of two dates."""
        if isinstance(node, exp.Sub) and left in types.TIMES and right in types.TIMES:
            self.refuse(
                node,
                "Flink takes no difference of two timestamps",
                "write TIMESTAMPDIFF(SECOND, b, a), or (a - b) SECOND",
            )
        if isinstance(node, exp.Sub) and left == right == "date":
            self.refuse(node, "Flink takes no difference of two dates", "write TIMESTAMPDIFF(DAY, b, a)")

    def _check_kinds(self, node: exp.Binary, left: str | None, right: str | None) -> None:
        """Refuses what can't be calculated with."""
        if types.mixed(left, right):
            self.refuse(node, "a number and a text can't be calculated with", "write CAST(... AS INT) around the text")
        for operand, type_ in ((node.left, left), (node.right, right)):
            if family(type_) not in _CALCULATED:
                self.refuse(operand, f"a {type_} can't be calculated with", "write CAST(... AS INT) around it")
            if isinstance(node, exp.Mod) and type_ in ("float", "double"):
                self.refuse(operand, f"% takes exact numbers, and this is a {type_}", "write CAST(... AS BIGINT)")
        if family(left) == family(right) == "text":
            self.refuse(node, "two texts can't be calculated with", "write a || b, or CAST(... AS INT) around each")

    def _check_lengths(self, node: exp.Binary, left: str | None, right: str | None) -> None:
        """Refuses what a length of time can't be divided by, multiplied with or added to."""
        kinds = {family(left), family(right)}
        divided = isinstance(node, exp.Div) and "interval" in kinds
        factors = {type_ for type_ in (left, right) if family(type_) != "interval"} - {None, *types.INTEGERS}
        if divided or (isinstance(node, exp.Mul) and "interval" in kinds and factors):
            self.refuse(node, "a length of time is multiplied with an integer alone", "write INTERVAL '12' HOUR")
        if (
            all(isinstance(side, exp.Interval) for side in (node.left, node.right))
            and len(_lengths(node.left, node.right)) > 1
        ):
            self.refuse(node, "months and days can't be added", "add them to a time one by one")

    def _check_times(self, node: exp.Binary, left: str | None, right: str | None) -> None:
        """Refuses what can't be done with a DATE, a TIMESTAMP or a TIME."""
        kinds = {family(left), family(right)}
        if "number" in kinds and kinds & {"date", "time", "clock"}:
            self.refuse(node, "a number can't be added to a time", "write ts + INTERVAL '1' DAY")
        if "clock" in kinds and (not isinstance(node, (exp.Add, exp.Sub)) or kinds - {"clock", "interval", None}):
            self.refuse(node, "a TIME takes a length of time alone", "write t + INTERVAL '1' HOUR")
        if isinstance(node, exp.Add) and kinds <= {"date", "time"}:
            self.refuse(node, "two times can't be added", "write ts + INTERVAL '1' DAY")
        if kinds == {"clock"}:
            self.refuse(node, "Flink takes no difference of two times", "write (t2 - t1) SECOND")
        if isinstance(node, exp.Sub) and family(left) == "interval" and "clock" in kinds:
            self.refuse(node, "a time can't be taken from a length of time", "write t - INTERVAL '1' HOUR")
        if kinds == {"date", "time"}:
            self.refuse(node, "Flink takes no difference of two times", "write TIMESTAMPDIFF(SECOND, b, a)")

    def _concat(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, exp.DPipe)
        for operand in (node.left, node.right):
            if types.is_numeric(self.type(operand)):
                self.refuse(operand, "|| joins texts, and this is a number", "write CAST(... AS STRING)")
        return ()

    def _compare(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        right = node.right
        called = right.name.upper() if isinstance(right, exp.Anonymous) else ""
        if isinstance(right, (exp.All, exp.Any)) or called in QUANTIFIERS:
            return  # x > ALL (...), whose values are compared one by one
        pairs = row_pairs(node.left, right)
        for left, right in pairs or [(node.left, node.right)]:
            self._comparable(node, left, right)
        if pairs and not isinstance(node, (exp.EQ, exp.NEQ)):
            self.refuse(node, "two rows have no order", "compare their values one by one")
        if pairs and isinstance(node, exp.EQ):
            yield self.edit(node, lambda: self._rows(pairs))
        elif not pairs:
            yield from self._unlike(node)

    def _unlike(self, node: exp.Binary) -> Iterator[Edit]:
        """A text beside a BOOLEAN, and two maps, which Spark doesn't compare."""
        kinds = {family(self.type(node.left)), family(self.type(node.right))}
        equal = isinstance(node, (exp.EQ, exp.NEQ))
        if kinds == {"text", "boolean"} and equal:
            # Flink compares what they are written as, which is never the same.
            known = lambda: " AND ".join(f"{self.text(side)} IS NOT NULL" for side in (node.left, node.right))  # noqa: E731
            answer = "FALSE" if isinstance(node, exp.EQ) else "TRUE"
            yield self.edit(node, lambda: f"CASE WHEN {known()} THEN {answer} END")
        elif kinds in ({"array"}, {"row"}) and not equal:
            self.refuse(
                node,
                f"two values of type {'ARRAY' if kinds == {'array'} else 'ROW'} have no order",
                "compare their parts",
            )
        elif kinds == {"map"}:
            if not equal:
                self.refuse(node, "a MAP has no order", "compare its values")
            sign = "=" if isinstance(node, exp.EQ) else "<>"
            entries = lambda side: f"ARRAY_SORT(MAP_ENTRIES({self.text(side)}))"  # noqa: E731
            yield self.edit(node, lambda: f"{entries(node.left)} {sign} {entries(node.right)}")

    def _rows(self, pairs: list[tuple[exp.Expr, exp.Expr]]) -> str:
        """`(a, b) = (c, d)` field by field: it is NULL if one is NULL and no other differs, where Spark says FALSE."""
        return f"({' AND '.join(f'{self.text(left)} = {self.text(right)}' for left, right in pairs)})"

    def _in(self, node: exp.Expr) -> Iterator[Edit]:
        wide = len(node.this.expressions) if isinstance(node.this, exp.Tuple) else 0
        for value in node.expressions:
            if wide and isinstance(value, exp.Tuple) and len(value.expressions) != wide:
                self.refuse(value, f"this row has {len(value.expressions)} values, and {wide} stand before IN")
        if not wide and (yield from self._converted(node)):
            return
        rows = [row_pairs(node.this, value) for value in node.expressions]
        for value, pairs in zip(node.expressions, rows, strict=True):
            for left, right in pairs or [(node.this, value)]:
                self._comparable(node, left, right)
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
            other = "BOOLEANs" if "boolean" in kinds else "numbers"
            self.refuse(node, f"IN has {other} and texts as values", f"write {other} alone, or texts alone")
        type_ = str(wanted).upper()
        for value in known:
            yield Edit(self.source.span(value), lambda v=value: self._as(v, type_), level=1)  # type: ignore[misc]
        return True

    def _as(self, value: exp.Expr, type_: str) -> str:
        """A value of IN in the type of what is looked for."""
        text, own = self.text(value), self.type(value)
        return text_of(text, own) if own == "boolean" else f"CAST({text} AS {type_})"

    def _comparable(self, node: exp.Expr, left: exp.Expr, right: exp.Expr) -> None:
        """Refuses what Flink doesn't compare; an order between a number and a text it does (it reads the number)."""
        one, other = self.type(left), self.type(right)
        if isinstance(left, exp.Interval) and isinstance(right, exp.Interval) and len(_lengths(left, right)) > 1:
            self.refuse(node, "months and days can't be compared", "compare days with days")
        if incomparable(one, other) and {family(one), family(other)} != {"date", "time"}:
            self.refuse(node, f"{one} and {other} can't be compared", "write CAST(...) around one of them")
        if types.mixed(one, other) and isinstance(node, (exp.EQ, exp.NEQ)):
            self.refuse(node, "a number and a text can't be compared", "write CAST(... AS INT) around the text")
        if "date" in (one, other) and (one in types.TIMES or other in types.TIMES) and not self._is_edge(right):
            self.refuse(
                node, "a date and a timestamp can't be compared", "write CAST(... AS TIMESTAMP) around the date"
            )

    def _is_edge(self, node: exp.Expr) -> bool:
        """Whether a time is the edge of a batch, in a ref of a microbatch model: Flink has no type of that name."""
        return isinstance(node, exp.Cast) and self.source.written(node).upper().startswith("TIMESTAMP_NTZ")

    def _set_operation(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, exp.SetOperation)
        left, right = self.resolver.columns(node.this), self.resolver.columns(node.expression)
        if left.complete and right.complete:
            name, counts = node.key.upper(), (len(left.items), len(right.items))
            if counts[0] != counts[1]:
                self.refuse(
                    node.expression, f"{name} takes as many columns on both sides, not {counts[0]} and {counts[1]}"
                )
            for a, b in zip(left.items, right.items, strict=True):
                if incompatible(a.type, b.type):
                    where = a.name or b.name
                    self.refuse(
                        node.expression,
                        f"{name} finds {a.type} and {b.type} in column {where}",
                        "write CAST(...) on one side",
                    )
        return ()


def _lengths(*sides: exp.Expr) -> set[bool]:
    """Whether the two lengths of time are of months, each."""
    return {
        str(side.args["unit"].name or side.args["unit"].sql()).upper().startswith(("YEAR", "MONTH"))
        for side in sides
        if side.args.get("unit") is not None
    }
