"""Lengths of time that aren't constants: `INTERVAL n DAY`, and a date with `n * INTERVAL '1' HOUR`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.families import MONTHS, family
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class Lengths(Rewriter):
    """Writes a computed interval as a multiple of a constant one, and keeps a date a date."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Interval: self._interval,
            exp.Add: self._sum,
            exp.Sub: self._sum,
        }

    def _interval(self, node: exp.Expr) -> Iterator[Edit]:
        unit, number = node.args.get("unit"), node.this
        if unit is None or number is None or not _is_computed(node):
            return
        if isinstance(number, exp.Neg) and number.this.is_string:
            return  # INTERVAL -'1' DAY is a constant to Spark, too
        type_ = self.type(number)
        if isinstance(unit, exp.IntervalSpan):
            self.refuse(node, "a number of units has one unit", "write INTERVAL '1:30' HOUR TO MINUTE for a constant")
        if type_ is not None and type_ not in types.INTEGERS:
            self.refuse(number, f"a length of time is a whole number of units, and this is a {type_}")
        yield self.edit(node, lambda: f"({self._factor(number)} * INTERVAL '1' {unit.name.upper()})")

    def _factor(self, number: exp.Expr) -> str:
        text = self.text(number)
        return f"({text})" if isinstance(number, (exp.Binary, exp.Neg)) else text

    def _sum(self, node: exp.Expr) -> Iterator[Edit]:
        """A date and a length of time give a date in Flink: whole days of it count, towards zero."""
        assert isinstance(node, exp.Binary)
        for date, length in ((node.left, node.right), (node.right, node.left)):
            kind = self.type(length)
            if self.type(date) != "date" or family(kind) != "interval" or kind in ("interval", MONTHS):
                continue
            if isinstance(length, exp.Interval) and not _is_computed(length):
                return  # a constant is written in whole days
            yield self.edit(node, lambda pair=(date, length): self._moved(*pair, back=isinstance(node, exp.Sub)))  # type: ignore[misc]
            return

    def _moved(self, date: exp.Expr, length: exp.Expr, *, back: bool) -> str:
        days = f"CAST(EXTRACT(DAY FROM {self.text(length)}) AS INT)"
        return f"{'DATE_SUB' if back else 'DATE_ADD'}({self.text(date)}, {days})"


def _is_computed(interval: exp.Expr) -> bool:
    """Whether a length is neither `INTERVAL '1' DAY` nor `INTERVAL 1 DAY`, of which sqlglot makes a text."""
    return not (isinstance(interval.this, exp.Literal) and interval.this.is_string)
