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
    """All parts of a name are written; a part that isn't there is left out."""

    database: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class SparkStreamRelation(SparkRelation):
    """dbt-spark's relation, whose `database` is a catalog of Spark's; None for the session's catalog."""

    include_policy: Policy = field(default_factory=lambda: SparkStreamIncludePolicy())

    def __post_init__(self) -> None:
        if self.database is not None and catalog_of(self.database, self.schema) is None:
            object.__setattr__(self, "path", self.path.replace(database=None))

    def render(self) -> str:
        """The name as SQL has it; dbt-spark's refuses one of three parts."""
        return BaseRelation.render(self)

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        """The condition on the rows of a batch, by the clock on the wall, as windows are; dbt's has times in UTC."""
        edges = ((">=", event_time_filter.start), ("<", event_time_filter.end))
        time = named(event_time_filter.field_name)
        return " and ".join(f"{time} {sign} {on_the_wall_clock(edge)}" for sign, edge in edges if edge is not None)

    def quoted(self, identifier: str) -> str:
        return backticked(identifier)

    def _is_exactish_match(self, field: ComponentName, value: str) -> bool:
        if field is ComponentName.Database:  # dbt looks for it in lower case
            return (self.database or "").lower() == value.lower()
        return super()._is_exactish_match(field, value)


def on_the_wall_clock(edge: datetime) -> str:
    """An edge of a batch in SQL: what dbt calls UTC is the time that the clock of the session's zone shows."""
    return f"TIMESTAMP_NTZ'{edge.replace(tzinfo=None)}'"


def catalog_of(database: Any, schema: str | None) -> str | None:
    """The catalog that a `database` means.

    Args:
        database: as a profile, a config or a macro has it. Projects for dbt-spark may say the schema here, as it is
            another word for it there, and macros may have an undefined value.
        schema: the schema beside it.
    """
    return database if isinstance(database, str) and database and database != schema else None
