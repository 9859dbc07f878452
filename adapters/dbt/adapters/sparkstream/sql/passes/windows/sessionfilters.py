"""Filters of rows below a SESSION, in dialect flink: Flink SQL in, Flink SQL out.

    SELECT window_start, window_end, k, SUM(w) FROM (SELECT *, v + 1 AS w FROM SESSION(TABLE t PARTITION BY k, ...))
    WHERE w > 1 GROUP BY window_start, window_end, k
    ->  ... FROM SESSION((SELECT * FROM t WHERE (v + 1) > 1) PARTITION BY k, ...)) GROUP BY ...

Flink makes one operator of a SESSION and the aggregation of its rows, and filters before it. It does so where the
aggregation groups by both bounds and the SESSION's keys alone, or has grouping sets, whatever subqueries and CTEs stand
between, if they choose, compute and filter rows only. Elsewhere Flink filters behind the SESSION, as Spark SQL does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import output_name
from dbt.adapters.sparkstream.sql.core.names.scope import Columns, conjuncts, find_cte, from_item
from dbt.adapters.sparkstream.sql.core.nodes import SETS, aggregate_name, find, has_aggregate, has_more, own
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS, WINDOW_COLUMNS, Session, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.inlined import inlined
from dbt.adapters.sparkstream.sql.passes.optimize.block import read_by

_PLAIN = ("expressions", "from_", "where", "with_", "hint")
"""Clauses of a query that chooses, computes and filters rows."""
_MORE = ("joins", "laterals", "pivots", "sample", "version", "when")
"""Parts that may follow a relation in FROM."""


def session_filters(tree: exp.Expr, source: Source, resolver: Resolver) -> Iterator[Edit]:
    """Edits that put a WHERE below each SESSION that Flink puts together from the rows that WHERE leaves.

    A CTE that others read as well becomes a subquery at first: then the new text has to be read for further edits.
    """
    if not any(isinstance(function.window, Session) for function in window_functions(tree)):
        return
    readings = Counter(id(cte) for table in find(tree, exp.Table) if (cte := find_cte(table)))
    for select in find(tree, exp.Select):
        chain = _Chain.below(select, source, resolver)
        if chain is None or not chain.is_filtered_first():
            continue
        shared = next((pair for pair in chain.ctes if readings[id(pair[1])] > 1), None)
        if shared is not None:
            yield from inlined(*shared, source)
            return
        yield from chain.edits()


class _Unknown(Exception):
    """A column whose origin isn't known."""


@dataclass(frozen=True)
class _Origin:
    """An expression over the rows of a SESSION.

    Attributes:
        text: the expression.
        columns: the columns of the SESSION in it, in lower case.
        plain: the column that it is, in lower case; None for any other expression.
    """

    text: str
    columns: frozenset[str]
    plain: str | None = None


