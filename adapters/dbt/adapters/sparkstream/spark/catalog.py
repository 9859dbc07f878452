"""Comments of a relation, as DESCRIBE TABLE EXTENDED has them: for the docs site, and for `persist_docs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata

COLUMNS_END = ("", None)
"""Values in the place of a column's name that end the list of columns."""


@dataclass(frozen=True)
class Comments:
    """The comments of a relation and of each of its columns, None where there is none; dbt-spark reads no comments."""

    relation: str | None
    columns: Mapping[str, str | None]

    @classmethod
    def read(cls, rows: Iterable[Sequence[Any]]) -> Comments:
        """Reads them from the rows of DESCRIBE TABLE EXTENDED: name, type or value, comment."""
        columns: dict[str, str | None] = {}
        remaining = iter(rows)
        for name, _, comment in remaining:
            if name in COLUMNS_END or name.startswith("#"):
                break
            columns[name] = comment or None
        relation = next((value for name, value, _ in remaining if name == "Comment"), None)
        return cls(relation or None, columns)

    def of(self, name: str) -> str | None:
        """The comment of a column, by its name as it is, else in whatever case."""
        cased = {column.casefold(): comment for column, comment in self.columns.items()}
        return self.columns.get(name, cased.get(name.casefold()))


def table(columns: Sequence[Mapping[str, Any]]) -> CatalogTable | None:
    """A relation of the catalog.

    Args:
        columns: its rows in dbt-spark's catalog, one for each column.
    """
    if not columns:
        return None
    first = columns[0]
    metadata = TableMetadata(
        type=first["table_type"],
        database=first["table_database"],
        schema=first["table_schema"],
        name=first["table_name"],
        comment=first["table_comment"],
        owner=first.get("table_owner"),
    )
    named = {
        column["column_name"]: ColumnMetadata(
            type=column["column_type"],
            index=column["column_index"],
            name=column["column_name"],
            comment=column["column_comment"],
        )
        for column in columns
    }
    return CatalogTable(metadata, named, _statistics(first))


def _statistics(column: Mapping[str, Any]) -> dict[str, StatsItem]:
    """Statistics of a table, such as its size; as in dbt, the item `has_stats` tells whether there are any."""
    keys = [name.split(":")[1] for name in column if name.startswith("stats:") and name.endswith(":label")]
    items = {
        key: StatsItem(
            id=key,
            label=column[f"stats:{key}:label"],
            value=column[f"stats:{key}:value"],
            include=column[f"stats:{key}:include"],
            description=column[f"stats:{key}:description"],
        )
        for key in keys
    }
    has_stats = StatsItem("has_stats", "Has Stats?", bool(items), False, "Indicates whether there are statistics")
    return {**items, "has_stats": has_stats}
