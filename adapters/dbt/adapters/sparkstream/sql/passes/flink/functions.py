"""Flink's functions: their Spark SQL where a call of the same name won't do, and the types of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.errors import RefusedError
from dbt.adapters.sparkstream.sql.core.nested import array_of, element, entry, map_of, row_of
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, NodeRule, TypeOf, Types, always, same
from dbt.adapters.sparkstream.sql.passes.flink import (
    aggregates,
    arithmetic,
    arrays,
    clocks,
    json,
    texts,
)
from dbt.adapters.sparkstream.sql.passes.flink.datetime import DATE_UNITS, date_format
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import FlinkCall, Rewrite, cast, known, row_fields
from dbt.adapters.sparkstream.sql.passes.flink.typenames import typeof


class FunctionKind(Enum):
    """Kind of a function: `NEIGHBOUR` are LAG and LEAD, whose IGNORE NULLS Flink ignores."""

    SCALAR = auto()
    AGGREGATE = auto()
    NEIGHBOUR = auto()
    GROUPING = auto()


@dataclass(frozen=True)
class Function:
    """A function of Flink whose call or type is another one in Spark.

    Attributes:
        rewrite: Spark SQL for a call; None leaves the call as it stands.
        arguments: the least and most arguments, where it matters.
        returns: its Spark type after the rewrite, from the types of the arguments; None where it is the type that
            Spark's function of the same name has.
        typed: its type, where that depends on more than the types of the arguments.
        alike: True if the result is of a type that all arguments take.
        ordered: True if ORDER BY and IGNORE NULLS may stand among the arguments.
    """

    rewrite: Rewrite | None = None
    arguments: tuple[int, int] | None = None
    returns: FunctionRule | None = None
    kind: FunctionKind = FunctionKind.SCALAR
    typed: NodeRule | None = None
    alike: bool = False
    ordered: bool = False


def _each(names: str, function: Function) -> dict[str, Function]:
    """Functions by name, which share one record."""
    return dict.fromkeys(names.split(), function)


# -- types of results ----------------------------------------------------------------------------------
def _type_of_timestampadd(node: exp.Anonymous, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of `TIMESTAMPADD(HOUR, 1, d)`: a TIMESTAMP_NTZ of a date, unless whole days are added."""
    if len(node.expressions) != 3:
        return None
    type_ = of(node.expressions[2])
    return types.NTZ if type_ == "date" and node.expressions[0].name.upper() not in DATE_UNITS else type_


def _of_first(rule: Callable[[str], str | None]) -> FunctionRule:
    """The rule of a function whose type follows from the type of its first argument."""
    return lambda types, numbers: rule(types[0]) if types and types[0] else None


def _of_map(rule: Callable[[str | None, str | None], str]) -> FunctionRule:
    """The rule of a function whose type follows from the types of a map's keys and values."""
    return _of_first(lambda type_: rule(*pair) if (pair := entry(type_)) else None)


def row_type(types: Types, numbers: Numbers) -> str:
    """Type of `ROW(a, b)` and of `(a, b)`."""
    return row_of((f"EXPR${i}", type_) for i, type_ in enumerate(types))


_STRING, _BIGINT, _DOUBLE = always("string"), always("bigint"), always("double")
_INT, _BOOLEAN, _TEXTS = always("int"), always("boolean"), always("array<string>")
_AVERAGE = _of_first(aggregates.average_type)
_AS_BIGINT = "CAST({same} AS BIGINT)"


# -- rewrites ------------------------------------------------------------------------------------------
def _null_if_any(call: FlinkCall) -> str:
    nullable = [a for a, literal in zip(call.args, call.literals, strict=True) if literal is None and not a.isdigit()]
    nulls = " OR ".join(f"{arg} IS NULL" for arg in nullable)
    if not nulls:
        return call.same()
    return f"CASE WHEN {nulls} THEN NULL ELSE {call.same()} END"


def renamed(function: str) -> Rewrite:
    """Rewrite of a call to a function of another name."""
    return lambda call: call.to(function)


def _grouping(call: FlinkCall) -> str:
    bits = [f"CAST(GROUPING({arg}) AS BIGINT)" for arg in call.args]
    if len(bits) == 1:
        return bits[0]
    return "(" + " + ".join(f"{bit} * {2 ** (len(bits) - 1 - i)}" for i, bit in enumerate(bits)) + ")"


