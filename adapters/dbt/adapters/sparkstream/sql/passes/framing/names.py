"""Names of functions that aggregate, in the dialects that have frames."""

from __future__ import annotations

from collections.abc import Iterator

CATEGORIES = ("SUM", "AVG", "MIN", "MAX", "COUNT")
CATE = {f"{name}_CATE": name for name in CATEGORIES}
CATE_WHERE = {f"{name}_CATE_WHERE": name for name in CATEGORIES}
TOP_N_KEY = {f"TOP_N_KEY_{name}_CATE_WHERE": name for name in CATEGORIES}
TOP_N_VALUE = {f"TOP_N_VALUE_{name}_CATE_WHERE": name for name in CATEGORIES}
"""Functions of OpenMLDB that aggregate by category: name -> the aggregate."""

AGGREGATES = frozenset(
    {
        *CATEGORIES,
        *(f"{name}_WHERE" for name in CATEGORIES),
        *CATE,
        *CATE_WHERE,
        *TOP_N_KEY,
        *TOP_N_VALUE,
        "TOP_N_KEY_RATIO_CATE",
        "TOP_N_VALUE_RATIO_CATE",
        "LAG",
        "AT",
        "FIRST_VALUE",
        "LAST_VALUE",
        "NTH_VALUE_WHERE",
        "DISTINCT_COUNT",
        "APPROX_COUNT_DISTINCT",
        "TOP",
        "TOPN_FREQUENCY",
        "TOP1_RATIO",
        "ENTROPY",
        "EW_AVG",
        "DRAWDOWN",
        "MEDIAN",
        "PERCENTILE",
        "STDDEV",
        "STDDEV_SAMP",
        "STDDEV_POP",
        "STD",
        "VARIANCE",
        "VAR_SAMP",
        "VAR_POP",
        "WINDOW_SPLIT",
        "WINDOW_SPLIT_BY_KEY",
        "WINDOW_SPLIT_BY_VALUE",
        "FZ_WINDOW_SPLIT",
        "FZ_WINDOW_SPLIT_BY_KEY",
        "FZ_WINDOW_SPLIT_BY_VALUE",
        "FZ_TOPN_FREQUENCY",
        "FZ_TOP1_RATIO",
        "COLLECT_LIST",
        "COLLECT_SET",
        "BOOL_AND",
        "BOOL_OR",
        "EVERY",
        "SOME",
        "ANY",
        "COUNT_IF",
        "ANY_VALUE",
        "NTH_VALUE",
    }
)
"""Calls of these names within an argument of a call over a window are aggregates over the same window."""

SPARK_AGGREGATES = frozenset(
    {
        "APPROX_PERCENTILE", "APPROX_TOP_K", "ARRAY_AGG", "BITMAP_CONSTRUCT_AGG", "BITMAP_OR_AGG", "BIT_AND",
        "BIT_OR", "BIT_XOR", "CORR", "COUNT_MIN_SKETCH", "COVAR_POP", "COVAR_SAMP", "FIRST",
        "HISTOGRAM_NUMERIC", "HLL_SKETCH_AGG", "HLL_UNION_AGG", "KURTOSIS", "LAST", "LISTAGG", "MAX_BY",
        "MEAN", "MIN_BY", "MODE", "PERCENTILE_APPROX", "PERCENTILE_CONT", "PERCENTILE_DISC", "REGR_AVGX",
        "REGR_AVGY", "REGR_COUNT", "REGR_INTERCEPT", "REGR_R2", "REGR_SLOPE", "REGR_SXX", "REGR_SXY",
        "REGR_SYY", "SKEWNESS", "STRING_AGG", "TRY_AVG", "TRY_SUM",
    }
)  # fmt: skip
"""What else Spark aggregates."""

RANKS = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "LEAD"})
"""Functions that number the rows of a partition, or look ahead: they have no frame."""

_UNORDERED = frozenset(
    {
        "SUM", "COUNT", "MIN", "MAX", "AVG", "DISTINCT_COUNT", "MEDIAN", "STDDEV", "STDDEV_SAMP", "STDDEV_POP",
        "VARIANCE", "VAR_SAMP", "VAR_POP", "TOP", "TOPN_FREQUENCY", "TOP1_RATIO", "ENTROPY", "PERCENTILE",
        "TOP_N_KEY_RATIO_CATE", "TOP_N_VALUE_RATIO_CATE", *(f"{name}_WHERE" for name in CATEGORIES),
        *CATE, *CATE_WHERE, *TOP_N_KEY, *TOP_N_VALUE,
    }
)  # fmt: skip


def keeps_order(name: str) -> bool:
    """Whether the result of a function depends on the order of rows with equal keys."""
    return name not in _UNORDERED


DEVIATIONS = {
    "STDDEV": (True, False), "STDDEV_SAMP": (True, False), "STD": (True, False), "STDDEV_POP": (False, False),
    "VARIANCE": (True, True), "VAR_SAMP": (True, True), "VAR_POP": (False, True),
}  # fmt: skip
"""Name -> whether it is of a sample, and whether it is the square."""

_NUMERIC = frozenset(
    {"AVG", "EW_AVG", "DRAWDOWN", "MEDIAN", *DEVIATIONS, *(f"{n}_WHERE" for n in CATEGORIES if n != "COUNT")}
)
_NO_NUMBERS = ("string", "date", "boolean", "timestamp")


def forbidden_types(name: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """The types that an aggregate of OpenMLDB refuses: index of an argument, Spark types, what to write instead."""
    convert = "convert it: double(x), or count it: count(x)"
    if name == "SUM":
        yield 0, ("string", "date", "boolean"), convert
    if name in _NUMERIC or ("_CATE" in name and "COUNT" not in name and "RATIO" not in name):
        yield 0, _NO_NUMBERS, convert
    if name in ("MIN", "MAX", "TOP", "TOPN_FREQUENCY"):
        yield 0, ("boolean",), "convert it: int(x)"
    if "_CATE" in name:
        category = 2 if "WHERE" in name or "RATIO" in name else 1
        yield category, ("float", "double", "boolean"), "take whole numbers, strings or dates for categories: string(x)"


def condition_of(name: str, count: int) -> int | None:
    """Which argument of an aggregate of OpenMLDB is a condition, in a call with all of its arguments.

    Args:
        count: how many arguments the call has.
    """
    if name == "NTH_VALUE_WHERE":
        return 2 if count == 3 else None
    wanted = 4 if name.startswith("TOP_N_") else 3 if "_CATE" in name else 2
    return 1 if count == wanted and ("WHERE" in name or "RATIO_CATE" in name) else None


def usage(name: str) -> str:
    """How a call of a function is written: `sum_where(x, condition)`."""
    plain = name.upper().removeprefix("FZ_")
    if plain in ("TOP", "TOPN_FREQUENCY", "LAG", "AT"):
        arguments = "x, 2"
    elif plain == "NTH_VALUE_WHERE":
        arguments = "x, 2, condition"
    elif plain == "EW_AVG":
        arguments = "x, 0.5"
    elif plain.startswith("WINDOW_SPLIT"):
        arguments = "x, ','" if plain == "WINDOW_SPLIT" else "x, ',', ':'"
    else:
        arguments = "x"
        arguments += ", condition" if "WHERE" in plain or "RATIO_CATE" in plain else ""
        arguments += ", category" if "_CATE" in plain else ""
        arguments += ", 2" if plain.startswith("TOP_N_") else ""
    return f"{name.lower()}({arguments})"
