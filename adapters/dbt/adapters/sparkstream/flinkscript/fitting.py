"""A query with the columns of the table that INSERT writes it to: Flink goes by position, dbt by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt.adapters.sparkstream.flinkscript.queries import Parsed, Text, named, sql
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, TableDefinition
from dbt.adapters.sparkstream.sql.core.names.scope import Columns

_NESTED = ("array", "map", "struct", "variant")
_CONVERTED = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "timestamp", "time(")
"""Types to which INSERT converts other types; a column of any other type has to have it already."""


def fitted(
    body: Text,
    parsed: Parsed,
    outputs: Columns,
    table: TableDefinition,
    given: Sequence[str],
    constants: Mapping[str, str] | None = None,
    *,
    streamed: bool = False,
) -> Text:
    """A query with the names, the order and the types of a table's columns.

    Args:
        body: the query's text.
        parsed: the query.
        outputs: its columns, as far as they are known.
        table: the table; a table without columns takes the query's columns, under the names of `given`.
        given: the table's columns that the query gives, in its order.
        constants: values of other columns, as SQL.
        streamed: True if it streams: a time on the wall clock is a TIMESTAMP there, whatever the table says.

    Raises:
        TranslationError: it has another number of columns.
    """
    if outputs.complete and len(outputs.items) != len(given):
        raise parsed.source.error(
            parsed.query.span,
            f"this gives {len(outputs.items)} columns, and {table.name[2]} takes {len(given)}",
            "name the columns: INSERT INTO t (a, b) SELECT ...",
        )
    known = [c.name for c in outputs.items] if outputs.complete else None
    types = dict(zip(given, (c.type for c in outputs.items), strict=True)) if outputs.complete else {}
    values = parsed.begins_with == "VALUES"
    columns = [c for c in table.columns if not c.virtual]
    chosen = [_item(c, given, types, constants or {}, parsed.text, streamed) for c in columns]
    plain = [named(name) for name in given]
    if known == list(given) and chosen == plain and not values:
        return body
    inner = sql("(\n") + body + sql(f"\n) AS q ({', '.join(plain)})")
    if not columns or chosen == plain:
        return sql("SELECT * FROM ") + inner
    return sql("SELECT\n  " + ",\n  ".join(chosen) + "\nFROM ") + inner


def _item(
    column: ColumnDefinition,
    given: Sequence[str],
    types: Mapping[str, str | None],
    constants: Mapping[str, str],
    text: str,
    streamed: bool,
) -> str:
    """Item of the outermost SELECT for a column of the table."""
    name = named(column.name)
    if column.expression is not None:
        return f"{text[slice(*column.expression)]} AS {name}"
    if column.name in constants:
        return f"CAST({constants[column.name]} AS {_flink(column)}) AS {name}"
    if column.name not in given:
        return f"CAST(NULL AS {_flink(column)}) AS {name}"
    type_ = column.type or ""
    found = types.get(column.name)
    known = found == type_ and not (streamed and type_ == "timestamp_ntz")
    if known or type_.startswith(_NESTED) or not type_.startswith(_CONVERTED):
        return name
    return f"CAST({name} AS {_flink(column)}) AS {name}"


def _flink(column: ColumnDefinition) -> str:
    """A column's type in CAST; STRING for a text, which INSERT doesn't cut by default."""
    return "STRING" if column.type == "string" else column.written


def with_ctes(body: Text, ctes: Mapping[str, Text]) -> Text:
    """A query with views as its CTEs."""
    if not ctes:
        return body
    found = sql("WITH ")
    for number, (name, query) in enumerate(ctes.items()):
        found += sql(",\n" if number else "") + sql(f"{named(name)} AS (\n") + query + sql("\n)")
    if body.plain[:4].upper() == "WITH" and not body.plain[4:5].isalnum() and body.plain[4:5] != "_":
        return found + sql(",") + Text(body.jinja[4:], body.plain[4:])
    return found + sql("\n") + body
