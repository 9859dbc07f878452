"""Flink's date and time functions where Spark's differ: weeks, patterns, FLOOR and CEIL, months between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from dbt.adapters.sparkstream.sql.core.interval import MICROS
from dbt.adapters.sparkstream.sql.core.literals import is_column, string_literal
from dbt.adapters.sparkstream.sql.core.types import NTZ, is_clock
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.clocks import pieces, utc_clock
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import cast

MONTHS_OF = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
"""Units of whole months."""
DATE_UNITS = ("DAY", "WEEK", *MONTHS_OF)
"""Units of whole days: a date and so many of them is a date."""
_CLOCK_UNITS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
"""Units of a TIME."""
_EPOCHS = {"DECADE": (10, 0), "CENTURY": (100, 1), "MILLENNIUM": (1000, 1)}
"""Unit -> its length in years, and the year in which the first unit begins."""


def rounds_to(unit: str, type_: str | None) -> bool:
    """True if FLOOR and CEIL round a time of a type to a unit; else the call stays, and Spark can't parse it."""
    return unit in _CLOCK_UNITS or (not is_clock(type_) and unit in (*DATE_UNITS, *_EPOCHS))


def _date_floor(date: str, unit: str) -> str:
    """The first day of a unit; Flink's weeks begin on Sunday."""
    if unit == "DAY" or unit in _CLOCK_UNITS:
        return date
    if unit in _EPOCHS:
        years, first = _EPOCHS[unit]
        into = f"(YEAR({date}) - {first})" if first else f"YEAR({date})"
        return f"MAKE_DATE(YEAR({date}) - {into} % {years}, 1, 1)"
    if unit == "WEEK":
        return f"DATE_SUB({date}, DAYOFWEEK({date}) - 1)"
    return f"TRUNC({date}, '{unit}')"


def _date_ceil(date: str, unit: str) -> str:
    """The first day of the next unit; from WEEK to YEAR, the day itself where it begins one."""
    start = _date_floor(date, unit)
    if unit == "DAY":
        return f"DATE_ADD({date}, 1)"
    if unit in _CLOCK_UNITS:
        return date
    if unit in _EPOCHS:
        return f"ADD_MONTHS({start}, {12 * _EPOCHS[unit][0]})"
    following = f"DATE_ADD({start}, 7)" if unit == "WEEK" else f"ADD_MONTHS({start}, {MONTHS_OF[unit]})"
    return f"CASE WHEN {date} = {start} THEN {date} ELSE {following} END"


def _clock(time: str, unit: str) -> str:
    """The time of day down to a unit, as an interval."""
    fields = ["HOUR", "MINUTE", "SECOND"][: ["HOUR", "MINUTE", "SECOND"].index(unit) + 1]
    return f"MAKE_DT_INTERVAL(0, {', '.join(f'{field}({time})' for field in fields)})"


def floor_to(time: str, unit: str, type_: str | None) -> str:
    """`FLOOR(time TO unit)` in the type of the time."""
    if is_clock(type_):
        return f"TIME_TRUNC('{unit}', {time})"
    if type_ == "date":
        return _date_floor(time, unit)
    if type_ == "timestamp":
        if unit == "WEEK" or unit in _EPOCHS:
            return f"CAST({_date_floor(f'CAST({time} AS DATE)', unit)} AS TIMESTAMP)"
        return f"DATE_TRUNC('{unit}', {time})"
    # date_trunc would go through the session's zone, where some wall clock times don't exist.
    day = f"CAST({time} AS DATE)"
    midnight = cast(day, NTZ)
    if unit == "MILLISECOND":
        return f"{midnight} + INTERVAL '0.001' SECOND * (({time} - {midnight}) DIV INTERVAL '0.001' SECOND)"
    if unit in ("HOUR", "MINUTE", "SECOND"):
        return f"{midnight} + {_clock(time, unit)}"
    return cast(_date_floor(day, unit), NTZ)


