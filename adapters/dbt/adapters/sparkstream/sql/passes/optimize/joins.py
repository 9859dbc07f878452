"""Joins of HOPs by rows: each row meets the rows it shares a window with, and each pair is copied once per window.

Windows of one slide and size are told apart by their starts. A row is in the windows from `__first` to `__last`: at
most `overlap` of them. Two rows share the windows that both are in:

    greatest(L.__first, R.__first) <= start <= least(L.__last, R.__last)

So joining copies by the bounds of their windows gives the same rows as joining rows by "there is such a window", with
a row for each. Spark joins by equality: rows meet in buckets of 2 * `overlap` windows. A row of the left side stands in
the bucket of its last window. One that it shares a window with has its last window less than `overlap` before or
behind, so a row of the right side stands in the one or two buckets where its pairs may be, and a pair meets once.

The joined rows become a column for each side, under the side's alias. `L.k` is then a field of it, with the same name.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, from_item, sources
from dbt.adapters.sparkstream.sql.core.nodes import has_more
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import LTZ, NTZ
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, LONGEST_APART, WINDOW_COLUMNS, Hop, WindowFunction
from dbt.adapters.sparkstream.sql.passes.optimize.block import VOLATILE
from dbt.adapters.sparkstream.sql.passes.optimize.form import check_form
from dbt.adapters.sparkstream.sql.passes.optimize.grouping import plain_keys
from dbt.adapters.sparkstream.sql.passes.optimize.joinrows import JoinByRows, Side
from dbt.adapters.sparkstream.sql.passes.optimize.rule import Queries, Rewriting, Rule

LEAST_OVERLAP = 4
"""Windows that a row is in from which on it is faster to join rows than copies."""

_READ = frozenset(
    "expressions from_ joins where group having order limit offset distinct windows with_".split()  # noqa: SIM905
)


def joining(function: WindowFunction) -> exp.Select | None:
    """The query that joins the rows of two window functions; None where another kind of query reads them."""
    node: exp.Expr = function.parent if isinstance(function.parent, exp.Table) else function
    while isinstance(node.parent, (exp.From, exp.Join)):
        select = node.parent.parent
        if not isinstance(select, exp.Select):
            return None
        if select.args.get("joins"):
            return select if sum(_reads_window(s) for s in sources(select)) > 1 else None
        if select.args.get("group") or not isinstance(select.parent, exp.Subquery):
            return None
        node = select.parent
    return None


def _reads_window(relation: exp.Expr) -> bool:
    """True if a relation is the rows of a window function, or some of them."""
    while isinstance(relation, exp.Subquery) and isinstance(relation.this, exp.Select):
        inner = from_item(relation.this)
        if inner is None or relation.this.args.get("group"):
            return False
        relation = inner
    return isinstance(relation.this if isinstance(relation, exp.Table) else relation, WindowFunction)


class HopJoin(Rule[Hop]):
    """Joins of two HOPs of the same windows, each row once."""

    name = "hop-join"
    does = "rows are joined once, and each pair is copied into the windows that it shares"
    window = Hop

    def may_apply(self, function: WindowFunction, resolver: Resolver) -> bool:
        window = function.window
        return isinstance(window, Hop) and window.overlap >= LEAST_OVERLAP and joining(function) is not None

    def read(self, queries: Queries, function: WindowFunction, window: Hop) -> Rewriting | None:
        select = joining(function)
        if select is None:
            return None
        join = _Reader(queries.source, queries.resolver, select).join()
        for side in (join.left, join.right):
            queries.check(side.function)
        return Rewriting((join.left.function, join.right.function), tuple(join.edits()), copies=(1, 2))


class _Reader:
    """Reads a SELECT that joins HOPs.

    Raises:
        NoRule: it has something that the rule doesn't know.
    """

    def __init__(self, source: Source, resolver: Resolver, select: exp.Select) -> None:
        self._source = source
        self._resolver = resolver
        self._select = select
        check_form(select, _READ, "beside the join of windows")
        [join, *more] = select.args["joins"]
        if more:
            raise NoRule("more than two tables are joined; put the join of the windows in a subquery")
        _check_kind(join)
        self._on: exp.Expr = join.args["on"]
        self._left, self._right = (self._side(r) for r in (select.args["from_"].this, join.this))
        self._bounds: dict[str, exp.Expr] = {}
        self._needless: list[exp.Expr] = []
        self._used: set[str] = set()

    def join(self) -> JoinByRows:
        """The join.

        Raises:
            NoRule: it has something that the rule doesn't know.
        """
        self._check_windows(self._left.window, self._right.window)
        self._read_condition(self._on)
        self._check_rest()
        references = (*self._stars(), *self._references())
        where = self._source, self._resolver.wall_bounds, self._select
        return JoinByRows(*where, self._left, self._right, self._bounds, tuple(self._needless), references, self._used)

    def _side(self, relation: exp.Expr) -> Side:
        function = _rows_of(relation)
        if not isinstance(function.window, Hop):
            raise NoRule("a side of the join is no HOP")
        if not relation.alias or relation.alias_column_names:
            raise NoRule("a side of the join has no alias, or one with a list of columns")
        rows = self._resolver.columns(function.this)
        time = rows.find(function.timecol.name)
        if time is None or time.type not in (NTZ, LTZ):
            raise NoRule(f"nobody knows the type of {function.timecol.name}")
        if any(rows.find(name) for name in WINDOW_COLUMNS):
            raise NoRule("the rows have columns of a window already")
        alias = self._source.name_of(relation)
        return Side(relation, function, function.window, alias, time.type)

    def _check_windows(self, left: Hop, right: Hop) -> None:
        if (left.size, left.slide, left.offset % left.slide) != (right.size, right.slide, right.offset % right.slide):
            raise NoRule("the sides of the join have other windows")
        if self._left.type != self._right.type:
            raise NoRule("the time columns of the sides are of different types")
        if left.overlap < LEAST_OVERLAP:
            raise NoRule(
                f"a row is in {left.overlap} windows at most, and joining rows pays from {LEAST_OVERLAP} windows on"
            )
        if self._left.type != NTZ and not self._resolver.wall_bounds and left.repeats:
            raise NoRule(f"two windows of more than {LONGEST_APART.words()} may be one, where the clock skips an hour")

    def _read_condition(self, on: exp.Expr) -> None:
        if on.find(exp.Select):
            raise NoRule("ON holds a subquery")
        _check_volatile(on, "ON")
        for term in conjuncts(on):
            bound = self._equal(term)
            if bound in BOUNDS and bound not in self._bounds:
                self._bounds[bound] = term
            elif bound is not None:
                self._needless.append(term)
            elif any(c.name.casefold() in WINDOW_COLUMNS for c in term.find_all(exp.Column)):
                raise NoRule("ON looks at columns of the windows in another way than for equality")
        if len(self._bounds) < len(BOUNDS):
            raise NoRule("ON doesn't say that both window_start and window_end are equal")

    def _equal(self, term: exp.Expr) -> str | None:
        """The window column of both sides that a term compares for equality, or None."""
        if not isinstance(term, (exp.EQ, exp.NullSafeEQ)):
            return None
        both = [term.this, term.expression]
        if not all(isinstance(c, exp.Column) and len(c.parts) == 2 for c in both):
            return None
        names = {c.name.casefold() for c in both}
        if {c.table.casefold() for c in both} != {self._left.name, self._right.name} or len(names) > 1:
            return None
        [name] = names
        return name if name in WINDOW_COLUMNS else None

    # -- the rest of the query -------------------------------------------------------------------------
    def _rest(self) -> Iterator[tuple[str, exp.Expr]]:
        """The pieces of the query that may name columns of the sides, each with the name of its clause."""
        for clause in ("expressions", "where", "group", "having", "order", "windows"):
            found = self._select.args.get(clause)
            for node in found if isinstance(found, list) else [found] if found else []:
                yield clause, node

    def _check_rest(self) -> None:
        if any(node.find(exp.Select) for _, node in self._rest()):
            raise NoRule("a subquery beside the join of windows")
        if self._select.args.get("group") and plain_keys(self._select) is None:
            raise NoRule("grouping sets or GROUP BY ALL beside the join of windows; put the join in a subquery")
        if any(len(c.parts) > 1 for order in self._orders_of_output() for c in order.find_all(exp.Column)):
            raise NoRule("ORDER BY of what DISTINCT, UNION and the like give names a side of the join")
        for item in self._select.expressions:
            if not isinstance(item, (exp.Alias, exp.Column, exp.Star)) and item.find(exp.Column):
                raise NoRule(f"{self._source.written(item)} has no name; give it one with AS")

    def _orders_of_output(self) -> Iterator[exp.Expr]:
        """ORDER BYs that see the SELECT list alone: Spark knows columns in it by their side still, but not fields."""
        node: exp.Expr = self._select
        while node is self._select or isinstance(node, exp.SetOperation):
            order = node.args.get("order")
            if order and (node is not self._select or node.args.get("distinct")):
                yield order
            if node.parent is None:
                return
            node = node.parent

    def _stars(self) -> Iterator[Edit]:
        """A star for each side where there is one for both."""
        for _, node in self._rest():
            for star in node.find_all(exp.Star):
                if not _means_columns(star):
                    continue
                self._used.update(WINDOW_COLUMNS)
                if star.parent is self._select:
                    both = f"{self._left.alias}.*, {self._right.alias}.*"
                    yield Edit.to(self._source.span(star), both)

    def _references(self) -> Iterator[Edit]:
        """The side's alias before each column that has none."""
        outputs = {e.output_name.casefold(): e for e in self._select.expressions}
        for clause, node in self._rest():
            for column in node.find_all(exp.Column):
                if len(column.parts) > 1:
                    self._used |= {column.parts[1].name.casefold()} & set(WINDOW_COLUMNS)
                side = self._of(column, outputs if clause in ("having", "order") else {}, clause)
                if side:
                    text = f"{side.alias}.{self._source.written(column)}"
                    yield Edit.to(self._source.span(column), text)

    def _of(self, column: exp.Column, outputs: dict[str, exp.Expr], clause: str) -> Side | None:
        """The side whose column a reference means; None if the reference names the side, or means something else.

        Args:
            outputs: the columns of the SELECT list that it may mean.

        Raises:
            NoRule: it can't be told.
        """
        sides, name = (self._left, self._right), column.name.casefold()
        if len(column.parts) > 1:
            if column.parts[0].name.casefold() not in (s.name for s in sides):
                raise NoRule(f"{self._source.written(column)} names neither side of the join")
            return None
        known = [self._resolver.columns(s.relation) for s in sides]
        found = [s for s, columns in zip(sides, known, strict=True) if columns.find(name)]
        complete = all(columns.complete for columns in known)
        if name in outputs:
            if clause == "having" and (found or not complete) and not isinstance(outputs[name], exp.Column):
                raise NoRule(f"{column.name} in HAVING may be a column of the rows or of the SELECT list")
            return None
        if not complete or len(found) > 1:
            raise NoRule(f"{column.name} may be of either side; write the side's alias before it")
        if not found and name in (s.name for s in sides):
            raise NoRule(f"{column.name} is a side of the join, and no column")
        return found[0] if found else None


