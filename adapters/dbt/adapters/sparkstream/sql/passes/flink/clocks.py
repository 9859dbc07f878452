"""Clocks and instants of Flink SQL: TIME, the instant that a clock shows in a zone, and sums with lengths of time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.types import NTZ, clock_digits

NOW = "CURRENT_TIME(0)"
"""LOCALTIME and CURRENT_TIME: the same instant everywhere in a statement, on the clock of the session."""
NO_DIGITS = "time(0)"
"""The type of TIME, LOCALTIME and CURRENT_TIME."""
WORDS = {"LOCALTIMESTAMP": ("LOCALTIMESTAMP()", NTZ), "LOCALTIME": (NOW, NO_DIGITS), "CURRENT_TIME": (NOW, NO_DIGITS)}
"""Words that Flink reserves, and that look like columns -> their Spark SQL and its type."""
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


SESSION = "CURRENT_TIMEZONE()"
_START = "TIMESTAMP_NTZ '1970-01-01'"
_MICRO = "INTERVAL '0.000001' SECOND"
_OFFSET = "^(UTC?)?[+-]"
"""Zones that Spark reads as an offset, and Flink doesn't know; both know `GMT+2`."""


def zone_of(sql: str, literal: str | None) -> str:
    """A zone as Spark SQL; one that nobody knows is UTC to Flink.

    Args:
        sql: Spark SQL of its name.
        literal: the name itself, if it is a constant.
    """
    if sql == SESSION or literal in ("UTC", "GMT"):
        return sql
    if literal is not None and re.match(_OFFSET, literal):
        return "'UTC'"
    known = f"TRY_ADD(CONVERT_TIMEZONE({sql}, 'UTC', {_START}), INTERVAL '0' SECOND) IS NOT NULL"
    if literal is None:
        known = f"({sql} IS NULL OR {known} AND {sql} NOT RLIKE '{_OFFSET}')"
    return f"CASE WHEN {known} THEN {sql} ELSE 'UTC' END"


def in_utc(clock: str, zone: str) -> str:
    """The clock of UTC when a clock is shown in a zone: the later time where that is shown twice.

    A day later the zone has the offset with which a clock is shown a second time. With it, the clock may show another
    time, which is then no such day.
    """
    if zone in ("'UTC'", "'GMT'"):
        return clock
    later = "CONVERT_TIMEZONE(at.zone, 'UTC', at.clock + INTERVAL '1' DAY) - INTERVAL '1' DAY"
    again = f"CONVERT_TIMEZONE('UTC', at.zone, {later}) = at.clock"
    time = f"CASE WHEN {again} THEN {later} ELSE CONVERT_TIMEZONE(at.zone, 'UTC', at.clock) END"
    return f"TRANSFORM(ARRAY(STRUCT({clock} AS clock, {zone} AS zone)), at -> {time})[0]"


def utc_clock(time: str) -> str:
    """The clock of UTC at an instant."""
    return f"({_START} + {_MICRO} * UNIX_MICROS({time}))"


def is_long(length: Interval) -> bool:
    """Whether Spark finds days in a length of time."""
    return abs(length.micros) >= MICROS["DAY"]


def later(time: str, sign: str, length: Interval) -> str:
    """An instant plus or minus a length of time in a form that conditions of joins of streams may have."""
    if length.micros < 0:
        sign, length = "+" if sign == "-" else "-", length * -1
    hours, rest = divmod(length.micros, MICROS["HOUR"])
    seconds = f", 0, {Decimal(rest) / MICROS['SECOND']}" if rest else ""
    return f"{time} {sign} MAKE_INTERVAL(0, 0, 0, 0, {hours}{seconds})"


def later_by(time: str, sign: str, length: str) -> str:
    """An instant plus or minus an INTERVAL DAY TO SECOND that isn't constant."""
    return f"TIMESTAMP_MICROS(UNIX_MICROS({time}) {sign} ({length}) DIV {_MICRO})"


def months_later(time: str, sign: str, length: str) -> str:
    """An instant plus or minus an INTERVAL YEAR TO MONTH: Flink counts months on the clock of UTC."""
    return f"TIMESTAMP_MICROS(({utc_clock(time)} {sign} {length} - {_START}) DIV {_MICRO})"


def seconds(utc: str) -> str:
    """Seconds since 1970 of a clock in UTC."""
    return f"({utc} - {_START}) DIV INTERVAL '1' SECOND"
