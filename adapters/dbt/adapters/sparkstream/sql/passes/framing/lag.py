"""LAG and AT: `lag(x, 2)` is the value of x two rows back."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.core.frames import Frame, Kind
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Evaluation, nothing
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import reach_end


def lag(aggregate: Evaluation) -> str:
    """The value n rows back: of the partition where the call is a whole output column, else of its frame."""
    value, *further = aggregate.take(1, aggregate.select.rules.lag_arguments)
    n = aggregate.constant(1) if further else 1
    if len(further) > 1:
        return _lag_or(aggregate, value, n, further[1])
    if n < 0:
        raise aggregate.select.source.error(
            aggregate.select.source.span(aggregate.call.arguments[1]),
            f"{aggregate.word} looks back only",
            "write a number of rows, 0 or more",
        )
    if aggregate.call.ignore_nulls and not (aggregate.call.top and n):
        raise aggregate.fail(
            f"{aggregate.word} with IGNORE NULLS is a column of its own here, and looks back at least one row",
            f"select {aggregate.word}(...) AS p in a subquery, and write the expression around it",
        )
    frame = aggregate.frame
    flagged = frame.exclude_time or frame.instance_not_in_window
    if aggregate.call.top:
        return _lag_flagged(aggregate, value, n) if flagged else _lag_rows(aggregate, value, n)
    if flagged or (frame.end and frame.kind is Kind.ROWS_RANGE) or aggregate.set.past is None:
        return f"get({aggregate.rows({'a0': value})}, {n}).a0"
    back = n + (frame.end or int(frame.exclude_row))
    if frame.kind is Kind.ROWS:
        return nothing(value) if frame.start is not None and back > frame.start else _lag_rows(aggregate, value, back)
    if frame.maxsize is not None and n >= frame.maxsize:
        return nothing(value)
    if frame.start is None or back == 0:
        return _lag_rows(aggregate, value, back)
    key = aggregate.stream.key_column
    return (
        f"IF({_lag_rows(aggregate, key, back)} >= {key} - {frame.start}, {_lag_rows(aggregate, value, back)}, "
        f"{nothing(value)})"
    )


def _lag_or(aggregate: Evaluation, value: str, n: int, default: str) -> str:
    """SQLstream's LAG(x, n, d), with d where there is no row n rows back."""
    if not aggregate.call.top or n < 1:
        raise aggregate.fail(
            f"{aggregate.word} with a default is a column of its own here, and looks back at least one row",
            f"select {aggregate.word}(...) AS p in a subquery, and write the expression around it",
        )
    return f"lag({value}, {n}, {default}){_nulls(aggregate)} OVER ({aggregate.stream.spec('')})"


def _nulls(aggregate: Evaluation) -> str:
    """IGNORE NULLS where the call has it (SQLstream)."""
    return " IGNORE NULLS" if aggregate.call.ignore_nulls else ""


def _lag_rows(aggregate: Evaluation, value: str, n: int) -> str:
    """The value n rows back in the stream."""
    if n == 0:
        return value
    return f"lag({value}, {n}){_nulls(aggregate)} OVER ({aggregate.stream.spec('')})"


def _lag_flagged(aggregate: Evaluation, value: str, n: int) -> str:
    """The value n rows back, among rows of another time (EXCLUDE CURRENT_TIME) or rows of UNION tables alone."""
    only = aggregate.frame.instance_not_in_window
    if n == 0:
        return value
    if only and not aggregate.stream.sources:
        return nothing(value)
    unflagged = Frame(Kind.ROWS, None, 0, exclude_time=aggregate.frame.exclude_time)
    reach = reach_end(unflagged, aggregate.stream.literal)
    if n == 1:
        return aggregate.latest(value, reach, only, nothing(value))
    spec = aggregate.stream.unions_spec("").strip() if only else aggregate.stream.spec("")
    column = aggregate.additions.attach(f"lag({value}, {n - 1}) OVER ({spec})")
    return aggregate.latest(column, reach, only, nothing(value))
