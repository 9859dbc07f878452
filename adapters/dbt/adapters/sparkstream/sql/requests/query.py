"""Rewrites a query: one row is added to its main table, and only the result of this row is given.

The main table is what FROM of the outermost SELECT leads to, through subqueries and CTEs. It becomes

    (SELECT *, FALSE AS __request FROM trades UNION ALL SELECT ..., TRUE AS __request) AS trades

Every SELECT on the way passes the mark on, and the whole query is put into `SELECT * EXCEPT (__request) ... WHERE
__request`. All else stays as it is, so both are translated alike. In windows, the marked row is the
last one to arrive (`Frames` knows the mark). Sources: OpenMLDB's request mode, one row that isn't inserted; a
subquery with windows or LAST JOIN over the main table that is joined to it holds the row too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import RequestError
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, name_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, aggregate_name, enclosing, own
from dbt.adapters.sparkstream.sql.core.schema import Describe, Schema
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source, Span, Traced, blamed_on
from dbt.adapters.sparkstream.sql.grammar.net import netted
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, LastJoin
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.framing.streams import MARK
from dbt.adapters.sparkstream.sql.requests.rows import row_sql
from dbt.adapters.sparkstream.sql.statement import Statement

_STORED = f"CAST(FALSE AS BOOLEAN) AS {MARK}"
_REQUESTED = f"CAST(TRUE AS BOOLEAN) AS {MARK}"


def request_sql(
    sql: str, dialect: str, row: Mapping[str, Any], *, schema: Schema | Describe, arrival: str | None = None
) -> str:
    """Spark SQL for the result of a query for one row, computed with the rows that are stored.

    Args:
        sql: a query that gives a result for every row of its main table.
        dialect: what it is written in, as for `translate`.
        row: column of the main table -> value, as JSON has them.
        schema: as for `translate`; the columns of the main table have to be in it.
        arrival: as for `translate`. The request's row is the last one to arrive, whatever its value.

    Raises:
        TranslationError: the query can't be translated, or isn't computed row by row.
        RequestError: the row doesn't fit the main table, or nobody knows this table's columns.
    """

    def read() -> tuple[Statement, list[str]]:
        statement = Statement.parse(sql, dialect, whole=True)
        return statement, statement.tables(skewed=True) if callable(schema) else []

    original, tables = netted(sql, dialect, read)
    known = schema(tables) if callable(schema) else schema

    def written() -> str:
        # Faults of the query as it was written: in the rewritten one, not all columns of the main table are known.
        Statement.parse(sql, dialect).traced(known, arrival=arrival)
        if len(original.trees) != 1:
            raise RequestError(f"a request takes one query, and here are {len(original.trees)}")
        rewritten = _Rewriting(original.source, original.trees[0], row, known).text()
        with blamed_on(sql, rewritten):
            return Statement.parse(rewritten.text, dialect).traced(known, arrival=arrival, request=True).text

    return netted(sql, dialect, written)


class _Rewriting:
    """One query with a request's row in its main table."""

    def __init__(self, source: Source, tree: exp.Expr, row: Mapping[str, Any], schema: Schema) -> None:
        self._source = source
        self._tree = tree
        self._row = row
        self._schema = {_plain(name): columns for name, columns in schema.items()}
        self._done: set[int] = set()
        unread = tree.find(Opaque)
        if unread is not None:
            raise source.error(
                unread,
                "this query can't be parsed, so it isn't known whether it reads the row of a request",
                "make it a model of its own",
            )
        self._main = self._name(self._main_table(self._query(tree)))

    def text(self) -> Traced:
        """The query's text."""
        tokens = self._source.tokens_in((0, len(self._source.text)))
        last = next(t for t in reversed(tokens) if t.text != ";")
        self._source.apply(list(self._select(self._query(self._tree), passes=True)))
        body = self._source.traced((tokens[0].start, last.end + 1))
        return body.within(f"SELECT * EXCEPT ({MARK}) FROM (\n", f"\n) AS __answer WHERE {MARK}")

    # -- what the query is over ----------------------------------------------------------------------
    def _query(self, node: exp.Expr) -> exp.Select:
        while isinstance(node, (exp.Subquery, exp.CTE)):
            node = node.this
        if isinstance(node, exp.Select):
            return node
        if isinstance(node, exp.SetOperation):
            raise self._not_by_row(self._source.span(node), "a union of queries")
        raise RequestError("a request takes a query: SELECT ...")

    def _lead(self, select: exp.Select) -> exp.Expr:
        found = sources(select)
        if not found:
            raise RequestError("a request needs a query with a table in FROM")
        return found[0]

    def _main_table(self, select: exp.Select) -> exp.Table:
        lead = self._lead(select)
        if isinstance(lead, exp.Table) and isinstance(lead.this, exp.Identifier):
            cte = find_cte(lead)
            return self._main_table(self._query(cte)) if cte else lead
        if isinstance(lead, exp.Subquery):
            return self._main_table(self._query(lead))
        raise self._not_by_row(self._source.span(lead), "a window function in FROM")

    def _name(self, table: exp.Table) -> str:
        return self._source.text[slice(*self._source.full_name(table))]

    def _columns(self) -> Mapping[str, str]:
        columns = self._schema.get(_plain(self._main))
        if not columns:
            raise RequestError(
                f"the columns of {self._main} aren't known\n  a request adds a row to this table: build it first"
            )
        return columns

    # -- edits ---------------------------------------------------------------------------------------
    def _select(self, select: exp.Select, *, passes: bool) -> Iterator[Edit]:
        """The edits of a SELECT over the main table; with `passes`, the SELECT gives the mark."""
        if id(select) in self._done:
            return
        self._done.add(id(select))
        block = Block(self._source, select)
        self._check(select, block)
        lead = self._lead(select)
        yield from self._edit_lead(lead)
        for window in own(select, FramedWindow):
            for union in window.value.unions:
                span = union.meta[SPAN]
                text = lambda s=span: f"(SELECT *, {_STORED} FROM {self._source.render(s)})"  # noqa: E731
                yield Edit(span, text, level=1)
        for other in sources(select)[1:]:
            inner = other.this if isinstance(other, exp.Subquery) else None
            if isinstance(inner, exp.Select) and self._is_computed(inner):
                yield from self._select(inner, passes=False)
        yield from self._edit_items(select, block, name_of(lead), passes)

    def _edit_lead(self, lead: exp.Expr) -> Iterator[Edit]:
        cte = find_cte(lead)
        if not isinstance(lead, exp.Table) or cte:
            yield from self._select(self._query(cte or lead), passes=True)
            return
        name = self._name(lead)
        row = row_sql(self._row, self._columns(), name)
        alias = "" if lead.alias else f" AS {name_of(lead)}"
        rows = f"(SELECT *, {_STORED} FROM {name} UNION ALL {row}, {_REQUESTED}){alias}"
        yield Edit.to(self._source.full_name(lead), rows)

    def _is_computed(self, select: exp.Select) -> bool:
        """True if a joined subquery has windows or LAST JOINs over the main table."""
        try:
            main = self._name(self._main_table(select))
        except ValueError:
            return False
        return any(True for _ in own(select, exp.Window, LastJoin)) and _plain(main) == _plain(self._main)

    def _edit_items(self, select: exp.Select, block: Block, lead: str | None, passes: bool) -> Iterator[Edit]:
        """Takes the mark out of every `*`, and adds it behind the last item."""
        names = [name_of(s) or "" for s in sources(select)]
        for index, item in enumerate(select.expressions):
            of = item.table if isinstance(item, exp.Column) else ""
            star = block.star(index)
            if star is None or (of and _plain(of) != _plain(lead or "")):
                continue
            span = block.projections[index]
            text = block.text(span, [block.without(index, star, [MARK])])
            if not of and len(names) > 1 and not star.args.get("except_"):
                text = ", ".join(f"{n}.* EXCEPT ({MARK})" if n == lead else f"{n}.*" for n in names)
            yield Edit.to(span, text)
        if passes:
            end = block.projections[-1][1]
            prefix = f"{lead}." if len(names) > 1 else ""
            yield Edit((end, end), lambda: f", {prefix}{MARK} AS {MARK}")

    # -- faults --------------------------------------------------------------------------------------
    def _check(self, select: exp.Select, block: Block) -> None:
        if not select.expressions:
            raise self._source.error(block.clauses["select"], "this SELECT has no columns", "name them, or write *")
        for clause, word in (("group", "GROUP BY"), ("having", "HAVING"), ("limit", "LIMIT"), ("offset", "OFFSET")):
            if clause in block.clauses:
                raise self._not_by_row(block.clauses[clause], word)
        if select.args.get("distinct"):
            raise self._not_by_row(block.clauses["select"], "DISTINCT")
        for join in own(select, exp.Join):
            if join.side in ("RIGHT", "FULL"):
                raise self._not_by_row(self._source.span(join.this), f"a {join.side} JOIN")
        for node in own(select, exp.Anonymous):
            named = aggregate_name(node) or node.name.upper() in AGGREGATES
            if named and not enclosing(node, exp.Window):
                raise self._not_by_row(block.clauses["select"], "an aggregate of the whole table")

    def _not_by_row(self, span: Span, what: str) -> Exception:
        return self._source.error(
            span,
            f"{what} gives no result for a single row, and a request has one",
            "a request takes a query that gives one result for every row of its first table: windows, LAST JOIN, WHERE",
        )


def _plain(name: str) -> str:
    return ".".join(part.strip() for part in name.split(".")).replace("`", "").replace('"', "").casefold()
