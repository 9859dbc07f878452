"""A query that aggregates the rows of windows, read for rules that compute it in another way."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.literals import backticked, unquoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.paths import output_name
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, from_item
from dbt.adapters.sparkstream.sql.core.nodes import aggregate_name, enclosing, has_aggregate, has_more
from dbt.adapters.sparkstream.sql.core.source import Source, Span
from dbt.adapters.sparkstream.sql.core.types import LTZ
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, WindowFunction
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import (
    MERGEABLE,
    PARAMETRISED,
    Arguments,
    Mergeable,
    mergeable,
    words,
)
from dbt.adapters.sparkstream.sql.passes.optimize.form import check_form
from dbt.adapters.sparkstream.sql.passes.optimize.grouping import Grouping, GroupKey, Names, read_grouping

_READ = words(
    """expressions from_ where group having order limit offset distinct hint windows with_ kind operation_modifiers"""
)
VOLATILE = words(
    """rand random randn randstr uniform uuid shuffle monotonically_increasing_id spark_partition_id input_file_name
    input_file_block_start input_file_block_length"""
)
_NAMED = ("count", "sum", "avg", "min", "max")
"""Aggregates whose column Spark names by the call as it is written, if it has no alias."""


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate over the rows of a window.

    Attributes:
        column: what its value is called in the query that gives the windows.
        sql: the call as it is written, with FILTER.
        parts: how it is put together from parts of the rows; or why it can't be.
        filter: the condition of FILTER, or None.
    """

    column: str
    sql: str
    parts: Mergeable | NoRule
    filter: str | None

    def merged(self) -> Mergeable:
        """Parts that the aggregate is put together from.

        Raises:
            NoRule: why it can't be.
        """
        if isinstance(self.parts, NoRule):
            raise self.parts
        return self.parts


@dataclass
class WindowAggregate:
    """A SELECT that groups the rows of one window function by window, in pieces.

    Attributes:
        function: the window function.
        alias: its alias, or nothing.
        grouping: GROUP BY.
        calls: the aggregates, each once.
        row_conditions: the parts of WHERE that look at rows; None where it is all of WHERE.
        window_condition: the part of WHERE that looks at windows, and HAVING, over the windows' query.
        grouping_calls: column -> `grouping(...)`.
        pieces: other text for places in the SELECT list, HAVING, ORDER BY and WINDOW.
        streams: True if the rows come from a stream, whose times are all TIMESTAMPs.
    """

    source: Source
    resolver: Resolver
    select: exp.Select
    block: Block
    function: WindowFunction
    alias: str
    grouping: Grouping
    row_conditions: list[str] | None = None
    window_conditions: list[str] = field(default_factory=list)
    calls: dict[str, AggregateCall] = field(default_factory=dict)
    grouping_calls: dict[str, str] = field(default_factory=dict)
    pieces: list[tuple[Span, str]] = field(default_factory=list)
    streams: bool = False

    def row_condition(self) -> str | None:
        """The condition on rows, None without one; to be called when the edits within it are made."""
        return self.block.condition() if self.row_conditions is None else " AND ".join(self.row_conditions) or None

    @property
    def filters_rows(self) -> bool:
        """True if WHERE has conditions on rows."""
        return "where" in self.block.clauses and self.row_conditions != []

    def time_type(self) -> str | None:
        """The type of the time column, where it is known."""
        if self.streams:
            return LTZ
        found = self.resolver.columns(self.function.this).find(self.function.timecol.name)
        return found.type if found else None

    def window_columns(self) -> set[str]:
        """The window columns that the SELECT names."""
        return {c.name.casefold() for c in self.select.find_all(exp.Column)} & set(WINDOW_COLUMNS)

    def rewritten(self, windows: str) -> str:
        """The SELECT over a query, in parentheses, that gives keys, window columns and aggregates as columns."""
        clauses = self.block.clauses
        text = f"{self.block.keyword('from')} {windows}{f' AS {self.alias}' if self.alias else ''}"
        if self.window_conditions:
            text += f"\n{self.source.indent(clauses['from'][0])}WHERE {' AND '.join(self.window_conditions)}"
        gone = [(self.block.with_space(clauses[name]), "") for name in ("where", "group", "having") if name in clauses]
        return self.block.text(self.block.span, [*self.pieces, (clauses["from"], text), *gone])


def read_by(select: exp.Select) -> tuple[WindowFunction, str] | None:
    """The window function that a SELECT reads, and its alias; None where it reads anything else, or more."""
    relation = from_item(select)
    if isinstance(relation, WindowFunction):
        return relation, ""
    if not isinstance(relation, exp.Table) or not isinstance(relation.this, WindowFunction):
        return None
    alias = relation.args.get("alias")
    if has_more(relation, "this", "alias") or (alias and alias.args.get("columns")):
        return None
    return relation.this, alias.this.sql("spark") if alias else ""


