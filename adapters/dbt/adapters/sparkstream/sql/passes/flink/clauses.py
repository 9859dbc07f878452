"""LIMIT, OFFSET, FETCH, GROUP BY (), TABLESAMPLE, and comparisons with SOME and ALL, as Flink SQL writes them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import sources
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.families import unlike
from dbt.adapters.sparkstream.sql.passes.flink.functions import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

QUANTIFIERS = ("ALL", "SOME", "ANY")
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="
}  # fmt: skip
_LARGEST: dict[type[exp.Expr], str] = {exp.GT: "MAX", exp.GTE: "MAX", exp.LT: "MIN", exp.LTE: "MIN"}
"""Comparison -> the value of a subquery that is hardest to compare with; `x > ALL (q)` asks for more than its MAX."""
_OTHER = {"MAX": "MIN", "MIN": "MAX"}


class Clauses(Rewriter):
    """Edits FETCH FIRST, OFFSET n ROWS, GROUP BY (), TABLESAMPLE BERNOULLI, and `x > ALL (SELECT ...)`."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Fetch: self._limit,
            exp.Limit: self._limit,
            exp.Offset: self._offset,
            exp.In: self._in,
            exp.TableSample: self._sample,
            exp.All: self._quantified,
            exp.Any: self._quantified,
            exp.Anonymous: self._call,
            exp.Select: self._select,
            exp.Where: self._where,
        }

    # -- WHERE, QUALIFY ----------------------------------------------------------------------------------
    def _where(self, node: exp.Expr) -> Iterator[Edit]:
        """`WHERE NULL` keeps no row; Spark's NULL is no condition."""
        if isinstance(node.this, exp.Null):
            yield self.edit(node.this, lambda: "CAST(NULL AS BOOLEAN)")

    def _select(self, select: exp.Expr) -> Iterator[Edit]:
        """QUALIFY with aggregates as a filter around the query: Spark's can't read them."""
        qualify = select.args.get("qualify")
        if qualify is None or not any(call.name.upper() in AGGREGATES for call in qualify.find_all(exp.Anonymous)):
            return
        if not select.args.get("group"):
            return
        start, end = self.source.span(select)
        condition = self.source.span(qualify)
        tokens = self.source.tokens
        place = tokens[tokens.at(condition[0]) - 1].start, condition[1]  # from its keyword on
        columns = self.source.span(select.expressions[-1])[1]

        def text() -> str:
            render = self.source.render
            added = f", ({self.text(qualify.this)}) AS __qualified"
            inner = f"{render((start, columns))}{added}{render((columns, place[0])).rstrip()}"
            return f"SELECT * EXCEPT (__qualified) FROM ({inner}) WHERE __qualified{render((place[1], end))}"

        yield Edit((start, end), text, level=4)

    # -- LIMIT -------------------------------------------------------------------------------------------
    def _limit(self, node: exp.Expr) -> Iterator[Edit]:
        """Spark has neither FETCH nor `LIMIT 1, 2`, and takes LIMIT before OFFSET."""
        options = node.args.get("limit_options")
        if options and (options.args.get("percent") or options.args.get("with_ties")):
            self.refuse(node, "Flink's FETCH takes a number of rows", "write FETCH FIRST 10 ROWS ONLY")
        span = self.source.span(node)
        offset = node.parent.args.get("offset") if node.parent else None
        if isinstance(offset, exp.Offset) and (SPAN not in offset.meta or self.source.span(offset)[0] < span[0]):
            span = min(self.source.span(offset)[0], span[0]), span[1]
        elif isinstance(node, exp.Fetch):
            offset = None
        else:
            return
        number = node.args.get("count") or node.args.get("expression")

        def text() -> str:
            limit = f"LIMIT {self.text(number) if number else 1}"
            return f"{limit} OFFSET {self.source.written(offset.expression)}" if offset else limit

        yield Edit(span, text, level=1)

    def _offset(self, node: exp.Expr) -> Iterator[Edit]:
        if SPAN in node.meta:  # the 1 of LIMIT 1, 2 has none
            yield self.edit(node, lambda: f"OFFSET {self.text(node.expression)}")

    # -- GROUP BY (), TABLESAMPLE --------------------------------------------------------------------------
    def _sample(self, node: exp.Expr) -> Iterator[Edit]:
        """`TABLESAMPLE BERNOULLI (10)` takes ten of a hundred rows."""
        if str(node.args.get("method") or "").upper() != "BERNOULLI" or node.args.get("size") is None:
            return
        tokens = self.source.tokens
        at = tokens.at(self.source.span(node.args["size"])[0])
        percentage = tokens[at].text
        yield Edit((tokens[at - 2].start, tokens[at + 1].end + 1), lambda: f"({percentage} PERCENT)")

    # -- SOME and ALL ------------------------------------------------------------------------------------
    def _call(self, node: exp.Expr) -> Iterator[Edit]:
        if node.name.upper() in QUANTIFIERS:  # sqlglot takes `> ALL (1, 2)` for a call
            yield from self._quantified(node)

    def _quantified(self, node: exp.Expr) -> Iterator[Edit]:
        """`x > ALL (q)` by the largest value of q.

        A comparison with every value is NULL where it is NULL for one and false for none. So all are true if q is
        empty, or if x is more than the largest and no value is NULL. SOME is its mirror image.
        """
        comparison = node.parent
        if type(comparison) not in _OPERATORS or node.arg_key != "expression":
            self.refuse(node, "SOME, ANY and ALL stand behind a comparison", "write x > ALL (SELECT ...)")
        assert isinstance(comparison, exp.Binary)
        every = isinstance(node, exp.All) or node.name.upper() == "ALL"
        listed = node.expressions
        values = node.this if isinstance(node, (exp.All, exp.Any)) else exp.Tuple(expressions=listed)
        if len(listed) == 1 and isinstance(listed[0], exp.Values):  # ALL (VALUES 1, 2)
            values = listed[0]
        while isinstance(values, (exp.Paren, exp.Subquery)) and isinstance(values.this, exp.Expr):
            values = values.this
        given = self.resolver.columns(values).items if isinstance(values, exp.Query) else ()
        one, other = self.type(comparison.left), given[0].type if len(given) == 1 else None
        if unlike(one, other):
            self.refuse(comparison, f"this compares {one} with {other}", "write CAST(...) on one side")

        def text() -> str:
            x = self.text(comparison.left)
            x = f"({x})" if isinstance(comparison.left, exp.Binary) else x
            if isinstance(values, (exp.Query, exp.Values)):
                return self._of_query(comparison, x, self.text(values), every)
            listed = map(self.text, values.expressions if isinstance(values, exp.Tuple) else [values])
            joint = " AND " if every else " OR "
            return f"({joint.join(f'{x} {_OPERATORS[type(comparison)]} {value}' for value in listed)})"

        yield self.edit(comparison, text)

    def _in(self, node: exp.Expr) -> Iterator[Edit]:
        """`x IN (SELECT ...)` whose NULL somebody sees: in WHERE, NULL is as good as FALSE."""
        query = node.args.get("query")
        inner: exp.Expr | None = query.this if query is not None else None
        while isinstance(inner, exp.Subquery) and inner.is_wrapper:
            inner = inner.this
        if query is not None and inner is not None and inner is not query.this:
            one = inner  # in more parentheses, Spark reads a query of one row
            yield self.edit(query.this, lambda: self.text(one))
        around = node.parent
        while isinstance(around, (exp.And, exp.Or, exp.Paren, exp.Not)):
            around = around.parent
        seen = not isinstance(around, (exp.Where, exp.Having, exp.Join))
        if query is None or not seen or isinstance(node.this, exp.Tuple) or _is_correlated(query.this):
            return

        def text() -> str:
            x = self.text(node.this)
            member = _member(f"({x})" if isinstance(node.this, exp.Binary) else x, self.text(query.this))
            return f"(NOT {member})" if self.source.is_negated(node) else member

        yield self.edit(node, text)

    def _of_query(self, comparison: exp.Binary, x: str, query: str, every: bool) -> str:
        kind = type(comparison)
        if (kind, every) in ((exp.EQ, False), (exp.NEQ, True)):
            negated = "NOT " if every else ""
            if _is_conjunct(comparison):
                return f"{x} {negated}IN ({query})"
            # Elsewhere Spark's IN gives FALSE where it should be NULL.
            return f"({negated}{_member(x, query)})"
        extremes = [_LARGEST[kind] if every else _OTHER[_LARGEST[kind]]] if kind in _LARGEST else ["MIN", "MAX"]
        compared = [f"{x} {_OPERATORS[kind]} {_of(query, f'{extreme}(v)')}" for extreme in extremes]
        if every:
            compared.append(_of(query, "COUNT(*) = COUNT(v) OR NULL"))
            return f"({_of(query, 'COUNT(*)')} = 0 OR {' AND '.join(compared)})"
        return _if_any(query, " OR ".join(compared))


