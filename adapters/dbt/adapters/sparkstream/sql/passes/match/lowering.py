"""MATCH_RECOGNIZE in FROM: checked, and written as a subquery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.limits import most_partial_matches
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.matching import NAVIGATION, ROWTIME, After, MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.checks import as_time, check_column
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, TIMES
from dbt.adapters.sparkstream.sql.core.writing import placed
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.flink.functions import is_aggregate_call
from dbt.adapters.sparkstream.sql.passes.match.names import MatchNames
from dbt.adapters.sparkstream.sql.passes.match.query import MatchQuery, OrderItem
from dbt.adapters.sparkstream.sql.passes.match.values import AGGREGATES, Values, call_around, is_column


class Matches(Editor):
    """Edits each MATCH_RECOGNIZE of a statement."""

    def edits(self, tree: exp.Expr, streamed: MatchRecognize | None = None) -> Iterator[Edit]:
        """A subquery in the place of every MATCH_RECOGNIZE and of the relation before it.

        Args:
            tree: the statement.
            streamed: the MATCH_RECOGNIZE that stays in its place, with edited expressions: `over` writes it.
        """
        for match in find(tree, MatchRecognize):
            Checks(self.source, self.resolver, match).check()
            names = _names(match)
            for part in (*match.measures, *match.definitions):
                yield from Values(self.source, self.resolver, match, names).edits(part.this)
            if match is not streamed:
                span = self.source.span(match)
                yield Edit(span, lambda match=match, span=span: self._written(match, span))  # type: ignore[misc]

    def _written(self, match: MatchRecognize, span: Span) -> str:
        query = self.over(match, self.text(match.this), self._columns(match))
        return placed(query.lines(), self.source.indent(span[0]))

    def over(
        self, match: MatchRecognize, relation: str, columns: Sequence[str], until: str | None = None
    ) -> MatchQuery:
        """A MATCH_RECOGNIZE over a relation, where its expressions are edited.

        Args:
            match: the MATCH_RECOGNIZE.
            relation: what it reads, for FROM.
            columns: the columns of an event, as Spark SQL.
            until: as `MatchQuery` has it.
        """
        rendered, names = self.source.rendered, _names(match)
        values = Values(self.source, self.resolver, match, names)
        return MatchQuery(
            relation=relation,
            keys=[rendered(key.this) for key in match.keys],
            order=[OrderItem(rendered(item.this.this), bool(item.args.get("desc"))) for item in match.order],
            columns=columns,
            measures={quoted(measure.alias): rendered(measure.this) for measure in match.measures},
            conditions={definition.alias: rendered(definition.this) for definition in match.definitions},
            pattern=match.pattern,
            names=names,
            depends_on={definition.alias: values.depends_on(definition.this) for definition in match.definitions},
            most=most_partial_matches(),
            comment=self._comment(match),
            until=until,
        )

    def _columns(self, match: MatchRecognize) -> list[str]:
        """The columns of an event that are read, each once."""
        read = [*(item.this for item in match.order), *(column for column in match.named() if is_column(column))]
        found: dict[str, str] = {}
        for column in read:
            if isinstance(column.this, exp.Identifier) and not column.is_star:
                found.setdefault(column.name.casefold(), self.source.written(column.this))
        return list(found.values())

    def _comment(self, match: MatchRecognize) -> str:
        elements = " ".join(str(element) for element in match.pattern.elements)
        skip = match.pattern.skip
        after = f"{skip.after.value} {skip.variable}".strip()
        within = match.pattern.within
        return f"PATTERN ({elements}), AFTER MATCH SKIP {after}" + (f", WITHIN {within.words()}" if within else "")


def _names(match: MatchRecognize) -> MatchNames:
    return MatchNames.of(match.pattern.variables, [key.name for key in match.keys])


class Checks(Editor):
    """Checks a MATCH_RECOGNIZE."""

    def __init__(self, source: Source, resolver: Resolver, match: MatchRecognize) -> None:
        super().__init__(source, resolver)
        self._match = match
        self._variables = match.pattern.variables
        self._columns = resolver.columns(match.this)

    def check(self) -> None:
        """Refuses a MATCH_RECOGNIZE that is wrong, or that can't be written in Spark."""
        self._check_order()
        self._check_skip()
        for key in self._match.keys:
            self._check_known(key)
        defined: set[str] = set()
        for definition in self._match.definitions:
            if definition.alias in defined:
                self.refuse(definition.args["alias"], f"{definition.alias} is defined twice", "write AND")
            defined.add(definition.alias)
            self._check_value(definition.this)
        for measure in self._match.measures:
            self._check_value(measure.this)

    def _check_order(self) -> None:
        for item in self._match.order:
            if not isinstance(item.this, exp.Column):
                self.refuse(item, "ORDER BY of MATCH_RECOGNIZE takes columns", "compute it in a subquery")
            self._check_known(item.this)
        time = self._match.order[0]
        if time.args.get("desc"):
            self.refuse(time, "MATCH_RECOGNIZE reads its rows in ascending order of time", "write ORDER BY ts")
        known = self._columns.find(time.this.name)
        if known and known.type is not None and known.type not in TIMES:
            self.refuse(
                time,
                f"MATCH_RECOGNIZE orders by a time first, and {time.this.name} is a {known.type}",
                "write ORDER BY ts, and further columns behind it"
                if known.type not in INTEGERS
                else f"make a time of it in a subquery: {as_time(known.name, known.type, flink=True)}",
            )

    def _check_skip(self) -> None:
        skip, elements = self._match.pattern.skip, self._match.pattern.elements
        if not skip.variable:
            return
        place: Span = self.source.call_span(self._match)
        if skip.variable not in self._variables:
            self.refuse(place, f"{skip.variable} in AFTER MATCH SKIP is no variable of the pattern", self._there_are())
        first = elements[0]
        if skip.variable == first.name and (skip.after is After.TO_FIRST or first.most == 1):
            self.refuse(
                place,
                f"a match begins with {skip.variable}: the search would find it again and again",
                "write AFTER MATCH SKIP TO NEXT ROW, or skip to another variable",
            )

    def _check_value(self, top: exp.Expr) -> None:
        for node in top.walk():
            if isinstance(node, (exp.Query, exp.Subquery)):
                self.refuse(node, "MATCH_RECOGNIZE takes no subquery here", "join its result in a subquery before")
            if isinstance(node, (exp.Window, exp.Filter)):
                self.refuse(node, "MATCH_RECOGNIZE takes no OVER and no FILTER", "write CASE WHEN in the argument")
            if isinstance(node, exp.Column) and is_column(node):
                self._check_column(node)
            if isinstance(node, exp.Anonymous):
                self._check_call(node, top)

    def _check_column(self, column: exp.Column) -> None:
        if column.table and column.table not in self._variables:
            self.refuse(column, f"{column.table} is no variable of the pattern", self._there_are())
        if column.is_star:
            self.refuse(column, "Flink takes no * of a variable", "count one of its columns, or write COUNT(*)")
        self._check_known(column)

    def _check_known(self, column: exp.Column) -> None:
        check_column(self.source, column, self._columns, "the input of MATCH_RECOGNIZE")

    def _check_call(self, call: exp.Anonymous, top: exp.Expr) -> None:
        name = call.name.upper()
        span = self.source.call_span(call)
        if name == "MATCH_PROCTIME":
            self.refuse(span, f"{name} is the clock's time, which no two runs share", f"write {ROWTIME}()")
        if name == ROWTIME and call.expressions:
            self.refuse(span, f"{ROWTIME} takes no argument here", f"write {ROWTIME}()")
        if is_aggregate_call(call) and name not in AGGREGATES:
            self.refuse(span, f"{name} over the rows of a variable isn't here", f"there are {', '.join(AGGREGATES)}")
        if name not in (*NAVIGATION, *AGGREGATES):
            return
        if call is not top and call_around(call, top) is not None:
            self.refuse(span, f"{name} can't stand within FIRST, LAST or an aggregate", "write one of them")
        if any(isinstance(argument, exp.Distinct) for argument in call.expressions):
            self.refuse(span, f"{name} takes no DISTINCT in MATCH_RECOGNIZE")
        most = 2 if name in (*NAVIGATION, "LISTAGG") else 1
        if not 1 <= len(call.expressions) <= most:
            self.refuse(span, f"{name} takes {'one or two arguments' if most == 2 else 'one argument'} here")
        for more in call.expressions[1:]:
            if name == "LISTAGG" and not (isinstance(more, exp.Literal) and more.is_string):
                self.refuse(more, "LISTAGG takes a constant text between the values", "write LISTAGG(A.x, '-')")
            if name != "LISTAGG" and not (isinstance(more, exp.Literal) and more.name.isdecimal()):
                self.refuse(more, f"{name} takes a constant number of rows", f"write {name}(A.x, 1)")
        variables = {column.table for column in call.expressions[0].find_all(exp.Column) if is_column(column)}
        if len(variables) > 1:
            self.refuse(
                span, f"{name} reads the rows of one variable", f"write one {name} for each: {name}(A.x) + {name}(B.x)"
            )

    def _there_are(self) -> str:
        return f"the pattern has {', '.join(self._variables)}"