def ceil_to(time: str, unit: str, type_: str | None) -> str:
    """`CEIL(time TO unit)`; from WEEK on Flink looks at the day alone and forgets the time of day.

    Behind the last hour of a TIME comes midnight.
    """
    if type_ == "date" or unit in ("WEEK", *MONTHS_OF, *_EPOCHS):
        date = time if type_ == "date" else f"CAST({time} AS DATE)"
        ceiling = _date_ceil(date, unit)
        return ceiling if type_ == "date" else f"CAST({ceiling} AS {(type_ or 'timestamp_ntz').upper()})"
    floor = floor_to(time, unit, type_)
    step = "INTERVAL '0.001' SECOND" if unit == "MILLISECOND" else f"INTERVAL '1' {unit}"
    following = clocks.moved(floor, "+", step, type_) if type_ and is_clock(type_) else f"{floor} + {step}"
    return f"CASE WHEN {time} = {floor} THEN {time} ELSE {following} END"


def difference(unit: str, start: str, end: str, instants: bool) -> str:
    """Whole units from start to end, of times on the clock, or of instants: those elapse, also where the clock changes.

    Spark's TIMESTAMPDIFF goes by the session's clock, where a time of the hour that is skipped is another one.
    """
    if unit in MONTHS_OF:
        if instants:  # months are counted in UTC
            start, end = map(utc_clock, (start, end))
        months, per = months_between(start, end), MONTHS_OF[unit]
        return f"CAST({months} AS INT)" if per == 1 else f"CAST(({months}) DIV {per} AS INT)"
    if instants:
        return f"CAST((UNIX_MILLIS({end}) - UNIX_MILLIS({start})) DIV {MICROS[unit] // 1000} AS INT)"
    length = "INTERVAL '7' DAY" if unit == "WEEK" else f"INTERVAL '1' {unit}"
    start, end = (time if is_column(time) else f"({time})" for time in (start, end))
    return f"CAST(({end} - {start}) DIV {length} AS INT)"


def months_between(start: str, end: str) -> str:
    """Whole months from start to end: the most that can be added to the earlier one without passing the later.

    Spark counts no month from 31 January to 29 February; Flink counts one, as both days end their months. Flink
    compares the days first. Where adding the months leads exactly from the one day to the other, Flink counts a month
    less if the end has the earlier time of day, also backwards (Avatica: DateTimeUtils.subtractMonths).
    """

    def day(time: str) -> str:
        return f"CAST({time} AS DATE)"

    def clock(time: str) -> str:
        return f"{time} - CAST({day(time)} AS TIMESTAMP_NTZ)"

    def forward(a: str, b: str, also: str = "") -> str:
        months = f"(YEAR({b}) - YEAR({a})) * 12 + MONTH({b}) - MONTH({a})"
        reached = f"ADD_MONTHS({day(a)}, {months})"
        passed = f"{reached} > {day(b)}" + (f" OR {reached} = {day(b)} AND {also}" if also else "")
        return f"{months} - CASE WHEN {passed} THEN 1 ELSE 0 END"

    early = f"{clock(start)} > {clock(end)}"
    ahead = forward(start, end, early)
    back = forward(end, start)
    less = f"CASE WHEN ADD_MONTHS({day(start)}, -({back})) = {day(end)} AND {early} THEN 1 ELSE 0 END"
    return f"CASE WHEN {day(end)} >= {day(start)} THEN {ahead} ELSE -({back}) - {less} END"


_WEEK = "((DAYOFYEAR({t}) + DAYOFWEEK(DATE_TRUNC('YEAR', {t})) - 2) DIV 7 + 1)"
_WEEK_LETTERS = {
    "w": f"CASE WHEN YEAR(DATE_ADD({{t}}, 7 - DAYOFWEEK({{t}}))) > YEAR({{t}}) THEN 1 ELSE {_WEEK} END",
    "W": "((DAY({t}) + DAYOFWEEK(DATE_TRUNC('MONTH', {t})) - 2) DIV 7 + 1)",
    **dict.fromkeys("ec", "DAYOFWEEK({t})"),
}
"""Letters of weeks and their days -> their numbers, which Spark refuses.

Weeks are those of java.time's default locale: they begin on Sunday, 1 January is in week 1, and so may be the last days
of the December before.
"""
_TEXT = "yyyy-MM-dd HH:mm:ss"
"""Pattern of the text that CAST AS STRING gives for a TIMESTAMP_NTZ; parts of a second follow."""
_IN_TEXT = ("yyyy", "MM", "dd", "HH", "mm", "ss")
_NUMBERS = {
    "H": "HOUR({t})",
    "k": "(HOUR({t}) + 23) % 24 + 1",
    "K": "HOUR({t}) % 12",
    "h": "(HOUR({t}) + 11) % 12 + 1",
    "m": "MINUTE({t})",
    "s": "SECOND({t})",
}
"""Letters of the time of day -> their numbers."""
_OF_DATE = "yMLdDEQqGF"


