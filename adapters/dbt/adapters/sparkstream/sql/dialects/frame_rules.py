"""Differences between the dialects in calls over frames, as a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrameRules:
    """What a dialect says of calls over frames.

    Attributes:
        millis: a time may stand where a number of milliseconds does.
        narrow_sums: SUM has the type of its argument, and wraps.
        keyless: rows without a key are kept.
        free_keys: frames of ROWS take keys of any type, and keys finer than milliseconds order rows.
        by_rowtime: ROWTIME orders the rows where a window has no key, and rows with equal keys.
        exp_avg: EXP_AVG(x, INTERVAL '10' SECOND) is a function.
        lag_arguments: the most arguments of LAG.
        printed_names: a column without an alias is named by its expression.
        counted_names: a column without an alias is named EXPR$0, EXPR$1.
    """

    millis: bool = False
    narrow_sums: bool = False
    keyless: bool = True
    free_keys: bool = False
    by_rowtime: bool = False
    exp_avg: bool = False
    lag_arguments: int = 2
    printed_names: bool = False
    counted_names: bool = False


FRAME_RULES = {
    "spark": FrameRules(free_keys=True),
    "openmldb": FrameRules(millis=True, narrow_sums=True, keyless=False, printed_names=True),
    "sqlstream": FrameRules(by_rowtime=True, exp_avg=True, lag_arguments=3, counted_names=True),
}
"""Dialect -> its rules."""
