"""Resolvers of a statement's columns, one for each dialect."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, Numbers, wider
from dbt.adapters.sparkstream.sql.core.typing import (
    SPARK,
    FunctionRule,
    TypeOf,
    Types,
    always,
    common,
    first_operand,
    fixed,
    listed,
    same,
)
from dbt.adapters.sparkstream.sql.passes.flink.typing import FLINK
from dbt.adapters.sparkstream.sql.passes.framing.scalars import FLOAT_FUNCTIONS


def _literal(node: exp.Literal, of: TypeOf, numbers: Numbers) -> str | None:
    """A number with a point is a DOUBLE in OpenMLDB, which has no DECIMAL; 3L is a BIGINT, and 1.5f a FLOAT."""
    if node.is_number and node.name[-1].upper() in "LF":
        return "bigint" if node.name[-1].upper() == "L" else "float"
    if node.is_number and not node.name.isdecimal():
        return "double"
    return SPARK.nodes[exp.Literal](node, of, numbers)


def _arithmetic(node: exp.Binary, of: TypeOf, numbers: Numbers) -> str | None:
    """A TIMESTAMP and a number of milliseconds give a TIMESTAMP, and a BOOL is a number."""
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


def _added(types: Types, numbers: Numbers) -> str | None:
    """ADD(a, b): a TIMESTAMP if one is."""
    return "timestamp" if "timestamp" in types else common(types, numbers)


def _instead(replaced: Mapping[str, str]) -> FunctionRule:
    """The type of the first argument, or what `replaced` has for this type."""
    return lambda types, numbers: replaced.get(types[0] or "", types[0]) if types else None


_WHOLE = {"smallint": "bigint", "int": "bigint", "boolean": "bigint", "float": "double"}


def _whole(node: exp.Expr, of: TypeOf, numbers: Numbers) -> str | None:
    """FLOOR and CEIL: a DOUBLE of numbers that may have a fraction."""
    return _instead(_WHOLE)([of(node.this)], numbers)


def _of_floats(types: Types, numbers: Numbers) -> str | None:
    """A FLOAT if all arguments are FLOATs."""
    return "float" if set(types) == {"float"} else "double"


OPENMLDB = SPARK.but(
    nodes={
        exp.Literal: _literal,
        **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv), _arithmetic),
        **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), _arithmetic),
        **dict.fromkeys((exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift), first_operand),
        **dict.fromkeys((exp.Floor, exp.Ceil), _whole),
        exp.DPipe: fixed("string"),
        exp.Substring: fixed("string"),
    },
    functions=listed(
        {
            same: "SUM AT INC IDENTITY NTH_VALUE_WHERE SUM_WHERE MIN_WHERE MAX_WHERE",
            common: "IF_NULL MAXIMUM MINIMUM",
            always("bigint"): "DISTINCT_COUNT COUNT_WHERE INT64",
            always("smallint"): "INT16",
            _added: "ADD",
            _instead({"smallint": "int", "boolean": "int", "float": "double"}): "ABS",
            _instead({"smallint": "int", "boolean": "double", "float": "double"}): "TRUNCATE",
            _instead(_WHOLE): "CEILING",
            _of_floats: f"{FLOAT_FUNCTIONS} ATAN LN LOG LOG2 LOG10",
            always("int"): "INT32 WEEK DATEDIFF STRCMP JSON_ARRAY_LENGTH",
            always("double"): "EARTH_DISTANCE AVG_WHERE EW_AVG DRAWDOWN ENTROPY TOP1_RATIO MEDIAN STD",
            always("boolean"): "BOOL IS_NULL LIKE_MATCH ILIKE_MATCH ARRAY_CONTAINS",
            always("string"): "CONCAT SUBSTR SUBSTRING CHAR UNHEX JOIN FZ_JOIN TOP TOPN_FREQUENCY GET_JSON_OBJECT "
            "FZ_TOPN_FREQUENCY REVERSE",
        }
    ),
)
"""The types of OpenMLDB's SQL, as Spark types."""


def _quotient(node: exp.Div, of: TypeOf, numbers: Numbers) -> str | None:
    """An integer of integers."""
    types = [t for t in (of(node.left), of(node.right)) if t in INTEGERS]
    return wider(*types) if len(types) == 2 else SPARK.nodes[exp.Div](node, of, numbers)


SQLSTREAM = SPARK.but(nodes={exp.Div: _quotient}, functions={})
"""The types of SQLstream's SQL, as Spark types."""

RULES = {"spark": SPARK, "flink": FLINK, "openmldb": OPENMLDB, "sqlstream": SQLSTREAM}
"""Dialect -> the types of its expressions."""


def resolver_of(dialect: str, schema: Schema | None, *, wall_bounds: bool = False) -> Resolver:
    """A Resolver for a statement in a dialect."""
    return Resolver(schema, RULES[dialect], wall_bounds=wall_bounds)
