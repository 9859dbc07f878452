"""Resolvers of a statement's columns, one for each dialect."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.typing import SPARK


def resolver_of(dialect: str, schema: Schema | None, *, wall_bounds: bool = False) -> Resolver:
    """A Resolver for a statement in a dialect; the types of another dialect than Spark's are loaded when needed."""
    rules = SPARK
    if dialect == "flink":
        from dbt.adapters.sparkstream.sql.passes.flink.typing import FLINK as rules
    elif dialect == "openmldb":
        from dbt.adapters.sparkstream.sql.passes.framing.typing import OPENMLDB as rules
    elif dialect == "sqlstream":
        from dbt.adapters.sparkstream.sql.passes.framing.typing import SQLSTREAM as rules
    return Resolver(schema, rules, wall_bounds=wall_bounds)
