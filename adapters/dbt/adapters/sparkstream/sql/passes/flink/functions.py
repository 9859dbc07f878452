"""Flink's functions: the type of each one's result, and how Spark says it where the name alone won't do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, Types, always, same
from dbt.adapters.sparkstream.sql.passes.flink.datetime import date_format


@dataclass(frozen=True)
class Call:
    """A function call as the rewrites see it.

    Attributes:
        name: as written.
        args: Spark SQL of the arguments; DISTINCT is not among them.
        types: their Spark types, None where unknown.
        literals: the text of those that are string literals, else None.
        distinct: whether DISTINCT stands before the arguments.
        suffix: what follows the call: ` FILTER (...)`, ` OVER w`, or nothing.
    """

    name: str
    args: tuple[str, ...]
    types: tuple[str | None, ...]
    literals: tuple[str | None, ...]
    distinct: bool = False
    suffix: str = ""

    def to(self, function: str, *more: str) -> str:
        """The call under another name, with more arguments and the same DISTINCT and suffix."""
        distinct = "DISTINCT " if self.distinct else ""
        return f"{function}({distinct}{', '.join((*self.args, *more))}){self.suffix}"

    def same(self) -> str:
        """The call as it stands."""
        return self.to(self.name)


class UntypedError(LookupError):
    """A rewrite that needs a type nobody knows."""


class RefusedError(ValueError):
    """A call that Flink refuses or Spark can't answer; `hint` says how to write it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(message)


Rewrite = Callable[[Call], str]


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
    """Functions of which the translator knows the same."""
    return dict.fromkeys(names.split(), Function(rewrite, arguments, returns))


# -- types of results ----------------------------------------------------------------------------------
def _second(arguments: Types, numbers: Numbers) -> str | None:
    return arguments[1] if len(arguments) > 1 else None


def average_type(type_: str | None) -> str | None:
    """The type of AVG, STDDEV and VAR over a type: integers stay, a DECIMAL gets at least six digits."""
    if type_ is not None and types.is_decimal(type_):
        return f"decimal({types.MOST_DIGITS},{max(6, types.decimal_parts(type_)[1])})"
    return type_


def sum_type(type_: str | None) -> str | None:
    """The type of SUM: integers stay (and wrap), a DECIMAL gets all digits."""
    if type_ is not None and types.is_decimal(type_):
        return f"decimal({types.MOST_DIGITS},{types.decimal_parts(type_)[1]})"
    return type_


def _sum_of(arguments: Types, numbers: Numbers) -> str | None:
    return sum_type(same(arguments, numbers))


def _average_of(arguments: Types, numbers: Numbers) -> str | None:
    return average_type(same(arguments, numbers))


def _rounded(arguments: Types, numbers: Numbers) -> str | None:
    type_ = same(arguments, numbers)
    if len(arguments) == 1 and type_ is not None and types.is_decimal(type_):
        return f"decimal({types.decimal_parts(type_)[0]},0)"
    return type_


_STRING, _BIGINT, _DOUBLE = always("string"), always("bigint"), always("double")


# -- rewrites ------------------------------------------------------------------------------------------
def known(call: Call) -> str:
    """The type of the first argument, which the rewrite can't do without."""
    if not call.types or call.types[0] is None:
        raise UntypedError(call.name)
    return call.types[0]


def _cast(sql: str, type_: str) -> str:
    return f"CAST({sql} AS {type_.upper()})"


def wrapped(sql: str, type_: str) -> str:
    """A BIGINT cut to the bits of a smaller integer, as Flink's sums wrap."""
    if type_ == "bigint":
        return sql
    spare = 64 - types.BITS[type_]
    return f"CAST({sql} << {spare} >> {spare} AS {type_.upper()})"


def number(call: Call) -> str:
    """The type of the first argument, which has to be a number."""
    type_ = known(call)
    if not types.is_numeric(type_):
        raise RefusedError(f"{call.name} takes numbers, and {call.args[0]} is a {type_}")
    return type_


