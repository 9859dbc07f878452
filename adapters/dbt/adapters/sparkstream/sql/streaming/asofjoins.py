"""ASOF joins on streams: each row of the left side with the last row of the right side before it.

ASOF JOIN and the macro `asof_join` put the rows of both sides together, and a running frame hands each row the last row
of the right side (see `framing/asof.py`):

    SELECT __left, last_value(__right, TRUE) OVER (PARTITION BY __key0 ORDER BY __time, __is_left ...) AS __match
    FROM (
      SELECT struct(*) AS __left, NULL AS __right, sym AS __key0, ts AS __time, TRUE AS __is_left FROM trades
      UNION ALL
      SELECT NULL, struct(*), sym, ts, FALSE FROM quotes
    )

Where `quotes` is a table, a trade's match doesn't depend on other trades, as `__right` is NULL in all trades. So the
frames run on the trades of each micro-batch alone, beside the whole table. Where `quotes` is a stream, too, the rows of
both wait until the watermark has passed their time, and the last quote of each key is kept (`history.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import from_item, sources
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, own
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.grammar.specs import AsOfJoin
from dbt.adapters.sparkstream.sql.passes.flink.expressions import FlinkExpressions
from dbt.adapters.sparkstream.sql.passes.framing.query import Frames
from dbt.adapters.sparkstream.sql.passes.match.lowering import Matches
from dbt.adapters.sparkstream.sql.streaming.names import Streams


def asof_joins_as_frames(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> Iterator[Edit]:
    """Running frames in the place of the ASOF JOINs that read a stream.

    Raises:
        TranslationError: an ASOF JOIN can't be understood.
    """
    selects = [enclosing(join, exp.Select) for join in tree.find_all(AsOfJoin)]
    spans = [source.span(select) for select in selects if select is not None and streams.feeds_query(select)]
    for edit in Frames(source, resolver, dialect="spark").edits(tree) if spans else ():
        if any(start <= edit.span[0] and edit.span[1] <= end for start, end in spans):
            yield edit


def alone_with_a_table(select: exp.Select, streams: Streams) -> exp.Expr | None:
    """The stream whose rows get nothing but values of a table from the frames of a query; None for another query.

    Each frame is of an expression that is NULL in each row of the stream, and passes over NULLs.
    """
    branches = [side for side in sides_of(select) if streams.feeds(side)]
    if len(branches) != 1 or any(branches[0].args.get(part) for part in ("joins", "group", "laterals", "distinct")):
        return None
    [branch] = branches
    columns = columns_of(select, branch)
    return from_item(branch) if all(reads_nulls(frame.this, columns) for frame in own_frames(select)) else None


def own_frames(select: exp.Select) -> list[exp.Window]:
    """The calls with OVER of a query itself."""
    return [window for window in own(select, exp.Window) if window.arg_key != "windows"]


def sides_of(select: exp.Select) -> list[exp.Select]:
    """The two queries of `FROM (SELECT ... UNION ALL SELECT ...)`; none for another FROM."""
    relation = from_item(select)
    union = relation.this if isinstance(relation, exp.Subquery) else None
    sides = [union.this, union.expression] if isinstance(union, exp.Union) else []
    return sides if all(isinstance(side, exp.Select) for side in sides) else []


def columns_of(select: exp.Select, side: exp.Select) -> dict[str, exp.Expr]:
    """The columns that a query reads of one side of a UNION ALL: name -> expression."""
    values = zip(sides_of(select)[0].named_selects, side.expressions, strict=False)
    return {name.casefold(): value.unalias() for name, value in values}


_PAST_NULLS = frozenset({
    "COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "STDDEV", "STDDEV_SAMP", "STDDEV_POP", "VARIANCE", "VAR_SAMP",
    "VAR_POP", "BOOL_AND", "BOOL_OR", "COLLECT_LIST", "COLLECT_SET", "APPROX_COUNT_DISTINCT",
})  # fmt: skip
"""Aggregates of one argument for which a row with NULL is no row."""


def reads_nulls(function: exp.Expr, columns: dict[str, exp.Expr]) -> bool:
    """True if a function passes over all rows of a query that gives these columns: its argument is NULL there."""
    value = last_value_of(function)
    if isinstance(function, exp.Anonymous) and function.name.upper() in _PAST_NULLS and len(function.expressions) == 1:
        [value] = function.expressions
    return value is not None and is_null(value, columns)


def last_value_of(function: exp.Expr) -> exp.Expr | None:
    """x of `last_value(x, TRUE)` or `last_value(x) IGNORE NULLS`; None for any other function."""
    ignores = isinstance(function, exp.IgnoreNulls)
    call = function.this if ignores else function
    if not isinstance(call, exp.Anonymous) or call.name.upper() not in ("LAST_VALUE", "LAST") or not call.expressions:
        return None
    value, *more = call.expressions
    ignores = ignores or (len(more) == 1 and isinstance(more[0], exp.Boolean) and more[0].this)
    return value if ignores else None


def is_null(value: exp.Expr, columns: dict[str, exp.Expr]) -> bool:
    """True if an expression is NULL in each row of a query that gives these columns."""
    if isinstance(value, exp.Column):
        known = columns.get(value.name.casefold())
        return known is not None and not isinstance(known, exp.Column) and is_null(known, columns)
    if isinstance(value, exp.Case) and not value.this and value.args.get("default") is None:
        return all(
            is_null(branch.args["true"], columns) or _is_false(branch.this, columns) for branch in value.args["ifs"]
        )
    return isinstance(value, exp.Null)


def _is_false(condition: exp.Expr, columns: dict[str, exp.Expr]) -> bool:
    """True if a condition is never true: `x IS NULL` where x is a row, `struct(...)`."""
    if not isinstance(condition, exp.Is) or not isinstance(condition.expression, exp.Null):
        return False
    value = columns.get(condition.this.name.casefold()) if isinstance(condition.this, exp.Column) else None
    return isinstance(value, exp.Anonymous) and value.name.upper() == "STRUCT"


def versions_as_frames(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> Iterator[Edit]:
    """A query of Flink's as Spark SQL, where a temporal join reads its versions from a stream.

    The join is then a running frame over the rows of both streams, as an ASOF JOIN is.
    """
    if any(streams.feeds(table) for table, _ in _temporal_joins(tree, streams)):
        yield from Matches(source, resolver).edits(tree)
        yield from FlinkExpressions(source, resolver).edits(tree)


def _temporal_joins(tree: exp.Expr, streams: Streams) -> Iterator[tuple[exp.Table, exp.Select]]:
    """The versions of each temporal join in a query of a stream, and this query."""
    for table in tree.find_all(exp.Table):
        version, select = table.args.get("version"), enclosing(table, exp.Select)
        if version is None or not isinstance(version.expression, exp.Column) or select is None:
            continue
        if streams.feeds_query(select):
            yield table, select


def temporal_join(tree: exp.Expr, source: Source, streams: Streams) -> exp.Select | None:
    """The query of a stream with Flink's `JOIN versions FOR SYSTEM_TIME AS OF a.ts`; None without such a join.

    Raises:
        TranslationError: another stream is joined beside it.
    """
    for _, select in _temporal_joins(tree, streams):
        others = [relation for relation in sources(select)[1:] if streams.feeds(relation)]
        if others:
            raise source.error(
                others[0],
                "a temporal join doesn't stream beside a join of two streams",
                "make the join of the streams a streaming model of its own, and read that",
            )
        return select
    return None
