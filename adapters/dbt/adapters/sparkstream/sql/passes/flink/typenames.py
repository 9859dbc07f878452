"""TYPEOF: the names that Flink has for types."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.sql.core.nested import element, entry, fields
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, RefusedError

_LONGEST = 2**31 - 1
"""The size of a text that may be as long as it likes."""
_NAMES = {
    "int": "INT",
    "binary": "BYTES",
    "string": "STRING",
    **{name: name.upper() for name in ("tinyint", "smallint", "bigint", "float", "double", "boolean", "date")},
}
_IN_FULL = {"binary": f"VARBINARY({_LONGEST})", "string": f"VARCHAR({_LONGEST})"}
"""The names that TYPEOF(x, TRUE) has."""


def typeof(call: FlinkCall) -> str:
    """TYPEOF: the name says whether a value can be NULL, which isn't known of every call."""
    value, constant = call.args[0], call.literals[0]
    nullable = call.nullable[0]
    if call.types[0] == "void" or value.upper() == "NULL":
        return "'NULL'"
    if nullable is None:
        raise RefusedError(
            f"nobody knows here whether {value} can be NULL, which TYPEOF says", "write the name of the type as a text"
        )
    name = f"CHAR({len(constant)})" if constant else _name(call.types[0], call.args[1:] == ("TRUE",))
    if name is None:
        raise RefusedError(
            f"nobody knows Flink's type of {value}: Spark's has no digits behind the second, or isn't known",
            "write the name of the type as a text",
        )
    return string_literal(name if nullable else f"{name} NOT NULL")


def _name(type_: str | None, in_full: bool) -> str | None:
    """Flink's name of a Spark type; None for one that nobody knows, such as a time, whose digits Spark hasn't."""
    if type_ is None:
        return None
    if types.is_decimal(type_):
        return "DECIMAL({}, {})".format(*types.decimal_parts(type_))
    if types.is_clock(type_):
        return type_.upper()
    if type_ in _NAMES:
        return _IN_FULL.get(type_, _NAMES[type_]) if in_full else _NAMES[type_]
    row, pair = fields(type_), entry(type_)
    if row is not None:
        inner = [_name(inner_type, in_full) for _, inner_type in row]
        columns = ", ".join(f"{backticked(name)} {own}" for (name, _), own in zip(row, inner, strict=True))
        return None if None in inner else f"ROW<{columns}>"
    inner = [_name(part, in_full) for part in (pair or [element(type_)])]
    return None if None in inner else f"{'MAP' if pair else 'ARRAY'}<{', '.join(map(str, inner))}>"