def _sum(call: Call) -> str:
    type_ = number(call)
    if type_ in types.INTEGERS:
        return wrapped(call.same(), type_)
    if type_ == "float" or types.is_decimal(type_):
        return _cast(call.same(), sum_type(type_) or type_)
    return call.same()


def _avg(call: Call) -> str:
    type_ = number(call)
    if type_ in types.INTEGERS:
        # AVG would go through DOUBLE, which has 53 bits.
        return _cast(f"{call.to('SUM')} DIV {call.to('COUNT')}", type_)
    if types.is_decimal(type_):
        return _cast(f"{call.to('SUM')} / {call.to('COUNT')}", average_type(type_) or type_)
    return _cast(call.same(), type_) if type_ == "float" else call.same()


def _variance(call: Call) -> str:
    """VAR_POP and VAR_SAMP; of an integer in whole numbers, as Calcite takes them apart (AggregateReduceFunctionsRule).

    There the sum of squares, and the square of the sum, are as narrow as the column, and wrap.
    """
    type_ = number(call)
    if type_ not in types.INTEGERS:
        return _as_average(call, type_)
    return wrapped(_whole_variance(call, type_), type_)


def _deviation(call: Call) -> str:
    """STDDEV_POP and STDDEV_SAMP: the root of the variance."""
    type_ = number(call)
    if type_ not in types.INTEGERS:
        return _as_average(call, type_)
    return _cast(f"SQRT({_whole_variance(call, type_)})", type_)


def _as_average(call: Call, type_: str) -> str:
    """The call with the type that AVG has."""
    return call.same() if type_ == "double" else _cast(call.same(), average_type(type_) or type_)


def _whole_variance(call: Call, type_: str) -> str:
    wide = f"CAST({call.args[0]} AS BIGINT)"
    squares = wrapped(replace(call, args=(f"{wide} * {wide}",)).to("SUM"), type_)
    total = wrapped(replace(call, args=(wide,)).to("SUM"), type_)
    square = wrapped(f"(CAST({total} AS BIGINT) * {total})", type_)
    count = call.to("COUNT")
    rows = count if call.name.upper().endswith("_POP") else f"NULLIF({count} - 1, 0)"
    return f"(({squares} - {square} DIV {count}) DIV {rows})"


def _ignore_nulls(call: Call) -> str:
    return call.to(call.name, "TRUE")


def _count(call: Call) -> str:
    if call.distinct and len(call.args) > 1:
        raise RefusedError(
            "Flink counts the distinct values of one column only", "write COUNT(DISTINCT CONCAT_WS(...))"
        )
    if call.distinct and "OVER" in call.suffix.upper():
        # Spark has no DISTINCT in a window; a set holds no NULLs, as COUNT wants it.
        return f"CAST(SIZE(COLLECT_SET({call.args[0]}){call.suffix}) AS BIGINT)"
    return call.same()


def _listagg(call: Call) -> str:
    return call.same() if len(call.args) > 1 else call.to(call.name, "','")


def _array_agg(call: Call) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    return f"TRANSFORM(ARRAY_AGG({distinct}STRUCT({call.args[0]} AS e)){call.suffix}, s -> s.e)"


def _collect(call: Call) -> str:
    raise RefusedError("COLLECT gives a MULTISET, a type that Spark doesn't have", "write ARRAY_AGG(...)")


def _null_if_any(call: Call) -> str:
    nullable = [a for a, literal in zip(call.args, call.literals, strict=True) if literal is None and not a.isdigit()]
    nulls = " OR ".join(f"{arg} IS NULL" for arg in nullable)
    if not nulls:
        return call.same()
    return f"CASE WHEN {nulls} THEN NULL ELSE {call.same()} END"


def _as(type_: str) -> Rewrite:
    return lambda call: _cast(call.same(), type_)


def _renamed(function: str) -> Rewrite:
    return lambda call: call.to(function)


