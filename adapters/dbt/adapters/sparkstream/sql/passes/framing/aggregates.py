"""Aggregates over frames, in the dialects that have frames of ours: one record for each function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, always, same
from dbt.adapters.sparkstream.sql.passes.framing import lists

CATEGORIES = ("SUM", "AVG", "MIN", "MAX", "COUNT")
"""Aggregates that OpenMLDB has of the rows of each category, too: SUM_CATE, SUM_CATE_WHERE."""


class CallArguments(Protocol):
    """The arguments of a call."""

    arguments: list[str]

    def type(self, index: int = 0) -> str | None:
        """The Spark type of an argument, or None where it isn't known."""

    def constant(self, index: int) -> int:
        """An argument that is a whole number."""


ArrayRule = Callable[[CallArguments, str], str]
"""Writes a call, given its rows as an array of structs with a field for each argument: a0, a1, ..."""


@dataclass(frozen=True)
class FrameAggregate:
    """An aggregate over frames.

    Attributes:
        returns: its type in OpenMLDB, where that isn't the type of Spark's function of the same name.
        ordered: True if its result depends on the order of rows with equal keys.
        arguments: how its arguments are written.
        over_rows: writes it over an array of rows; None where that can't be.
        listed: True if that is the only way to write it.
        least: the fewest arguments, where some may be left out.
    """

    returns: FunctionRule | None = None
    ordered: bool = True
    arguments: str = "x"
    over_rows: ArrayRule | None = None
    listed: bool = False
    least: int | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """The fewest and the most arguments."""
        most = self.arguments.count(", ") + 1
        return self.least or most, most


def _listed(
    rule: ArrayRule, arguments: str = "x", returns: FunctionRule | None = None, *, ordered: bool = True
) -> FrameAggregate:
    """Record of a function that is written over an array, as no aggregate of Spark computes it."""
    return FrameAggregate(returns, ordered, arguments, rule, listed=True)


def _of(names: Iterable[str], record: FrameAggregate) -> dict[str, FrameAggregate]:
    return dict.fromkeys(names, record)


def _folded(name: str, condition: str | None = None) -> ArrayRule:
    """Rule of SUM, COUNT, MIN, MAX or AVG of the rows that meet a condition."""
    return lambda call, rows: lists.fold(name, rows, condition)


def _by_category(name: str, arguments: str, choose: Callable[[str, str], str] | None = None) -> FrameAggregate:
    """An aggregate for each category, such as `SUM_CATE(x, category)`; RATIO is the part that meets a condition.

    Args:
        choose: picks the first of the pairs of category and value.
    """
    cond = "a1" if "condition" in arguments else None
    at = 2 if cond else 1

    def rule(call: CallArguments, rows: str) -> str:
        pairs = lists.by_category(name, rows, cond=cond, category=f"a{at}")
        if choose:
            pairs = choose(pairs, str(call.constant(3)))
        value = {"COUNT": "bigint", "AVG": "double", "RATIO": "double"}.get(name) or call.type()
        return lists.print_pairs(pairs, call.type(at), value)

    return _listed(rule, arguments, ordered=False)


def _deviation(sample: bool, squared: bool) -> ArrayRule:
    """Rule of a standard deviation or, squared, a variance."""
    return lambda call, rows: lists.deviation(rows, sample=sample, squared=squared)


def _pairs(part: int) -> FrameAggregate:
    """The keys (part 0) or values (part 1) of texts such as `k:v,k:v`."""
    return _listed(
        lambda call, rows: lists.window_split_pairs(rows, call.arguments[1], call.arguments[2], part), "x, ',', ':'"
    )


def _distinct_count(call: CallArguments, rows: str) -> str:
    return f"CAST(size(array_distinct(transform({rows}, r -> r.a0))) AS BIGINT)"


def _back(call: CallArguments, rows: str) -> str:
    return f"get({rows}, {call.constant(1) if len(call.arguments) > 1 else 1}).a0"


_BIGINT, _DOUBLE, _STRING = always("bigint"), always("double"), always("string")

