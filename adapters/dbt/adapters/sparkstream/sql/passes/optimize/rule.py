"""Base of the optimiser's rules: a rule reads a query, and gives edits or its reason for none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import enclosing
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Cumulate, Hop, Window, WindowFunction
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate, read_aggregate
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Slices, counts_values, may_coincide

W = TypeVar("W", bound=Window)
S = TypeVar("S", bound=Hop | Cumulate)


@dataclass(frozen=True)
class Queries:
    """The queries over the window functions of a statement.

    Attributes:
        filtered: ids of window functions of which a microbatch keeps some windows only.
    """

    source: Source
    resolver: Resolver
    filtered: Collection[int] = ()

    def check(self, function: WindowFunction) -> None:
        """Raises NoRule where a microbatch keeps some of a function's windows only."""
        if id(function) in self.filtered:
            raise NoRule("a microbatch keeps some of the windows only")


@dataclass(frozen=True)
class Rewriting:
    """A query as a rule writes it.

    Attributes:
        functions: the window functions in it.
        edits: the changes of the author's text.
        copies: for each window function, how many copies of a row are joined at most.
    """

    functions: tuple[WindowFunction, ...]
    edits: tuple[Edit, ...]
    copies: tuple[int, ...] = (1,)


class Rule(ABC, Generic[W]):
    """A way to compute a query over windows with the same rows, names and types in less time.

    Attributes:
        name: what reports call it.
        does: what it does, in words.
        window: the kind of window that it is for.
    """

    name: ClassVar[str]
    does: ClassVar[str]
    window: type[W]

    @abstractmethod
    def may_apply(self, function: WindowFunction, resolver: Resolver) -> bool:
        """True if the rule may apply to the query over a window function; a quick test."""

    @abstractmethod
    def read(self, queries: Queries, function: WindowFunction, window: W) -> Rewriting | None:
        """The query over a window function, rewritten; None where the rule reads another kind of query.

        Raises:
            NoRule: why the query stays as it is.
        """


class AggregateRule(Rule[W]):
    """A rule for queries that aggregate the rows of each window.

    Attributes:
        identity: window columns, any of which tells windows apart.
    """

    identity: ClassVar[frozenset[str]]

    def may_apply(self, function: WindowFunction, resolver: Resolver) -> bool:
        select = enclosing(function, exp.Select)
        window = function.window
        if select is None or not select.args.get("group") or not isinstance(window, self.window):
            return False
        try:
            self.pays(window)
        except NoRule:
            return False
        return True

    def read(self, queries: Queries, function: WindowFunction, window: W) -> Rewriting:
        self.pays(window)
        queries.check(function)
        aggregate = read_aggregate(queries.source, queries.resolver, function, self.identity)
        self.check(aggregate)
        indent = queries.source.indent(aggregate.block.clauses["from"][0])
        edit = Edit(aggregate.block.span, lambda: aggregate.rewritten(self.rewrite(aggregate, window, indent)))
        return Rewriting((function,), (edit,))

    @abstractmethod
    def pays(self, window: W) -> None:
        """Raises NoRule where the rule is no use for a window."""

    def check(self, aggregate: WindowAggregate) -> None:
        """Raises NoRule where the rule would give other rows."""
        if may_coincide(aggregate, self.identity):
            raise NoRule("windows by one bound, which several have where the clock skips an hour: group by both")

    @abstractmethod
    def rewrite(self, aggregate: WindowAggregate, window: W, indent: str) -> str:
        """The query, in parentheses, that gives the windows with their keys and aggregates as columns."""


class SliceRule(AggregateRule[S]):
    """A rule that puts windows together from slices, which can be the state of a stream."""

    def check(self, aggregate: WindowAggregate) -> None:
        counts = counts_values(aggregate)
        if not may_coincide(aggregate, self.identity):
            return
        if counts:
            raise NoRule(
                "count(DISTINCT ...) of windows by one bound, which several have where the clock skips an hour"
            )
        if not aggregate.grouping.window_forms <= set(WINDOW_COLUMNS):
            raise NoRule(
                "a group key is computed from columns of the window, of which several may have the same bounds"
            )

    def rewrite(self, aggregate: WindowAggregate, window: S, indent: str) -> str:
        slices = self.slices(aggregate, window)
        return slices.written(self.windows(slices, window), indent)

    @abstractmethod
    def slices(self, aggregate: WindowAggregate, window: S) -> Slices:
        """The slices of a query."""

    @abstractmethod
    def windows(self, slices: Slices, window: S) -> Select:
        """The query that gives the windows with their keys and aggregates as columns."""

    @abstractmethod
    def every(self, window: S) -> Interval:
        """Time from a window's start to the next later start of a window."""

    def last_end(self, slices: Slices, window: S) -> str:
        """End of the last window that a row is in, on the wall clock."""
        return slices.clock.plus(slices.clock.floor("__wall", self.every(window), slices.offset), window.size)
