"""Warnings of windows: time between HOPs, joins of different windows, windows of CUMULATE in one group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, sources
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, find
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, Cumulate, Hop, WindowFunction, window_functions


def unequal_bounds(tree: exp.Expr, source: Source, resolver: Resolver) -> Iterator[TranslationWarning]:
    """Warns of joins, IN and EXISTS between windows that don't compare both bounds for equality.

    Their rows are right, but no engine can join window by window: Flink makes a regular join, which keeps the rows of a
    stream for ever, and Spark may compare all rows with each other.
    """
    if not window_functions(tree):
        return
    for select in find(tree, exp.Select):
        windowed = [s for s in sources(select) if _windowed(s, resolver)]
        where = select.args.get("where")
        filters = conjuncts(where) if windowed else []
        for place, right, terms in _meetings(select, filters) if windowed else ():
            window = next((s for s in right if _windowed(s, resolver)), None)
            other = next((s for s in windowed if all(s is not r for r in right)), None)
            if window is None or other is None:
                continue
            conditions = list(terms)
            missing = [bound for bound in BOUNDS if not _equal(bound, conditions, select, resolver)]
            if missing:
                both = (f"{_named(b, other, resolver)} = {_named(b, window, resolver)}" for b in missing)
                yield source.warning(
                    place,
                    f"windows are joined without an equal {' and '.join(missing)}: not window by window",
                    f"write AND {' AND '.join(both)} where only rows of the same window shall meet",
                )


def _meetings(
    select: exp.Select, filters: list[exp.Expr]
) -> Iterator[tuple[exp.Expr, list[exp.Expr], Iterable[exp.Expr]]]:
    """JOIN, IN and EXISTS of a query: the node, the relations that it brings, and the conditions on them."""
    for relation in sources(select):
        join = relation.parent
        if isinstance(join, exp.Join) and join.this is relation:
            using = [exp.EQ(this=name, expression=name) for name in join.args.get("using") or []]
            yield relation, [relation], chain(conjuncts(join.args.get("on")), filters, using)
    for term in filters:
        test = term.this if isinstance(term, exp.Not) else term
        query = test.args.get("query") if isinstance(test, exp.In) else test.this
        query = query.unnest() if isinstance(query, exp.Subquery) else query
        if isinstance(test, (exp.In, exp.Exists)) and isinstance(query, exp.Select):
            inner = query.args.get("where")
            pairs = [exp.EQ(this=a, expression=b) for a, b in _paired(test, query)]
            yield test, sources(query), [*conjuncts(inner), *pairs]


def _paired(test: exp.Expr, query: exp.Select) -> Iterable[tuple[exp.Expr, exp.Expr]]:
    """The pairs that `(a, b) IN (SELECT c, d ...)` makes equal: (a, c) and (b, d)."""
    if not isinstance(test, exp.In):
        return ()
    tested = test.this.expressions if isinstance(test.this, exp.Tuple) else [test.this]
    return zip(tested, (p.unalias() for p in query.expressions), strict=False)


def _windowed(relation: exp.Expr, resolver: Resolver) -> bool:
    return any(c.origin in BOUNDS for c in resolver.columns(relation).items)


def _named(bound: str, relation: exp.Expr, resolver: Resolver) -> str:
    """A window's bound as a query names it."""
    name = next((c.name for c in resolver.columns(relation).items if c.origin == bound), bound)
    return f"{relation.alias_or_name}.{name}" if relation.alias_or_name else name


def _equal(bound: str, terms: list[exp.Expr], select: exp.Select, resolver: Resolver) -> bool:
    """True if a condition makes two columns equal, each of which is this bound of a window."""
    return any(
        isinstance(term, (exp.EQ, exp.NullSafeEQ))
        and _origin(term.this, select, resolver) == _origin(term.expression, select, resolver) == bound
        for term in terms
    )


def _origin(node: exp.Expr, select: exp.Select, resolver: Resolver) -> str | None:
    if isinstance(node, exp.Identifier):  # of USING
        return node.name.lower() if node.name.lower() in BOUNDS else None
    if not isinstance(node, exp.Column):
        return None
    found = resolver.candidates(node, enclosing(node, exp.Select) or select)
    return found[0].origin if found else None


def sparse_windows(tree: exp.Expr, source: Source, *, strict: bool) -> Iterator[TranslationWarning]:
    """Warns of the first HOP whose slide is longer than its size: rows between two windows are in no window.

    Flink has such windows too. More often, slide and size were mixed up.

    Args:
        strict: True if the hint has to be Flink SQL.
    """
    windows = ((f, f.window) for f in window_functions(tree))
    sparse = ((f, window) for f, window in windows if isinstance(window, Hop) and window.slide > window.size)
    for function, window in sorted(sparse, key=lambda found: source.span(found[0]))[:1]:
        slide, size = window.slide.words(), window.size.words()
        right = f"HOP(..., {window.size.sql()}, {window.slide.sql()})" if strict else f"hop(..., '{size}', '{slide}')"
        yield source.warning(
            function,
            f"hop(..., slide, size): the slide '{slide}' is longer than the size '{size}',"
            " so rows between two windows are in none",
            f"if you mean windows of {slide} every {size}, write {right}",
        )


ENDS = {"window_end", "window_time"}


def merged_windows(tree: exp.Expr, source: Source) -> Iterator[TranslationWarning]:
    """Warns of a GROUP BY over CUMULATE by `window_start` alone, which several windows have in common.

    With steps of an hour, a row of 00:30 is in the windows [00:00, 01:00), [00:00, 02:00) and so on, and counts once
    for each of them. Windows of the other kinds that begin at the same time also end at the same time.
    """
    if not any(isinstance(call.window, Cumulate) for call in window_functions(tree)):
        return
    for select in find(tree, exp.Select):
        group = select.args.get("group")
        if group is None or not any(map(_cumulates, sources(select))):
            continue
        starts = [key for key in group.expressions if _name(key, select) == "window_start"]
        named = {column.name.lower() for column in group.find_all(exp.Column)}
        named |= {_name(key, select) for key in group.expressions}
        if starts and not named & ENDS:
            yield source.warning(
                starts[0],
                "windows of CUMULATE that begin together are one group: each row counts once for every window it is in",
                "write GROUP BY window_start, window_end",
            )


def _cumulates(relation: exp.Expr) -> bool:
    call = relation.this if isinstance(relation, exp.Table) else None
    return isinstance(call, WindowFunction) and isinstance(call.window, Cumulate)


def _name(key: exp.Expr, select: exp.Select) -> str:
    """Name of the column in a key of GROUP BY, such as `k`, `t.k` or `2`; empty for an expression."""
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(select.expressions):
        key = select.expressions[int(key.this) - 1].unalias()
    return key.name.lower() if isinstance(key, exp.Column) else ""
