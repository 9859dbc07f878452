"""Conditions that bound one time by a second: `b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts`, however written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import MICROS, ZERO, Interval, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.passes.flink.clocks import is_long

_TURNED = Interval(26 * MICROS["HOUR"])
"""Longer than any clock is turned by at once: Samoa has left out a day."""


def turned(length: Interval) -> Interval:
    """A length that is longer by as much as a clock may be turned, if it has days."""
    return length + _TURNED if is_long(length) else length


@dataclass(frozen=True)
class TimeBound:
    """`later - earlier` is at most, or is less than, a length of time.

    Attributes:
        earlier: a column.
        later: a column of the other side.
        most: the length; negative where `later` is before `earlier`.
        plain: True if it is written as columns with intervals added, the only form that Spark reads.
    """

    earlier: exp.Column
    later: exp.Column
    most: Interval
    plain: bool

    def sql(self, source: Source, *, utc: bool, hidden: bool) -> str | None:
        """Implied condition that Spark reads for times; None for a condition that Spark reads itself.

        Spark reckons with days of 24 hours when it forgets rows, and adds days on the clock of the zone.

        Args:
            utc: True if that clock shows UTC.
            hidden: True if the condition is hidden from Spark, so that its bound has to be written next to it.
        """
        most = self.most if utc else turned(self.most)
        if self.plain and most == self.most and not hidden:
            return None
        more = f" + {most.sql()}" if most else ""
        return f"{source.written(self.later)} <= {source.written(self.earlier)}{more}"


def time_bounds(term: exp.Expr, source: Source, *, elapsed: bool) -> Iterator[TimeBound | None]:
    """The bounds that a comparison sets, two for BETWEEN; None for one that isn't about two columns and lengths.

    Args:
        elapsed: True if days are 24 hours, as in Flink, which Spark is told in a form that it reads no bounds from.
    """
    if isinstance(term, exp.Between) and not term.args.get("symmetric"):
        pairs = [(term.args["low"], term.this), (term.this, term.args["high"])]
    elif isinstance(term, (exp.LT, exp.LTE)):
        pairs = [(term.left, term.right)]
    elif isinstance(term, (exp.GT, exp.GTE)):
        pairs = [(term.right, term.left)]
    else:
        return
    for less, more in pairs:
        yield _Sum(source, elapsed).add(less, 1).add(more, -1).bound()


class _Sum:
    """Sum of the two sides of a comparison: columns and a length of time, each with its sign."""

    def __init__(self, source: Source, elapsed: bool) -> None:
        self._source = source
        self._elapsed = elapsed
        self._columns: list[tuple[int, exp.Column]] = []
        self._length = ZERO
        self._known = True
        self._plain = True

    def add(self, node: exp.Expr, sign: int) -> _Sum:
        """Adds an expression, or takes it off where the sign is -1."""
        node = node.unnest()
        if isinstance(node, exp.Column):
            self._columns.append((sign, node))
        elif isinstance(node, (exp.Add, exp.Sub)):
            second = -sign if isinstance(node, exp.Sub) else sign
            self._plain = self._plain and isinstance(node.right.unnest(), exp.Interval)
            self.add(node.left, sign).add(node.right, second)
        elif isinstance(node, exp.Interval):
            self._add_length(node, sign)
        elif isinstance(node, exp.Anonymous) and node.name.upper() == "TIMESTAMPADD" and len(node.expressions) == 3:
            self._plain = False
            unit, amount, time = node.expressions
            self._add_amount(unit.name, amount, sign)
            self.add(time, sign)
        else:
            self._known = False
        return self

    def _add_length(self, node: exp.Interval, sign: int) -> None:
        try:
            length = read_interval(self._source.tokens_in(self._source.span(node)))
        except (IntervalError, LookupError):
            self._known = False
            return
        self._length += length * sign
        self._plain = self._plain and not (self._elapsed and is_long(length))

    def _add_amount(self, unit: str, amount: exp.Expr, sign: int) -> None:
        negative = isinstance(amount, exp.Neg)
        number = amount.this if negative else amount
        try:
            self._length += Interval.of(number.name, unit) * (-sign if negative else sign)
        except IntervalError:
            self._known = False

    def bound(self) -> TimeBound | None:
        """The bound that `sum <= 0` sets."""
        if not self._known or sorted(sign for sign, _ in self._columns) != [-1, 1]:
            return None
        columns = dict(self._columns)
        return TimeBound(columns[-1], columns[1], self._length * -1, self._plain)