def _rows_of(relation: exp.Expr) -> WindowFunction:
    """The window function whose rows, with all of their columns, are a side of a join."""
    if isinstance(relation, exp.Table) and isinstance(relation.this, WindowFunction):
        if has_more(relation, "this", "alias"):
            raise NoRule("a side of the join is more than a window function")
        relation = relation.this
    if isinstance(relation, WindowFunction):
        return relation
    if not isinstance(relation, exp.Subquery) or has_more(relation, "this", "alias"):
        raise NoRule("a side of the join is no window function")
    select = relation.this
    if not isinstance(select, exp.Select) or has_more(select, "expressions", "from_", "where"):
        raise NoRule("a side of the join is more than SELECT * FROM a window function")
    [item, *more] = select.expressions
    inner = from_item(select)
    if more or not isinstance(item, exp.Star) or any(item.args.values()) or inner is None:
        raise NoRule("a side of the join isn't SELECT * FROM a window function")
    where = select.args.get("where")
    if where:
        _check_volatile(where, "WHERE")
        if where.find(exp.Select):
            raise NoRule("a side of the join has a subquery in WHERE")
        if any(c.name.casefold() in WINDOW_COLUMNS for c in where.find_all(exp.Column)):
            raise NoRule("a side of the join has a condition on windows")
    return _rows_of(inner)