def _of(query: str, aggregate: str) -> str:
    """An aggregate over the values `v` that a query gives, as a subquery."""
    return f"(SELECT {aggregate} FROM ({query}) AS q(v))"


def _if_any(query: str, found: str) -> str:
    """Whether a query's values have one that meets a condition; NULL if none does, and one of them is NULL."""
    return f"({_of(query, 'COUNT(*)')} > 0 AND ({found} OR {_of(query, 'COUNT(*) > COUNT(v) AND NULL')}))"


def _member(x: str, query: str) -> str:
    """Whether a query gives a value; NULL where that isn't known: Spark's IN says FALSE there."""
    return _if_any(query, f"ARRAY_CONTAINS({_of(query, 'COLLECT_SET(v)')}, {x})")


def _is_correlated(query: exp.Expr) -> bool:
    """Whether a subquery names a table of the query around it."""
    inside = {source.alias_or_name.casefold() for select in query.find_all(exp.Select) for source in sources(select)}
    return any(column.table and column.table.casefold() not in inside for column in query.find_all(exp.Column))


def _is_conjunct(condition: exp.Expr) -> bool:
    """Whether a condition stands in WHERE, alone or with AND, so that NULL is as good as FALSE."""
    node = condition
    while isinstance(node.parent, (exp.And, exp.Paren)):
        node = node.parent
    return isinstance(node.parent, exp.Where)
