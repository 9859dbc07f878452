"""Times of Flink SQL in Spark SQL: TIME, instants and the clocks that show them, and texts that are read as times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.types import NTZ, clock_digits
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import FlinkCall, cast

NOW = "CURRENT_TIME(0)"
"""LOCALTIME and CURRENT_TIME: the same instant everywhere in a statement, on the clock of the session."""
NO_DIGITS = "time(0)"
"""The type of TIME, LOCALTIME and CURRENT_TIME."""
WORDS = {"LOCALTIMESTAMP": ("LOCALTIMESTAMP()", NTZ), "LOCALTIME": (NOW, NO_DIGITS), "CURRENT_TIME": (NOW, NO_DIGITS)}
"""Words that Flink reserves, and that look like columns -> their Spark SQL and its type."""
_DAY = "DATE '1970-01-01'"
HOURS_OF = {"DAY": 24, "WEEK": 168}
_WRITTEN = re.compile(r"\s*(\d{1,2})(:\d{1,2}(?::\d{1,2}(?:[.]\d*)?)?)?\s*", re.A)
_TEXT = r"^\s*(\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:[.]\d*)?)?)?)\s*$"
"""A time of day as Flink reads it; Spark reads more, such as `T10:20:30` and `10:20:30 AM`, but no lone hour."""
_HOUR = r"^\s*(\d{1,2})\s*$"


def on_a_day(time: str) -> str:
    """A time of day as a TIMESTAMP_NTZ: CAST AS TIMESTAMP has it on 1 January 1970."""
    return f"MAKE_TIMESTAMP_NTZ({_DAY}, {time})"


def moved(time: str, sign: str, length: str, type_: str) -> str:
    """A time of day plus or minus a length of time."""
    return cast(f"{on_a_day(time)} {sign} {length}", type_)


def added(unit: str, number: str, time: str, type_: str) -> str:
    """TIMESTAMPADD of a time of day."""
    return cast(f"TIMESTAMPADD({unit}, {number}, {on_a_day(time)})", type_)


def between(unit: str, start: str, end: str) -> str:
    """TIMESTAMPDIFF of two times of day: whole units, of which a day has less than one."""
    if unit in HOURS_OF:
        return f"CAST(TIME_DIFF('HOUR', {start}, {end}) DIV {HOURS_OF[unit]} AS INT)"
    return f"CAST(TIME_DIFF('{unit}', {start}, {end}) AS INT)"


def text_of(time: str, type_: str) -> str:
    """A time of day as a text: one digit behind the second at least, unless the type has none."""
    text = f"CAST({time} AS STRING)"
    return f"REGEXP_REPLACE({text}, '^(.{{8}})$', '$1.0')" if clock_digits(type_) else text


def read(text: str, literal: str | None, *, tried: bool = False) -> str:
    """Spark SQL of a text from which Spark reads the time of day that Flink reads from `text`; an hour may be alone.

    Args:
        text: Spark SQL of the text.
        literal: the text itself, if it is a constant.
        tried: True if a text that is no time to Flink becomes NULL, though Spark reads some; else Flink's job fails.
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
    """Reserved word such as LOCALTIME, in capitals, if a node that looks like a column is one of `words`; else None."""
    if not isinstance(node, exp.Column) or node.table or not isinstance(node.this, exp.Identifier) or node.this.quoted:
        return None
    return node.name.upper() if node.name.upper() in words else None


SESSION = "CURRENT_TIMEZONE()"
_START = "TIMESTAMP_NTZ '1970-01-01'"
_MICRO = "INTERVAL '0.000001' SECOND"
_OFFSET = "^(UTC?)?[+-]"
"""Zones that Spark reads as an offset, and Flink doesn't know; both know `GMT+2`."""


