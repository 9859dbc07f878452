"""The types of numbers and times where Spark has others: a BIGINT beside a DECIMAL, an integer beside a FLOAT, a
TIMESTAMP_LTZ beside a TIMESTAMP, remainders, and a DECIMAL that is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.calls import cast
from dbt.adapters.sparkstream.sql.passes.flink.constructs import is_map_constructor
from dbt.adapters.sparkstream.sql.passes.flink.mathematics import NUMBERS, narrowed
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

Common = Callable[[Iterable["str | None"]], "str | None"]
"""Gives the type that values of some types take together."""

_ALIKE = frozenset({"COALESCE", "IFNULL", "GREATEST", "LEAST"})
"""Functions whose result is of a type that all their arguments take."""


class NumberTypes(Rewriter):
    """Casts numbers and times to the types that Flink gives them."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div), self._operands),
            exp.Mod: self._remainder,
            exp.Literal: self._literal,
            exp.Anonymous: self._call,
            exp.Case: self._branches,
            exp.If: self._branches,
            exp.Array: self._elements,
            exp.Bracket: self._entries,
            exp.Values: self._listed,
            **dict.fromkeys((exp.Floor, exp.Ceil), self._whole),
            **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), self._rows),
        }

    def _literal(self, node: exp.Expr) -> Iterator[Edit]:
        """A constant such as 0.5, alone or beside another exact number: its 0 is a digit, and none to Spark."""
        type_, around = self.type(node), node.parent
        if (
            isinstance(around, exp.Interval)
            or not self.source.written(node).startswith("0")
            or not types.is_decimal(type_)
        ):
            return
        while isinstance(around, (exp.Paren, exp.Neg)):
            around = around.parent
        if isinstance(around, (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)):
            beside = [around.left, around.right]
        elif isinstance(around, exp.Anonymous) and around.name.upper() in _ALIKE:
            beside = around.expressions
        elif isinstance(around, exp.Select) or (
            isinstance(around, exp.Alias) and isinstance(around.parent, exp.Select)
        ):
            beside = []
        else:
            return
        if all(types.is_decimal(t) or t in types.INTEGERS for t in map(self.type, beside)):
            yield self.edit(node, lambda: cast(self.text(node), type_ or ""))

    def _operands(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        if any(types.is_decimal(self.type(value)) for value in (node.left, node.right)):
            for value in (node.left, node.right):
                yield from self._as(value, _widened(self.type(value), "decimal"))

    def _alike(self, values: Sequence[exp.Expr], common: Common = NUMBERS.common) -> Iterator[Edit]:
        """Values of which one is the result."""
        result = common([self.type(value) for value in values])
        for value in values:
            yield from self._as(value, _widened(self.type(value), result))

    def _as(self, value: exp.Expr, type_: str | None) -> Iterator[Edit]:
        """A value in a type; None for its own."""
        if type_ is not None and (type_ == "float" or not isinstance(value, exp.Literal)):
            yield Edit(self.source.span(value), lambda: cast(self.text(value), type_), level=1)

    def _rows(self, node: exp.Expr) -> Iterator[Edit]:
        """The columns of UNION, EXCEPT and INTERSECT."""
        if isinstance(node.parent, exp.SetOperation):
            return
        results = [column.type for column in self.resolver.columns(node).items]
        for select in _sides(node):
            columns = self.resolver.columns(select)
            if not columns.complete or len(columns.items) != len(results):
                continue
            needed = [_widened(column.type, result) for column, result in zip(columns.items, results, strict=True)]
            if len(select.expressions) == len(results) and not any(p.is_star for p in select.expressions):
                for projection, type_ in zip(select.expressions, needed, strict=True):
                    yield from self._column(projection, type_)
            elif any(needed):
                names = [quoted(column.name) for column in columns.items]
                outputs = [
                    name if type_ is None else f"{cast(name, type_)} AS {name}"
                    for name, type_ in zip(names, needed, strict=True)
                ]
                yield Edit(
                    self.source.span(select),
                    lambda s=select, o=outputs: f"SELECT {', '.join(o)} FROM ({self.text(s)})",  # type: ignore[misc]
                    level=1,
                )

    def _column(self, projection: exp.Expr, type_: str | None) -> Iterator[Edit]:
        """A column of a SELECT in a type; it keeps its name."""
        value = projection.unalias()
        if type_ is not None and projection is value and isinstance(value, exp.Column):
            named = lambda: f"{cast(self.text(value), type_)} AS {quoted(value.name)}"  # noqa: E731
            yield Edit(self.source.span(value), named, level=1)
        else:
            yield from self._as(value, type_)

    def _remainder(self, node: exp.Expr) -> Iterator[Edit]:
        """`a % b`, which has the type of b where both are integers."""
        assert isinstance(node, exp.Binary)
        result = narrowed(self.type(node.left), self.type(node.right))
        if result is not None:
            yield Edit(self.source.span(node), lambda: cast(self.text(node), result), level=1)

    def _call(self, node: exp.Expr) -> Iterator[Edit]:
        if node.name.upper() in _ALIKE:
            yield from self._alike(node.expressions, NUMBERS.common_of_arguments)

    def _elements(self, node: exp.Expr) -> Iterator[Edit]:
        yield from self._alike(node.expressions)

    def _entries(self, node: exp.Expr) -> Iterator[Edit]:
        if is_map_constructor(node):
            yield from self._alike(node.expressions[::2])
            yield from self._alike(node.expressions[1::2])

    def _listed(self, node: exp.Expr) -> Iterator[Edit]:
        """The columns of VALUES."""
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        if len({len(row) for row in rows}) == 1:
            for column in zip(*rows, strict=True):
                yield from self._alike(column)

    def _branches(self, node: exp.Expr) -> Iterator[Edit]:
        if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
            return
        results = [branch.args["true"] for branch in node.args.get("ifs") or [node]]
        otherwise = node.args.get("default") or node.args.get("false")
        yield from self._alike([*results, *([otherwise] if otherwise is not None else [])])

    def _whole(self, node: exp.Expr) -> Iterator[Edit]:
        """FLOOR and CEIL of a DECIMAL, which keep its digits: Spark drops the digits behind the point."""
        type_ = self.type(node.this)
        if node.args.get("to") is None and types.is_decimal(type_) and types.decimal_parts(type_ or "")[1] > 1:
            yield Edit(self.source.span(node), lambda: cast(self.text(node), self.type(node) or ""), level=1)


def _widened(type_: str | None, result: str | None) -> str | None:
    """The type to cast a value to, so that Spark finds the type `result` for several values; None without a cast.

    Beside a DECIMAL, a BIGINT has 19 digits in Flink and 20 in Spark. Spark makes a DOUBLE of an integer and a FLOAT,
    and of a FLOAT and a DOUBLE. Of a TIMESTAMP_LTZ beside a TIMESTAMP, Flink reads the former on the session's clock,
    where Spark gives the latter a zone.
    """
    if type_ == "timestamp" and result == types.NTZ:
        return types.NTZ
    if type_ == "bigint" and types.is_decimal(result):
        return f"decimal({NUMBERS.digits[type_]},0)"
    return "float" if type_ in (*types.INTEGERS, "double") and result == "float" else None


def _sides(node: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs of a set operation."""
    if isinstance(node, exp.SetOperation):
        yield from _sides(node.this)
        yield from _sides(node.expression)
    elif isinstance(node, exp.Subquery):
        yield from _sides(node.this)
    elif isinstance(node, exp.Select):
        yield node
