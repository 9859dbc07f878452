"""Flink's functions: how Spark says them where the name alone won't do, and the types of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nested import array_of, row_of
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, Types, always, same
from dbt.adapters.sparkstream.sql.passes.flink import (
    aggregates,
    containers,
    instants,
    jsontexts,
    mathematics,
    regexes,
    texts,
    timetexts,
    variants,
)
from dbt.adapters.sparkstream.sql.passes.flink.calls import FlinkCall, RefusedError, cast, known, row_fields
from dbt.adapters.sparkstream.sql.passes.flink.datetime import date_format
from dbt.adapters.sparkstream.sql.passes.flink.typenames import typeof

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


def _neighbour(call: FlinkCall) -> str:
    """LAG or LEAD. Spark takes constant offsets alone. For `LAG(x, n)`, an array of the partition's rows is indexed."""
    offset = call.args[1] if len(call.args) > 1 else "1"
    if offset.lstrip("-").isdigit():
        return call.same()
    window = call.suffix.strip()
    if not window.endswith(")"):
        raise RefusedError(f"{call.name} with an offset that changes needs its window behind OVER", "write OVER (...)")
    rows = f"{window[:-1]} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    place = f"ROW_NUMBER() {window} - 1 {'-' if call.name.upper() == 'LAG' else '+'} ({offset})"
    row = f"GET(COLLECT_LIST(STRUCT({call.args[0]} AS v)) {rows}, {place})"
    return f"{row}.v" if len(call.args) < 3 else f"COALESCE({row}, STRUCT({call.args[2]} AS v)).v"


def _rand_integer(call: FlinkCall) -> str:
    *seed, bound = call.args
    return f"CAST(FLOOR(RAND({''.join(seed)}) * {bound}) AS INT)"


def _convert_tz(call: FlinkCall) -> str:
    clock = timetexts.read_clock(call.args[0], call.literals[0])
    from_, to = map(instants.zone_of, call.args[1:], call.literals[1:])
    return f"CAST(CONVERT_TIMEZONE('UTC', {to}, {instants.in_utc(clock, from_)}) AS STRING)"


def _date_format(call: FlinkCall) -> str:
    pattern = call.literals[1] if len(call.literals) > 1 else None
    type_ = call.types[0]
    if type_ == "date":
        raise RefusedError(
            "Flink's DATE_FORMAT takes a timestamp, not a date", "write DATE_FORMAT(CAST(d AS TIMESTAMP), ...)"
        )
    time = call.args[0]
    if types.is_string(type_):
        time, type_ = timetexts.read_clock(time, call.literals[0]), types.NTZ
    if pattern is None:
        return f"{call.name}({time}, {call.args[1]})"
    try:
        return date_format(call.name, time, pattern, type_)
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