def read_aggregate(
    source: Source, resolver: Resolver, function: WindowFunction, identity: frozenset[str], *, streams: bool = False
) -> WindowAggregate:
    """Reads the SELECT over a window function.

    Args:
        identity: window columns, any of which tells windows apart; it must group by one.
        streams: True if its rows come from a stream.

    Raises:
        NoRule: it has something that no rule knows.
    """
    select = enclosing(function, exp.Select)
    found = read_by(select) if select else None
    if select is None or found is None or found[0] is not function:
        raise NoRule("the query over it doesn't read it alone")
    check_form(select, _READ, "beside the aggregation; put the aggregation in a subquery")
    alias = found[1]
    names = Names(unquoted(alias))
    grouping = read_grouping(select, names, resolver.columns(function), identity)
    aggregate = WindowAggregate(
        source, resolver, select, Block(source, select), function, alias, grouping, streams=streams
    )
    return _ClauseReader(aggregate, names).read()


class _ClauseReader:
    """Reads the clauses of one SELECT."""

    def __init__(self, aggregate: WindowAggregate, names: Names) -> None:
        self._a = aggregate
        self._names = names
        self._keys: dict[str, GroupKey] = {key.form: key for key in aggregate.grouping.keys}
        self._aliases = {e.alias.casefold(): e for e in aggregate.select.expressions if isinstance(e, exp.Alias)}

    def read(self) -> WindowAggregate:
        a, select = self._a, self._a.select
        for node in select.find_all(exp.Anonymous):
            if str(node.this).lower() in VOLATILE:
                raise NoRule(f"{node.this}() gives another value for each window of a row")
        for key in a.grouping.keys:
            if key.node.find(exp.Window, exp.Select) or has_aggregate(key.node):
                raise NoRule("a group key holds an aggregate or a subquery")
        self._where()
        if len(select.expressions) != len(a.block.projections):
            raise NoRule("the SELECT list can't be told apart")
        for item, span in zip(select.expressions, a.block.projections, strict=True):
            self._item(item, span)
        for name in ("order", "windows"):
            clause = select.args.get(name)
            for node in clause if isinstance(clause, list) else [clause] if clause else []:
                self._outer(node)
        having = select.args.get("having")
        if having:
            self._outer(having.this)
            a.window_conditions.append(self._having(having))
        return a

    # -- WHERE and HAVING ----------------------------------------------------------------------------
    def _where(self) -> None:
        where = self._a.select.args.get("where")
        if not where:
            return
        origin = self._names.origin(where.this)
        if origin == "rows":
            return
        row: list[str] = []
        for part in conjuncts(where):
            origin = self._names.origin(part)
            if origin == "both" or part.find(exp.Subquery, exp.Select):
                raise NoRule("a condition in WHERE mixes columns of the rows and of the window")
            (row if origin == "rows" else self._a.window_conditions).append(self._a.source.term(part))
        self._a.row_conditions = row

    def _having(self, having: exp.Having) -> str:
        """HAVING over the windows' query, where aliases of the SELECT list aren't known."""
        a = self._a
        pieces = list(a.pieces)
        for column in having.find_all(exp.Column):
            item = None if column.table else self._aliases.get(column.name.casefold())
            if item is None or self._names.form(column) in self._keys or self._names.is_window(column):
                continue
            if any(s[0] <= a.source.span(column)[0] < s[1] for s, _ in a.pieces):
                continue
            if a.resolver.columns(a.function).find(column.name):
                raise NoRule(f"{column.name} in HAVING may be a column of the rows or of the SELECT list")
            pieces.append((a.source.span(column), f"({a.block.text(a.source.span(item.this), a.pieces)})"))
        text = a.block.text(a.block.body("having"), pieces)
        return f"({text})" if isinstance(having.this, exp.Or) else text

    # -- expressions ---------------------------------------------------------------------------------
    def _text(self, node: exp.Expr) -> str:
        return self._a.source.rendered(node)

    def _item(self, item: exp.Expr, span: Span) -> None:
        before = len(self._a.pieces)
        if item.is_star or isinstance(item, exp.Aliases):
            raise NoRule("the SELECT list has a star")
        self._outer(item.unalias())
        if not isinstance(item, exp.Alias) and len(self._a.pieces) > before:
            name = output_name(item) or self._spark_name(item)  # r.v, a field of a row that is a key, is called v
            self._a.pieces.append(((span[1], span[1]), f" AS {backticked(name)}"))

    def _spark_name(self, item: exp.Expr) -> str:
        """The name that Spark gives a column that is an aggregate without an alias."""
        name = _aggregate_name(item)
        arguments = item.expressions if isinstance(item, exp.Anonymous) else []
        if name in _NAMED and len(arguments) == 1 and isinstance(arguments[0], (exp.Star, exp.Column)):
            argument = arguments[0]
            if isinstance(argument, exp.Star):
                return f"{name}(1)"
            if argument.table.casefold() in ("", unquoted(self._a.alias).casefold()):
                return f"{name}({argument.name})"
        raise NoRule(f"{self._text(item)} has no name; give it one with AS")

    def _outer(self, node: exp.Expr) -> None:
        """Finds other text for keys and aggregates; refuses columns that are neither."""
        a = self._a
        if isinstance(node, (exp.Subquery, exp.Select, exp.Exists)):
            raise NoRule("a subquery in the SELECT list, HAVING or ORDER BY")
        if isinstance(node, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            raise NoRule("WITHIN GROUP or IGNORE NULLS behind an aggregate")
        form = self._names.form(node) if type(node) in a.grouping.kinds else None
        key = self._keys.get(form) if form else None
        if key:
            if not key.is_column or key.column.startswith("__key_"):
                a.pieces.append((a.source.span(node), key.column))
            return
        if form in a.grouping.window_forms:
            return
        if isinstance(node, exp.Column):
            if not node.table and node.name.casefold() in self._aliases:
                return
            raise NoRule(f"{self._text(node)} is neither grouped by nor in an aggregate that slices can give")
        name = _aggregate_name(node)
        if name and not (isinstance(node.parent, exp.Window) and node.arg_key == "this"):
            a.pieces.append((a.source.span(node), self._call(node, name)))
            return
        if isinstance(node, exp.Anonymous) and str(node.this).lower() in ("grouping", "grouping_id"):
            a.pieces.append((a.source.span(node), self._grouping_call(node)))
            return
        if isinstance(node, exp.Filter) and isinstance(node.parent, exp.Window) and node.arg_key == "this":
            raise NoRule("FILTER in a window function over aggregates")
        for child in node.iter_expressions():
            self._outer(child)

    def _grouping_call(self, node: exp.Anonymous) -> str:
        if str(node.this).lower() == "grouping_id" or len(node.expressions) != 1:
            raise NoRule("grouping_id; use grouping(column)")
        key = self._keys.get(self._names.form(node.expressions[0]))
        if key is None:
            raise NoRule("grouping() of a column of the window")
        column = f"__grouping_{list(self._keys).index(key.form) + 1}"
        self._a.grouping_calls[column] = key.form
        return column

    # -- aggregates ----------------------------------------------------------------------------------
    def _call(self, node: exp.Expr, name: str) -> str:
        a = self._a
        call = node.this if isinstance(node, exp.Filter) else node
        text = self._text(node)
        known = a.calls.get(text)
        if known:
            return known.column
        if node.find(exp.Select, exp.Window):
            raise NoRule("a subquery or window function in an aggregate")
        if any(self._names.is_window(c) for c in node.find_all(exp.Column)):
            raise NoRule(f"{text} looks at columns of the window, so it isn't the same for each window of a row")
        if any(has_aggregate(e) for e in call.expressions):
            raise NoRule("an aggregate within an aggregate")
        condition = self._text(node.expression.this) if isinstance(node, exp.Filter) else None
        column = f"__{name}_{len(a.calls) + 1}"
        try:
            parts: Mergeable | NoRule = self._parts(call, name)
        except NoRule as reason:
            parts = reason
        a.calls[text] = AggregateCall(column, text, parts, condition)
        return column

    def _parts(self, call: exp.Expr, name: str) -> Mergeable:
        a, text = self._a, self._text(call)
        if name not in MERGEABLE:
            raise NoRule(f"{name} can't be put together from slices")
        distinct = any(isinstance(e, exp.Distinct) for e in call.expressions)
        arguments = [i for e in call.expressions for i in (e.expressions if isinstance(e, exp.Distinct) else [e])]
        if not arguments or any(isinstance(e, exp.Column) and e.is_star for e in arguments):
            raise NoRule(f"{text} has no single argument")
        sql = ", ".join("*" if isinstance(e, exp.Star) else self._text(e) for e in arguments)
        type_ = a.resolver.type(arguments[0], a.select)
        if name in PARAMETRISED and len(arguments) == 2 and isinstance(arguments[1], exp.Literal) and not distinct:
            return mergeable(Arguments(name, sql, type_, distinct, self._text(arguments[1]), a.streams))
        if len(arguments) > 1 and (name != "count" or distinct):
            raise NoRule(f"{text} has several arguments")
        return mergeable(Arguments(name, sql, type_, distinct, kept=a.streams))


def _aggregate_name(node: exp.Expr) -> str | None:
    """The name of the aggregate function that a node calls, FILTER included."""
    call = node.this if isinstance(node, exp.Filter) else node
    return aggregate_name(call)