def _check_kind(join: exp.Join) -> None:
    if join.side or join.kind in ("SEMI", "ANTI", "OUTER"):
        words = " ".join(filter(None, (join.side, join.kind)))
        raise NoRule(f"{words} JOIN: whether a row has a partner is another question in each of its windows")
    if not join.args.get("on") or join.kind not in ("", "INNER") or has_more(join, "this", "on", "kind"):
        raise NoRule("windows are joined without ON")


def _check_volatile(node: exp.Expr, clause: str) -> None:
    for call in node.find_all(exp.Anonymous):
        if str(call.this).lower() in VOLATILE:
            raise NoRule(f"{call.this}() in {clause} gives another value for each window of a row")


def _means_columns(star: exp.Star) -> bool:
    """True if a star means columns, as in `*`, `L.*` and `struct(L.*)`, and not rows, as in `count(*)`."""
    if any(star.args.values()):
        raise NoRule("a star with EXCEPT in the SELECT list")
    of_side = isinstance(star.parent, exp.Column)
    around = star.parent.parent if of_side and star.parent else star.parent
    if isinstance(around, exp.Select):
        return True
    if isinstance(around, exp.Anonymous) and str(around.this).lower() == ("struct" if of_side else "count"):
        return of_side
    raise NoRule("a star in an expression")
