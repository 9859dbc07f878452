"""Aggregates that can be put together from aggregates of slices: a table.

An aggregate has partials, each an aggregate over the rows of one slice. `merge` puts the partials of many slices
together, `combine` puts the merged partials of two groups of slices together, and `result` makes the aggregate of them:

    agg(rows of all slices) = result(merge(partial(slice 1), partial(slice 2), ...))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.literals import is_column
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, decimal_parts, is_decimal

_COUNT = "coalesce({0}, 0)"
_ADDED = "coalesce({a} + {b}, {a}, {b})"
"""The sum of two values, either of which may be NULL."""
_LOW_BITS = 25
"""Bits of the low half of a short DECIMAL, which has less than 2^50 without its point."""


@dataclass(frozen=True)
class Partial:
    """One column of the slices.

    Attributes:
        sql: the aggregate over a slice's rows, without FILTER, such as `sum(price)`.
        merge: the aggregate that merges partials, such as `sum`; it is called with OVER and with GROUP BY.
        combine: an expression with `{a}` and `{b}` that merges two partials, either of which may be NULL; None where
            only `merge` can.
        type: the type of the partial, where `merge` and `combine` give another type and have to be cast; else None.
        counts: True if it is a count, which is never NULL.
        subtracts: True if merge(a, b) - b = a, exactly: true for whole numbers, not for DOUBLE.
        wide: True if the sum of more slices than a window has may be too large for the type.
        distinct: the expression of count(DISTINCT ...); then `sql` is empty, as slices are grouped by the expression.
        present: the aggregate that counts the values that are summed up, such as `count(price)`.
        more: what stands in `merge` behind the partial, such as `, 14`.
    """

    sql: str
    merge: str = "sum"
    combine: str | None = _ADDED
    type: str | None = None
    counts: bool = False
    subtracts: bool = False
    wide: bool = False
    distinct: str | None = None
    present: str | None = None
    more: str = ""

    def cast(self, sql: str) -> str:
        """A merged partial, in the partial's own type."""
        return f"CAST({sql} AS {self.type})" if self.type else sql


@dataclass(frozen=True)
class Mergeable:
    """Parts of an aggregate.

    Attributes:
        partials: what is aggregated in each slice.
        result: an expression with `{0}`, `{1}` ... for the merged partials, such as `{0} / nullif({1}, 0)`.
    """

    partials: tuple[Partial, ...]
    result: str = "{0}"


@dataclass(frozen=True)
class Arguments:
    """The arguments of an aggregate's call.

    Attributes:
        name: the aggregate's name in lower case.
        sql: the arguments as they are written.
        type: the type of the first argument; None where it isn't known.
        distinct: True if DISTINCT stands before them.
        parameter: the second argument, where the aggregate is one of `PARAMETRISED` and it is a number.
        kept: True if a stream keeps the partials, which are then the same in every version.
    """

    name: str
    sql: str
    type: str | None
    distinct: bool
    parameter: str | None = None
    kept: bool = False


def _sum(call: Arguments) -> Mergeable:
    partial = Partial(f"sum({call.sql})", present=f"count({call.sql})")
    if call.type is None:
        # If the values are DECIMALs, the sum of sums has ten more digits than the sum. Its type isn't known here, so
        # Spark reads the value back from a text, as the type of `example`.
        example = Partial(f"sum({call.sql})", "max", None)
        back = "from_csv(to_csv(named_struct('total', {0})), 'total ' || typeof({1})).total"
        return Mergeable((replace(partial, combine=None), example), back)
    if not is_decimal(call.type):
        return Mergeable((replace(partial, subtracts=call.type in INTEGERS, wide=call.type == "bigint"),))
    precision, scale = decimal_parts(call.type)
    if _is_short(call):
        high, low = (replace(partial, sql=f"sum({half})", subtracts=True) for half in _halves_of_decimal(call, scale))
        unit = f"0.{1:0{scale}}" if scale else "1"
        total = f"(CAST({{0}} AS DECIMAL(20,0)) * {1 << _LOW_BITS} + {{1}}) * {unit}"
        return Mergeable((high, low), f"CAST({total} AS DECIMAL({precision + 10},{scale}))")
    if precision > 27:  # the sum has all 38 digits, where `a + b` has one digit less behind the point
        return Mergeable((replace(partial, combine=None),))
    type_ = f"decimal({precision + 10},{scale})"
    return Mergeable((replace(partial, type=type_, subtracts=True),))


