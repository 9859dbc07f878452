"""Flink's aggregates: the types of their results, and their Spark SQL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import is_column, string_literal
from dbt.adapters.sparkstream.sql.core.nested import array_of, map_of
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, find
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.core.typing import TypeOf
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import FlinkCall, cast, number


def average_type(type_: str) -> str:
    """The type of AVG, STDDEV and VAR over a type: integers stay, a DECIMAL gets at least six digits."""
    if types.is_decimal(type_):
        return f"decimal({types.MOST_DIGITS},{max(6, types.decimal_parts(type_)[1])})"
    return type_


def sum_type(type_: str) -> str:
    """The type of SUM: integers stay (and wrap), a DECIMAL gets all digits."""
    if types.is_decimal(type_):
        return f"decimal({types.MOST_DIGITS},{types.decimal_parts(type_)[1]})"
    return type_


def wrapped(sql: str, type_: str) -> str:
    """A BIGINT cut to the bits of a smaller integer, as Flink's sums wrap.

    Spark doesn't parse >> behind the word ARRAY, MAP or STRUCT: it takes it for the end of a type.
    """
    if type_ == "bigint":
        return sql
    spare = 64 - types.BITS[type_]
    return f"CAST(SHIFTRIGHT({sql} << {spare}, {spare}) AS {type_.upper()})"


def sum_(call: FlinkCall) -> str:
    type_ = number(call)
    if type_ in types.INTEGERS:
        return wrapped(call.same(), type_)
    if type_ == "float" or types.is_decimal(type_):
        return cast(call.same(), sum_type(type_))
    return call.same()


def avg(call: FlinkCall) -> str:
    type_ = number(call)
    if type_ in types.INTEGERS:
        # AVG would go through DOUBLE, which has 53 bits. Flink's sum wraps over rows, and not in groups.
        total = wrapped(call.to("SUM"), type_) if call.is_over else call.to("SUM")
        return cast(f"{total} DIV {call.to('COUNT')}", type_)
    if types.is_decimal(type_):
        return cast(f"{call.to('SUM')} / {call.to('COUNT')}", average_type(type_))
    return cast(call.same(), type_) if type_ == "float" else call.same()


def variance(call: FlinkCall) -> str:
    """VAR_POP and VAR_SAMP; of an integer in whole numbers, as Calcite takes them apart (AggregateReduceFunctionsRule).

    Flink sums the squares of an INT column as an INT, and squares the sum as an INT: both wrap.
    """
    type_ = number(call)
    if types.is_decimal(type_):
        return cast(_decimal_variance(call, type_), average_type(type_))
    if type_ not in types.INTEGERS:
        return _as_average(call, type_)
    return wrapped(_whole_variance(call, type_), type_)


def deviation(call: FlinkCall) -> str:
    """STDDEV_POP and STDDEV_SAMP: the root of the variance."""
    type_ = number(call)
    if types.is_decimal(type_):
        return cast(f"SQRT({_decimal_variance(call, type_)})", average_type(type_))
    if type_ not in types.INTEGERS:
        return _as_average(call, type_)
    return cast(f"SQRT({_whole_variance(call, type_)})", type_)


def _as_average(call: FlinkCall, type_: str) -> str:
    """The call with the type that AVG has."""
    return call.same() if type_ == "double" else cast(call.same(), average_type(type_))


def _whole_variance(call: FlinkCall, type_: str) -> str:
    wide = f"CAST({call.args[0]} AS BIGINT)"
    squares = wrapped(replace(call, args=(f"{wide} * {wide}",)).to("SUM"), type_)
    total = wrapped(replace(call, args=(wide,)).to("SUM"), type_)
    square = wrapped(f"(CAST({total} AS BIGINT) * {total})", type_)
    counted = call.to("COUNT")
    rows = counted if call.name.upper().endswith("_POP") else f"NULLIF({counted} - 1, 0)"
    return f"(({squares} - {square} DIV {counted}) DIV {rows})"


def _decimal_variance(call: FlinkCall, type_: str) -> str:
    """Variance of a DECIMAL, each step rounded to the digits of its type: a division to six behind the point."""
    x = call.args[0] if is_column(call.args[0]) else f"({call.args[0]})"
    precision, scale = types.decimal_parts(type_)
    digits = min(types.MOST_DIGITS, 2 * scale)
    if 2 * precision + 1 > types.MOST_DIGITS:
        digits = max(types.MOST_DIGITS - (2 * precision + 1 - 2 * scale), min(2 * scale, 6))
    squares = cast(replace(call, args=(f"{x} * {x}",)).to("SUM"), f"decimal({types.MOST_DIGITS},{digits})")
    total = cast(call.to("SUM"), sum_type(type_))
    counted = call.to("COUNT")
    rows = counted if call.name.upper().endswith("_POP") else f"NULLIF({counted} - 1, 0)"
    return f"(({squares} - {total} * {total} / {counted}) / {rows})"


def count(call: FlinkCall) -> str:
    if call.distinct and call.is_over:
        # Spark has no DISTINCT in a window; a set holds no NULLs, as COUNT wants it.
        return f"CAST(SIZE(COLLECT_SET({call.args[0]}){call.suffix}) AS BIGINT)"
    return call.same()


def array_agg(call: FlinkCall) -> str:
    """ARRAY_AGG, which keeps NULLs, and is NULL without rows; with DISTINCT, Flink ignores IGNORE NULLS."""
    distinct = "DISTINCT " if call.distinct else ""
    rows = f"TRANSFORM(ARRAY_AGG({distinct}STRUCT({call.args[0]} AS e)){call.suffix}, s -> s.e)"
    if call.skips_nulls and not call.distinct:
        rows = call.same()
    if "map<" in (call.types[0] or ""):  # maps can't be compared
        return f"CASE WHEN SIZE({rows}) > 0 THEN {rows} END"
    return f"NULLIF({rows}, ARRAY())"


def single_value(call: FlinkCall) -> str:
    """SINGLE_VALUE, which fails for more than one row, also for equal ones and NULLs."""
    several = f"RAISE_ERROR({string_literal(f'SINGLE_VALUE({call.args[0]}) has more than one row')})"
    return f"CASE WHEN COUNT(*){call.suffix} > 1 THEN {several} ELSE FIRST({call.args[0]}){call.suffix} END"


# -- COLLECT, whose MULTISET Spark doesn't have --------------------------------------------------------------
def collect(call: FlinkCall) -> str:
    """COLLECT, which counts how often each value comes: a MULTISET, which Flink keeps as a MAP<value, INT>."""
    values = "ARRAY_DISTINCT(__l)"
    counts = f"TRANSFORM({values}, __v -> SIZE(FILTER(__l, __e -> __e = __v)))"
    return f"GET(TRANSFORM(ARRAY({call.to('COLLECT_LIST')}), __l -> MAP_FROM_ARRAYS({values}, {counts})), 0)"


def type_of_multiset(node: exp.Anonymous, of: TypeOf, numbers: Numbers) -> str | None:
    """Type of COLLECT: `map<T, int>` with the count of each value, or `array<T>` for UNNEST alone."""
    value = node.expressions[0] if len(node.expressions) == 1 else None
    if isinstance(value, exp.Distinct):
        value = value.expressions[0]
    type_ = of(value) if value is not None else None
    return array_of(type_) if is_unnested(node) else map_of(type_, "int")


def is_unnested(call: exp.Anonymous) -> bool:
    """True if an UNNEST in another query of the statement reads a column, which may be COLLECT's multiset."""
    select = enclosing(call, exp.Select)
    if select is None:
        return False
    unnests = find(select.root(), exp.Unnest)
    return any(enclosing(each, exp.Select) is not select and each.find(exp.Column) for each in unnests)


def is_taken_apart(call: exp.Anonymous) -> bool:
    """True if only UNNEST reads the multiset of COLLECT: its column has a name that nothing else reads."""
    select = enclosing(call, exp.Select)
    alias = call.parent.parent if isinstance(call.parent, exp.Filter) else call.parent
    if select is None or not isinstance(alias, exp.Alias) or select.parent is None:
        return False
    name = alias.alias.casefold()
    uses = [
        column
        for column in find(select.root(), exp.Column)
        if column.name.casefold() == name and enclosing(column, exp.Select) is not select
    ]
    readers = [enclosing(column, exp.Select) for column in uses]
    return (
        bool(uses)
        and all(isinstance(column.parent, exp.Unnest) for column in uses)
        and not any(projection.is_star for reader in readers if reader for projection in reader.expressions)
    )
