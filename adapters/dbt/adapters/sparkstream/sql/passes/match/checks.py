"""Checks of a MATCH_RECOGNIZE beyond its grammar: Flink's refusals, and parts that Spark can't express."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.matching import NAVIGATION, ROWTIME, After, MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.checks import check_column
from dbt.adapters.sparkstream.sql.core.names.columns import NO_SELECT, Resolver
from dbt.adapters.sparkstream.sql.core.source import Source, Span
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.core.types import INTEGERS, TIMES
from dbt.adapters.sparkstream.sql.passes.flink.functions import is_aggregate_call
from dbt.adapters.sparkstream.sql.passes.match.aggregates import AGGREGATES
from dbt.adapters.sparkstream.sql.passes.match.values import call_around, is_column
from dbt.adapters.sparkstream.sql.passes.windows.times import as_time

_BEFORE = "write LAST(A.x, 1) for the row of A before its last"
_BEHIND = "define a further variable, and write its column"
_ABSENT = {
    "PREV": ("Flink has no PREV", _BEFORE),
    "LAG": ("LAG reads the rows of a window, and not those of a match", _BEFORE),
    "NEXT": ("Flink has no NEXT", _BEHIND),
    "LEAD": ("LEAD reads the rows of a window, and not those of a match", _BEHIND),
    "FIRST_VALUE": ("FIRST_VALUE over the rows of a variable isn't here", "write FIRST(A.x)"),
    "LAST_VALUE": ("LAST_VALUE over the rows of a variable isn't here", "write LAST(A.x)"),
    "CLASSIFIER": ("Flink has no CLASSIFIER", "write a constant for each variable in MEASURES"),
    "MATCH_NUMBER": ("Flink has no MATCH_NUMBER", "write ROW_NUMBER() OVER (PARTITION BY ...) around the query"),
    "MATCH_PROCTIME": ("MATCH_PROCTIME is the clock's time, which no two runs share", "write MATCH_ROWTIME()"),
    "FINAL": ("Flink has no FINAL in DEFINE", "leave it out"),
    "RUNNING": ("Flink has no RUNNING", "leave it out"),
}


class Checks:
    """Checks a MATCH_RECOGNIZE."""

    def __init__(self, source: Source, resolver: Resolver, match: MatchRecognize) -> None:
        self._source = source
        self._resolver = resolver
        self._match = match
        self._variables = match.pattern.variables
        self._columns = resolver.columns(match.this)

    def check(self) -> None:
        """Refuses what is wrong."""
        self._check_order()
        self._check_skip()
        for key in self._match.keys:
            self._check_known(key)
        defined: set[str] = set()
        for definition in self._match.definitions:
            if definition.alias in defined:
                self._refuse(definition.args["alias"], f"{definition.alias} is defined twice", "write AND")
            defined.add(definition.alias)
            self._check_value(definition.this)
            type_ = self._resolver.type(definition.this, enclosing(definition, exp.Select) or NO_SELECT)
            if type_ not in (None, "boolean", "void"):
                name = definition.alias
                self._refuse(
                    definition.this,
                    f"{name} is defined by a condition, and this is of type {type_}",
                    f"write such as {name}.x > 1",
                )
        names: set[str] = {key.name for key in self._match.keys}
        for measure in self._match.measures:
            if measure.alias in names:
                self._refuse(measure.args["alias"], f"two columns are named {measure.alias}", "name it otherwise")
            names.add(measure.alias)
            self._check_value(measure.this)

    def _check_order(self) -> None:
        for item in self._match.order:
            if not isinstance(item.this, exp.Column):
                self._refuse(item, "ORDER BY of MATCH_RECOGNIZE takes columns", "compute it in a subquery")
            self._check_known(item.this)
        time = self._match.order[0]
        if time.args.get("desc"):
            self._refuse(time, "MATCH_RECOGNIZE reads its rows in ascending order of time", "write ORDER BY ts")
        known = self._columns.find(time.this.name)
        if known and known.type is not None and known.type not in TIMES:
            self._refuse(
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
        place: Span = self._source.call_span(self._match)
        if skip.variable not in self._variables:
            self._refuse(place, f"{skip.variable} in AFTER MATCH SKIP is no variable of the pattern", self._there_are())
        first = elements[0]
        if skip.variable == first.name and (skip.after is After.TO_FIRST or first.most == 1):
            self._refuse(
                place,
                f"a match begins with {skip.variable}: the search would find it again and again",
                "write AFTER MATCH SKIP TO NEXT ROW, or skip to another variable",
            )

    def _check_value(self, top: exp.Expr) -> None:
        for node in top.walk():
            if isinstance(node, (exp.Query, exp.Subquery)):
                self._refuse(node, "MATCH_RECOGNIZE takes no subquery here", "join its result in a subquery before")
            if isinstance(node, (exp.Window, exp.Filter)):
                self._refuse(node, "MATCH_RECOGNIZE takes no OVER and no FILTER", "write CASE WHEN in the argument")
            if isinstance(node, exp.Column) and is_column(node):
                self._check_column(node)
            if isinstance(node, exp.Anonymous):
                self._check_call(node, top)

    def _check_column(self, column: exp.Column) -> None:
        if column.table and column.table not in self._variables:
            self._refuse(column, f"{column.table} is no variable of the pattern", self._there_are())
        if column.is_star:
            self._refuse(column, "Flink takes no * of a variable", "count one of its columns, or write COUNT(*)")
        self._check_known(column)

    def _check_known(self, column: exp.Column) -> None:
        of = "the input of MATCH_RECOGNIZE"
        check_column(self._source, self._source.span(column), column.name, self._columns, of)

    def _check_call(self, call: exp.Anonymous, top: exp.Expr) -> None:
        name = call.name.upper()
        span = self._source.call_span(call)
        if name in _ABSENT:
            self._refuse(span, *_ABSENT[name])
        if name == ROWTIME and call.expressions:
            self._refuse(span, f"{ROWTIME} takes no argument here", f"write {ROWTIME}()")
        if is_aggregate_call(call) and name not in AGGREGATES:
            self._refuse(span, f"{name} over the rows of a variable isn't here", f"there are {', '.join(AGGREGATES)}")
        if name not in (*NAVIGATION, *AGGREGATES):
            return
        if call is not top and call_around(call, top) is not None:
            self._refuse(span, f"{name} can't stand within FIRST, LAST or an aggregate", "write one of them")
        if any(isinstance(argument, exp.Distinct) for argument in call.expressions):
            self._refuse(span, f"{name} takes no DISTINCT in MATCH_RECOGNIZE")
        most = 2 if name in NAVIGATION else 1
        if not 1 <= len(call.expressions) <= most:
            self._refuse(span, f"{name} takes {'one or two arguments' if most == 2 else 'one argument'} here")
        offset = call.expressions[1] if len(call.expressions) == 2 else None
        if offset is not None and not (isinstance(offset, exp.Literal) and offset.name.isdecimal()):
            self._refuse(offset, f"{name} takes a constant number of rows", f"write {name}(A.x, 1)")
        variables = {column.table for column in call.expressions[0].find_all(exp.Column) if is_column(column)}
        if len(variables) > 1:
            self._refuse(
                span, f"{name} reads the rows of one variable", f"write one {name} for each: {name}(A.x) + {name}(B.x)"
            )

    def _there_are(self) -> str:
        return f"the pattern has {', '.join(self._variables)}"

    def _refuse(self, node: exp.Expr | Span, message: str, hint: str | None = None) -> NoReturn:
        span = self._source.span(node) if isinstance(node, exp.Expr) else node
        raise self._source.error(span, message, hint)