def _is_short(call: Arguments) -> bool:
    """True if a DECIMAL is added up as two BIGINTs. A sum of DECIMALs is an object for each row in Spark."""
    precision, scale = decimal_parts(call.type or "")
    return precision <= 14 and scale <= 7 and not call.kept


def _halves_of_decimal(call: Arguments, scale: int) -> tuple[str, str]:
    """A DECIMAL, without its point, as a high and a low half: the sum of 10^10 such halves is a BIGINT.

    The product of doubles is less than a half from the whole number that it stands for.
    """
    value = f"CAST(rint({call.sql if is_column(call.sql) else f'({call.sql})'} * 1E{scale}D) AS BIGINT)"
    return f"shiftright({value}, {_LOW_BITS})", f"{value} & {(1 << _LOW_BITS) - 1}"


def _avg(call: Arguments) -> Mergeable:
    if call.type is None or call.type.startswith("interval"):
        raise NoRule(f"avg of {'a type that nobody knows' if call.type is None else f'an {call.type}'}")
    count = Partial(f"count({call.sql})", counts=True, subtracts=True)
    if call.type in ("tinyint", "smallint", "int") or (call.type == "double" and not call.kept):
        # The sum of integers has room in a BIGINT.
        return Mergeable((*_sum(call).partials, count), "{0} / nullif({1}, 0)")
    if not is_decimal(call.type):
        return Mergeable((Partial(f"sum(CAST({call.sql} AS DOUBLE))"), count), "{0} / nullif({1}, 0)")
    precision, scale = decimal_parts(call.type)
    total = _sum(call)
    if _is_short(call):  # total / count has enough digits to be rounded again: averages lie further apart
        result = f"CAST({total.result} / nullif({{2}}, 0) AS DECIMAL({precision + 4},{scale + 4}))"
        return Mergeable((*total.partials, count), result)
    if scale > 10 or precision - scale > 18 or precision > 27:
        raise NoRule(f"avg of a {call.type} may need more digits than a DECIMAL has")
    # avg rounds once. total / count keeps too few digits for that, so the whole part and the rest are divided apart.
    part = f"decimal({scale + 5},{scale + 4})"
    fraction = f"CAST(CAST({{0}} % {{1}} AS DECIMAL(38,28)) / CAST({{1}} AS DECIMAL(10,0)) AS {part})"
    whole = f"CAST({{0}} DIV {{1}} AS DECIMAL({precision - scale + 1},0))"
    result = f"IF({{1}} > 0, CAST({whole} + {fraction} AS DECIMAL({precision + 4},{scale + 4})), NULL)"
    return Mergeable((*total.partials, count), result)


def _count(call: Arguments) -> Mergeable:
    if call.distinct:
        return Mergeable((Partial("", counts=True, subtracts=True, distinct=call.sql),), _COUNT)
    return Mergeable((Partial(f"{call.name}({call.sql})", counts=True, subtracts=True),), _COUNT)


def _extreme(merge: str, combine: str) -> Callable[[Arguments], Mergeable]:
    return lambda call: Mergeable((Partial(f"{call.name}({call.sql})", merge, f"{combine}({{a}}, {{b}})"),))


def _bitwise(operator: str) -> Callable[[Arguments], Mergeable]:
    combine = f"coalesce({{a}} {operator} {{b}}, {{a}}, {{b}})"
    return lambda call: Mergeable((Partial(f"{call.name}({call.sql})", call.name, combine),))


def _sketch(merge: str, union: str | None = None) -> Callable[[Arguments], Mergeable]:
    """A sketch, whose size is its parameter.

    Args:
        merge: the aggregate that merges sketches.
        union: the function that merges two of them; None where there is none.
    """

    def sketch(call: Arguments) -> Mergeable:
        more = f", {call.parameter}" if call.parameter else ""
        size = more if union == "theta_union" else ""  # of others, two sketches have theirs in themselves
        combine = f"coalesce({union}({{a}}, {{b}}{size}), {{a}}, {{b}})" if union else None
        return Mergeable((Partial(f"{call.name}({call.sql})", merge, combine, more=more),))

    return sketch


_HLL_SIZE = "12"


def _hll(call: Arguments) -> Mergeable:
    if call.parameter not in (None, _HLL_SIZE):
        # hll_union_agg gives one of this size for no sketch at all, and doesn't merge two of different sizes.
        raise NoRule(f"hll_sketch_agg with another lgConfigK than {_HLL_SIZE}")
    return _sketch("hll_union_agg", "hll_union")(replace(call, parameter=None))


