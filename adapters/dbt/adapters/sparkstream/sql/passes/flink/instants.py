"""Instants of Flink SQL: which one a clock shows in a zone, and what is a length of time later.

A clock is a TIMESTAMP_NTZ here. Spark's own conversions take the earlier of two instants that a clock shows, and its
sums of a TIMESTAMP add days on the clock of the session's zone, also where these are written as 24 hours.
"""

from __future__ import annotations

import re
from decimal import Decimal

from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval

SESSION = "CURRENT_TIMEZONE()"
_START = "TIMESTAMP_NTZ '1970-01-01'"
_DAY = "INTERVAL '1' DAY"
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
    later = f"CONVERT_TIMEZONE(at.zone, 'UTC', at.clock + {_DAY}) - {_DAY}"
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
