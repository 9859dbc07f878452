"""Flink's functions: how Spark says them where the name alone won't do, and the types of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nested import array_of, row_of
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, Types, always, same
from dbt.adapters.sparkstream.sql.passes.flink import aggregates, jsontexts
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, RefusedError, cast, known
from dbt.adapters.sparkstream.sql.passes.flink.datetime import date_format

Rewrite = Callable[[FlinkCall], str]


@dataclass(frozen=True)
class Function:
    """What the translator knows of a function.

    Attributes:
        rewrite: Spark SQL for a call; None leaves the call as it stands.
        arguments: the least and most arguments, where it matters.
        returns: its Spark type after the rewrite, from the types of the arguments; None where it is the type that
            Spark's function of the same name has.
    """

    rewrite: Rewrite | None = None
    arguments: tuple[int, int] | None = None
    returns: FunctionRule | None = None


def _named_functions(
    names: str,
    rewrite: Rewrite | None = None,
    arguments: tuple[int, int] | None = None,
    returns: FunctionRule | None = None,
) -> dict[str, Function]:
    """Functions with one rewrite, number of arguments and type: `_named_functions("YEAR MONTH", ...)`."""
    return dict.fromkeys(names.split(), Function(rewrite, arguments, returns))


# -- types of results ----------------------------------------------------------------------------------
def _second(arguments: Types, numbers: Numbers) -> str | None:
    return arguments[1] if len(arguments) > 1 else None


def _rounded(arguments: Types, numbers: Numbers) -> str | None:
    type_ = same(arguments, numbers)
    if len(arguments) == 1 and type_ is not None and types.is_decimal(type_):
        return f"decimal({types.decimal_parts(type_)[0]},0)"
    return type_


def _array(arguments: Types, numbers: Numbers) -> str | None:
    return array_of(same(arguments, numbers))


def _row(arguments: Types, numbers: Numbers) -> str | None:
    return row_of((f"EXPR${i}", type_) for i, type_ in enumerate(arguments))


_STRING, _BIGINT, _DOUBLE = always("string"), always("bigint"), always("double")


# -- rewrites ------------------------------------------------------------------------------------------
def _null_if_any(call: FlinkCall) -> str:
    nullable = [a for a, literal in zip(call.args, call.literals, strict=True) if literal is None and not a.isdigit()]
    nulls = " OR ".join(f"{arg} IS NULL" for arg in nullable)
    if not nulls:
        return call.same()
    return f"CASE WHEN {nulls} THEN NULL ELSE {call.same()} END"


def _as(type_: str) -> Rewrite:
    return lambda call: cast(call.same(), type_)


def renamed(function: str) -> Rewrite:
    """A call under another name."""
    return lambda call: call.to(function)


def _grouping(call: FlinkCall) -> str:
    bits = [f"CAST(GROUPING({arg}) AS BIGINT)" for arg in call.args]
    if len(bits) == 1:
        return bits[0]
    return "(" + " + ".join(f"{bit} * {2 ** (len(bits) - 1 - i)}" for i, bit in enumerate(bits)) + ")"


def _texts_only(call: FlinkCall) -> str:
    for arg, type_ in zip(call.args, call.types, strict=True):
        if types.is_numeric(type_):
            raise RefusedError(f"{call.name} takes texts, and {arg} is a number", f"write CAST({arg} AS STRING)")
    return call.same()


def _text_first(call: FlinkCall) -> str:
    if call.types and types.is_numeric(call.types[0]):
        raise RefusedError(
            f"{call.name} takes a text, and {call.args[0]} is a number", f"write CAST({call.args[0]} AS STRING)"
        )
    return call.same()


def _regexp_extract(call: FlinkCall) -> str:
    # Without a match Spark gives an empty text; without a group it takes the first, not the whole match.
    text, pattern = call.args[:2]
    group = call.args[2] if len(call.args) > 2 else "0"
    return f"CASE WHEN {text} RLIKE {pattern} THEN {call.name}({text}, {pattern}, {group}) END"


def _fields(values: Sequence[str]) -> list[str]:
    """Values with the names that Flink gives them in a ROW."""
    return [part for i, value in enumerate(values) for part in (f"'EXPR${i}'", value)]


def _split_index(call: FlinkCall) -> str:
    if call.literals[1] is not None:
        separator = call.literals[1].replace("\\", "\\\\").replace("'", "\\'")
        pattern = f"'\\\\Q{separator}\\\\E'"
    else:
        pattern = f"CONCAT('\\\\Q', {call.args[1]}, '\\\\E')"
    return f"GET(SPLIT({call.args[0]}, {pattern}), {call.args[2]})"


def _to_timestamp(call: FlinkCall) -> str:
    if len(call.args) == 1:
        return f"TRY_CAST({call.args[0]} AS TIMESTAMP_NTZ)"
    return f"CAST(TRY_TO_TIMESTAMP({', '.join(call.args)}) AS TIMESTAMP_NTZ)"


def _to_timestamp_ltz(call: FlinkCall) -> str:
    if call.args[1:] == ("3",):
        return f"TIMESTAMP_MILLIS({call.args[0]})"
    if call.args[1:] == ("0",):
        return f"TIMESTAMP_SECONDS({call.args[0]})"
    raise RefusedError(
        f"{call.name} takes a number and the precision 0 or 3", "write TO_TIMESTAMP_LTZ(epoch_millis, 3)"
    )


def _convert_tz(call: FlinkCall) -> str:
    time, *zones = call.args
    clock = f"CONVERT_TIMEZONE({', '.join(zones)}, TRY_CAST({time} AS TIMESTAMP_NTZ))"
    return f"DATE_FORMAT({clock}, 'yyyy-MM-dd HH:mm:ss')"


def _date_format(call: FlinkCall) -> str:
    pattern = call.literals[1] if len(call.literals) > 1 else None
    type_ = call.types[0]
    if type_ == "date":
        raise RefusedError(
            "Flink's DATE_FORMAT takes a timestamp, not a date", "write DATE_FORMAT(CAST(d AS TIMESTAMP), ...)"
        )
    time = call.args[0]
    if types.is_string(type_):
        time = f"TRY_TO_TIMESTAMP({time}, 'yyyy-MM-dd HH:mm:ss')"
    if pattern is None:
        return f"{call.name}({time}, {call.args[1]})"
    try:
        return date_format(call.name, time, pattern)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _no_watermark(call: FlinkCall) -> str:
    raise RefusedError(
        "CURRENT_WATERMARK has no counterpart: no expression of Spark's knows the watermark",
        "leave it out; a streaming model keeps late rows in a table of their own (late_rows: keep)",
    )


def _proctime(call: FlinkCall) -> str:
    raise RefusedError(
        "PROCTIME() is the time at which Flink reads a row, and Spark has no such time",
        "write CURRENT_TIMESTAMP for the time of the run, or use a column that holds when the event happened",
    )


def _truncate(call: FlinkCall) -> str:
    type_ = known(call)
    digits = call.args[1] if len(call.args) > 1 else "0"
    cut = f"CASE WHEN {call.args[0]} < 0 THEN CEIL({call.args[0]}, {digits}) ELSE FLOOR({call.args[0]}, {digits}) END"
    if types.is_decimal(type_) and digits.isdigit():
        return cast(cut, f"decimal({types.decimal_parts(type_)[0]},{min(int(digits), types.decimal_parts(type_)[1])})")
    return cast(cut, type_)


FUNCTIONS: dict[str, Function] = {
    # aggregates
    "SUM": Function(aggregates.sum_, (1, 1), returns=aggregates.type_of_sum),
    "AVG": Function(aggregates.avg, (1, 1), returns=aggregates.type_of_average),
    "COUNT": Function(aggregates.count),
    **_named_functions("MIN MAX", arguments=(1, 1)),
    **_named_functions(
        "STDDEV_POP STDDEV_SAMP STDDEV", aggregates.deviation, (1, 1), returns=aggregates.type_of_average
    ),
    **_named_functions("VAR_POP VAR_SAMP VARIANCE", aggregates.variance, (1, 1), aggregates.type_of_average),
    **_named_functions("FIRST_VALUE LAST_VALUE", aggregates.ignore_nulls, (1, 1)),
    "LISTAGG": Function(aggregates.listagg, (1, 2), returns=_STRING),
    "ARRAY_AGG": Function(aggregates.array_agg, (1, 1), returns=_array),
    "COLLECT": Function(aggregates.collect, (1, 1), returns=_array),
    "JSON_ARRAYAGG": Function(jsontexts.array_agg, (1, 2), returns=_STRING),
    "JSON_OBJECTAGG": Function(jsontexts.object_agg, (2, 3), returns=_STRING),
    "APPROX_COUNT_DISTINCT": Function(),
    "PERCENTILE": Function(returns=_DOUBLE),
    **_named_functions("GROUPING GROUPING_ID", _grouping, returns=_BIGINT),
    "GROUP_ID": Function(lambda _: "CAST(0 AS BIGINT)", returns=_BIGINT),
    # windows
    **_named_functions("ROW_NUMBER RANK DENSE_RANK NTILE", _as("bigint"), returns=_BIGINT),
    **_named_functions("PERCENT_RANK CUME_DIST LAG LEAD"),
    # conditions
    **_named_functions("COALESCE IFNULL NULLIF IF"),
    **_named_functions("GREATEST LEAST", _null_if_any),
    # numbers
    "ABS": Function(),
    "MOD": Function(returns=_second),
    **_named_functions("POWER SQRT EXP LN LOG10 LOG2 LOG SIN COS TAN COT ASIN ACOS ATAN ATAN2 SINH COSH TANH"),
    **_named_functions("DEGREES RADIANS PI E RAND"),
    "SIGN": Function(lambda c: cast(c.same(), known(c)) if known(c) in types.INTEGERS else c.same(), returns=same),
    "ROUND": Function(returns=_rounded),
    "TRUNCATE": Function(_truncate, (1, 2), returns=same),
    **_named_functions("BIN HEX UUID"),
    "ROW": Function(lambda c: f"NAMED_STRUCT({', '.join(_fields(c.args))})", returns=_row),
    "STR_TO_MAP": Function(arguments=(1, 3)),
    "ELEMENT": Function(lambda c: f"TRY_ELEMENT_AT({c.args[0]}, 1)", (1, 1)),
    "CARDINALITY": Function(renamed("SIZE")),
    # texts
    **_named_functions("UPPER LOWER LTRIM RTRIM BTRIM REPLACE REPEAT INITCAP REGEXP_REPLACE TRANSLATE", _text_first),
    **_named_functions("MD5 SHA1 SHA2 PARSE_URL URL_ENCODE URL_DECODE", _text_first),
    **_named_functions("REVERSE LPAD RPAD LEFT RIGHT SUBSTR UNHEX", _text_first, returns=_STRING),
    **_named_functions("CHR CONCAT_WS FROM_UNIXTIME PRINTF"),
    "ELT": Function(returns=_STRING),
    "TO_BASE64": Function(renamed("BASE64"), returns=_STRING),
    "FROM_BASE64": Function(lambda c: f"CAST(UNBASE64({c.args[0]}) AS STRING)", returns=_STRING),
    "CONCAT": Function(_texts_only, returns=_STRING),
    "REGEXP_EXTRACT": Function(_regexp_extract, (2, 3)),
    "SPLIT_INDEX": Function(_split_index, (3, 3), returns=_STRING),
    **_named_functions("CHAR_LENGTH CHARACTER_LENGTH ASCII POSITION INSTR LOCATE REGEXP"),
    # times
    "CONVERT_TZ": Function(_convert_tz, (3, 3), returns=_STRING),
    "DATE_FORMAT": Function(_date_format, (2, 2)),
    "TO_DATE": Function(lambda c: f"CAST(TRY_TO_TIMESTAMP({', '.join(c.args)}) AS DATE)", (1, 2)),
    "TO_TIMESTAMP": Function(_to_timestamp, (1, 2), returns=always(types.NTZ)),
    "TO_TIMESTAMP_LTZ": Function(_to_timestamp_ltz, returns=always("timestamp")),
    **_named_functions("UNIX_TIMESTAMP NOW CURRENT_TIMESTAMP LOCALTIMESTAMP CURRENT_DATE"),
    "CURRENT_ROW_TIMESTAMP": Function(lambda _: "CURRENT_TIMESTAMP()", returns=always("timestamp")),
    "PROCTIME": Function(_proctime, returns=always("timestamp")),
    "CURRENT_WATERMARK": Function(_no_watermark, returns=always("timestamp")),
    **_named_functions(
        "YEAR QUARTER MONTH DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND", _as("bigint"), returns=_BIGINT
    ),
    "WEEK": Function(lambda c: f"CAST(WEEKOFYEAR({c.args[0]}) AS BIGINT)", returns=_BIGINT),
}

AGGREGATES = frozenset(
    {
        "SUM", "AVG", "COUNT", "MIN", "MAX", "STDDEV_POP", "STDDEV_SAMP", "STDDEV", "VAR_POP", "VAR_SAMP", "VARIANCE",
        "FIRST_VALUE", "LAST_VALUE", "LISTAGG", "ARRAY_AGG", "COLLECT", "JSON_ARRAYAGG", "JSON_OBJECTAGG",
        "APPROX_COUNT_DISTINCT", "PERCENTILE",
    }
)  # fmt: skip
RANKING = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "LAG", "LEAD"})
