"""Names of tables and views: a schema and a name, and a catalog before them where `database` says one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dbt.adapters.base.relation import BaseRelation, EventTimeFilter, Policy
from dbt.adapters.contracts.relation import ComponentName
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.sparkstream.sql.core.literals import backticked, named


@dataclass
class SparkStreamIncludePolicy(Policy):
    """Policy that writes all parts of a name; a missing part is left out."""

    database: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class SparkStreamRelation(SparkRelation):
    """dbt-spark's relation, whose `database` is a catalog of Spark's; None for the session's catalog."""

    include_policy: Policy = field(default_factory=lambda: SparkStreamIncludePolicy())

    def __post_init__(self) -> None:
        if self.database is not None and catalog_of(self.database, self.schema) is None:
            object.__setattr__(self, "path", self.path.replace(database=None))

    def render(self) -> str:
        """The name in SQL; dbt-spark's method refuses a name of three parts."""
        return BaseRelation.render(self)

    def render_limited(self) -> str:
        """The relation, or a subquery on it with `--empty`: without dbt's LIMIT 0, as no view with LIMIT streams."""
        if self.limit != 0:
            return super().render_limited()
        return f"(select * from {self.render()} where false){self._render_limited_alias()}"

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        """SQL condition for a batch's rows, in wall-clock times as windows have; dbt's method writes times in UTC."""
        edges = ((">=", event_time_filter.start), ("<", event_time_filter.end))
        time = named(event_time_filter.field_name)
        return " and ".join(f"{time} {sign} {on_the_wall_clock(edge)}" for sign, edge in edges if edge is not None)

    def quoted(self, identifier: str) -> str:
        return backticked(identifier)

    def _is_exactish_match(self, field: ComponentName, value: str) -> bool:
        """True if a part of the name is the value in any case, as Spark takes names; dbt looks for it in lower case."""
        return (self.path.get_part(field) or "").lower() == value.lower()


def on_the_wall_clock(edge: datetime) -> str:
    """SQL literal for an edge of a batch: dbt's time in UTC is taken for the wall-clock time of the session's zone."""
    return f"TIMESTAMP_NTZ'{edge.replace(tzinfo=None)}'"


def catalog_of(database: Any, schema: str | None) -> str | None:
    """Catalog that a `database` names; None if it names the schema, or nothing.

    Args:
        database: value of a profile, a config or a macro. Projects for dbt-spark may have the schema's name here, as
            both words mean the same there, and macros may have an undefined value.
        schema: the schema of the same profile, config or macro.
    """
    return database if isinstance(database, str) and database and database != schema else None