@dataclass
class _Chain:
    """An aggregation of a SESSION's rows, and the queries between.

    Attributes:
        levels: the queries, the aggregation first, each with its name for what it reads.
        function: the SESSION, which the last one reads.
        alias: its alias as SQL has it, or nothing.
        ctes: CTEs on the way, each with the table that names it.
    """

    source: Source
    resolver: Resolver
    levels: list[tuple[Block, str]]
    function: WindowFunction
    alias: str
    ctes: list[tuple[exp.Table, exp.CTE]] = field(default_factory=list)

    @classmethod
    def below(cls, select: exp.Select, source: Source, resolver: Resolver) -> _Chain | None:
        """The chain below an aggregation; None where it aggregates no rows of a SESSION."""
        if not (select.args.get("group") or select.args.get("distinct")):
            return None
        levels: list[tuple[Block, str]] = []
        ctes: list[tuple[exp.Table, exp.CTE]] = []
        while True:
            if select.args.get("joins") or select.args.get("laterals") or (levels and not _is_plain(select)):
                return None
            relation, read, block = from_item(select), read_by(select), Block(source, select)
            if relation is not None and read is not None:
                function, alias = read
                levels.append((block, relation.alias))
                is_session = isinstance(function.window, Session)
                return cls(source, resolver, levels, function, alias, ctes) if is_session else None
            if relation is None or any(relation.args.get(name) for name in _MORE) or relation.alias_column_names:
                return None
            levels.append((block, relation.alias_or_name))
            inner: exp.Expr | None = None
            if isinstance(relation, exp.Subquery):
                inner = relation.this
            elif isinstance(relation, exp.Table) and (cte := find_cte(relation)) and not cte.args["alias"].columns:
                inner = cte.this
                ctes.append((relation, cte))
            if not isinstance(inner, exp.Select) or any(inner is each.select for each, _ in levels):
                return None
            select = inner

    def is_filtered_first(self) -> bool:
        """True if Flink filters rows before it puts sessions together."""
        filters = self._filters()
        if not filters or any(condition.find(exp.Select) for condition, _ in filters):
            return False
        try:
            keys, has_sets = self._keys()
            grouped = {self._origin(key, 0).plain for key in keys}
            own_keys = {key.name.casefold() for key in self.function.partition_by}
            if not (has_sets and grouped >= {*BOUNDS}) and grouped - {"window_time"} != {*BOUNDS, *own_keys}:
                return False
            parts = [(part, level) for condition, level in filters for part in conjuncts(condition)]
            if all(self._holds(*pair) for pair in parts):
                return False
            having = self.levels[0][0].select.args.get("having")
            parts += [(part, 0) for part in conjuncts(having) if not has_aggregate(part)]
            looked_at = [*(pair for pair in parts if not self._holds(*pair)), *((call, 0) for call in self._calls())]
            if any(self._origin(node, level).columns & {*WINDOW_COLUMNS} for node, level in looked_at):
                return False
            # A key that a condition fixes is none to Flink's aggregation.
            return not any(self._fixed(part, level) in own_keys for part, level in parts)
        except _Unknown:
            return False

    def edits(self) -> Iterator[Edit]:
        """Edits that put every WHERE of the chain below the SESSION."""
        filters = self._filters()
        conditions: list[str] = []
        for condition, level in reversed(filters):
            block = self.levels[level][0]
            parts = list(conjuncts(condition))
            kept = [part for part in parts if not self._holds(part, level)]
            for part in [condition] if len(kept) == len(parts) else kept:
                text = self._origin(part, level).text
                is_loose = len(filters) + len(kept) > 2 and isinstance(part, exp.Or)
                conditions.append(f"({text})" if is_loose else text)
            yield Edit.to(block.with_space(block.clauses["where"]), "")
        written = " AND ".join(conditions)
        rows = self.source.span(self.function.this)
        before = self.source.tokens_in((self.source.span(self.function)[0], rows[0]))
        start = before[-1].start if before[-1].text.upper() == "TABLE" else rows[0]
        alias = f" AS {self.alias}" if self.alias else ""
        yield Edit((start, rows[1]), lambda: f"(SELECT * FROM {self.source.render(rows)}{alias} WHERE {written})")

    def _holds(self, part: exp.Expr, level: int) -> bool:
        """True for a condition that every row meets, such as `window_start IS NOT NULL`."""
        found = part.this.unnest() if isinstance(part, exp.Not) else None
        if not isinstance(found, exp.Is) or not isinstance(found.expression, exp.Null):
            return False
        return self._origin(found.this, level).plain in WINDOW_COLUMNS

    def _filters(self) -> list[tuple[exp.Expr, int]]:
        """The conditions of WHERE, each with the level of its query."""
        wheres = ((block.select.args.get("where"), level) for level, (block, _) in enumerate(self.levels))
        return [(where.this, level) for where, level in wheres if where]

    def _keys(self) -> tuple[list[exp.Expr], bool]:
        """Keys that the aggregation groups by, and True if it has several grouping sets."""
        select = self.levels[0][0].select
        group = select.args.get("group")
        waiting = [item.unalias() for item in select.expressions] if group is None else list(group.expressions)
        keys: list[exp.Expr] = []
        has_sets = False
        while waiting:
            key = waiting.pop().unnest()
            # One grouping set is none.
            has_sets |= isinstance(key, SETS) and not (isinstance(key, exp.GroupingSets) and len(key.expressions) == 1)
            if isinstance(key, (exp.Tuple, *SETS)):
                waiting += key.expressions
            else:
                keys.append(key)
        return keys, has_sets

    def _calls(self) -> Iterator[exp.Expr]:
        """Aggregates of the aggregation, with their FILTER."""
        for node in own(self.levels[0][0].select, exp.Anonymous):
            if aggregate_name(node):
                yield node.parent if isinstance(node.parent, exp.Filter) else node

    def _fixed(self, part: exp.Expr, level: int) -> str | None:
        """The column that a condition gives one value."""
        if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null):
            return self._origin(part.this, level).plain
        if isinstance(part, (exp.EQ, exp.NullSafeEQ)):
            sides = [part.this, part.expression]
        elif isinstance(part, exp.In) and len(part.expressions) == 1:
            sides = [part.this, part.expressions[0]]
        else:
            return None
        variable = [side for side in sides if side.find(exp.Column)]
        return self._origin(variable[0], level).plain if len(variable) == 1 else None

    # -- columns as the SESSION's input has them -----------------------------------------------------
    def _origin(self, node: exp.Expr, level: int) -> _Origin:
        """An expression of a query, over the rows of the SESSION."""
        (block, name), last = self.levels[level], level + 1 == len(self.levels)
        pieces: list[tuple[Span, str]] = []
        columns: set[str] = set()
        plain: str | None = None
        for column in node.find_all(exp.Column):
            parts = column.parts
            qualified = len(parts) > 1 and parts[0].name.casefold() == name.casefold()
            own_part = parts[1] if qualified else parts[0]
            if not isinstance(own_part, exp.Identifier):
                raise _Unknown
            place = self.source.span(parts[0])[0], self.source.span(own_part)[1]
            found = self._named(own_part, level + 1) if not last else None
            columns |= {own_part.name.casefold()} if found is None else found.columns
            if found is not None:
                pieces.append((place, found.text if found.plain else f"({found.text})"))
            if column is node and len(parts) == 1 + qualified:
                plain = own_part.name.casefold() if found is None else found.plain
        return _Origin(block.text(self.source.span(node), pieces), frozenset(columns), plain)

    def _named(self, name: exp.Identifier, level: int) -> _Origin:
        """A column that a query gives, over the rows of the SESSION."""
        select, last = self.levels[level][0].select, level + 1 == len(self.levels)
        relation, key = from_item(select), name.name.casefold()
        known = self.resolver.columns(relation) if relation is not None else Columns(complete=False)
        aliases = {output_name(item).casefold() for item in select.expressions if not item.is_star}
        for item in select.expressions:
            if item.is_star:
                if known.find(key) is None and (known.complete or key in aliases):
                    continue
                if last:
                    return _Origin(self.source.written(name), frozenset({key}), key)
                return self._named(name, level + 1)
            if output_name(item).casefold() == key:
                return self._origin(item.unalias(), level)
        raise _Unknown


def _is_plain(select: exp.Select) -> bool:
    """True if a query chooses, computes and filters rows, and does nothing else."""
    if has_more(select, *_PLAIN):
        return False
    return not any(item.find(exp.Select, exp.Window) or has_aggregate(item) for item in select.expressions)
