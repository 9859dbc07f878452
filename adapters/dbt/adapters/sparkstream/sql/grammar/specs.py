"""Nodes of the syntax tree for window specifications and LAST JOIN."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.frames import Frame
from dbt.adapters.sparkstream.sql.core.source import Span

FROM_LAST = "from_last"
"""Key under which NTH_VALUE keeps that it counts from the last row: `NTH_VALUE(x, 2) FROM LAST OVER w`."""


@dataclass(frozen=True)
class OrderKey:
    """An item of ORDER BY: where its expression stands, the expression, and whether DESC follows it."""

    span: Span
    expression: exp.Expr
    descending: bool = False


@dataclass(frozen=True)
class WindowSpec:
    """A window as written, with the places of its parts.

    Attributes:
        span: the specification with its parentheses.
        frame: its frame.
        unions: the tables and subqueries of UNION.
        partition: the expressions of PARTITION BY.
        order: the items of ORDER BY; ascending, all of them.
    """

    span: Span
    frame: Frame
    unions: tuple[exp.Expr, ...] = ()
    partition: tuple[OrderKey, ...] = ()
    order: tuple[OrderKey, ...] = ()


class FramedWindow(exp.Window):
    """A window specification of ours; `spec_value` is its WindowSpec."""

    arg_types = {**exp.Window.arg_types, "union": False, "spec_value": False, "keys": False}

    @property
    def value(self) -> WindowSpec:
        return self.args["spec_value"]


class LastJoin(exp.Join):
    """`LAST JOIN t ORDER BY t.ts [DESC] ON ...`: every row once, with the last matching row of t, or NULLs."""

    arg_types = {**exp.Join.arg_types, "order": False}


class AsOfJoin(LastJoin):
    """`[LEFT] ASOF JOIN t MATCH_CONDITION (a.ts >= t.ts) ON ...`: Spark 4.3's, for every Spark.

    Rows of the left side come once, with the row of t whose time is nearest on one side; without one, with NULLs if
    LEFT, else not at all. `match` is the comparison of times.
    """

    arg_types = {**LastJoin.arg_types, "match": True}
