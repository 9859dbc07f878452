"""Flink's functions of arrays and maps in Spark SQL."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.nested import array_of, element, entry, is_array, row_of
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import Types
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall


def cardinality(call: FlinkCall) -> str:
    """CARDINALITY of an array or a map, which is NULL of NULL: Spark's SIZE is -1 unless ANSI mode is on."""
    if is_array(call.types[0]):
        return call.to("ARRAY_SIZE")
    return f"CASE WHEN {call.args[0]} IS NOT NULL THEN SIZE({call.args[0]}) END"


# -- arrays --------------------------------------------------------------------------------------------
def only_element(call: FlinkCall) -> str:
    """ELEMENT, which fails for an array of several elements; of none it is NULL."""
    array = call.args[0]
    error = "RAISE_ERROR('ELEMENT takes an array of one element, and this one has more')"
    return f"TRY_ELEMENT_AT(CASE WHEN SIZE({array}) > 1 THEN {error} ELSE {array} END, 1)"


def contains(call: FlinkCall) -> str:
    """ARRAY_CONTAINS, which finds a NULL too."""
    array, value = call.args
    return f"EXISTS({array}, __e -> __e <=> {value})"


def remove(call: FlinkCall) -> str:
    """ARRAY_REMOVE, which removes NULLs too."""
    array, value = call.args
    return f"FILTER({array}, __e -> NOT __e <=> {value})"


def position(call: FlinkCall) -> str:
    """ARRAY_POSITION, an INT: 0 for what isn't there."""
    return f"CAST({call.same()} AS INT)"


def slice_(call: FlinkCall) -> str:
    """ARRAY_SLICE with its first and last position; negative ones count from the end, and 0 is 1."""
    array = call.args[0]
    first, last = (_place(array, at) for at in (*call.args[1:], "-1")[:2])
    return f"FILTER({array}, (__e, __i) -> __i + 1 BETWEEN {first} AND {last})"


def _place(array: str, at: str) -> str:
    """A position counted from 1."""
    if at.isdigit():
        return str(max(int(at), 1))
    if at.lstrip("-").isdigit():
        return f"SIZE({array}) + 1 - {at.lstrip('-')}"
    return f"CASE WHEN {at} < 0 THEN SIZE({array}) + 1 + {at} ELSE GREATEST({at}, 1) END"


def sort(call: FlinkCall) -> str:
    """ARRAY_SORT: ascending unless told FALSE; NULLs come first if so, else last, or as the third argument says."""
    array, *how = call.args
    words = [word.upper() for word in how]
    if any(word not in ("TRUE", "FALSE") for word in words):
        raise RefusedError(f"the order of {call.name} is TRUE or FALSE", "write such as ARRAY_SORT(a, FALSE)")
    ascending = (words or ["TRUE"])[0]
    if len(words) < 2 or words[1] == ascending:
        return f"SORT_ARRAY({array}, {ascending})"
    values, nulls = (f"FILTER({array}, __e -> __e IS {what})" for what in ("NOT NULL", "NULL"))
    parts = (nulls, f"SORT_ARRAY({values}, {ascending})")
    return f"CONCAT({', '.join(parts if words[1] == 'TRUE' else reversed(parts))})"


# -- maps ----------------------------------------------------------------------------------------------
def map_union(call: FlinkCall) -> str:
    """MAP_UNION: of a key that two maps have, the later map's value stays."""
    first, *others = call.args
    for other in others:
        first = f"MAP_CONCAT(MAP_FILTER({first}, (__k, __v) -> NOT MAP_CONTAINS_KEY({other}, __k)), {other})"
    return first


# -- types ---------------------------------------------------------------------------------------------
def type_of_element(arguments: Types, numbers: Numbers) -> str | None:
    """The type of the first array's elements."""
    return element(arguments[0]) if arguments else None


def _entry(arguments: Types) -> tuple[str | None, str | None] | None:
    """The types of the map's keys and values."""
    return entry(arguments[0]) if arguments else None


def type_of_keys(arguments: Types, numbers: Numbers) -> str | None:
    """An array of the map's keys."""
    parts = _entry(arguments)
    return array_of(parts[0]) if parts else None


def type_of_values(arguments: Types, numbers: Numbers) -> str | None:
    """An array of the map's values."""
    parts = _entry(arguments)
    return array_of(parts[1]) if parts else None


def type_of_entries(arguments: Types, numbers: Numbers) -> str | None:
    """An array of rows (key, value)."""
    parts = _entry(arguments)
    return array_of(row_of(zip(("key", "value"), parts, strict=True))) if parts else None