def zone_of(sql: str, literal: str | None) -> str:
    """Spark SQL of a time zone; an unknown zone is UTC to Flink.

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
    """UTC wall-clock time of a wall-clock time in a zone; the later one of a time that occurs twice.

    One day later, the zone has the offset of the second occurrence. If this offset leads back to another wall-clock
    time, the time doesn't occur twice, and the zone's offset at that time counts.
    """
    if zone in ("'UTC'", "'GMT'"):
        return clock
    later = "CONVERT_TIMEZONE(at.zone, 'UTC', at.clock + INTERVAL '1' DAY) - INTERVAL '1' DAY"
    again = f"CONVERT_TIMEZONE('UTC', at.zone, {later}) = at.clock"
    time = f"CASE WHEN {again} THEN {later} ELSE CONVERT_TIMEZONE(at.zone, 'UTC', at.clock) END"
    return f"TRANSFORM(ARRAY(STRUCT({clock} AS clock, {zone} AS zone)), at -> {time})[0]"


def utc_clock(time: str) -> str:
    """UTC wall-clock time of an instant, as a TIMESTAMP_NTZ."""
    return f"({_START} + {_MICRO} * UNIX_MICROS({time}))"


def is_long(length: Interval) -> bool:
    """True if a length of time is at least a day, so that Spark counts days in it."""
    return abs(length.micros) >= MICROS["DAY"]


def later(time: str, sign: str, length: Interval) -> str:
    """An instant plus or minus a length of time, in a form that Spark takes in join conditions of streams."""
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
    """Seconds since 1970 of a UTC wall-clock time."""
    return f"({utc} - {_START}) DIV INTERVAL '1' SECOND"


def pieces(pattern: str) -> Iterator[tuple[str, str]]:
    """Splits a java.time pattern into ('quoted' | letter | '', text) pieces."""
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "'":
            end = pattern.find("'", end)
            end = len(pattern) if end < 0 else end + 1
            yield "quoted", pattern[at:end]
        elif pattern[at].isalpha():
            while end < len(pattern) and pattern[end] == pattern[at]:
                end += 1
            yield pattern[at], pattern[at:end]
        else:
            while end < len(pattern) and not (pattern[end].isalpha() or pattern[end] == "'"):
                end += 1
            yield "", pattern[at:end]
        at = end


_DIGITS = 3
"""Digits behind the second that TO_TIMESTAMP keeps: it gives a TIMESTAMP(3)."""
_MOST_DIGITS = 9
"""Digits behind the second that Flink reads."""
_CLOCK = r"\d{4}-\d{1,2}-\d{1,2}(?: \d{1,2}:\d{1,2}:\d{1,2}"
_WRITERS = "FROM_UNIXTIME(", "DATE_FORMAT("
"""Beginnings of the calls that write a time as TO_TIMESTAMP reads it."""


def _pattern(digits: int) -> str:
    """Regular expression of a time; its first group has at most `digits` digits behind the second."""
    if not digits:
        return rf"({_CLOCK})?)(?:(?:(?<=:\d)|(?<=:\d\d))[.]\d{{1,{_MOST_DIGITS}}})?"
    return rf"({_CLOCK}(?:[.]\d{{1,{digits}}})?)?)(?:(?<=[.]\d{{{digits}}})\d{{1,{_MOST_DIGITS - digits}}})?"


def read_time(text: str, literal: str | None, digits: int = _DIGITS) -> str | None:
    """The part of a text that is a time to Flink: a date, or a date and a time of day with seconds.

    Spark reads more: `2024`, `2024-01-02 03:04`, `2024-01-02T03:04:05Z`. None for a constant that is no time.

    Args:
        text: Spark SQL of the text.
        literal: the text itself, if it is a constant.
        digits: the digits behind the second to keep.
    """
    if literal is not None:
        found = re.fullmatch(_pattern(digits), literal, re.A)
        return string_literal(found[1]) if found else None
    if text.upper().startswith(_WRITERS):
        return text
    return f"REGEXP_EXTRACT({text}, {string_literal(f'^{_pattern(digits)}$')})"


_DATE = r"^\s*(\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?)(?: .*)?$"
"""A date as Flink reads it; behind a space, anything may follow."""
_BEGINNING = r"^\s*(\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2})"
"""A time at the beginning of a text, as DATE_FORMAT, UNIX_TIMESTAMP and CONVERT_TZ read it."""
_SIMPLE = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|[-/.: ])+")
"""Patterns whose texts are as long as the pattern."""


def read_clock(text: str, literal: str | None) -> str:
    """A TIMESTAMP_NTZ of a text that begins with a date and a time of day, whatever follows; else NULL."""
    if literal is not None:
        found = re.match(_BEGINNING, literal, re.A)
        return f"TRY_CAST({string_literal(found[1]) if found else 'NULL'} AS TIMESTAMP_NTZ)"
    if text.upper().startswith("FROM_UNIXTIME("):
        return f"TRY_CAST({text} AS TIMESTAMP_NTZ)"
    return f"TRY_CAST(REGEXP_EXTRACT({text}, {string_literal(_BEGINNING)}, 1) AS TIMESTAMP_NTZ)"


def _seconds(clock: str) -> str:
    return seconds(in_utc(clock, SESSION))


def read_date(text: str) -> str:
    """The part of a text that is a date to Flink; Spark reads `12:34` as a time of today."""
    return f"REGEXP_EXTRACT({text}, {string_literal(_DATE)})"


def unix_timestamp(call: FlinkCall) -> str:
    """UNIX_TIMESTAMP; for a text that is no time, the smallest BIGINT."""
    if not call.args or call.types[0] in types.TIMES:
        return call.same()
    if len(call.args) == 1:
        read = _seconds(read_clock(call.args[0], call.literals[0]))
    elif call.literals[1] is None or any(letter in _OFFSETS for letter, _ in pieces(call.literals[1])):
        read = f"UNIX_SECONDS({_by_pattern(_beginning(call), call.args[1], call.literals[1], _instant)})"
    else:
        read = _seconds(_by_pattern(_beginning(call), call.args[1], call.literals[1]))
    seconds = f"COALESCE({read}, CAST('-9223372036854775808' AS BIGINT))"
    return seconds if call.literals[0] is not None else f"CASE WHEN {call.args[0]} IS NOT NULL THEN {seconds} END"


def to_date(call: FlinkCall) -> str:
    """TO_DATE: NULL of a text that is no date. A pattern with an offset gives the day in UTC."""
    if len(call.args) == 1:
        return f"TRY_CAST({read_date(call.args[0])} AS DATE)"
    letters = {letter for letter, _ in pieces(call.literals[1] or "")}
    if letters & _OFFSETS:
        seconds = f"UNIX_SECONDS({_by_pattern(_beginning(call), call.args[1], call.literals[1], _instant)})"
        return f"DATE_ADD(DATE '1970-01-01', CAST(FLOOR({seconds} / 86400) AS INT))"
    return f"CAST({_by_pattern(_beginning(call), call.args[1], call.literals[1])} AS DATE)"


_OFFSETS = set("XxZzVO")
"""Letters of patterns for a zone."""
_DAYS = "Mon(day)?|Tue(sday)?|Wed(nesday)?|Thu(rsday)?|Fri(day)?|Sat(urday)?|Sun(day)?"


def _on_clock(text: str, pattern: str) -> str:
    """TIMESTAMP_NTZ of a text, without an offset; NULL of a text that is no time.

    TRY_TO_TIMESTAMP would give a TIMESTAMP, of which some are no time on the session's clock.
    """
    return f"TRY_ADD(TO_TIMESTAMP_NTZ({text}, {pattern}), INTERVAL '0' SECOND)"


def _instant(text: str, pattern: str) -> str:
    """A TIMESTAMP of a text by its offset; NULL of what is no time."""
    return f"TRY_TO_TIMESTAMP({text}, {pattern})"


def _by_pattern(text: str, pattern: str, literal: str | None, read: Callable[[str, str], str] = _on_clock) -> str:
    """Time that is read from a text by a pattern.

    Spark reads no names of days: they are taken out, and compared with the day that is read.
    """
    names = next((letters for letter, letters in pieces(literal or "") if letter == "E"), None)
    if names is None:
        return read(text, pattern)
    rest = string_literal("".join(letters for letter, letters in pieces(literal or "") if letter != "E"))
    unnamed = f"REGEXP_REPLACE({text}, '{_DAYS}', '')"
    day = f"DATE_FORMAT(CAST({_on_clock(unnamed, rest)} AS DATE), '{names}')"
    return f"CASE WHEN {day} = REGEXP_EXTRACT({text}, '{_DAYS}', 0) THEN {read(unnamed, rest)} END"


def _beginning(call: FlinkCall) -> str:
    """Beginning of the first argument, as long as its pattern if that is a `_SIMPLE` one; what follows is not read."""
    pattern = call.literals[1] or ""
    return f"LEFT({call.args[0]}, {len(pattern)})" if _SIMPLE.fullmatch(pattern) else call.args[0]


def to_timestamp(call: FlinkCall) -> str:
    """TO_TIMESTAMP of a text, and its pattern: a TIMESTAMP_NTZ, NULL for what is no time.

    A text that doesn't match the pattern is read as without a pattern.
    """
    if len(call.args) == 1:
        text = read_time(call.args[0], call.literals[0])
        return f"TRY_CAST({text or 'NULL'} AS TIMESTAMP_NTZ)" if text else "CAST(NULL AS TIMESTAMP_NTZ)"
    text, pattern = call.args
    digits = re.search(r"s(S+)$", call.literals[1] or "")
    if digits:  # Spark reads parts of a second behind a point alone
        count = len(digits[1])
        text = f"REGEXP_REPLACE({text}, '(\\\\d{{{count}}})$', '.$1')"
        pattern = f"{pattern[: -count - 1]}.{digits[1]}'"
    by_pattern = _by_pattern(text, pattern, None if digits else call.literals[1])
    if (call.literals[1] or "").count("S") > _DIGITS:
        by_pattern = cut_time(by_pattern, _DIGITS)
    otherwise = read_time(call.args[0], call.literals[0])
    return f"COALESCE({by_pattern}, TRY_CAST({otherwise} AS TIMESTAMP_NTZ))" if otherwise else by_pattern


def to_timestamp_ltz(call: FlinkCall) -> str:
    """TO_TIMESTAMP_LTZ of a number, counted in milliseconds unless its precision is 0 or 6; or of a text, in UTC."""
    if types.is_string(call.types[0]):
        return _of_text(call)
    unit = {(): "MILLIS", ("0",): "SECONDS", ("3",): "MILLIS", ("6",): "MICROS"}.get(call.args[1:])
    if unit is None:
        raise RefusedError(
            f"{call.name} takes a number and the precision 0, 3 or 6", "write TO_TIMESTAMP_LTZ(epoch_millis, 3)"
        )
    # TIMESTAMP_SECONDS takes a part of a second too, and so does Flink of a DOUBLE.
    whole = (None, *types.INTEGERS, *(("double", "float") if unit == "SECONDS" else ()))
    number = call.args[0] if call.types[0] in whole else cast(call.args[0], "bigint")
    return f"TIMESTAMP_{unit}({number})"


def _of_text(call: FlinkCall) -> str:
    text, *more = call.args
    zone = more[1] if len(more) > 1 else "'UTC'"
    if more:
        return f"TRY_TO_TIMESTAMP(CONCAT({text}, ' ', {zone}), CONCAT({more[0]}, ' VV'))"
    read = read_time(text, call.literals[0])
    if read is None:
        return "CAST(NULL AS TIMESTAMP)"
    return f"CAST(CONVERT_TIMEZONE({zone}, CURRENT_TIMEZONE(), TRY_CAST({read} AS TIMESTAMP_NTZ)) AS TIMESTAMP)"


def cut_text(text: str, literal: str | None, digits: int) -> str:
    """A time as a text with at most `digits` digits behind the second: CAST(... AS TIMESTAMP(1)) drops the rest."""
    pattern = "[.]\\d+$" if not digits else f"([.]\\d{{{digits}}})\\d+$"
    if literal is not None:
        return string_literal(re.sub(pattern, r"\1" if digits else "", literal, flags=re.A))
    return f"REGEXP_REPLACE({text}, {string_literal(pattern)}, '{'$1' if digits else ''}')"


def cut_time(time: str, digits: int) -> str:
    """A time cut to `digits` digits behind the second."""
    unit = "1" if not digits else f"0.{'1'.zfill(digits)}"
    return f"{time} - MAKE_DT_INTERVAL(0, 0, 0, EXTRACT(SECOND FROM {time}) % {unit})"
