"""The pass that rewrites the queries of a statement by rules, and notes what it did."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import Cumulate, Hop, Session, Window, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate, read_aggregate
from dbt.adapters.sparkstream.sql.passes.optimize.copies import HopCopies
from dbt.adapters.sparkstream.sql.passes.optimize.joins import NAME as HOP_JOIN
from dbt.adapters.sparkstream.sql.passes.optimize.joins import HopJoin, joining, may_join
from dbt.adapters.sparkstream.sql.passes.optimize.norule import NoRule
from dbt.adapters.sparkstream.sql.passes.optimize.rules import RULES, Rule
from dbt.adapters.sparkstream.sql.passes.optimize.slices import gcd_slice


def may_pay(trees: Iterable[exp.Expr]) -> bool:
    """Whether a rule may apply to a statement; a quick test."""
    kinds = tuple(rule.window for rule in RULES)
    functions = [f for tree in trees for f in window_functions(tree) if isinstance(f.window, kinds)]
    selects = (f.find_ancestor(exp.Select) for f in functions)
    return any(select is not None and select.args.get("group") for select in selects) or any(map(may_join, functions))


@dataclass(frozen=True)
class Decision:
    """What became of one window function.

    Attributes:
        window: the window.
        rule: the rule that rewrote the query over it, or None.
        reason: why no rule did, or none that stands before it.
        copies: how many copies of a row a join makes at most.
    """

    window: Window
    rule: str | None
    reason: str | None = None
    copies: int = 1

    def steps(self, rows: int | None, keys: int = 1, span: float | None = None) -> list[tuple[str, int]]:
        """What happens to the rows, and how many there are behind each step, as an estimate.

        Args:
            rows: how many rows the window function reads; nothing is estimated if None.
            keys: how many groups there are beside the windows.
            span: seconds from the first row to the last; as long as the rows can fill if None.
        """
        if rows is None:
            return []
        window = self.window
        slice_ = _slice(window)
        slots = rows if span is None or slice_ is None else max(1, round(span * 1e6 / slice_.micros)) * keys
        slices = min(rows, slots)
        if isinstance(window, Session):
            what, count = ("slices", slices) if self.rule else ("rows", rows)
            return [("rows read", rows), (f"{what}, sorted by key and time", count)]
        if self.rule == HOP_JOIN:
            buckets = "two buckets of time at most" if self.copies > 1 else "one bucket of time"
            return [("rows read", rows), (f"rows joined, each in {buckets}", rows * self.copies)]
        assert isinstance(window, (Hop, Cumulate)) and slice_ is not None
        copies = window.overlap if isinstance(window, Hop) else window.size // window.step
        every = window.slide // slice_ if isinstance(window, Hop) else 1
        windows = max(1, min(slices * copies, (slots + copies * keys) // every))
        if self.rule is None or self.rule == HopCopies.name:
            average = copies if isinstance(window, Hop) else (copies + 1) / 2
            return [
                ("rows read", rows),
                ("copies of rows, one per window", round(rows * average)),
                ("windows", windows),
            ]
        return [("rows read", rows), ("slices", slices), ("windows", windows)]


def _slice(window: Window) -> Interval | None:
    """How long the slices of a window are; None for a window that has none."""
    if isinstance(window, Hop):
        return gcd_slice(window.size, window.slide)
    return window.step if isinstance(window, Cumulate) else window.gap if isinstance(window, Session) else None


class Optimizer:
    """Edits the SELECTs that aggregate or join windows, where a rule applies.

    Attributes:
        handled: ids of the window functions that became part of a rewritten SELECT.
        decisions: one for each window function that some rule is for.

    Args:
        skipped: ids of window functions that no rule may take.
    """

    def __init__(self, source: Source, resolver: Resolver, *, skipped: Collection[int] = ()) -> None:
        self._skipped = skipped
        self._source = source
        self._resolver = resolver
        self.handled: set[int] = set()
        self.decisions: list[Decision] = []

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """A rewritten SELECT for every one that a rule applies to."""
        for function in window_functions(tree):
            if id(function) in self.handled or id(function) in self._skipped:
                continue
            reasons = []
            try:
                join = self._join(function)
            except NoRule as reason:
                reasons.append(str(reason))
            else:
                if join:
                    yield from self._joined(join)
                    continue
            read: dict[frozenset[str], WindowAggregate] = {}
            for rule in (r for r in RULES if isinstance(function.window, r.window)):
                try:
                    rule.pays(function.window)
                    if rule.identity not in read:
                        read[rule.identity] = read_aggregate(self._source, self._resolver, function, rule.identity)
                    aggregate = read[rule.identity]
                    rule.check(aggregate)
                except NoRule as reason:
                    reasons.append(str(reason))
                    continue
                self.handled.add(id(function))
                self.decisions.append(Decision(function.window, rule.name, next(iter(reasons), None)))
                yield Edit(aggregate.block.span, lambda a=aggregate, r=rule: self._rewritten(a, r))  # type: ignore[misc]
                break
            else:
                if reasons:
                    self.decisions.append(Decision(function.window, None, reasons[0]))

    def _join(self, function: WindowFunction) -> HopJoin | None:
        """The join that a HOP is a side of; None where it is none."""
        select = joining(function) if isinstance(function.window, Hop) else None
        join = HopJoin(self._source, self._resolver, select) if select else None
        if join and any(id(side.function) in self._skipped for side in (join.left, join.right)):
            raise NoRule("a side of the join has windows of a batch only")
        return join

    def _joined(self, join: HopJoin) -> Iterator[Edit]:
        for side, copies in ((join.left, 1), (join.right, 2)):
            self.handled.add(id(side.function))
            self.decisions.append(Decision(side.function.window, HOP_JOIN, copies=copies))
        yield from join.edits()

    def _rewritten(self, aggregate: WindowAggregate, rule: Rule) -> str:
        indent = self._source.indent(aggregate.block.clauses["from"][0])
        return aggregate.rewritten(rule.rewrite(aggregate, indent))
