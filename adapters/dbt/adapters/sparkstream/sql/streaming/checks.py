"""Checks of a query for a stream, before Spark refuses it in its own words."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, enclosing, has_aggregate
from dbt.adapters.sparkstream.sql.core.source import CLAUSES, SPAN, Source
from dbt.adapters.sparkstream.sql.core.windows import GROUP_WINDOWS, WindowFunction
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.windows.groups import is_call, is_group_window
from dbt.adapters.sparkstream.sql.streaming.above import grouping_keys
from dbt.adapters.sparkstream.sql.streaming.cut import Cut
from dbt.adapters.sparkstream.sql.streaming.distinct import check_distinct, has_distinct
from dbt.adapters.sparkstream.sql.streaming.names import END, Streams, may_be_null


def check_unread(tree: exp.Expr, source: Source, streams: Streams) -> None:
    """Refuses a query that can't be parsed and may read a stream.

    Raises:
        TranslationError: points at what it may read.
    """
    ctes = {cte.alias.casefold() for cte in tree.find_all(exp.CTE) if streams.feeds(cte.this)}
    for query in tree.find_all(Opaque):
        for token in source.tokens_in(source.span(query)):
            if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER) and (
                streams.has(token.text) or token.text.casefold() in ctes
            ):
                raise source.error(
                    (token.start, token.end + 1),
                    f"the query around {token.text} can't be parsed, and what isn't understood can't read a stream",
                    "write this query in another way, or without pipes, or read the stream in a subquery before it",
                )


def check(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver, cut: Cut | None) -> None:
    """Refuses a query that can't run on its streams.

    Raises:
        TranslationError: what it is, and what to do instead.
    """
    if not isinstance(tree, exp.Query):
        raise source.error(tree, "a streaming model is a query", "write SELECT ...")
    if not streams.feeds(tree):
        raise source.error(
            (0, len(source.text)),
            "this streaming model reads no stream",
            "write {{ stream(ref('...')) }} where it reads what grows, or materialize it as a table or view",
        )
    for join in tree.find_all(LastJoin):
        around = enclosing(join, exp.Select)
        if cut is None or around is None or cut.is_streamed(around):
            raise source.error(
                join.meta[SPAN],
                "LAST JOIN doesn't stream: a later row may be a better match",
                "write ASOF JOIN in dialect spark, or the macro asof_join; or materialize it as a table",
            )
    _check_expressions(tree, source, streams)
    for select in tree.find_all(exp.Select):
        _check_select(select, source, streams, resolver, cut)
    for operation in tree.find_all(exp.SetOperation):
        if streams.feeds(operation) and (not isinstance(operation, exp.Union) or operation.args.get("distinct")):
            raise source.error(
                operation,
                "a stream takes UNION ALL only: the other set operations compare rows of all times",
                "write UNION ALL, and GROUP BY the columns with the window's for distinct rows",
            )
        sides = [side for side in (operation.this, operation.expression) if not streams.feeds(side)]
        if len(sides) == 1 and (cut is None or cut.is_streamed(operation)):
            raise source.error(
                sides[0],
                "UNION ALL of a stream and a table doesn't stream: in which micro-batch would the table's rows come?",
                "read both as streams: {{ stream(ref('...')) }}; of a join as of a time, the left side at least",
            )


def _check_expressions(tree: exp.Expr, source: Source, streams: Streams) -> None:
    """Refuses a query in an expression that reads a stream, which Spark refuses without its place."""
    for query in tree.find_all(exp.Query):
        around = query.parent
        is_value = isinstance(around, (exp.Condition, exp.Alias)) or query.arg_key == "expressions"
        if around is None or not is_value or isinstance(around, WindowFunction) or not streams.feeds(query):
            continue
        negated = isinstance(around.parent, exp.Not) or isinstance(around, exp.All)
        tested = isinstance(around, (exp.In, exp.SubqueryPredicate))
        kind = ("LEFT ANTI JOIN" if negated else "LEFT SEMI JOIN") if tested else "JOIN"
        nulls = "; it keeps rows without a key" if negated and not isinstance(around, exp.Exists) else ""
        raise source.error(
            query,
            "a query in an expression can't read a stream: Spark joins streams in FROM alone",
            f"write FROM ... l {kind} ... r ON l.k = r.k AND l.window_start = r.window_start AND "
            f"l.window_end = r.window_end{nulls}",
        )


def _check_select(select: exp.Select, source: Source, streams: Streams, resolver: Resolver, cut: Cut | None) -> None:
    if not streams.feeds_query(select):
        return
    for name, word in (("order", "ORDER BY"), ("limit", "LIMIT"), ("offset", "OFFSET")):
        clause = select.args.get(name)
        if clause is not None:
            raise source.error(
                _place(source, clause, select),
                f"a stream has no end, so {word} has no meaning in it",
                "order the rows where they are read; for the first rows of each window use window_top_n",
            )
    if select.args.get("distinct"):
        raise source.error(
            select,
            "SELECT DISTINCT on a stream would have to remember all rows",
            "group by the columns together with window_start and window_end",
        )
    group = select.args.get("group")
    if group is not None:
        for key in group.expressions:
            if is_group_window(key, False) and key.name.upper() in GROUP_WINDOWS:
                raise source.error(
                    key,
                    f"the group window {key.name.upper()} doesn't stream",
                    f"write FROM {key.name.upper()}(...) and group by window_start and window_end",
                )
        _check_group(select, group, source, resolver)
        if has_distinct(select) and (cut is None or cut.is_streamed(select)):
            check_distinct(select, source, resolver)
    elif select.args.get("having") or any(
        has_aggregate(p) and not p.find(exp.Window) for p in select.expressions if not p.find(exp.Query)
    ):
        raise source.error(
            select,
            "an aggregate over a whole stream is never final",
            "group by window_start and window_end of a window function",
        )


def _check_group(select: exp.Select, group: exp.Group, source: Source, resolver: Resolver) -> None:
    keys = grouping_keys(select, group)
    if any(is_call(call, ("WINDOW", "SESSION_WINDOW")) for key in keys for call in key.find_all(exp.Anonymous)):
        return
    # What is computed of a window's end, such as its day, may be the same for later windows.
    origins: dict[str, exp.Column] = {}
    for key in keys:
        if isinstance(key, exp.Column):
            found = resolver.find(key, select)
            origins.setdefault(found.origin if found is not None and found.origin else key.name.casefold(), key)
    if END in origins and may_be_null(origins[END], select):  # the first one is the one that Spark closes groups by
        raise source.error(
            origins[END],
            "this is NULL where the join finds no row, and on a stream the group of NULL is never final",
            "group by the window_end of the side that has all its rows, and of no other; of a FULL JOIN, make a "
            "streaming model, and read that",
        )
    if END not in origins and "window" not in origins:
        hint = "add window_end to GROUP BY" if "window_start" in origins else None
        in_sets = any(c.name.casefold() == END for node in (group, *keys) for c in node.find_all(exp.Column))
        raise source.error(
            _place(source, group, select),
            "on a stream, GROUP BY needs the end of a window: a group without it is never final",
            "group by window_end itself, in each grouping set: GROUP BY window_start, window_end, ROLLUP (k)"
            if in_sets
            else hint or "read the rows through a window function, and group by window_start and window_end",
        )


def _place(source: Source, clause: exp.Expr, select: exp.Select) -> tuple[int, int]:
    """Span of a clause; of a clause without parts, as GROUP BY ALL, that of its first word."""
    if any(clause.iter_expressions()):
        return source.span(clause)
    start = select.meta[CLAUSES][clause.key]
    return start, source.tokens[source.tokens.at(start)].end + 1
