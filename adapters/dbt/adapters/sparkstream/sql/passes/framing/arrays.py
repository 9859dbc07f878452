"""Calls over the rows of a frame as an array: OpenMLDB's functions that no aggregate of Spark's says."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.sparkstream.sql.passes.framing import lists
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Evaluation
from dbt.adapters.sparkstream.sql.passes.framing.names import (
    AGGREGATES,
    CATE,
    CATE_WHERE,
    CATEGORIES,
    TOP_N_KEY,
    TOP_N_VALUE,
    deviation_of,
)

ArrayRule = Callable[[Evaluation, str], str]
"""Writes a call, given its rows as an array of structs with a field for each argument: a0, a1, ..."""


def _value(name: str, aggregate: Evaluation) -> str | None:
    """The type of a category's aggregate."""
    return {"COUNT": "bigint", "AVG": "double"}.get(name) or aggregate.type()


def _cate(name: str) -> ArrayRule:
    return lambda aggregate, rows: lists.print_pairs(
        lists.by_category(name, rows, cond=None, category="a1"), aggregate.type(1), _value(name, aggregate)
    )


def _cate_where(name: str) -> ArrayRule:
    return lambda aggregate, rows: lists.print_pairs(
        lists.by_category(name, rows, cond="a1", category="a2"), aggregate.type(2), _value(name, aggregate)
    )


def _top_n(name: str, choose: Callable[[str, str], str]) -> ArrayRule:
    return lambda aggregate, rows: lists.print_pairs(
        choose(lists.by_category(name, rows, cond="a1", category="a2"), str(aggregate.constant(3))),
        aggregate.type(2),
        _value(name, aggregate),
    )


def _ratio(choose: Callable[[str, str], str]) -> ArrayRule:
    return lambda aggregate, rows: lists.print_pairs(
        choose(lists.ratio_by_category(rows, cond="a1", category="a2"), str(aggregate.constant(3))),
        aggregate.type(2),
        "double",
    )


def _pairs(part: int) -> ArrayRule:
    return lambda aggregate, rows: lists.window_split_pairs(rows, aggregate.arguments[1], aggregate.arguments[2], part)


LISTED: dict[str, ArrayRule] = {
    **{call: _cate(name) for call, name in CATE.items()},
    **{call: _cate_where(name) for call, name in CATE_WHERE.items()},
    **{call: _top_n(name, lists.newest_keys) for call, name in TOP_N_KEY.items()},
    **{call: _top_n(name, lists.greatest_values) for call, name in TOP_N_VALUE.items()},
    "TOP_N_KEY_RATIO_CATE": _ratio(lists.newest_keys),
    "TOP_N_VALUE_RATIO_CATE": _ratio(lists.greatest_values),
    "TOP": lambda aggregate, rows: lists.top(rows, str(aggregate.constant(1)), aggregate.type()),
    "TOPN_FREQUENCY": lambda aggregate, rows: lists.topn_frequency(rows, str(aggregate.constant(1)), aggregate.type()),
    "ENTROPY": lambda aggregate, rows: lists.entropy(rows),
    "TOP1_RATIO": lambda aggregate, rows: lists.top1_ratio(rows),
    "NTH_VALUE_WHERE": lambda aggregate, rows: lists.nth_value_where(rows, aggregate.constant(1)),
    "EW_AVG": lambda aggregate, rows: lists.ew_avg(rows, aggregate.arguments[1]),
    "DRAWDOWN": lambda aggregate, rows: lists.drawdown(rows),
    "WINDOW_SPLIT": lambda aggregate, rows: lists.window_split(rows, aggregate.arguments[1]),
    "WINDOW_SPLIT_BY_KEY": _pairs(0),
    "WINDOW_SPLIT_BY_VALUE": _pairs(1),
}
"""Functions that are always computed over an array."""


def over_array(aggregate: Evaluation, rows: str) -> str:
    """A call over rows as an array."""
    name = aggregate.name
    if name in LISTED:
        aggregate.take(AGGREGATES[name].count)
        return LISTED[name](aggregate, rows)
    deviation = deviation_of(name)
    if deviation is not None:
        sample, squared = deviation
        return lists.deviation(rows, sample=sample, squared=squared)
    if name == "PERCENTILE":
        return lists.percentile(rows, aggregate.arguments[1])
    if name == "MEDIAN":
        aggregate.take(1)
        return lists.median(rows)
    if name.removesuffix("_WHERE") in CATEGORIES:
        return lists.fold(name.removesuffix("_WHERE"), rows, "r.a1" if name.endswith("_WHERE") else None)
    if name == "DISTINCT_COUNT":
        return f"CAST(size(array_distinct(transform({rows}, r -> r.a0))) AS BIGINT)"
    if name in ("FIRST_VALUE", "LAST_VALUE"):
        ordered = f"reverse({rows})" if name == "FIRST_VALUE" else rows
        return f"get({ordered}, 0).a0"
    if name in ("LAG", "AT"):
        return f"get({rows}, {aggregate.constant(1) if len(aggregate.arguments) > 1 else 1}).a0"
    raise aggregate.fail(
        f"{aggregate.word} can't take the result of another aggregate", "compute the inner one in a subquery"
    )
