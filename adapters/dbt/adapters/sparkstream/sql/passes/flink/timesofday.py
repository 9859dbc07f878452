"""TIME in sums, comparisons and frames of Flink SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import compared
from dbt.adapters.sparkstream.sql.core.over import parts_of
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.types import is_clock
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.families import family
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class TimesOfDay(Rewriter):
    """Edits sums that wrap at midnight, strings compared with a TIME, and RANGE frames over a TIME."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            **dict.fromkeys((exp.Add, exp.Sub), self._sum),
            **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), self._compare),
            exp.Between: self._between,
            exp.In: self._in,
            exp.Case: self._case,
            exp.Window: self._window,
        }

    def _sum(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        left, right = self.type(node.left), self.type(node.right)
        sign = "+" if isinstance(node, exp.Add) else "-"
        if is_clock(left) and family(right) == "interval":
            yield self.edit(node, lambda: clocks.moved(self.text(node.left), sign, self.text(node.right), left or ""))
        elif is_clock(right) and family(left) == "interval" and sign == "+":
            yield self.edit(node, lambda: clocks.moved(self.text(node.right), sign, self.text(node.left), right or ""))

    def _compare(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Binary)
        for one, other in ((node.left, node.right), (node.right, node.left)):
            yield from self._read([one], self.type(other))

    def _between(self, node: exp.Expr) -> Iterator[Edit]:
        yield from self._read([node.args["low"], node.args["high"]], self.type(node.this))

    def _in(self, node: exp.Expr) -> Iterator[Edit]:
        yield from self._read(node.expressions, self.type(node.this))
        kinds = {self.type(value) for value in node.expressions}
        if len(kinds) == 1:
            yield from self._read([node.this], kinds.pop())

    def _case(self, node: exp.Expr) -> Iterator[Edit]:
        if node.this is not None:
            yield from self._read(compared(node), self.type(node.this))

    def _read(self, values: Iterable[exp.Expr], type_: str | None) -> Iterator[Edit]:
        """A string compared with a TIME(p) is parsed with p digits (`'10:00:00.129'` and TIME(2): `10:00:00.12`)."""
        for value in values if is_clock(type_) else ():
            if family(self.type(value)) == "text":
                yield Edit(self.source.span(value), lambda v=value: self._as_time(v, type_ or ""), level=1)  # type: ignore[misc]

    def _as_time(self, value: exp.Expr, type_: str) -> str:
        literal = value.name if isinstance(value, exp.Literal) else None
        return clocks.cast_to(clocks.read(self.text(value), literal), type_)

    def _window(self, node: exp.Expr) -> Iterator[Edit]:
        """`ORDER BY t RANGE INTERVAL '1' HOUR PRECEDING`, for which Spark takes no TIME."""
        assert isinstance(node, exp.Window)
        parts = parts_of(node)
        if parts.order is None or parts.frame is None or (parts.frame.args.get("kind") or "").upper() != "RANGE":
            return
        key = parts.order.expressions[0].this
        bounds = [each for side in ("start", "end") if isinstance(each := parts.frame.args.get(side), exp.Expr)]
        if not bounds or not is_clock(self.type(key)):
            return
        for bound in bounds:
            if family(self.type(bound)) not in (None, "interval"):
                self.refuse(bound, "a RANGE over a TIME is a length of time", "write INTERVAL '1' HOUR PRECEDING")
        if parts.order is not node.args.get("order"):
            self.refuse(node, "a RANGE offset over a TIME needs its own ORDER BY", "write OVER (ORDER BY t RANGE ...)")
        yield Edit(self.source.span(key), lambda: clocks.on_a_day(self.text(key)), level=1)