def _neighbour(call: FlinkCall) -> str:
    """LAG or LEAD. Spark takes constant offsets alone. For `LAG(x, n)`, an array of the partition's rows is indexed."""
    offset = call.args[1] if len(call.args) > 1 else "1"
    window = call.suffix.strip()
    if offset.lstrip("-").isdigit() or not window.endswith(")"):
        return call.same()
    rows = f"{window[:-1]} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    place = f"ROW_NUMBER() {window} - 1 {'-' if call.name.upper() == 'LAG' else '+'} ({offset})"
    row = f"GET(COLLECT_LIST(STRUCT({call.args[0]} AS v)) {rows}, {place})"
    return f"{row}.v" if len(call.args) < 3 else f"COALESCE({row}, STRUCT({call.args[2]} AS v)).v"


def _convert_tz(call: FlinkCall) -> str:
    clock = clocks.read_clock(call.args[0], call.literals[0])
    from_, to = map(clocks.zone_of, call.args[1:], call.literals[1:])
    return f"CAST(CONVERT_TIMEZONE('UTC', {to}, {clocks.in_utc(clock, from_)}) AS STRING)"


def _date_format(call: FlinkCall) -> str:
    pattern = call.literals[1] if len(call.literals) > 1 else None
    type_, time = call.types[0], call.args[0]
    if types.is_string(type_):
        time, type_ = clocks.read_clock(time, call.literals[0]), types.NTZ
    if pattern is None:
        return f"{call.name}({time}, {call.args[1]})"
    return date_format(call.name, time, pattern, type_)


def _parse_json(call: FlinkCall) -> str:
    """PARSE_JSON and TRY_PARSE_JSON, which Spark has with one argument: no object of its VARIANTs has a key twice."""
    return f"{call.name}({call.args[0]})" if [word.upper() for word in call.args[1:]] == ["FALSE"] else call.same()


def _refused(message: str, hint: str) -> Rewrite:
    """The rewrite of a function that Spark has no counterpart of."""

    def rewrite(call: FlinkCall) -> str:
        raise RefusedError(message, hint)

    return rewrite


_PROCTIME = _refused(
    "PROCTIME() is the time at which Flink reads a row, and Spark has no such time",
    "write CURRENT_TIMESTAMP for the time of the run, or use a column that holds when the event happened",
)
_NO_WATERMARK = _refused(
    "CURRENT_WATERMARK has no counterpart: no expression of Spark's knows the watermark",
    "leave it out; a streaming model keeps late rows in a table of their own (late_rows: keep)",
)
_aggregate = partial(Function, kind=FunctionKind.AGGREGATE)

