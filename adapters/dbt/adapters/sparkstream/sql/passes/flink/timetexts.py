"""Texts that Flink reads as times: TO_TIMESTAMP, TO_TIMESTAMP_LTZ and casts."""

from __future__ import annotations

import re

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, RefusedError, cast

_DIGITS = 3
"""Digits behind the second that TO_TIMESTAMP keeps: it gives a TIMESTAMP(3)."""
_MOST_DIGITS = 9
"""Digits behind the second that Flink reads."""
_CLOCK = r"\d{4}-\d{1,2}-\d{1,2}(?: \d{1,2}:\d{1,2}:\d{1,2}"
_WRITTEN = "FROM_UNIXTIME(", "DATE_FORMAT("
"""What begins a call that writes a time as TO_TIMESTAMP reads it."""


def _pattern(digits: int) -> str:
    """A time whose first group has so many digits behind the second at most."""
    if not digits:
        return rf"({_CLOCK})?)(?:(?:(?<=:\d)|(?<=:\d\d))[.]\d{{1,{_MOST_DIGITS}}})?"
    more = rf"(?:(?<=[.]\d{{{digits}}})\d{{1,{_MOST_DIGITS - digits}}})?" if digits < _MOST_DIGITS else ""
    return rf"({_CLOCK}(?:[.]\d{{1,{digits}}})?)?){more}"


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
    if text.upper().startswith(_WRITTEN):
        return text
    return f"REGEXP_EXTRACT({text}, {string_literal(f'^{_pattern(digits)}$')})"


def to_timestamp(call: FlinkCall) -> str:
    """TO_TIMESTAMP of a text, and its pattern: a TIMESTAMP_NTZ, NULL for what is no time."""
    if len(call.args) == 1:
        text = read_time(call.args[0], call.literals[0])
        return f"TRY_CAST({text or 'NULL'} AS TIMESTAMP_NTZ)" if text else "CAST(NULL AS TIMESTAMP_NTZ)"
    read = f"TRY_TO_TIMESTAMP({', '.join(call.args)})"
    if (call.literals[1] or "").count("S") > _DIGITS:
        read = f"TIMESTAMP_MILLIS(UNIX_MILLIS({read}))"
    return f"CAST({read} AS TIMESTAMP_NTZ)"


def to_timestamp_ltz(call: FlinkCall) -> str:
    """TO_TIMESTAMP_LTZ of a number, counted in milliseconds unless its precision is 0; or of a text, in UTC."""
    if types.is_string(call.types[0]):
        return _of_text(call)
    if call.args[1:] not in ((), ("0",), ("3",)):
        raise RefusedError(
            f"{call.name} takes a number and the precision 0 or 3", "write TO_TIMESTAMP_LTZ(epoch_millis, 3)"
        )
    seconds = call.args[1:] == ("0",)
    # TIMESTAMP_SECONDS takes a part of a second too, and so does Flink of a DOUBLE.
    whole = (None, *types.INTEGERS, *(("double", "float") if seconds else ()))
    number = call.args[0] if call.types[0] in whole else cast(call.args[0], "bigint")
    return f"TIMESTAMP_{'SECONDS' if seconds else 'MILLIS'}({number})"


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
    """A text with so many digits behind the second at most: CAST(... AS TIMESTAMP(1)) drops the others."""
    pattern = "[.]\\d+$" if not digits else f"([.]\\d{{{digits}}})\\d+$"
    if literal is not None:
        return string_literal(re.sub(pattern, r"\1" if digits else "", literal, flags=re.A))
    return f"REGEXP_REPLACE({text}, {string_literal(pattern)}, '{'$1' if digits else ''}')"


def cut_time(time: str, digits: int) -> str:
    """A time with so many digits behind the second."""
    unit = "1" if not digits else f"0.{'1'.zfill(digits)}"
    return f"{time} - MAKE_DT_INTERVAL(0, 0, 0, EXTRACT(SECOND FROM {time}) % {unit})"
