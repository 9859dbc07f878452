"""Texts that Flink's TRY_CAST reads where Spark's reads other ones."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.timetexts import read_time

_MICROS = 6
"""Digits behind the second of a TIMESTAMP that says nothing, and the most that Spark keeps."""
_WORD = r"^(?!\s*[+-]?(Infinity|NaN)\s*$).*[INin].*$"
"""A text that Spark may take for an infinity, such as `inf`, and Java doesn't."""
_DATE = r"^\s*(\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?)(?: .*)?$"
"""A date of Flink's; behind a space, anything may stand."""


def tried_text(text: str, literal: str | None, to: str, digits: int | None) -> str:
    """Spark SQL of the text that TRY_CAST converts: the whole text, or the part of it that Flink reads.

    Args:
        text: Spark SQL of the text.
        literal: the text itself, if it is a constant.
        to: the Spark type of the value.
        digits: the digits behind the second that a time keeps; None if its type doesn't say.
    """
    if to in types.INTEGERS:
        # Flink reads 12 in '12.7', and 0 in '.5' and '.': group 1 is the sign, and a 0 stands behind it.
        return _replaced(text, r"^(\s*[+-]?)(\d*)[.]\d*\s*$", "$10$2")
    if to in ("double", "float"):
        return _replaced(text, _WORD, "")
    if to == "boolean":
        return _replaced(text, r"\s", "?")  # Spark leaves white space out
    if to == "date":
        return f"REGEXP_EXTRACT({text}, {string_literal(_DATE)})"
    if to in types.TIMES:
        return read_time(text, literal, min(_MICROS, _MICROS if digits is None else digits)) or "NULL"
    return clocks.read(text, literal, tried=True) if types.is_clock(to) else text


def _replaced(text: str, pattern: str, replacement: str) -> str:
    return f"REGEXP_REPLACE({text}, {string_literal(pattern)}, '{replacement}')"
