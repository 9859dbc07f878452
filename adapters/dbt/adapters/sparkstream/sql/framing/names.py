"""Names of functions that aggregate, in the dialects that have frames."""

from __future__ import annotations

CATEGORIES = ("SUM", "AVG", "MIN", "MAX", "COUNT")

AGGREGATES = frozenset(
    {
        *CATEGORIES,
        *(f"{name}_WHERE" for name in CATEGORIES),
        *(f"{name}_CATE" for name in CATEGORIES),
        *(f"{name}_CATE_WHERE" for name in CATEGORIES),
        *(f"TOP_N_KEY_{name}_CATE_WHERE" for name in CATEGORIES),
        *(f"TOP_N_VALUE_{name}_CATE_WHERE" for name in CATEGORIES),
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
