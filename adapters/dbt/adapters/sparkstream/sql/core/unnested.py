"""Rows of Flink's UNNEST: one for each element of an array or entry of a map."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.nested import Field, element, entry, fields


class Pieces(Enum):
    """Pieces that UNNEST takes a value apart into."""

    ELEMENTS = 1
    ROWS = 2
    ENTRIES = 3


@dataclass(frozen=True)
class Unnested:
    """The rows that UNNEST gives.

    Attributes:
        columns: names and types of its columns, the ordinality among them.
        fields: names of the columns before the ordinality as the array's rows have them, or empty.
        ordinal: True if the last column is the ordinality.
        complete: True if there are no other columns.
    """

    kind: Pieces
    columns: tuple[Field, ...]
    fields: tuple[str, ...] = ()
    ordinal: bool = False
    complete: bool = True


def unnested(node: exp.Unnest, type_: str | None) -> Unnested:
    """The rows of UNNEST of a value (measured: `AS u` alone names the one column of an array u).

    If the type is unknown, three names and more are a row's fields, two a map's key and value, others an element.

    Args:
        type_: the type of the value, as Spark names it.
    """
    given = names_given(node)
    ordinal = bool(node.args.get("offset"))
    wanted = len(given) - ordinal if given else 0
    pair, of_array = entry(type_), element(type_)
    row, known = fields(of_array), pair is not None or of_array is not None
    inner: tuple[Field, ...]
    if pair is not None or (not known and wanted == 2):
        kind, inner = Pieces.ENTRIES, (("KEY", pair and pair[0]), ("VALUE", pair and pair[1]))
    elif row is not None:
        kind, inner = Pieces.ROWS, row
    elif not known and wanted > 2:
        kind, inner = Pieces.ROWS, tuple((name, None) for name in given[:wanted])
    else:
        name = node.alias or (node.parent.alias if isinstance(node.parent, exp.Lateral) else "") or "EXPR$0"
        kind, inner = Pieces.ELEMENTS, ((name, of_array),)
    columns: tuple[Field, ...] = (*inner, ("ORDINALITY", "int")) if ordinal else inner
    own = tuple(name for name, _ in row) if row is not None else ()
    if given and len(given) == len(columns):
        columns = tuple((name, t) for name, (_, t) in zip(given, columns, strict=True))
    return Unnested(kind, columns, own, ordinal, complete=known or bool(given))


def names_given(node: exp.Unnest) -> list[str]:
    """The names in `AS u(x, o)`; WITH ORDINALITY, sqlglot keeps `o` apart from the list."""
    offset, around = node.args.get("offset"), node.parent
    names = list(node.alias_column_names)
    if not names and isinstance(around, exp.Lateral):
        names = list(around.alias_column_names)
    return [*names, offset.name] if isinstance(offset, exp.Identifier) else names
