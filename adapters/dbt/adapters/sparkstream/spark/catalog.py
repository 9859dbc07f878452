"""Comments of a relation, as DESCRIBE TABLE EXTENDED has them: for the docs site, and for `persist_docs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
