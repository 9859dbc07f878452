"""SELECT, UNION and the clauses LIMIT, OFFSET, FETCH and TABLESAMPLE of Flink SQL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.calls import cast
from dbt.adapters.sparkstream.sql.passes.flink.functions import is_aggregate_call
from dbt.adapters.sparkstream.sql.passes.flink.orderkeys import OrderKeys
from dbt.adapters.sparkstream.sql.passes.flink.outputs import OutputNames
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles, widened


class FlinkQueries(Rewriter):
    """Edits queries and their clauses."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self._order = OrderKeys(source, resolver)
        self._outputs = OutputNames(source, resolver)

    # -- SELECT ------------------------------------------------------------------------------------------
    @handles(exp.Select)
    def _select(self, select: exp.Select) -> Iterator[Edit]:
        yield from self._order.of_select(select)
        yield from self._qualified(select)
        group = select.args.get("group")
        for key in group.expressions if group else []:
            if isinstance(key, exp.Literal) and key.is_number:  # a constant to Flink, the place of a column to Spark
                self.refuse(key, "GROUP BY takes no positions", "repeat the expression")
        yield from self._outputs.of_select(select)

    def _qualified(self, select: exp.Select) -> Iterator[Edit]:
        """QUALIFY with aggregates as a filter around the query: Spark's can't read them."""
        qualify = select.args.get("qualify")
        if qualify is None or not any(map(is_aggregate_call, qualify.find_all(exp.Anonymous))):
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

    # -- UNION, EXCEPT, INTERSECT ------------------------------------------------------------------------
    @handles(exp.Union, exp.Except, exp.Intersect)
    def _set_operation(self, node: exp.SetOperation) -> Iterator[Edit]:
        yield from self._order.of_set_operation(node)
        if isinstance(node.parent, exp.SetOperation):
            return
        results = [column.type for column in self.resolver.columns(node).items]
        for select in _sides(node):
            columns = self.resolver.columns(select)
            if not columns.complete or len(columns.items) != len(results):
                continue
            needed = [widened(column.type, result) for column, result in zip(columns.items, results, strict=True)]
            if len(select.expressions) == len(results) and not any(p.is_star for p in select.expressions):
                for projection, type_ in zip(select.expressions, needed, strict=True):
                    yield from self._column(projection, type_)
            elif any(needed):
                names = [quoted(column.name) for column in columns.items]
                outputs = [
                    name if type_ is None else f"{cast(name, type_)} AS {name}"
                    for name, type_ in zip(names, needed, strict=True)
                ]
                text = lambda s=select, o=outputs: f"SELECT {', '.join(o)} FROM ({self.text(s)})"  # noqa: E731
                yield self.edit(select, text, level=1)

    def _column(self, projection: exp.Expr, type_: str | None) -> Iterator[Edit]:
        """A column of a SELECT in a type; it keeps its name."""
        value = projection.unalias()
        if type_ is not None and projection is value and isinstance(value, exp.Column):
            named = lambda: f"{cast(self.text(value), type_)} AS {quoted(value.name)}"  # noqa: E731
            yield self.edit(value, named, level=1)
        else:
            yield from self.as_type(value, type_)

    # -- LIMIT, OFFSET, TABLESAMPLE ----------------------------------------------------------------------
    @handles(exp.Limit, exp.Fetch)
    def _limit(self, node: exp.Limit | exp.Fetch) -> Iterator[Edit]:
        """Spark has neither FETCH nor `LIMIT 1, 2`, and takes LIMIT before OFFSET."""
        options = node.args.get("limit_options")
        if options and (options.args.get("percent") or options.args.get("with_ties")):
            return  # LIMIT can't say it, and Spark refuses FETCH
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

    @handles(exp.Offset)
    def _offset(self, node: exp.Offset) -> Iterator[Edit]:
        if SPAN in node.meta:  # the 1 of LIMIT 1, 2 has none
            yield self.edit(node, lambda: f"OFFSET {self.text(node.expression)}")

    @handles(exp.TableSample)
    def _sample(self, node: exp.TableSample) -> Iterator[Edit]:
        """`TABLESAMPLE BERNOULLI (10)` takes ten of a hundred rows."""
        if str(node.args.get("method") or "").upper() != "BERNOULLI" or node.args.get("size") is None:
            return
        tokens = self.source.tokens
        at = tokens.at(self.source.span(node.args["size"])[0])
        percentage = tokens[at].text
        yield Edit((tokens[at - 2].start, tokens[at + 1].end + 1), lambda: f"({percentage} PERCENT)")


def _sides(node: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs of a set operation."""
    if isinstance(node, exp.SetOperation):
        yield from _sides(node.this)
        yield from _sides(node.expression)
    elif isinstance(node, exp.Subquery):
        yield from _sides(node.this)
    elif isinstance(node, exp.Select):
        yield node