def _grouping(call: Call) -> str:
    bits = [f"CAST(GROUPING({arg}) AS BIGINT)" for arg in call.args]
    if len(bits) == 1:
        return bits[0]
    return "(" + " + ".join(f"{bit} * {2 ** (len(bits) - 1 - i)}" for i, bit in enumerate(bits)) + ")"


def _texts_only(call: Call) -> str:
    for arg, type_ in zip(call.args, call.types, strict=True):
        if types.is_numeric(type_):
            raise RefusedError(f"{call.name} takes texts, and {arg} is a number", f"write CAST({arg} AS STRING)")
    return call.same()


def _text_first(call: Call) -> str:
    if call.types and types.is_numeric(call.types[0]):
        raise RefusedError(
            f"{call.name} takes a text, and {call.args[0]} is a number", f"write CAST({call.args[0]} AS STRING)"
        )
    return call.same()


def _regexp_extract(call: Call) -> str:
    # Without a match Spark gives an empty text; without a group it takes the first, not the whole match.
    text, pattern = call.args[:2]
    group = call.args[2] if len(call.args) > 2 else "0"
    return f"CASE WHEN {text} RLIKE {pattern} THEN {call.name}({text}, {pattern}, {group}) END"


def _fields(values: Sequence[str]) -> list[str]:
    """Values with the names that Flink gives them in a ROW."""
    return [part for i, value in enumerate(values) for part in (f"'EXPR${i}'", value)]


def _split_index(call: Call) -> str:
    if call.literals[1] is not None:
        separator = call.literals[1].replace("\\", "\\\\").replace("'", "\\'")
        pattern = f"'\\\\Q{separator}\\\\E'"
    else:
        pattern = f"CONCAT('\\\\Q', {call.args[1]}, '\\\\E')"
    return f"GET(SPLIT({call.args[0]}, {pattern}), {call.args[2]})"


def _to_timestamp(call: Call) -> str:
    if len(call.args) == 1:
        return f"TRY_CAST({call.args[0]} AS TIMESTAMP_NTZ)"
    return f"CAST(TRY_TO_TIMESTAMP({', '.join(call.args)}) AS TIMESTAMP_NTZ)"


def _to_timestamp_ltz(call: Call) -> str:
    if call.args[1:] == ("3",):
        return f"TIMESTAMP_MILLIS({call.args[0]})"
    if call.args[1:] == ("0",):
        return f"TIMESTAMP_SECONDS({call.args[0]})"
    raise RefusedError(
        f"{call.name} takes a number and the precision 0 or 3", "write TO_TIMESTAMP_LTZ(epoch_millis, 3)"
    )


def _date_format(call: Call) -> str:
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


def _no_watermark(call: Call) -> str:
    raise RefusedError("CURRENT_WATERMARK has no meaning in batch: there is no watermark")


def _proctime(call: Call) -> str:
    return "CURRENT_TIMESTAMP()"


def _truncate(call: Call) -> str:
    type_ = known(call)
    digits = call.args[1] if len(call.args) > 1 else "0"
    cut = f"CASE WHEN {call.args[0]} < 0 THEN CEIL({call.args[0]}, {digits}) ELSE FLOOR({call.args[0]}, {digits}) END"
    if types.is_decimal(type_) and digits.isdigit():
        return _cast(cut, f"decimal({types.decimal_parts(type_)[0]},{min(int(digits), types.decimal_parts(type_)[1])})")
    return _cast(cut, type_)


