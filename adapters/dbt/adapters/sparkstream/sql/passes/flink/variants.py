"""VARIANT, which PARSE_JSON gives, and `JSON(text)` within JSON_OBJECT and JSON_ARRAY."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.nodes import JsonConstructor
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, RefusedError

VARIANT = "variant"


def parse(call: FlinkCall) -> str:
    """PARSE_JSON and TRY_PARSE_JSON, which Spark has with one argument.

    Raises:
        RefusedError: the call allows an object with a key twice, which no VARIANT of Spark's holds.
    """
    if len(call.args) > 1 and call.args[1].upper() != "FALSE":
        raise RefusedError(f"{call.name} of objects with a key twice has no counterpart", "leave the TRUE out")
    return f"{call.name}({call.args[0]})"


def element(variant: str, key: str, *, by_name: bool) -> str:
    """`v['key']` of an object, or `v[1]` of an array, which counts from 1; NULL where there is none.

    Args:
        variant: the VARIANT, as Spark SQL.
        key: the key or the place, as Spark SQL.
        by_name: whether it is a key.
    """
    if by_name:
        return f"TRY_ELEMENT_AT(TRY_VARIANT_GET({variant}, '$', 'MAP<STRING, VARIANT>'), {key})"
    return f"GET(TRY_VARIANT_GET({variant}, '$', 'ARRAY<VARIANT>'), {key} - 1)"


def is_json(node: exp.Expr) -> bool:
    """Whether a node is `JSON(text)` as a value of JSON_OBJECT or JSON_ARRAY."""
    called = isinstance(node, exp.Anonymous) and node.name.upper() == "JSON" and len(node.expressions) == 1
    return called and isinstance(node.parent, JsonConstructor)


def json_of_text(text: str) -> str:
    """`JSON(text)`: what the text says, with the keys of objects in order; nothing is NULL."""
    return f"TO_JSON(PARSE_JSON(NULLIF({text}, '')))"


def misplaced(call: FlinkCall) -> str:
    """Refuses JSON(text) elsewhere."""
    raise RefusedError("JSON stands within JSON_OBJECT and JSON_ARRAY alone", "write JSON_ARRAY(JSON(text))")
