"""Streams that a statement reads, directly or through CTEs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, from_item, sources
from dbt.adapters.sparkstream.sql.core.nodes import within
from dbt.adapters.sparkstream.sql.core.source import Source, Span

END = "window_end"


class Streams:
    """The streams of a statement.

    Args:
        views: the names that stand for streams, in any case; None where every table is a stream.
    """

    def __init__(self, views: Collection[str] | None) -> None:
        self._views = None if views is None else {view.casefold() for view in views}

    def with_views(self, views: Iterable[str]) -> Streams:
        """These streams and views over them."""
        return Streams(None if self._views is None else [*self._views, *views])

    def feeds(self, node: exp.Expr) -> bool:
        """True if rows of a stream come to a node, directly or through a CTE."""
        return any(self._is_stream(table) for table in node.find_all(exp.Table))

    def _is_stream(self, table: exp.Table) -> bool:
        if not isinstance(table.this, exp.Identifier):
            return False
        cte = find_cte(table)
        return self._is_named(table) if cte is None else self.feeds(cte.this)

    def _is_named(self, table: exp.Table) -> bool:
        if self._views is None:
            return True
        return not table.args.get("db") and self.has(table.name)

    def has(self, name: str) -> bool:
        """True if a name means a stream."""
        return self._views is None or name.casefold() in self._views

    def feeds_query(self, select: exp.Select) -> bool:
        """True if rows of a stream come to a query's FROM."""
        return any(self.feeds(relation) for relation in sources(select))

    def joins(self, tree: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Join]]:
        """The joins of two streams: the first relation on the left side, and the join."""
        for join in tree.find_all(exp.Join):
            around = join.parent
            # FROM (a JOIN b ON ...): the joins belong to the first relation.
            first = from_item(around) if isinstance(around, exp.Select) else around
            if around is None or first is None or not self.feeds(join.this):
                continue
            earlier = around.args["joins"][: join.index]
            if self._feeds_alone(first) or any(self.feeds(other.this) for other in earlier):
                yield first, join

    def _feeds_alone(self, relation: exp.Expr) -> bool:
        """True if rows of a stream come to a relation, its joins left out."""
        if isinstance(relation, exp.Table) and self._is_stream(relation):
            return True
        return isinstance(relation.this, exp.Expr) and self.feeds(relation.this)

    def are_held(self, node: exp.Expr) -> bool:
        """True if all rows of streams that come to a query or a relation wait in an aggregation until it is closed."""
        if isinstance(node, exp.Select):
            if node.args.get("group"):
                return True
            return all(self.are_held(relation) for relation in sources(node) if self.feeds(relation))
        if isinstance(node, exp.SetOperation):
            return all(self.are_held(side) for side in (node.left, node.right) if self.feeds(side))
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            cte = find_cte(node)
            return cte is not None and self.are_held(cte.this)
        return isinstance(node.this, exp.Expr) and self.feeds(node.this) and self.are_held(node.this)

    def is_read_once(self, tree: exp.Expr) -> bool:
        """True if the statement reads one stream, and reads it once, directly or through CTEs."""
        tables = [table for table in tree.find_all(exp.Table) if self._is_stream(table)]
        ctes = [find_cte(table) for table in tables]
        return len({id(cte) for cte in ctes}) == len(tables) and len(self.read(tree)) == 1

    def read(self, node: exp.Expr) -> list[str]:
        """The streams that a node reads by their names, each as often as it is read."""
        return [
            t.name
            for t in node.find_all(exp.Table)
            if isinstance(t.this, exp.Identifier) and self._is_named(t) and find_cte(t) is None
        ]


def ctes_of(node: exp.Expr) -> list[exp.CTE]:
    """The CTEs that a node's tables lead to, in the order of the text; a CTE within another one comes with that."""
    found: dict[int, exp.CTE] = {}
    waiting: list[exp.Expr] = [node]
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            cte = find_cte(table)
            if (
                cte is not None
                and id(cte) not in found
                and not any(within(cte, each) for each in (node, *found.values()))
            ):
                found[id(cte)] = cte
                waiting.append(cte.this)
    return list(found.values())


def with_clause(source: Source, *nodes: exp.Expr) -> str:
    """`WITH ... ` with the CTEs that nodes need, as they are written by now; empty where they need none."""
    spans = sorted({source.span(cte) for node in nodes for cte in ctes_of(node)})
    return "WITH " + ", ".join(source.render(span) for span in spans) + "\n" if spans else ""


def with_only(kept: list[Span], with_: exp.With, source: Source) -> Iterator[tuple[Span, str]]:
    """Edits that leave a WITH with nothing but the CTEs at some spans; without any, WITH goes, too."""
    spans = [source.span(cte) for cte in with_.expressions]
    whole = min(spans)[0], max(spans)[1]
    if kept:
        yield from only(kept, whole)
        return
    word = max((t for t in source.tokens if t.end < whole[0] and t.text.upper() == "WITH"), key=lambda t: t.start)
    yield (word.start, whole[1]), ""


def only(kept: list[Span], of: Span, end: str = "") -> Iterator[tuple[Span, str]]:
    """Edits that leave a list in a span, of nothing but some pieces of it.

    Args:
        end: the text behind the last of the pieces.
    """
    at, between = of[0], ""
    for start, behind in kept:
        if start > at:
            yield (at, start), between
        at, between = behind, ", "
    if of[1] > at:
        yield (at, of[1]), end


def may_be_null(column: exp.Column, select: exp.Select) -> bool:
    """True if a column is NULL in rows for which an outer join has found no match, as far as the query tells."""
    relations, joins = sources(select), select.args.get("joins") or []
    named = [
        at for at, relation in enumerate(relations) if relation.alias_or_name.casefold() == column.table.casefold()
    ]
    places = named if column.table else [0] if len(relations) == 1 else []
    if len(places) != 1:
        return False
    [at] = places
    own = joins[at - 1].side if 0 < at <= len(joins) else ""
    if own in ("LEFT", "FULL") or any(join.side in ("RIGHT", "FULL") for join in joins[at:]):
        return True
    relation = relations[at]
    cte = find_cte(relation)
    inner = cte.this if cte is not None else relation.unnest() if isinstance(relation, exp.Subquery) else None
    if not isinstance(inner, exp.Select):
        return False
    items = {item.alias_or_name.casefold(): item.unalias() for item in inner.expressions if not item.is_star}
    item = items.get(column.name.casefold(), None if items else exp.column(column.name))
    return isinstance(item, exp.Column) and may_be_null(item, inner)