FUNCTIONS: dict[str, Function] = {
    # aggregates
    "SUM": Function(_sum, (1, 1), returns=_sum_of),
    "AVG": Function(_avg, (1, 1), returns=_average_of),
    "COUNT": Function(_count),
    **_named_functions("MIN MAX", arguments=(1, 1)),
    **_named_functions("STDDEV_POP STDDEV_SAMP STDDEV", _deviation, (1, 1), returns=_average_of),
    **_named_functions("VAR_POP VAR_SAMP VARIANCE", _variance, (1, 1), returns=_average_of),
    **_named_functions("FIRST_VALUE LAST_VALUE", _ignore_nulls, (1, 1)),
    "LISTAGG": Function(_listagg, (1, 2), returns=_STRING),
    "ARRAY_AGG": Function(_array_agg, (1, 1)),
    "COLLECT": Function(_collect),
    "JSON_ARRAYAGG": Function(lambda c: f"TO_JSON({c.to('COLLECT_LIST')})", (1, 1), returns=_STRING),
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
    "SIGN": Function(lambda c: _cast(c.same(), known(c)) if known(c) in types.INTEGERS else c.same(), returns=same),
    "ROUND": Function(returns=_rounded),
    "TRUNCATE": Function(_truncate, (1, 2), returns=same),
    **_named_functions("BIN HEX UUID"),
    "ROW": Function(lambda c: f"NAMED_STRUCT({', '.join(_fields(c.args))})"),
    "STR_TO_MAP": Function(arguments=(1, 3)),
    "ELEMENT": Function(lambda c: f"TRY_ELEMENT_AT({c.args[0]}, 1)", (1, 1)),
    "CARDINALITY": Function(_renamed("SIZE")),
    # texts
    **_named_functions("UPPER LOWER LTRIM RTRIM BTRIM REPLACE REPEAT INITCAP REGEXP_REPLACE TRANSLATE", _text_first),
    **_named_functions("MD5 SHA1 SHA2 PARSE_URL URL_ENCODE URL_DECODE", _text_first),
    **_named_functions("REVERSE LPAD RPAD LEFT RIGHT SUBSTR UNHEX", _text_first, returns=_STRING),
    **_named_functions("CHR CONCAT_WS FROM_UNIXTIME PRINTF"),
    "ELT": Function(returns=_STRING),
    "TO_BASE64": Function(_renamed("BASE64"), returns=_STRING),
    "FROM_BASE64": Function(lambda c: f"CAST(UNBASE64({c.args[0]}) AS STRING)", returns=_STRING),
    "CONCAT": Function(_texts_only, returns=_STRING),
    "REGEXP_EXTRACT": Function(_regexp_extract, (2, 3)),
    "SPLIT_INDEX": Function(_split_index, (3, 3), returns=_STRING),
    **_named_functions("CHAR_LENGTH CHARACTER_LENGTH ASCII POSITION INSTR LOCATE REGEXP"),
    # times
    "DATE_FORMAT": Function(_date_format, (2, 2)),
    "TO_DATE": Function(lambda c: f"CAST(TRY_TO_TIMESTAMP({', '.join(c.args)}) AS DATE)", (1, 2)),
    "TO_TIMESTAMP": Function(_to_timestamp, (1, 2), returns=always(types.NTZ)),
    "TO_TIMESTAMP_LTZ": Function(_to_timestamp_ltz, returns=always("timestamp")),
    **_named_functions("UNIX_TIMESTAMP NOW CURRENT_TIMESTAMP LOCALTIMESTAMP CURRENT_DATE"),
    **_named_functions("CURRENT_ROW_TIMESTAMP PROCTIME", _proctime, returns=always("timestamp")),
    "CURRENT_WATERMARK": Function(_no_watermark, returns=always("timestamp")),
    **_named_functions(
        "YEAR QUARTER MONTH DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND", _as("bigint"), returns=_BIGINT
    ),
    "WEEK": Function(lambda c: f"CAST(WEEKOFYEAR({c.args[0]}) AS BIGINT)", returns=_BIGINT),
}

AGGREGATES = frozenset(
    {
        "SUM", "AVG", "COUNT", "MIN", "MAX", "STDDEV_POP", "STDDEV_SAMP", "STDDEV", "VAR_POP", "VAR_SAMP", "VARIANCE",
        "FIRST_VALUE", "LAST_VALUE", "LISTAGG", "ARRAY_AGG", "COLLECT", "JSON_ARRAYAGG", "APPROX_COUNT_DISTINCT",
        "PERCENTILE",
    }
)  # fmt: skip
RANKING = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "LAG", "LEAD"})
