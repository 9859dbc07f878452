"""How the columns of a statement are found in each dialect."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import SPARK, TypeOf, always, same
from dbt.adapters.sparkstream.sql.passes.flink.typing import FLINK


def _literal(node: exp.Literal, of: TypeOf, numbers: Numbers) -> str | None:
    """A number with a point is a DOUBLE in OpenMLDB, which has no DECIMAL."""
    if node.is_number and not node.name.isdecimal():
        return "double"
    return SPARK.nodes[exp.Literal](node, of, numbers)


OPENMLDB = SPARK.but(
    nodes={exp.Literal: _literal},
    functions={
        "SUM": same,
        "AT": same,
        "DISTINCT_COUNT": always("bigint"),
        "INT16": always("smallint"),
        "INT32": always("int"),
        "INT64": always("bigint"),
        "BOOL": always("boolean"),
    },
)
"""The types of OpenMLDB's SQL, as Spark types."""

RULES = {"spark": SPARK, "flink": FLINK, "openmldb": OPENMLDB, "sqlstream": SPARK}
"""Dialect -> the types of its expressions."""


def resolver_of(dialect: str, schema: Schema | None, *, wall_bounds: bool = False) -> Resolver:
    """A Resolver for a statement in a dialect."""
    return Resolver(schema, RULES[dialect], wall_bounds=wall_bounds)