FUNCTIONS: dict[str, Function] = {
    # aggregates
    "SUM": _aggregate(aggregates.sum_, (1, 1), returns=_of_first(aggregates.sum_type)),
    "AVG": _aggregate(aggregates.avg, (1, 1), returns=_AVERAGE),
    "COUNT": _aggregate(aggregates.count, (1, 1)),
    **_each("MIN MAX", _aggregate()),
    **_each("STDDEV_POP STDDEV_SAMP STDDEV", _aggregate(aggregates.deviation, (1, 1), _AVERAGE)),
    **_each("VAR_POP VAR_SAMP VARIANCE", _aggregate(aggregates.variance, (1, 1), _AVERAGE)),
    **_each("FIRST_VALUE LAST_VALUE", _aggregate(lambda c: c.to(c.name, "TRUE"), (1, 1))),
    "LISTAGG": _aggregate(lambda c: c.same() if len(c.args) > 1 else c.to(c.name, "','"), (1, 2), returns=_STRING),
    "ARRAY_AGG": _aggregate(
        aggregates.array_agg, (1, 1), returns=lambda types, numbers: array_of(same(types, numbers)), ordered=True
    ),
    "COLLECT": _aggregate(aggregates.collect, (1, 1), typed=aggregates.type_of_multiset),
    "SINGLE_VALUE": _aggregate(aggregates.single_value, (1, 1), returns=same),
    "JSON_ARRAYAGG": _aggregate(json.array_agg, (1, 2), returns=_STRING),
    "JSON_OBJECTAGG": _aggregate(json.object_agg, (2, 3), returns=_STRING),
    "APPROX_COUNT_DISTINCT": _aggregate(),
    "PERCENTILE": _aggregate(returns=_DOUBLE),
    **_each("GROUPING GROUPING_ID", Function(_grouping, returns=_BIGINT, kind=FunctionKind.GROUPING)),
    "GROUP_ID": Function("CAST(0 AS BIGINT)", (0, 0), _BIGINT, FunctionKind.GROUPING),
    # windows
    **_each("ROW_NUMBER RANK DENSE_RANK NTILE", Function(_AS_BIGINT, returns=_BIGINT)),
    **_each("LAG LEAD", Function(_neighbour, (1, 3), kind=FunctionKind.NEIGHBOUR)),
    # conditions
    **_each("COALESCE IFNULL", Function(alike=True)),
    **_each("GREATEST LEAST", Function(_null_if_any, alike=True)),
    # numbers
    "MOD": Function(arithmetic.modulo, (2, 2), returns=arithmetic.type_of_modulo),
    **_each("LN LOG10 LOG2", Function(lambda c: arithmetic.logarithm(c.name, c.args[0]), (1, 1))),
    "LOG": Function(arithmetic.log, (1, 2)),
    "SIGN": Function(lambda c: c.same() if known(c) == "double" else cast(c.same(), known(c)), (1, 1), same),
    "ROUND": Function(arithmetic.round_, (1, 2), typed=arithmetic.rounded_type),
    "TRUNCATE": Function(arithmetic.truncate, (1, 2), typed=arithmetic.rounded_type),
    "ROW": Function(
        lambda c: f"NAMED_STRUCT({', '.join(row_fields(c.args))})",
        returns=row_type,
    ),
    "STR_TO_MAP": Function(texts.str_to_map, (1, 3), returns=always("map<string,string>")),
    "ELEMENT": Function(arrays.ONLY_ELEMENT, (1, 1), returns=_of_first(element)),
    # arrays and maps
    "CARDINALITY": Function(arrays.cardinality, (1, 1)),
    "ARRAY_CONTAINS": Function("EXISTS({0}, __e -> __e <=> {1})", (2, 2), returns=_BOOLEAN),
    "ARRAY_REMOVE": Function("FILTER({0}, __e -> NOT __e <=> {1})", (2, 2), returns=same),
    "ARRAY_POSITION": Function("CAST({same} AS INT)", (2, 2), returns=_INT),
    "ARRAY_SLICE": Function(arrays.slice_, (2, 3), returns=same),
    "ARRAY_SORT": Function(arrays.sort, (1, 3), returns=same),
    "ARRAY_REVERSE": Function(renamed("REVERSE"), (1, 1), returns=same),
    "ARRAY_CONCAT": Function(renamed("CONCAT"), returns=same),
    **_each("ARRAY_MAX ARRAY_MIN", Function(returns=_of_first(element))),
    **_each(
        "ARRAY_APPEND ARRAY_PREPEND ARRAY_UNION ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_DISTINCT", Function(returns=same)
    ),
    "MAP_KEYS": Function(returns=_of_map(lambda key, value: array_of(key))),
    "MAP_VALUES": Function(returns=_of_map(lambda key, value: array_of(value))),
    "MAP_ENTRIES": Function(returns=_of_map(lambda key, value: array_of(row_of([("key", key), ("value", value)])))),
    "MAP_FROM_ARRAYS": Function(
        returns=lambda types, numbers: map_of(*map(element, types)) if len(types) == 2 else None
    ),
    "MAP_UNION": Function(arrays.map_union, returns=same),
    # texts
    "REPLACE": Function(texts.replace, (3, 3)),
    "ASCII": Function(texts.ASCII, (1, 1)),
    "INITCAP": Function(texts.INITCAP, (1, 1)),
    "LTRIM": Function(lambda c: texts.trim(c, "LEADING"), (1, 2)),
    "RTRIM": Function(lambda c: texts.trim(c, "TRAILING"), (1, 2)),
    "REGEXP_REPLACE": Function(texts.by_pattern("STRING", texts.regexp_replace), (3, 3)),
    "PARSE_URL": Function(renamed("TRY_PARSE_URL"), (2, 3)),
    "URL_DECODE": Function(renamed("TRY_URL_DECODE"), (1, 1)),
    **_each("LPAD RPAD", Function(texts.pad, returns=_STRING)),
    **_each("REVERSE LEFT RIGHT CONCAT ARRAY_JOIN", Function(returns=_STRING)),
    "UNHEX": Function(texts.unhex, (1, 1), always("binary")),
    "ELT": Function(lambda c: f"GET(ARRAY({', '.join(c.args[1:])}), {c.args[0]} - 1)", (2, 255), returns=_STRING),
    "TO_BASE64": Function("REPLACE(BASE64({0}), '\\r\\n', '')", (1, 1), returns=_STRING),  # Spark breaks long lines
    "FROM_BASE64": Function("CAST(UNBASE64({0}) AS STRING)", (1, 1), returns=_STRING),
    "REGEXP_EXTRACT": Function(texts.by_pattern("STRING", texts.regexp_extract, group="0"), (2, 3)),
    "SPLIT_INDEX": Function(texts.split_index, (3, 3), returns=_STRING),
    "LOCATE": Function(lambda c: c.same() if len(c.args) < 3 else texts.locate_from(*c.args), (2, 3)),
    "HASH_CODE": Function(texts.hash_code, (1, 1), _INT),
    "REGEXP": Function(texts.matches, (2, 2)),
    "INSTR": Function(texts.instr, (2, 4)),
    **_each("SHA224 SHA256 SHA384 SHA512", Function(lambda c: f"SHA2({c.args[0]}, {c.name[3:]})", (1, 1), _STRING)),
    **_each("STARTSWITH ENDSWITH", Function(returns=_BOOLEAN)),
    **_each("REGEXP_COUNT REGEXP_INSTR", Function(texts.by_pattern("INT"), (2, 2), _INT)),
    "REGEXP_SUBSTR": Function(texts.by_pattern("STRING", texts.regexp_substr), (2, 2), returns=_STRING),
    "REGEXP_EXTRACT_ALL": Function(texts.by_pattern("ARRAY<STRING>", group="1"), (2, 3), returns=_TEXTS),
    "SPLIT": Function(texts.split, (2, 2), returns=_TEXTS),
    "ENCODE": Function(returns=always("binary")),
    "DECODE": Function(texts.decode, (2, 2), returns=_STRING),
    "IS_ALPHA": Function("COALESCE({0} RLIKE '^\\\\p{{L}}+$', FALSE)", (1, 1), returns=_BOOLEAN),
    "IS_DIGIT": Function(texts.unless_number("COALESCE({0} RLIKE '^\\\\p{{Nd}}+$', FALSE)"), (1, 1), _BOOLEAN),
    "IS_DECIMAL": Function(texts.unless_number("(TRY_CAST({0} AS DOUBLE) IS NOT NULL)"), (1, 1), _BOOLEAN),
    "JSON_STRING": Function(json.string, (1, 1), returns=_STRING),
    "JSON_QUOTE": Function(lambda c: json.quote(json.json_of(c.args[0], "string")), (1, 1), returns=_STRING),
    **_each("PARSE_JSON TRY_PARSE_JSON", Function(_parse_json, (1, 2), always(json.VARIANT))),
    "JSON_UNQUOTE": Function(json.UNQUOTE, (1, 1), returns=_STRING),
    "TYPEOF": Function(typeof, (1, 2), returns=_STRING),
    "RAND_INTEGER": Function(
        lambda c: f"CAST(FLOOR(RAND({''.join(c.args[:-1])}) * ({c.args[-1]})) AS INT)", (1, 2), returns=_INT
    ),
    # times
    "TIMESTAMPADD": Function(typed=_type_of_timestampadd),
    "TIMESTAMPDIFF": Function(returns=_INT),
    "CONVERT_TZ": Function(_convert_tz, (3, 3), returns=_STRING),
    "DATE_FORMAT": Function(_date_format, (2, 2)),
    "TO_DATE": Function(clocks.to_date, (1, 2)),
    "UNIX_TIMESTAMP": Function(clocks.unix_timestamp, (0, 2)),
    "TO_TIMESTAMP": Function(clocks.to_timestamp, (1, 2), returns=always(types.NTZ)),
    "TO_TIMESTAMP_LTZ": Function(clocks.to_timestamp_ltz, (1, 3), returns=always("timestamp")),
    "CURRENT_ROW_TIMESTAMP": Function("CURRENT_TIMESTAMP()", (0, 0), returns=always("timestamp")),
    "PROCTIME": Function(_PROCTIME, (0, 0), returns=always("timestamp")),
    "CURRENT_WATERMARK": Function(_NO_WATERMARK, returns=always("timestamp")),
    **_each(
        "YEAR QUARTER MONTH DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND", Function(_AS_BIGINT, returns=_BIGINT)
    ),
    "WEEK": Function("CAST(WEEKOFYEAR({0}) AS BIGINT)", (1, 1), returns=_BIGINT),
    "CURRENT_DATABASE": Function(_refused("Spark's CURRENT_DATABASE isn't Flink's", "write the name")),
}


def record(node: exp.Expr) -> Function | None:
    """The record of the function that a node calls; None for a function that Spark has as it is."""
    return FUNCTIONS.get(node.name.upper()) if isinstance(node, exp.Anonymous) else None


def is_aggregate_call(node: exp.Expr) -> bool:
    """True if a node calls an aggregate function, also over a window."""
    function = record(node)
    return function is not None and function.kind is FunctionKind.AGGREGATE