FUNCTIONS: dict[str, Function] = {
    # aggregates
    "SUM": Function(aggregates.sum_, (1, 1), returns=aggregates.type_of_sum),
    "AVG": Function(aggregates.avg, (1, 1), returns=aggregates.type_of_average),
    "COUNT": Function(aggregates.count, (1, 1)),
    **_named_functions("MIN MAX", None, (1, 1)),
    **_named_functions(
        "STDDEV_POP STDDEV_SAMP STDDEV", aggregates.deviation, (1, 1), returns=aggregates.type_of_average
    ),
    **_named_functions("VAR_POP VAR_SAMP VARIANCE", aggregates.variance, (1, 1), aggregates.type_of_average),
    **_named_functions("FIRST_VALUE LAST_VALUE", aggregates.ignore_nulls, (1, 1)),
    "LISTAGG": Function(aggregates.listagg, (1, 2), returns=_STRING),
    "ARRAY_AGG": Function(aggregates.array_agg, (1, 1), returns=_array),
    "COLLECT": Function(aggregates.collect, (1, 1)),
    "SINGLE_VALUE": Function(aggregates.single_value, (1, 1), returns=same),
    "JSON_ARRAYAGG": Function(jsontexts.array_agg, (1, 2), returns=_STRING),
    "JSON_OBJECTAGG": Function(jsontexts.object_agg, (2, 3), returns=_STRING),
    "APPROX_COUNT_DISTINCT": Function(),
    "PERCENTILE": Function(returns=_DOUBLE),
    **_named_functions("GROUPING GROUPING_ID", _grouping, returns=_BIGINT),
    "GROUP_ID": Function(lambda _: "CAST(0 AS BIGINT)", (0, 0), returns=_BIGINT),
    # windows
    **_named_functions("ROW_NUMBER RANK DENSE_RANK NTILE", _as("bigint"), returns=_BIGINT),
    **_named_functions("PERCENT_RANK CUME_DIST"),
    **_named_functions("LAG LEAD", _neighbour, (1, 3), same),
    # conditions
    **_named_functions("COALESCE IF"),
    **_named_functions("IFNULL NULLIF", arguments=(2, 2)),
    **_named_functions("GREATEST LEAST", _null_if_any),
    # numbers
    "ABS": Function(),
    "MOD": Function(mathematics.modulo, (2, 2), returns=mathematics.type_of_modulo),
    **_named_functions("LN LOG10 LOG2", mathematics.logarithm, (1, 1)),
    "LOG": Function(mathematics.log, (1, 2)),
    **_named_functions("POWER SQRT EXP SIN COS TAN COT ASIN ACOS ATAN ATAN2 SINH COSH TANH"),
    **_named_functions("DEGREES RADIANS PI E RAND"),
    "SIGN": Function(lambda c: c.same() if known(c) == "double" else cast(c.same(), known(c)), (1, 1), same),
    "ROUND": Function(mathematics.round_, (1, 2)),
    "TRUNCATE": Function(mathematics.truncate, (1, 2)),
    **_named_functions("BIN HEX UUID"),
    "ROW": Function(lambda c: f"NAMED_STRUCT({', '.join(row_fields(c.args))})", returns=_row),
    "STR_TO_MAP": Function(texts.str_to_map, (1, 3), returns=always("map<string,string>")),
    "ELEMENT": Function(containers.only_element, (1, 1), returns=containers.type_of_element),
    # arrays and maps
    "CARDINALITY": Function(containers.cardinality, (1, 1)),
    "ARRAY_CONTAINS": Function(containers.contains, (2, 2), returns=always("boolean")),
    "ARRAY_REMOVE": Function(containers.remove, (2, 2), returns=same),
    "ARRAY_POSITION": Function(containers.position, (2, 2), returns=always("int")),
    "ARRAY_SLICE": Function(containers.slice_, (2, 3), returns=same),
    "ARRAY_SORT": Function(containers.sort, (1, 3), returns=same),
    "ARRAY_REVERSE": Function(renamed("REVERSE"), (1, 1), returns=same),
    "ARRAY_CONCAT": Function(renamed("CONCAT"), returns=same),
    "ARRAY_JOIN": Function(arguments=(2, 3), returns=_STRING),
    **_named_functions("ARRAY_MAX ARRAY_MIN", arguments=(1, 1), returns=containers.type_of_element),
    **_named_functions("ARRAY_APPEND ARRAY_PREPEND ARRAY_UNION ARRAY_EXCEPT ARRAY_INTERSECT", None, (2, 2), same),
    "ARRAY_DISTINCT": Function(arguments=(1, 1), returns=same),
    "MAP_KEYS": Function(arguments=(1, 1), returns=containers.type_of_keys),
    "MAP_VALUES": Function(arguments=(1, 1), returns=containers.type_of_values),
    "MAP_ENTRIES": Function(arguments=(1, 1), returns=containers.type_of_entries),
    "MAP_FROM_ARRAYS": Function(arguments=(2, 2)),
    "MAP_UNION": Function(containers.map_union, returns=same),
    # texts
    **_named_functions("UPPER LOWER BTRIM REPEAT TRANSLATE"),
    "REPLACE": Function(texts.replace, (3, 3)),
    "ASCII": Function(texts.ascii, (1, 1), always("int")),
    "INITCAP": Function(texts.initcap, (1, 1), returns=_STRING),
    "LTRIM": Function(lambda c: texts.trim(c, "LEADING"), (1, 2)),
    "RTRIM": Function(lambda c: texts.trim(c, "TRAILING"), (1, 2)),
    "REGEXP_REPLACE": Function(regexes.regexp_replace, (3, 3), returns=_STRING),
    **_named_functions("MD5 SHA1 SHA2 URL_ENCODE"),
    "PARSE_URL": Function(lambda c: texts.tolerant(c, "TRY_PARSE_URL"), (2, 3), returns=_STRING),
    "URL_DECODE": Function(lambda c: texts.tolerant(c, "TRY_URL_DECODE"), (1, 1), returns=_STRING),
    **_named_functions("LPAD RPAD", texts.pad, returns=_STRING),
    **_named_functions("REVERSE LEFT RIGHT", returns=_STRING),
    "UNHEX": Function(texts.unhex, (1, 1), always("binary")),
    **_named_functions("CHR CONCAT_WS FROM_UNIXTIME PRINTF"),
    "ELT": Function(texts.elt, (2, 255), returns=_STRING),
    "TO_BASE64": Function(renamed("BASE64"), returns=_STRING),
    "FROM_BASE64": Function(lambda c: f"CAST(UNBASE64({c.args[0]}) AS STRING)", (1, 1), returns=_STRING),
    "CONCAT": Function(returns=_STRING),
    "REGEXP_EXTRACT": Function(regexes.regexp_extract, (2, 3)),
    "SPLIT_INDEX": Function(texts.split_index, (3, 3), returns=_STRING),
    **_named_functions("CHAR_LENGTH CHARACTER_LENGTH POSITION"),
    "LOCATE": Function(texts.locate, (2, 3), always("int")),
    "HASH_CODE": Function(texts.hash_code, (1, 1), always("int")),
    "REGEXP": Function(regexes.matches, (2, 2), always("boolean")),
    "INSTR": Function(texts.instr, (2, 4), always("int")),
    **_named_functions("SHA224 SHA256 SHA384 SHA512", texts.sha, (1, 1), _STRING),
    **_named_functions("STARTSWITH ENDSWITH", None, (2, 2), always("boolean")),
    **_named_functions("REGEXP_COUNT REGEXP_INSTR", regexes.count, (2, 2), always("int")),
    "REGEXP_SUBSTR": Function(regexes.substr, (2, 2), returns=_STRING),
    "REGEXP_EXTRACT_ALL": Function(regexes.extract_all, (2, 3), returns=always("array<string>")),
    "SPLIT": Function(texts.split, (2, 2), returns=always("array<string>")),
    "ENCODE": Function(arguments=(2, 2), returns=always("binary")),
    "DECODE": Function(texts.decode, (2, 2), returns=_STRING),
    "IS_ALPHA": Function(lambda c: texts.only(c, "\\p{L}+"), (1, 1), returns=always("boolean")),
    "IS_DIGIT": Function(texts.is_digit, (1, 1), always("boolean")),
    "IS_DECIMAL": Function(texts.is_decimal, (1, 1), always("boolean")),
    "JSON_STRING": Function(lambda c: jsontexts.json_of(c.args[0], c.types[0]), (1, 1), returns=_STRING),
    "JSON_QUOTE": Function(lambda c: jsontexts.json_of(c.args[0], "string"), (1, 1), returns=_STRING),
    **_named_functions("PARSE_JSON TRY_PARSE_JSON", variants.parse, (1, 2), always(variants.VARIANT)),
    "JSON": Function(variants.misplaced, (1, 1), returns=_STRING),
    "JSON_UNQUOTE": Function(jsontexts.unquote, (1, 1), returns=_STRING),
    "TYPEOF": Function(typeof, (1, 2), returns=_STRING),
    "RAND_INTEGER": Function(_rand_integer, (1, 2), returns=always("int")),
    # times
    "CONVERT_TZ": Function(_convert_tz, (3, 3), returns=_STRING),
    "DATE_FORMAT": Function(_date_format, (2, 2)),
    "TO_DATE": Function(timetexts.to_date, (1, 2)),
    "UNIX_TIMESTAMP": Function(timetexts.unix_timestamp, (0, 2), returns=_BIGINT),
    "TO_TIMESTAMP": Function(timetexts.to_timestamp, (1, 2), returns=always(types.NTZ)),
    "TO_TIMESTAMP_LTZ": Function(timetexts.to_timestamp_ltz, (1, 3), returns=always("timestamp")),
    **_named_functions("NOW CURRENT_TIMESTAMP LOCALTIMESTAMP CURRENT_DATE"),
    "CURRENT_ROW_TIMESTAMP": Function(lambda _: "CURRENT_TIMESTAMP()", (0, 0), returns=always("timestamp")),
    "PROCTIME": Function(_proctime, (0, 0), returns=always("timestamp")),
    "CURRENT_WATERMARK": Function(_no_watermark, returns=always("timestamp")),
    **_named_functions(
        "YEAR QUARTER MONTH DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND", _as("bigint"), returns=_BIGINT
    ),
    "WEEK": Function(lambda c: f"CAST(WEEKOFYEAR({c.args[0]}) AS BIGINT)", (1, 1), returns=_BIGINT),
}

AGGREGATES = frozenset(
    {
        "SUM", "AVG", "COUNT", "MIN", "MAX", "STDDEV_POP", "STDDEV_SAMP", "STDDEV", "VAR_POP", "VAR_SAMP", "VARIANCE",
        "FIRST_VALUE", "LAST_VALUE", "SINGLE_VALUE", "LISTAGG", "ARRAY_AGG", "COLLECT", "JSON_ARRAYAGG",
        "JSON_OBJECTAGG", "APPROX_COUNT_DISTINCT", "PERCENTILE",
    }
)  # fmt: skip
