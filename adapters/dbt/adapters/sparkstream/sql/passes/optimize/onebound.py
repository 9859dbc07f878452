"""Joins and groups of windows by one bound: with one size, equal starts have equal ends.

Windows of one size end together where they begin together, so `L.window_start = R.window_start` says all that
`L.window_end = R.window_end` would say. Spark doesn't know it, takes the sides for larger than they are, and doesn't
broadcast the small one. Windows of CUMULATE that end together begin together, if the longest of them do.

GROUP BY window_start, window_end has one key too many for the same reason. The end goes where nobody reads it: behind
an aggregation of which SELECT gives the start alone, and in a side of a join that is by the start.

Bounds of type TIMESTAMP keep both: where the clock skips an hour, one window may begin with another and end before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, find_cte, joins_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import aggregate_name, find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, Cumulate, Hop, Tumble, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.optimize.grouping import plain_keys
from dbt.adapters.sparkstream.sql.passes.optimize.highest import by_rank


@dataclass(frozen=True)
class _Side:
    """The bounds of a window in each row of a relation.

    Attributes:
        names: the relation's names for window_start and window_end, in lower case.
        windows: kind, size and offset of its windows; where they are equal, one bound determines the other.
        needed: the bound that determines the other: window_end for CUMULATE, else window_start.
    """

    names: tuple[str, ...]
    windows: tuple[type, Interval, Interval]
    needed: str = BOUNDS[0]


class OneBound(Editor):
    """Edits conditions that compare both bounds of two relations' windows for equality, and GROUP BY of both bounds."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self._known: dict[int, _Side | None] = {}

    def edits(self, tree: exp.Expr, skipped: Collection[int] = ()) -> Iterator[Edit]:
        """Edits that take out of conditions and groups what follows from their rest, but for the `skipped` SELECTs."""
        unread: set[int] = set()  # ids of SELECTs whose windows' ends nobody reads
        for select in find(tree, exp.Select) if window_functions(tree) else ():
            relations = {} if id(select) in skipped else {r.alias_or_name.casefold(): r for r in sources(select)}
            if len(relations) < len(sources(select)):
                continue  # two of one name
            yield from self._grouped(select, relations, id(select) in unread)
            if len(relations) < 2:
                continue
            ranked = by_rank(self.source, self.resolver, select, self._follows)
            if ranked:
                yield from ranked
            elif sum(self._bounds(relation) is not None for relation in relations.values()) > 1:
                yield from self._joined(select, relations, unread)

    def _joined(self, select: exp.Select, relations: dict[str, exp.Expr], unread: set[int]) -> Iterator[Edit]:
        """The edits of the conditions of a join; SELECTs whose ends nobody reads behind it are added to `unread`."""
        sides = {name: self._side(relation) for name, relation in relations.items()}
        joins = joins_of(select)
        on = [join.args.get("on") for join in joins if not isinstance(join, LastJoin)]
        kept: list[exp.Expr] = []
        ended: set[str] = set()
        for condition in (*on, select.args.get("where")):
            terms = conjuncts(condition)
            gone = self._needless(terms, sides)
            kept += [term for place, term in enumerate(terms) if place not in gone]
            for place in gone:
                ended |= {column.table.casefold() for column in terms[place].find_all(exp.Column)}
                span = self._with_and(terms, place, gone)
                yield Edit(span or self.source.span(terms[place]), lambda text="" if span else "TRUE": text)  # type: ignore[misc]
        kept += _clauses(select, "with_", "from_", "joins", "where")
        hidden = any(join.args.get("using") or join.args.get("method") or isinstance(join, LastJoin) for join in joins)
        if hidden or not all(isinstance(relation, exp.Table | exp.Subquery) for relation in relations.values()):
            return  # USING, LATERAL and the like read columns, too
        for name in ended:
            side, relation = sides[name], relations[name]
            if side and isinstance(relation, exp.Subquery) and not _reads(kept, side.names[1], ("", name)):
                unread.add(id(relation.this))

    def _grouped(self, select: exp.Select, relations: dict[str, exp.Expr], unread: bool) -> Iterator[Edit]:
        """The edits that take the end of windows out of GROUP BY, and of SELECT, if nobody reads it.

        Args:
            unread: True if nobody reads it from the rows of the query.
        """
        keys = plain_keys(select)
        if keys is None or any(select.args.get(k) for k in ("laterals", "pivots")):
            return
        for name, relation in relations.items():
            side = self._side(relation)
            if side is None or side.needed != BOUNDS[0]:
                continue
            its = ("", name) if len(relations) == 1 else (name,)
            starts, ends = ([k for k, key in enumerate(keys) if _is(key, bound, its)] for bound in side.names)
            items = [i for i, item in enumerate(select.expressions) if _is(item.unalias(), side.names[1], its)]
            if len(ends) != 1 or not starts or (items and not unread):
                continue
            others = [item for place, item in enumerate(select.expressions) if place not in items]
            by_place = select.args.get("order") or any(isinstance(key, exp.Literal) for key in keys)
            if items and (len(items) > 1 or not others or by_place):
                continue
            after = [*others, *_clauses(select, "with_", "from_", "joins", "where", "group", "expressions")]
            if _reads(after, side.names[1]):
                continue
            gone = [self._with_comma(keys, ends[0]), *(self._with_comma(select.expressions, item) for item in items)]
            yield from (Edit.to(span, "") for span in gone if span and None not in gone)
            return

    def _with_comma(self, keys: list[exp.Expr], place: int) -> Span | None:
        """Span of a key of GROUP BY and of the comma before or behind it; None if there is a comment between."""
        spans = [self.source.span(key) for key in keys]
        first, last = (place - 1, place) if place else (0, 1)
        if last == len(keys) or self.source.text[spans[first][1] : spans[last][0]].strip() != ",":
            return None
        return (spans[first][1], spans[last][1]) if place else (spans[first][0], spans[last][0])

    def _follows(self, relation: exp.Expr) -> dict[str, str]:
        """Bound of a relation's windows -> the bound that determines it, by the relation's names."""
        side = self._side(relation)
        told = dict(zip(BOUNDS, side.names, strict=True)) if side else {}
        return {name: told[side.needed] for bound, name in told.items() if side and bound != side.needed}

    def _needless(self, terms: list[exp.Expr], sides: dict[str, _Side | None]) -> set[int]:
        """The places of the terms that follow from others."""
        equal: dict[tuple[frozenset[str], str], int] = {}
        for place, term in enumerate(terms):
            found = _equal(term, sides)
            if found:
                equal.setdefault(found, place)
        gone = set()
        for (names, bound), place in equal.items():
            side = sides[min(names)]
            if side and bound != side.needed and (names, side.needed) in equal:
                gone.add(place)
        return gone

    def _with_and(self, terms: list[exp.Expr], place: int, gone: Collection[int]) -> Span | None:
        """Span of a term with the AND before the term (behind the first one); None among other operators."""
        spans = [self.source.span(term) for term in terms[max(0, place - 1) : place + 2]]
        if not place and (len(terms) == 1 or 1 in gone):
            return None
        (_, before), (behind, _) = spans[:2]
        between = self.source.tokens_in((before, behind))
        if [token.token_type for token in between] != [TokenType.AND]:
            return None
        if not place:
            return spans[0][0], behind
        start = between[0].start
        return start if self.source.text[before:start].strip() else before, spans[1][1]

    def _side(self, relation: exp.Expr) -> _Side | None:
        """The window's bounds in each row of a relation in FROM, if they are TIMESTAMP_NTZ and one tells the other."""
        found = self._bounds(relation)
        columns = self.resolver.columns(relation)
        types = [columns.find(name) for name in found.names] if found else []
        return found if all(column and column.type == NTZ for column in types) else None

    def _bounds(self, relation: exp.Expr) -> _Side | None:
        if id(relation) not in self._known:
            self._known[id(relation)] = None  # ends a recursive CTE
            self._known[id(relation)] = self._read(relation)
        return self._known[id(relation)]

    def _read(self, relation: exp.Expr) -> _Side | None:
        if isinstance(relation, WindowFunction):
            return _side_of(relation)
        if isinstance(relation, exp.Select):
            return self._selected(relation)
        if relation.args.get("pivots") or getattr(relation, "alias_column_names", None):
            return None
        if isinstance(relation, exp.Table) and isinstance(relation.this, WindowFunction):
            return self._bounds(relation.this)
        if isinstance(relation, exp.Subquery) and not relation.args.get("joins"):
            return self._bounds(relation.this)
        cte = find_cte(relation)
        return self._bounds(cte.this) if cte and not cte.alias_column_names else None

    def _selected(self, select: exp.Select) -> _Side | None:
        """The bounds in each row of a query of one relation, which it passes on as they are."""
        more = select.args.get("group") and plain_keys(select) is None
        if more or len(sources(select)) != 1 or any(select.args.get(k) for k in ("laterals", "pivots", "kind")):
            return None
        [relation] = sources(select)
        inner = self._bounds(relation)
        if inner is None:
            return None
        names: dict[str, str] = {}
        for item in select.expressions:
            column = item.unalias()
            if isinstance(item, exp.Star):
                names.update({name: name for name in inner.names if not any(item.args.values())})
            elif isinstance(column, exp.Column) and column.table.casefold() in ("", relation.alias_or_name.casefold()):
                names.setdefault(column.name.casefold(), item.alias_or_name.casefold())
        if not set(inner.names) <= set(names):
            return None
        return _Side(tuple(names[name] for name in inner.names), inner.windows, inner.needed)


