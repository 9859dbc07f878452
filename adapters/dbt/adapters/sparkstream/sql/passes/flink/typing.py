"""Types of Flink expressions, bottom up, as far as the schema reaches."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.columns import NO_SELECT, UNKNOWN, Column, Columns, Resolver
from dbt.adapters.sparkstream.sql.passes.flink.functions import FUNCTIONS

_COMPARISONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Between, exp.In, exp.Exists, exp.Is)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)


class FlinkResolver(Resolver):
    """A Resolver that knows the type of whole expressions by Flink's rules.

    Args:
        wall_bounds: off for a stream, whose windows end by a watermark, which needs a TIMESTAMP.
    """

    def __init__(self, schema: Mapping[str, Mapping[str, str]] | None, *, wall_bounds: bool = True) -> None:
        super().__init__(schema, wall_bounds=wall_bounds)
        self._read: dict[tuple[int, int], tuple[exp.Expr, Column]] = {}

    def _columns(self, relation: exp.Expr) -> Columns:
        return self._values(relation) if isinstance(relation, exp.Values) else super()._columns(relation)

    def _values(self, values: exp.Values) -> Columns:
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
        names = values.alias_column_names
        if any(len(row) != len(names) for row in rows):
            return UNKNOWN
        columns = ([self.type(row[i], NO_SELECT) for row in rows] for i in range(len(names)))
        return Columns(tuple(Column(n, types.common_type(c)) for n, c in zip(names, columns, strict=True)))

    def expression(self, node: exp.Expr, select: exp.Select) -> Column:
        key = id(node), id(select)
        if key not in self._read:  # else each level of a long expression would ask for all below it again
            found = super().expression(node, select)
            if found.type is None:
                found = Column(found.name, self._type(node, select), found.origin)
            self._read[key] = node, found
        return self._read[key][1]

    def widened(self, one: str | None, other: str | None) -> str | None:
        return types.common_type([one, other])

    def unnamed(self, position: int) -> str:
        return f"EXPR${position}"

    def type(self, node: exp.Expr | None, select: exp.Select) -> str | None:
        """The Spark type of an expression in a query, or None."""
        return self.expression(node, select).type if isinstance(node, exp.Expr) else None

    def _type(self, node: exp.Expr, select: exp.Select) -> str | None:
        if isinstance(node, exp.Literal):
            return _literal_type(node)
        if isinstance(node, exp.Null):
            return "void"
        if isinstance(node, _ARITHMETIC):
            return types.arithmetic_type(type(node), self.type(node.left, select), self.type(node.right, select))
        if isinstance(node, _COMPARISONS):
            return "boolean"
        if isinstance(node, (exp.Paren, exp.Neg, exp.Window, exp.Filter, exp.Distinct, exp.Ordered, exp.Alias)):
            inner = node.this if not isinstance(node, exp.Distinct) else (node.expressions or [None])[0]
            return self.type(inner, select)
        if isinstance(node, exp.Case):
            branches = [branch.args.get("true") for branch in node.args.get("ifs") or []]
            default = node.args.get("default")
            return types.common_type([self.type(b, select) for b in (*branches, default) if b is not None])
        if isinstance(node, exp.If):
            branches = [node.args.get("true"), node.args.get("false")]
            return types.common_type([self.type(b, select) for b in branches if b is not None])
        if isinstance(node, exp.Extract):
            return "bigint"
        if isinstance(node, (exp.Floor, exp.Ceil)):
            inner = self.type(node.this, select)
            return inner if node.args.get("to") else _rounded(inner)
        if isinstance(node, (exp.DPipe, exp.Substring, exp.Trim, exp.Overlay)):
            return "string"
        if isinstance(node, exp.StrPosition):
            return "int"
        if isinstance(node, exp.Interval):
            return "interval"
        if isinstance(node, exp.Subquery):
            columns = self.columns(node)
            return columns.items[0].type if len(columns.items) == 1 else None
        if isinstance(node, exp.Column) and node.name.upper() == "LOCALTIMESTAMP":
            return "timestamp_ntz"
        if isinstance(node, exp.CurrentTimestamp):
            return "timestamp"
        if isinstance(node, exp.CurrentDate):
            return "date"
        if isinstance(node, exp.Anonymous):
            return self._call_type(node, select)
        return None

    def _call_type(self, node: exp.Anonymous, select: exp.Select) -> str | None:
        name = node.name.upper()
        if name in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            if name == "TIMESTAMPDIFF":
                return "int"
            return self.type(node.expressions[2], select) if len(node.expressions) == 3 else None
        function = FUNCTIONS.get(name)
        return function.returns([self.type(arg, select) for arg in node.expressions]) if function else None


def _rounded(type_: str | None) -> str | None:
    return f"decimal({types.decimal_parts(type_ or '')[0]},0)" if types.is_decimal(type_) else type_


def _literal_type(literal: exp.Literal) -> str:
    if literal.is_string:
        return "string"
    text = literal.name
    if "E" in text.upper():
        return "double"
    if "." in text:
        digits = text.replace(".", "").lstrip("0")
        scale = len(text.partition(".")[2])
        return f"decimal({max(len(digits), scale)},{scale})"
    return "int" if int(text) < 2**31 else "bigint"
