"""The rules of the optimiser, in order: the first that applies to a window rewrites the query over it."""

from __future__ import annotations

from typing import Protocol

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.core.writing import Select
from dbt.adapters.sparkstream.sql.passes.optimize.block import WindowAggregate
from dbt.adapters.sparkstream.sql.passes.optimize.copies import HopCopies
from dbt.adapters.sparkstream.sql.passes.optimize.cumulate import CumulateSlices
from dbt.adapters.sparkstream.sql.passes.optimize.hop import HopSlices
from dbt.adapters.sparkstream.sql.passes.optimize.sessions import SessionSlices
from dbt.adapters.sparkstream.sql.passes.optimize.slices import Slices


class Rule(Protocol):
    """A way to compute a query over windows with the same rows, names and types in less time.

    Attributes:
        name: what reports call it.
        window: the kind of window that it is for.
        identity: window columns, any of which tells windows apart.
    """

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> type: ...

    @property
    def identity(self) -> frozenset[str]: ...

    def pays(self, window: Window) -> None:
        """Raises NoRule where the rule is no use for a window."""

    def check(self, aggregate: WindowAggregate) -> None:
        """Raises NoRule where the rule would give other rows."""

    def rewrite(self, aggregate: WindowAggregate, indent: str) -> str:
        """The query, in parentheses, that gives the windows with their keys and aggregates as columns."""


class SliceRule(Rule, Protocol):
    """A rule by which the slices of a stream can be its state."""

    def slices(self, aggregate: WindowAggregate) -> Slices:
        """The slices of a query."""

    def windows(self, slices: Slices) -> Select:
        """The query that gives the windows with their keys and aggregates as columns."""

    def every(self, window: Window) -> Interval:
        """How long after a window's start the next one begins that has another start."""


HOP, CUMULATE = HopSlices(), CumulateSlices()
RULES: tuple[Rule, ...] = (HOP, HopCopies(), CUMULATE, SessionSlices())
SLICE_RULES: tuple[SliceRule, ...] = (HOP, CUMULATE)
"""The rules by which a stream keeps slices instead of windows."""