def _side_of(function: WindowFunction) -> _Side | None:
    window = function.window
    if isinstance(window, Cumulate):
        return _Side(BOUNDS, (Cumulate, window.size, window.offset % window.size), BOUNDS[1])
    return _Side(BOUNDS, (Tumble, window.size, Interval(0))) if isinstance(window, Tumble | Hop) else None


def _equal(term: exp.Expr, sides: dict[str, _Side | None]) -> tuple[frozenset[str], str] | None:
    """The two relations whose windows a term compares by one bound for equality, and which bound; None else."""
    both = [term.this, term.expression] if isinstance(term, exp.EQ) else []
    columns = [c for c in both if isinstance(c, exp.Column) and len(c.parts) == 2]
    names = frozenset(c.table.casefold() for c in columns)
    found = [sides.get(c.table.casefold()) for c in columns]
    if len(names) != 2 or found[0] is None or found[1] is None or found[0].windows != found[1].windows:
        return None
    named = zip(BOUNDS, found[0].names, found[1].names, strict=True)
    pair = tuple(c.name.casefold() for c in columns)
    return next(((names, bound) for bound, *each in named if tuple(each) == pair), None)


def _is(node: exp.Expr, name: str, tables: Collection[str]) -> bool:
    """True if a node is the column `name` of one of some relations."""
    return isinstance(node, exp.Column) and node.name.casefold() == name and node.table.casefold() in tables


def _clauses(select: exp.Select, *but: str) -> list[exp.Expr]:
    """The parts of all clauses of a query but some."""
    found = [v if isinstance(v, list) else [v] for k, v in select.args.items() if k not in but]
    return [node for nodes in found for node in nodes if isinstance(node, exp.Expr)]


def _reads(nodes: list[exp.Expr], name: str, tables: Collection[str] | None = None) -> bool:
    """True if some parts of a query read a column, also by a star; of any relation if none are given."""
    for node in nodes:
        for found in node.find_all(exp.Column, exp.Star):
            if isinstance(found, exp.Column) and not found.is_star:
                if found.name.casefold() == name and (tables is None or found.table.casefold() in tables):
                    return True
            elif found.parent is None or not aggregate_name(found.parent):
                return True
    return False