AGGREGATES: dict[str, FrameAggregate] = {
    **{f"{name}_CATE": _by_category(name, "x, category") for name in CATEGORIES},
    **{f"{name}_CATE_WHERE": _by_category(name, "x, condition, category") for name in CATEGORIES},
    **{
        f"TOP_N_{part}_{name}_CATE{where}": _by_category(name, "x, condition, category, 2", choose)
        for part, choose in (("KEY", lists.newest_keys), ("VALUE", lists.greatest_values))
        for name, where in (*((name, "_WHERE") for name in CATEGORIES), ("RATIO", ""))
    },
    **{name: FrameAggregate(ordered=False, over_rows=_folded(name)) for name in ("COUNT", "MIN", "MAX", "AVG")},
    "SUM": FrameAggregate(same, ordered=False, over_rows=_folded("SUM")),
    **{
        f"{name}_WHERE": FrameAggregate(
            returns, ordered=False, arguments="x, condition", over_rows=_folded(name, "r.a1")
        )
        for name, returns in {"SUM": same, "MIN": same, "MAX": same, "AVG": _DOUBLE, "COUNT": _BIGINT}.items()
    },
    "DISTINCT_COUNT": FrameAggregate(_BIGINT, ordered=False, over_rows=_distinct_count),
    "PERCENTILE": FrameAggregate(None, False, "x, 0.5", lambda call, rows: lists.percentile(rows, call.arguments[1])),
    "MEDIAN": FrameAggregate(_DOUBLE, ordered=False, over_rows=lambda call, rows: lists.percentile(rows, "0.5D")),
    **_of(("STDDEV", "STDDEV_SAMP"), FrameAggregate(ordered=False, over_rows=_deviation(sample=True, squared=False))),
    "STD": FrameAggregate(_DOUBLE, over_rows=_deviation(sample=True, squared=False)),
    "STDDEV_POP": FrameAggregate(ordered=False, over_rows=_deviation(sample=False, squared=False)),
    **_of(("VARIANCE", "VAR_SAMP"), FrameAggregate(ordered=False, over_rows=_deviation(sample=True, squared=True))),
    "VAR_POP": FrameAggregate(ordered=False, over_rows=_deviation(sample=False, squared=True)),
    "TOP": _listed(
        lambda call, rows: lists.top(rows, str(call.constant(1)), call.type()), "x, 2", _STRING, ordered=False
    ),
    **_of(
        ("TOPN_FREQUENCY", "FZ_TOPN_FREQUENCY"),
        _listed(
            lambda call, rows: lists.topn_frequency(rows, str(call.constant(1)), call.type()),
            *("x, 2", _STRING),
            ordered=False,
        ),
    ),
    "ENTROPY": _listed(lambda call, rows: lists.entropy(rows), returns=_DOUBLE, ordered=False),
    **_of(
        ("TOP1_RATIO", "FZ_TOP1_RATIO"),
        _listed(lambda call, rows: lists.top1_ratio(rows), returns=_DOUBLE, ordered=False),
    ),
    "NTH_VALUE_WHERE": _listed(
        lambda call, rows: lists.nth_value_where(rows, call.constant(1)), "x, 2, condition", same
    ),
    "EW_AVG": _listed(lambda call, rows: lists.ew_avg(rows, call.arguments[1]), "x, 0.5", _DOUBLE),
    "DRAWDOWN": _listed(lambda call, rows: lists.drawdown(rows), returns=_DOUBLE),
    "AT": FrameAggregate(same, arguments="x, 2", over_rows=_back, least=1),
    "LAG": FrameAggregate(arguments="x, 2", over_rows=_back, least=1),
    "FIRST_VALUE": FrameAggregate(over_rows=lambda call, rows: f"get(reverse({rows}), 0).a0"),
    "LAST_VALUE": FrameAggregate(over_rows=lambda call, rows: f"get({rows}, 0).a0"),
    **_of(
        ("WINDOW_SPLIT", "FZ_WINDOW_SPLIT"),
        _listed(lambda call, rows: lists.window_split(rows, call.arguments[1]), "x, ','"),
    ),
    **_of(("WINDOW_SPLIT_BY_KEY", "FZ_WINDOW_SPLIT_BY_KEY"), _pairs(0)),
    **_of(("WINDOW_SPLIT_BY_VALUE", "FZ_WINDOW_SPLIT_BY_VALUE"), _pairs(1)),
    **_of(("NTH_VALUE", "ANY_VALUE", "COLLECT_LIST", "COLLECT_SET", "APPROX_COUNT_DISTINCT"), FrameAggregate()),
    **_of(("COUNT_IF", "BOOL_AND", "BOOL_OR", "EVERY", "SOME", "ANY"), FrameAggregate()),
}
"""Calls of these names within an argument of a call over a window are aggregates over the same window."""

RANKS = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "LEAD"})
"""Functions that number the rows of a partition, or look ahead: they have no frame."""


def usage(name: str) -> str:
    """Form of a call of a function, for hints: `sum_where(x, condition)`."""
    record = AGGREGATES.get(name.upper().removeprefix("FZ_"))
    return f"{name.lower()}({record.arguments if record else 'x'})"
