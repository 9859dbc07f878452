"""The types of numbers where Spark has others: a BIGINT beside a DECIMAL, remainders, and a DECIMAL that is rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.calls import cast
from dbt.adapters.sparkstream.sql.passes.flink.mathematics import NUMBERS, narrowed
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_ALIKE = frozenset({"COALESCE", "IFNULL", "GREATEST", "LEAST"})
"""Functions whose result is of a type that all their arguments take."""


class NumberTypes(Rewriter):
    """Gives numbers the types that Flink gives them."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div), self._operands),
            exp.Mod: self._remainder,
            exp.Literal: self._literal,
            exp.Anonymous: self._call,
            exp.Case: self._branches,
            exp.If: self._branches,
            **dict.fromkeys((exp.Floor, exp.Ceil), self._whole),
        }

    def _literal(self, node: exp.Expr) -> Iterator[Edit]:
        """A constant such as 0.5, alone or beside another exact number: its 0 is a digit, and none to Spark."""
        type_, around = self.type(node), node.parent
        if not self.source.written(node).startswith("0") or not types.is_decimal(type_):
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
        yield from self._sized([node.left, node.right])

    def _sized(self, values: list[exp.Expr]) -> Iterator[Edit]:
        """A BIGINT beside a DECIMAL, as a DECIMAL of 19 digits: Spark counts 20."""
        if any(types.is_decimal(self.type(value)) for value in values):
            for value in values:
                if self.type(value) == "bigint" and not isinstance(value, exp.Literal):
                    digits = f"decimal({NUMBERS.digits['bigint']},0)"
                    yield Edit(self.source.span(value), lambda v=value, d=digits: cast(self.text(v), d), level=1)  # type: ignore[misc]

    def _remainder(self, node: exp.Expr) -> Iterator[Edit]:
        """`a % b`, which has the type of b where both are integers."""
        assert isinstance(node, exp.Binary)
        result = narrowed(self.type(node.left), self.type(node.right))
        if result is not None:
            yield Edit(self.source.span(node), lambda: cast(self.text(node), result), level=1)

    def _call(self, node: exp.Expr) -> Iterator[Edit]:
        if node.name.upper() in _ALIKE:
            yield from self._sized(node.expressions)

    def _branches(self, node: exp.Expr) -> Iterator[Edit]:
        if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
            return
        results = [branch.args["true"] for branch in node.args.get("ifs") or [node]]
        otherwise = node.args.get("default") or node.args.get("false")
        yield from self._sized([*results, *([otherwise] if otherwise is not None else [])])

    def _whole(self, node: exp.Expr) -> Iterator[Edit]:
        """FLOOR and CEIL of a DECIMAL, which keep its digits: Spark drops those behind the point."""
        type_ = self.type(node.this)
        if node.args.get("to") is None and types.is_decimal(type_) and types.decimal_parts(type_ or "")[1] > 1:
            yield Edit(self.source.span(node), lambda: cast(self.text(node), self.type(node) or ""), level=1)
