"""Types within types, as Spark writes them: `struct<v:int,s:string>`, `array<int>`, `map<string,int>`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.types import plain_type, spark_type

_BRACKETS = {"<": 1, "(": 1, ">": -1, ")": -1}

Field = tuple[str, "str | None"]
"""Name and type of a field of a row; the type is None where it isn't known."""

UNKNOWN_TYPE = "?"
"""Placeholder within a type for an unknown type."""


def fields(type_: str | None) -> tuple[Field, ...] | None:
    """The fields of a row, or None for what is no row or isn't known."""
    parts = _parts(type_, "struct")
    return None if parts is None else tuple(map(_field, parts))


def field(type_: str | None, name: str) -> Field | None:
    """A field of a row by its name, in any case."""
    return next((f for f in fields(type_) or () if f[0].casefold() == name.casefold()), None)


def element(type_: str | None) -> str | None:
    """The type of an array's elements."""
    parts = _parts(type_, "array")
    return _known(parts[0]) if parts and len(parts) == 1 else None


def entry(type_: str | None) -> tuple[str | None, str | None] | None:
    """The types of a map's keys and values, or None for what is no map or isn't known."""
    parts = _parts(type_, "map")
    return (_known(parts[0]), _known(parts[1])) if parts and len(parts) == 2 else None


def nested_parts(type_: str | None) -> list[str | None]:
    """The types that an array, a map or a row is made of; none for another type."""
    row, pair = fields(type_), entry(type_)
    if row is not None:
        return [inner for _, inner in row]
    return list(pair) if pair is not None else [element(type_)] if is_array(type_) else []


def is_array(type_: str | None) -> bool:
    """True if a type is an array."""
    return _parts(type_, "array") is not None


def row_of(items: Iterable[Field]) -> str:
    """The type of a row with some fields."""
    return f"struct<{','.join(f'{quoted(name)}:{type_ or UNKNOWN_TYPE}' for name, type_ in items)}>"


def array_of(type_: str | None) -> str:
    """The type of an array of elements of a type."""
    return f"array<{type_ or UNKNOWN_TYPE}>"


def map_of(key: str | None, value: str | None) -> str:
    """The type of a map with keys and values of some types."""
    return f"map<{key or UNKNOWN_TYPE},{value or UNKNOWN_TYPE}>"


def nested_type(to: exp.DataType) -> str | None:
    """The Spark type that a type in CAST means, rows, arrays and maps among them; None where Spark has no such type."""
    if to.this not in exp.DataType.NESTED_TYPES:
        return spark_type(to)
    inner = [each.args.get("kind") if isinstance(each, exp.ColumnDef) else each for each in to.expressions]
    types = [nested_type(each) if isinstance(each, exp.DataType) else None for each in inner]
    if None in types:
        return None
    if to.this == exp.DType.STRUCT and all(isinstance(each, exp.ColumnDef) for each in to.expressions):
        return row_of((each.name, type_) for each, type_ in zip(to.expressions, types, strict=True))
    if to.this == exp.DType.ARRAY and len(types) == 1:
        return array_of(types[0])
    return map_of(*types) if to.this == exp.DType.MAP and len(types) == 2 else None


def _parts(type_: str | None, kind: str) -> Sequence[str] | None:
    """Texts between the angle brackets of a type of a kind, split at its own commas; None for another type."""
    if type_ is None or type_[: len(kind) + 1].lower() != f"{kind}<" or not type_.endswith(">"):
        return None
    inner = type_[len(kind) + 1 : -1]
    found, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(inner):
        if character == "`":
            quoted = not quoted
        elif not quoted and character == "," and not depth:
            found.append(inner[start:at])
            start = at + 1
        elif not quoted:
            depth += _BRACKETS.get(character, 0)
    return [*found, inner[start:]] if inner.strip() else []


def _field(text: str) -> Field:
    """Name and type of `v:int`, `v: int` or `` `a b`:int ``."""
    text = text.strip()
    if text.startswith("`"):
        end = text.index("`", 1)
        while text[end + 1 : end + 2] == "`":
            end = text.index("`", end + 2)
        name, rest = text[1:end].replace("``", "`"), text[end + 1 :]
    else:
        name, _, rest = text.partition(":")
    return name.strip(), _known(rest.lstrip(": "))


def _known(text: str) -> str | None:
    plain = plain_type(text)
    return None if plain == UNKNOWN_TYPE else plain
