"""Types of expressions in OpenMLDB's and SQLstream's SQL, as Spark types."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.nodes import results
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, Numbers, wider
from dbt.adapters.sparkstream.sql.core.typing import SPARK, TypeOf, always, common, first_operand, fixed
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.framing.conversions import TYPES_OF_CONVERSIONS
from dbt.adapters.sparkstream.sql.passes.framing.scalars import SCALARS, WHOLE, one_of


def _literal(node: exp.Literal, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of a number: a DOUBLE with a point, as OpenMLDB has no DECIMAL; 3L is a BIGINT, and 1.5f a FLOAT."""
    if node.is_number and node.name[-1].upper() in "LF":
        return "bigint" if node.name[-1].upper() == "L" else "float"
    if node.is_number and not node.name.isdecimal():
        return "double"
    return SPARK.nodes[exp.Literal](node, of, numbers)


def _arithmetic(node: exp.Binary, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of arithmetic: a TIMESTAMP and a number of milliseconds give a TIMESTAMP, and a BOOL is a number."""
    types = [of(node.left), of(node.right)]
    if "timestamp" in types:
        timed = isinstance(node, (exp.Add, exp.Sub)) and all(t == "timestamp" or t in INTEGERS for t in types)
        return "timestamp" if timed else "double" if isinstance(node, exp.Div) else None
    if isinstance(node, (exp.IntDiv, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)):
        known = [t for t in types if t in INTEGERS]
        return wider(*known) if len(known) == 2 else None
    if "float" in types and all(t == "float" or t in INTEGERS for t in types) and not isinstance(node, exp.Div):
        return "float"
    as_int = {"boolean": "int"}
    return SPARK.nodes[exp.Add](node, lambda operand: as_int.get(of(operand) or "", of(operand)), numbers)


OPENMLDB = SPARK.but(
    nodes={
        exp.Literal: _literal,
        **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv), _arithmetic),
        **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), _arithmetic),
        **dict.fromkeys((exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift), first_operand),
        **dict.fromkeys((exp.Floor, exp.Ceil), lambda node, of, numbers: WHOLE([of(node.this)], numbers)),
        **dict.fromkeys((exp.Case, exp.If), lambda node, of, numbers: one_of([*map(of, results(node))], numbers)),
        exp.DPipe: fixed("string"),
        exp.Substring: fixed("string"),
    },
    functions={
        **{name: one_of for name, returns in SPARK.functions.items() if returns is common},
        "NVL2": lambda types, numbers: one_of(types[1:], numbers),
        **{name: scalar.returns for name, scalar in SCALARS.items() if scalar.returns},
        **{name: always(type_) for name, type_ in TYPES_OF_CONVERSIONS.items()},
        **{name: aggregate.returns for name, aggregate in AGGREGATES.items() if aggregate.returns},
    },
)


def _quotient(node: exp.Div, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of `a / b`: of two integers, the wider one's."""
    types = [t for t in (of(node.left), of(node.right)) if t in INTEGERS]
    return wider(*types) if len(types) == 2 else SPARK.nodes[exp.Div](node, of, numbers)


SQLSTREAM = SPARK.but(nodes={exp.Div: _quotient}, functions={})
