"""Names of functions that aggregate, in the dialects that have frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.typing import FunctionRule, always, same

CATEGORIES = ("SUM", "AVG", "MIN", "MAX", "COUNT")
CATE = {f"{name}_CATE": name for name in CATEGORIES}
CATE_WHERE = {f"{name}_CATE_WHERE": name for name in CATEGORIES}
TOP_N_KEY = {f"TOP_N_KEY_{name}_CATE_WHERE": name for name in CATEGORIES}
TOP_N_VALUE = {f"TOP_N_VALUE_{name}_CATE_WHERE": name for name in CATEGORIES}
"""Functions of OpenMLDB that aggregate by category: name -> the aggregate."""


@dataclass(frozen=True)
class FrameAggregate:
    """An aggregate over frames.

    Attributes:
        arguments: how its arguments are written.
        returns: its type in OpenMLDB, where that isn't the type of Spark's function of the same name.
        ordered: whether its result depends on the order of rows with equal keys.
        deviation: whether it is of a sample, and whether it is the square; None for no standard deviation or variance.
    """

    returns: FunctionRule | None = None
    ordered: bool = True
    deviation: tuple[bool, bool] | None = None
    arguments: str = "x"

    @property
    def count(self) -> int:
        """How many arguments it has."""
        return self.arguments.count(", ") + 1


def _of(names: Iterable[str], record: FrameAggregate) -> dict[str, FrameAggregate]:
    return dict.fromkeys(names, record)


_BIGINT, _DOUBLE, _STRING = always("bigint"), always("double"), always("string")

AGGREGATES: dict[str, FrameAggregate] = {
    **_of(CATE, FrameAggregate(ordered=False, arguments="x, category")),
    **_of(CATE_WHERE, FrameAggregate(ordered=False, arguments="x, condition, category")),
    **_of(
        (*TOP_N_KEY, *TOP_N_VALUE, "TOP_N_KEY_RATIO_CATE", "TOP_N_VALUE_RATIO_CATE"),
        FrameAggregate(ordered=False, arguments="x, condition, category, 2"),
    ),
    **_of(("COUNT", "MIN", "MAX", "AVG"), FrameAggregate(ordered=False)),
    "PERCENTILE": FrameAggregate(ordered=False, arguments="x, 0.5"),
    "SUM": FrameAggregate(same, ordered=False),
    **_of(("SUM_WHERE", "MIN_WHERE", "MAX_WHERE"), FrameAggregate(same, ordered=False, arguments="x, condition")),
    "AVG_WHERE": FrameAggregate(_DOUBLE, ordered=False, arguments="x, condition"),
    "COUNT_WHERE": FrameAggregate(_BIGINT, ordered=False, arguments="x, condition"),
    "DISTINCT_COUNT": FrameAggregate(_BIGINT, ordered=False),
    **_of(("TOP", "TOPN_FREQUENCY"), FrameAggregate(_STRING, ordered=False, arguments="x, 2")),
    **_of(("ENTROPY", "TOP1_RATIO", "MEDIAN"), FrameAggregate(_DOUBLE, ordered=False)),
    **_of(("STDDEV", "STDDEV_SAMP"), FrameAggregate(None, ordered=False, deviation=(True, False))),
    "STD": FrameAggregate(_DOUBLE, deviation=(True, False)),
    "STDDEV_POP": FrameAggregate(ordered=False, deviation=(False, False)),
    **_of(("VARIANCE", "VAR_SAMP"), FrameAggregate(None, ordered=False, deviation=(True, True))),
    "VAR_POP": FrameAggregate(ordered=False, deviation=(False, True)),
    "EW_AVG": FrameAggregate(_DOUBLE, arguments="x, 0.5"),
    "DRAWDOWN": FrameAggregate(_DOUBLE),
    "AT": FrameAggregate(same, arguments="x, 2"),
    "LAG": FrameAggregate(arguments="x, 2"),
    "NTH_VALUE_WHERE": FrameAggregate(same, arguments="x, 2, condition"),
    "FZ_TOPN_FREQUENCY": FrameAggregate(_STRING, arguments="x, 2"),
    **_of(("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "ANY_VALUE", "FZ_TOP1_RATIO"), FrameAggregate()),
    **_of(("WINDOW_SPLIT", "FZ_WINDOW_SPLIT"), FrameAggregate(arguments="x, ','")),
    **_of(
        (f"{before}WINDOW_SPLIT_BY_{part}" for before in ("", "FZ_") for part in ("KEY", "VALUE")),
        FrameAggregate(arguments="x, ',', ':'"),
    ),
    **_of(("COLLECT_LIST", "COLLECT_SET", "APPROX_COUNT_DISTINCT", "COUNT_IF"), FrameAggregate()),
    **_of(("BOOL_AND", "BOOL_OR", "EVERY", "SOME", "ANY"), FrameAggregate()),
}
"""Calls of these names within an argument of a call over a window are aggregates over the same window."""

RANKS = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "LEAD"})
"""Functions that number the rows of a partition, or look ahead: they have no frame."""


def deviation_of(name: str) -> tuple[bool, bool] | None:
    """(of a sample, squared) of `stddev_samp`, `var_pop` and so on; None for other names."""
    return AGGREGATES[name].deviation if name in AGGREGATES else None


def usage(name: str) -> str:
    """How a call of a function is written: `sum_where(x, condition)`."""
    record = AGGREGATES.get(name.upper().removeprefix("FZ_"))
    return f"{name.lower()}({record.arguments if record else 'x'})"
