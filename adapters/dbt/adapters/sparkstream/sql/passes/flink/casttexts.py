"""Values as the texts that Flink's CAST(... AS STRING) gives."""

from __future__ import annotations

from collections.abc import Iterable

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.nested import element, entry, fields, is_array
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.datetime import date_format
from dbt.adapters.sparkstream.sql.passes.flink.families import MONTHS, family

_CLOCK = "yyyy-MM-dd HH:mm:ss"
_PLAIN_SCALE = 6
"""Digits behind the point up to which a DECIMAL is never written with an exponent."""


def has_own_text(type_: str | None) -> bool:
    """Whether Spark's CAST AS STRING gives another text than Flink's for values of a type."""
    if types.is_decimal(type_):
        return types.decimal_parts(type_ or "")[1] > _PLAIN_SCALE
    return type_ == "boolean" or type_ in types.TIMES or types.is_clock(type_) or (type_ or "").endswith(">")


def text_of(sql: str, type_: str | None, digits: int | None = None, *, function: str = "CAST", depth: int = 0) -> str:
    """A value as a text; NULL stays NULL.

    Args:
        sql: Spark SQL of the value.
        type_: its Spark type.
        digits: the digits behind the second of a time; None where nobody knows.
        function: CAST or TRY_CAST.
        depth: how many arrays and maps the value lies in.
    """
    if types.is_string(type_):
        return sql
    if type_ in types.TIMES:
        return _time(sql, digits, type_)
    if type_ is not None and types.is_clock(type_):
        return clocks.text_of(sql, type_)
    if types.is_decimal(type_) and has_own_text(type_):
        return f"REPLACE(FORMAT_NUMBER({sql}, {types.decimal_parts(type_ or '')[1]}), ',', '')"
    if family(type_) == "interval" and type_ != "interval":
        return _length(sql, type_ == MONTHS)
    if is_array(type_):
        return _array(sql, element(type_), depth)
    pair, row = entry(type_), fields(type_)
    if pair is not None:
        each = f"e{depth}"
        key, value = (
            text_of(f"{each}.{part}", t, depth=depth + 1) for part, t in zip(("key", "value"), pair, strict=True)
        )
        pairs = f"TRANSFORM(MAP_ENTRIES({sql}), {each} -> CONCAT({key}, '=', COALESCE({value}, 'NULL')))"
        return f"CONCAT('{{', ARRAY_JOIN({pairs}, ', '), '}}')"
    if row is not None and set(sql) & set("()[]+-*/ '"):  # no path of names: said once, however many fields it has
        return f"TRANSFORM(ARRAY({sql}), e{depth} -> {text_of(f'e{depth}', type_, depth=depth + 1)})[0]"
    if row is not None:
        return f"CASE WHEN {sql} IS NOT NULL THEN {_row(sql, row, depth)} END"
    text = f"{function}({sql} AS STRING)"
    return f"UPPER({text})" if type_ == "boolean" else text


def _time(sql: str, digits: int | None, type_: str | None) -> str:
    """A time with its digits; with three where nobody knows them, or six if it has so many."""
    if digits is None:
        return f"REGEXP_REPLACE({date_format('DATE_FORMAT', sql, f'{_CLOCK}.SSSSSS', type_)}, '000$', '')"
    return date_format("DATE_FORMAT", sql, f"{_CLOCK}{'.' if digits else ''}{'S' * digits}", type_)


def _length(sql: str, months: bool) -> str:
    """A length of time: `+1 02:03:04.500`, or `+1-03` of whole months."""
    sign = f"CASE WHEN {sql} < INTERVAL '0' {'MONTH' if months else 'SECOND'} THEN '-' ELSE '+' END"
    length = f"ABS(CAST({sql} AS INTERVAL {'YEAR TO MONTH' if months else 'DAY TO SECOND'}))"
    first, last = (
        ("YEAR", "'-', LPAD(EXTRACT(MONTH FROM {}), 2, '0')")
        if months
        else ("DAY", "' ', DATE_FORMAT(TIMESTAMP_NTZ '1970-01-01' + {}, 'HH:mm:ss.SSS')")
    )
    return f"CONCAT({sign}, EXTRACT({first} FROM {length}), {last.format(length)})"


def _array(sql: str, inner: str | None, depth: int) -> str:
    each = f"e{depth}"
    text = text_of(each, inner, depth=depth + 1)
    texts = sql if text == each else f"TRANSFORM({sql}, {each} -> {text})"
    return f"CONCAT('[', ARRAY_JOIN({texts}, ', ', 'NULL'), ']')"


def _row(sql: str, row: Iterable[tuple[str, str | None]], depth: int) -> str:
    texts = [f"COALESCE({text_of(f'{sql}.{quoted(name)}', t, depth=depth)}, 'NULL')" for name, t in row]
    separated = [piece for i, text in enumerate(texts) for piece in ([] if i == 0 else ["', '"]) + [text]]
    return f"CONCAT('(', {', '.join(separated)}, ')')"
