"""The pass that rewrites the queries of a statement by rules, and records its decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import enclosing, find
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import (
    Cumulate,
    Hop,
    Session,
    Tumble,
    Window,
    WindowFunction,
    window_functions,
)
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.optimize.copies import HopCopies, TumbleGroups
from dbt.adapters.sparkstream.sql.passes.optimize.cumulate import CumulateSlices
from dbt.adapters.sparkstream.sql.passes.optimize.hop import HopSlices
from dbt.adapters.sparkstream.sql.passes.optimize.joins import HopJoin, joining
from dbt.adapters.sparkstream.sql.passes.optimize.onebound import OneBound
from dbt.adapters.sparkstream.sql.passes.optimize.oversums import OverSums, SlidingFrame
from dbt.adapters.sparkstream.sql.passes.optimize.rule import Queries, Rule, SliceRule
from dbt.adapters.sparkstream.sql.passes.optimize.sessions import SessionSlices
from dbt.adapters.sparkstream.sql.passes.optimize.slices import gcd_slice

SLICE_RULES: tuple[SliceRule[Any], ...] = (HopSlices(), CumulateSlices())
"""The rules by which a stream keeps slices instead of windows."""
RULES: tuple[Rule[Any], ...] = (HopJoin(), SLICE_RULES[0], HopCopies(), SLICE_RULES[1], SessionSlices(), TumbleGroups())
"""The rules of the optimiser, in order: the first that applies to a window rewrites the query over it."""


def has_frames(trees: Iterable[exp.Expr]) -> bool:
    """True if a statement has frames of OVER; a quick test."""
    return any(any(find(tree, exp.WindowSpec, FramedWindow)) for tree in trees)


def may_pay(trees: Iterable[exp.Expr], resolver: Resolver) -> bool:
    """True if a rule for windows may apply to a statement; a quick test."""
    functions = [function for tree in trees for function in window_functions(tree)]
    return any(rule.may_apply(function, resolver) for function in functions for rule in _rules(function))


@dataclass(frozen=True)
class Decision:
    """Decision of the optimiser about one window function, or about one call over a frame.

    Attributes:
        window: the window, or the frame.
        rule: the rule that rewrote the query over it, or None.
        reason: why no rule did, or none that stands before it.
        copies: how many copies of a row a join makes at most.
    """

    window: Window | SlidingFrame
    rule: str | None
    reason: str | None = None
    copies: int = 1

    @property
    def does(self) -> str | None:
        """What the rule does, in words."""
        from dbt.adapters.sparkstream.sql.passes.optimize.skewed import SkewedFrames

        frames = {OverSums.name: OverSums.does, SkewedFrames.name: SkewedFrames.does}
        return ({rule.name: rule.does for rule in RULES} | frames).get(self.rule or "")

    def steps(self, rows: int | None, keys: int = 1, span: float | None = None) -> list[tuple[str, int]]:
        """Steps that the rows pass, each with an estimate of how many rows or windows there are behind it.

        Args:
            rows: how many rows the window function reads; nothing is estimated if None.
            keys: how many groups there are beside the windows.
            span: seconds from the first row to the last; as long as the rows can fill if None.
        """
        if rows is None:
            return []
        window = self.window
        if isinstance(window, SlidingFrame):
            return [_step(rows, "row", " read")]
        slice_ = _slice(window)
        slots = rows if span is None or slice_ is None else max(1, round(span * 1e6 / slice_.micros)) * keys
        slices = min(rows, slots)
        if isinstance(window, Session):
            what, count = ("slice", slices) if self.rule else ("row", rows)
            return [_step(rows, "row", " read"), _step(count, what, ", sorted by key and time")]
        if self.rule == HopJoin.name:
            buckets = "two buckets of time at most" if self.copies > 1 else "one bucket of time"
            return [_step(rows, "row", " read"), _step(rows * self.copies, "row", f" joined, each in {buckets}")]
        if isinstance(window, Tumble) or slice_ is None:
            return [_step(rows, "row", " read")]
        copies = window.overlap if isinstance(window, Hop) else window.size // window.step
        every = window.slide // slice_ if isinstance(window, Hop) else 1
        windows = max(1, min(slices * copies, (slots + copies * keys) // every))
        if self.rule is None or self.rule == HopCopies.name:
            average = copies if isinstance(window, Hop) else (copies + 1) / 2
            copied = round(rows * average)
            middle = ("copy of a row" if copied == 1 else "copies of rows") + ", one per window", copied
        else:
            middle = _step(slices, "slice")
        return [_step(rows, "row", " read"), middle, _step(windows, "window")]


def _step(count: int, what: str, done: str = "") -> tuple[str, int]:
    """A step in words: how many things of a kind there are, and what is done with them."""
    return f"{what}{'' if count == 1 else 's'}{done}", count


def _slice(window: Window) -> Interval | None:
    """Length of a window's slices; None for a window that has none."""
    if isinstance(window, Hop):
        return gcd_slice(window.size, window.slide)
    return window.step if isinstance(window, Cumulate) else window.gap if isinstance(window, Session) else None


class Optimizer:
    """Edits the SELECTs that aggregate or join windows, where a rule applies.

    Args:
        filtered: ids of window functions of which a microbatch keeps some windows only.
        frames: True if calls of OVER are of a dialect of ours, and may be rewritten.

    Attributes:
        handled: ids of the window functions that became part of a rewritten SELECT.
        decisions: one for each window function that some rule is for.
    """

    def __init__(
        self,
        source: Source,
        resolver: Resolver,
        *,
        filtered: Collection[int] = (),
        frames: bool = False,
    ) -> None:
        self._queries = Queries(source, resolver, filtered)
        self._sums = OverSums(source, resolver) if frames else None
        self._bounds = OneBound(source, resolver)
        self.handled: set[int] = set()
        self.decisions: list[Decision] = []

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """A rewritten SELECT for every one that a rule applies to."""
        for function in window_functions(tree):
            if id(function) not in self.handled:
                yield from self._rewritten(function)
        handled = [f for f in window_functions(tree) if id(f) in self.handled]
        rewritten = {id(enclosing(f, exp.Select)) for f in handled}
        yield from self._bounds.edits(tree, rewritten | {id(joining(f)) for f in handled})
        if self._sums is not None:
            yield from self._sums.edits(tree, rewritten)
            self.decisions += [Decision(frame, None if why else OverSums.name, why) for frame, why in self._sums.found]
            self._sums.found.clear()

    def _rewritten(self, function: WindowFunction) -> Iterator[Edit]:
        """The edits of the first rule that applies to the query over a window function."""
        reasons: list[str] = []
        for rule in _rules(function):
            try:
                found = rule.read(self._queries, function, function.window)
            except NoRule as reason:
                reasons.append(str(reason))
                continue
            if found is not None:
                for each, copies in zip(found.functions, found.copies, strict=True):
                    self.handled.add(id(each))
                    self.decisions.append(Decision(each.window, rule.name, next(iter(reasons), None), copies))
                yield from found.edits
                return
        if reasons:
            self.decisions.append(Decision(function.window, None, reasons[0]))


def _rules(function: WindowFunction) -> list[Rule[Any]]:
    """The rules for a kind of window."""
    return [rule for rule in RULES if isinstance(function.window, rule.window)]
