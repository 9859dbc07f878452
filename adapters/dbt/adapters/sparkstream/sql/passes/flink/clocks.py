"""TIME of Flink SQL, which is Spark 4.3's TIME: a time of day in Spark SQL, and what Flink does with it.

Flink keeps three digits behind the second, whatever the type says, and none where it says nothing. Its sums wrap at
midnight, where Spark's fail: they are taken on the first day that Flink counts from, and the day is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.types import NTZ, clock_digits

NOW = "CURRENT_TIME(0)"
"""LOCALTIME and CURRENT_TIME: the same instant everywhere in a statement, on the clock of the session."""
NO_DIGITS = "time(0)"
"""The type of TIME, LOCALTIME and CURRENT_TIME."""
WORDS = {"LOCALTIMESTAMP": ("LOCALTIMESTAMP()", NTZ), "LOCALTIME": (NOW, NO_DIGITS), "CURRENT_TIME": (NOW, NO_DIGITS)}
"""Words that Flink reserves, and that look like columns -> their Spark SQL and its type."""
UNITS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
"""Parts of a time of day."""

_DAY = "DATE '1970-01-01'"
_HOURS = {"DAY": 24, "WEEK": 168}
_WRITTEN = re.compile(r"\s*(\d{1,2})(:\d{1,2}(?::\d{1,2}(?:[.]\d*)?)?)?\s*", re.A)
_TEXT = r"^\s*(\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:[.]\d*)?)?)?)\s*$"
"""A time of day as Flink reads it; Spark reads more, such as `T10:20:30` and `10:20:30 AM`, but no lone hour."""
_HOUR = r"^\s*(\d{1,2})\s*$"


def on_a_day(time: str) -> str:
    """A time of day as a TIMESTAMP_NTZ: CAST AS TIMESTAMP has it on 1 January 1970."""
    return f"MAKE_TIMESTAMP_NTZ({_DAY}, {time})"


def cast_to(time: str, type_: str) -> str:
    return f"CAST({time} AS {type_.upper()})"


def moved(time: str, sign: str, length: str, type_: str) -> str:
    """A time of day plus or minus a length of time."""
    return cast_to(f"{on_a_day(time)} {sign} {length}", type_)


def added(unit: str, number: str, time: str, type_: str) -> str:
    """TIMESTAMPADD of a time of day."""
    return cast_to(f"TIMESTAMPADD({unit}, {number}, {on_a_day(time)})", type_)


def between(unit: str, start: str, end: str) -> str:
    """TIMESTAMPDIFF of two times of day: whole units, of which a day has less than one."""
    if unit in _HOURS:
        return f"CAST(TIME_DIFF('HOUR', {start}, {end}) DIV {_HOURS[unit]} AS INT)"
    return f"CAST(TIME_DIFF('{unit}', {start}, {end}) AS INT)"


def floor_to(time: str, unit: str) -> str:
    """`FLOOR(time TO unit)`.

    Raises:
        ValueError: it is no unit of a time of day.
    """
    if unit not in UNITS:
        raise ValueError(f"a TIME has no {unit}: it has {', '.join(UNITS)}")
    return f"TIME_TRUNC('{unit}', {time})"


def ceil_to(time: str, unit: str, type_: str) -> str:
    """`CEIL(time TO unit)`; behind the last hour comes midnight.

    Raises:
        ValueError: it is no unit of a time of day.
    """
    floor = floor_to(time, unit)
    step = "INTERVAL '0.001' SECOND" if unit == "MILLISECOND" else f"INTERVAL '1' {unit}"
    return f"CASE WHEN {time} = {floor} THEN {time} ELSE {moved(floor, '+', step, type_)} END"


def text_of(time: str, type_: str) -> str:
    """A time of day as a text: one digit behind the second at least, unless the type has none."""
    text = f"CAST({time} AS STRING)"
    return f"REGEXP_REPLACE({text}, '^(.{{8}})$', '$1.0')" if clock_digits(type_) else text


def read(text: str, literal: str | None, *, tried: bool = False) -> str:
    """Spark SQL of a text that Spark reads as Flink reads the text given: an hour may stand alone.

    Args:
        text: Spark SQL of the text.
        literal: the text itself, if it is a constant.
        tried: whether other texts are NULL, of which Spark reads some; else Flink's job fails.
    """
    if literal is not None:
        found = _WRITTEN.fullmatch(literal)
        if found is None:
            return "NULL" if tried else text
        return text if found[2] else string_literal(f"{found[1]}:00")
    if tried:
        text = f"REGEXP_EXTRACT({text}, {string_literal(_TEXT)})"
    return f"REGEXP_REPLACE({text}, {string_literal(_HOUR)}, '$1:00')"


def word(node: exp.Expr, words: Iterable[str] = WORDS) -> str | None:
    """The word, in capitals, that a node is where it looks like a column, as CURRENT_DATE does; None for a column."""
    if not isinstance(node, exp.Column) or node.table or not isinstance(node.this, exp.Identifier) or node.this.quoted:
        return None
    return node.name.upper() if node.name.upper() in words else None
