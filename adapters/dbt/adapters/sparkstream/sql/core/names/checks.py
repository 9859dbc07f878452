"""The check of a name against the columns that are known: one message for all dialects and constructs."""

from __future__ import annotations

from typing import NoReturn

from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.core.source import Source, Span


def check_column(source: Source, place: Span, name: str, known: Columns, of: str) -> None:
    """Refuses a name that is no column of a relation whose columns are all known.

    Args:
        place: the place of the name.
        of: the relation, in words: `the input of TUMBLE`.
    """
    if known.complete and known.find(name) is None:
        refuse_column(source, place, name, known, of)


def refuse_column(source: Source, place: Span, name: str, known: Columns, of: str) -> NoReturn:
    """Refuses a name that is no column of a relation."""
    columns = ", ".join(column.name for column in known.items)
    raise source.error(place, f"{of} has no column {name}", f"it has {columns}" if columns else None)