_KLL = {
    f"kll_sketch_agg_{type_}": _sketch(f"kll_merge_agg_{type_}", f"kll_sketch_merge_{type_}")
    for type_ in ("bigint", "float", "double")
}
_THETA, _BITMAP = _sketch("theta_union_agg", "theta_union"), _sketch("bitmap_or_agg")

_MIN, _MAX = _extreme("min", "least"), _extreme("max", "greatest")

MERGEABLE: dict[str, Callable[[Arguments], Mergeable]] = {
    "count": _count,
    "count_if": _count,
    "sum": _sum,
    "avg": _avg,
    "mean": _avg,
    "min": _MIN,
    "max": _MAX,
    **dict.fromkeys(("bool_and", "every"), _MIN),
    **dict.fromkeys(("bool_or", "some"), _MAX),
    "bit_and": _bitwise("&"),
    "bit_or": _bitwise("|"),
    "bit_xor": _bitwise("^"),
    **_KLL,
    "hll_sketch_agg": _hll,
    **dict.fromkeys(("theta_sketch_agg", "theta_union_agg"), _THETA),
    **dict.fromkeys(("bitmap_construct_agg", "bitmap_or_agg"), _BITMAP),
}

PARAMETRISED = ("hll_sketch_agg", "theta_sketch_agg", "theta_union_agg", *_KLL)
"""Aggregates that may have a number as their second argument."""

_SAME_WHEN_DISTINCT = ("min", "max", "bool_and", "every", "bool_or", "some", "bit_and", "bit_or")


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def halves(value: str) -> tuple[str, str]:
    """A BIGINT as a high and a low half: sums of halves have room where a sum of the values may not."""
    value = value if is_column(value) else f"({value})"
    return f"shiftright({value}, 32)", f"{value} & 4294967295"


def joined(high: str, low: str) -> str:
    """The BIGINT that sums of halves make. It overflows where the sum doesn't fit a BIGINT, and nowhere else."""
    return f"({high} + shiftright({low}, 32)) * 4294967296 + ({low} & 4294967295)"


def subtracted(call: Arguments, left: Callable[[str], str]) -> str:
    """An aggregate over rows that are left when some are taken from others.

    Args:
        left: gives an aggregate, such as `sum(price)`, over all rows less the same over the rows taken away. Where no
            row is left, a count is 0, and a sum is what a sum of nothing is.

    Raises:
        NoRule: it can't be subtracted exactly.
    """
    how = mergeable(call)
    if not all(partial.subtracts for partial in how.partials):
        typed = call.name in ("sum", "avg", "mean")
        of = f" of a {call.type or 'type that nobody knows'}" if typed else ""
        raise NoRule(f"{call.name}{of} can't be subtracted exactly")
    # Spark evaluates a window expression once for each time that it is written.
    if any(how.result.count(f"{{{i}}}") > 1 for i in range(len(how.partials))):
        raise NoRule(f"{call.name} of a {call.type} would take more sums than it saves")
    values = [
        joined(*(left(f"sum({half})") for half in halves(call.sql))) if each.wide else each.cast(left(each.sql))
        for each in how.partials
    ]
    result = values[0] if how.result in ("{0}", _COUNT) else how.result.format(*values)
    if any(partial.counts for partial in how.partials):  # where nothing is left to average, its count says so
        return result
    return f"IF({left(how.partials[0].present or '')} > 0, {result}, NULL)"


def running(call: Arguments, come: str, gone: str, key: str | None = None) -> str:
    """An aggregate over a frame: over the rows up to the frame's end, less the same over the rows before the frame.

    Args:
        come: OVER and the window of the rows up to the frame's end.
        gone: OVER and the window of the rows before the frame.
        key: where it is NULL, nothing is gone; None if it is never NULL.

    Raises:
        NoRule: the aggregate can't be subtracted exactly.
    """

    def left(aggregate: str) -> str:
        taken = f"{aggregate} {gone}"
        if key is not None:
            taken = f"CASE WHEN {key} IS NOT NULL THEN {taken} END"
        never_null = aggregate.startswith("count") and key is None
        return f"({aggregate} {come} - {taken if never_null else f'coalesce({taken}, 0)'})"

    return subtracted(call, left)


def mergeable(call: Arguments) -> Mergeable:
    """An aggregate's partials.

    Raises:
        NoRule: it can't be put together from slices and give exactly the same.
    """
    if call.distinct and call.name not in (*_SAME_WHEN_DISTINCT, "count"):
        raise NoRule(f"{call.name}(DISTINCT ...) can't be put together from slices")
    return MERGEABLE[call.name](call)
