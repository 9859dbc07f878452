"""Decisions of the optimiser about a statement, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision


@dataclass(frozen=True)
class Explanation:
    """A statement's translation, and the optimiser's decisions about its window functions.

    Attributes:
        sql: the Spark SQL that runs.
        decisions: what the optimiser decided about each HOP, CUMULATE and SESSION, in the order of its decisions.
        kinds: the windows that there are decisions for, in words.
    """

    sql: str
    decisions: tuple[Decision, ...]
    kinds: str = "HOP, CUMULATE or SESSION"

    def lines(self, rows: int | None = None, keys: int = 1, span: float | None = None) -> Iterator[str]:
        """The decisions in words, with estimates of rows at each step.

        Args:
            rows: how many rows the windows' input has.
            keys: how many groups they form beside the windows.
            span: seconds from the first of the rows to the last; as if rows were in slices of their own if None.
        """
        if not self.decisions:
            yield f"no {self.kinds} here: nothing to optimise"
        for decision in self.decisions:
            yield from decision_lines(decision, rows, keys, span)


def decision_lines(decision: Decision, rows: int | None, keys: int, span: float | None) -> Iterator[str]:
    """Lines about the decision for one window function; the arguments are the arguments of `Explanation.lines`."""
    yield f"{decision.window.name.lower()}: {decision.window.words()}"
    if decision.rule is None:
        yield f"  no rule: {decision.reason}"
    else:
        yield f"  {decision.rule}: {decision.does}"
        if decision.reason is not None:
            yield f"  because: {decision.reason}"
    for step, count in decision.steps(rows, keys, span):
        yield f"    {count:>15,}  {step}"


def explain(
    sql: str,
    dialect: str = "spark",
    *,
    schema: Schema | None = None,
    arrival: str | None = None,
    optimize: bool = True,
    skewed: bool = False,
) -> Explanation:
    """Translates a statement as `translate` does, with the optimiser's decisions and their reasons, also if it is off.

    Raises:
        TranslationError: what is wrong, where and how to write it.
        ValueError: an unknown dialect.
    """
    if dialect == "spark" and not may_hold_windows(sql, skewed):
        return Explanation(sql, ())
    from dbt.adapters.sparkstream.sql.core.windows import Tumble, window_functions
    from dbt.adapters.sparkstream.sql.grammar.net import netted
    from dbt.adapters.sparkstream.sql.passes.optimize.passes import Decision
    from dbt.adapters.sparkstream.sql.statement import Statement

    def work() -> Explanation:
        statement = Statement.parse(sql, dialect, whole=skewed)
        plain = statement.traced(schema, arrival=arrival).text
        try:
            text, decisions = statement.by_rules(schema, arrival=arrival, skewed=skewed)
        except TranslationError as error:
            reason = f"the rules can't read this statement: {error.message}"
            windows = (function.window for tree in statement.trees for function in window_functions(tree))
            decisions = [Decision(window, None, reason) for window in windows if not isinstance(window, Tumble)]
            return Explanation(plain, tuple(decisions))
        if not optimize:
            off = (replace(d, rule=None, reason="the optimizer is off here") for d in decisions)
            return Explanation(plain, tuple(off))
        return Explanation(text.text if any(d.rule for d in decisions) else plain, tuple(decisions))

    return netted(sql, dialect, work)