def _unquoted(literal: str) -> str:
    """Text of a pattern between its letters, without quotes, and without the brackets of optional parts."""

    def unquoted(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1].replace("''", "'")
        return "" if found[0] in "[]" else "'"

    return re.sub(r"''|'((?:[^']|'')*)'|[\[\]]", unquoted, literal)


def _runs(pattern: str) -> Iterator[tuple[str, str]]:
    """Splits a pattern into ('' | 'text' | 'date' | 'other' | letter of the time of day, part of the pattern)."""
    kind, run = "", ""
    for letter, text in pieces(pattern):
        goes_on = kind == "text" and run + text in _TEXT
        if letter in ("", "quoted"):
            own = kind if goes_on or kind == "date" else ""
        elif text in _IN_TEXT and kind != "date":
            own = "text"
        else:
            own = letter if letter in _NUMBERS else "date" if letter in _OF_DATE else "other"
        if run and not (own == kind and (goes_on or kind in ("", "date", "other"))):
            yield kind, run
            run = ""
        kind, run = own, run + text
    if run:
        yield kind, run


def _clock_parts(name: str, time: str, pattern: str) -> Iterator[str]:
    """Parts of a TIMESTAMP_NTZ's text by a pattern: DATE_FORMAT has no times that the session's zone skips."""
    for kind, run in _runs(pattern):
        if not kind:
            yield string_literal(_unquoted(run))
        elif kind == "text":
            yield f"SUBSTRING(CAST({time} AS STRING), {_TEXT.index(run) + 1}, {len(run)})"
        elif kind == "date":
            yield f"{name}(CAST({time} AS DATE), {string_literal(run)})"
        elif kind in _NUMBERS:
            number = f"CAST({_NUMBERS[kind].format(t=time)} AS STRING)"
            yield number if len(run) == 1 else f"LPAD({number}, {len(run)}, '0')"
        elif set(run) == {"a"}:
            yield f"CASE WHEN HOUR({time}) < 12 THEN 'AM' WHEN HOUR({time}) > 11 THEN 'PM' END"
        else:  # parts of a second, which are the same on all clocks
            yield f"{name}({time}, {string_literal(run)})"


def _week_part(name: str, time: str, letter: str, text: str) -> str | None:
    """Spark SQL of a week, its day or a year counted in weeks, for letters such as `ww`; None for other letters."""
    if letter == "Y":
        return f"{name}(DATE_ADD({time}, 7 - DAYOFWEEK({time})), '{'y' * len(text)}')"
    if letter not in _WEEK_LETTERS or (letter in ("e", "c") and len(text) > 2):
        return None
    number = f"CAST({_WEEK_LETTERS[letter].format(t=time)} AS STRING)"
    return f"LPAD({number}, {len(text)}, '0')" if len(text) > 1 and letter != "W" else number


def date_format(name: str, time: str, pattern: str, type_: str | None) -> str:
    """DATE_FORMAT of a time of a type with a constant pattern."""
    parts: list[str] = []
    for is_plain, run in groupby(pieces(pattern), lambda piece: _week_part(name, time, *piece) is None):
        if not is_plain:
            parts += [str(_week_part(name, time, *piece)) for piece in run]
            continue
        plain = "".join("y" * len(text) if letter == "u" else text for letter, text in run)
        if type_ == NTZ and any(letter not in ("", "quoted") for letter, _ in pieces(pattern)):
            parts += _clock_parts(name, time, plain)
        else:
            parts.append(f"{name}({time}, {string_literal(plain)})")
    return parts[0] if len(parts) == 1 else f"CONCAT({', '.join(parts)})" if parts else f"{name}({time}, '')"
