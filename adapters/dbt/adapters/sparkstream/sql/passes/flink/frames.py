"""Windows of OVER in Flink SQL: named windows, and frames that Flink ignores or that Spark reads otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.interval import IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.nodes import enclosing
from dbt.adapters.sparkstream.sql.core.over import WindowParts, bound, named, parts_of, subtracted_from
from dbt.adapters.sparkstream.sql.core.source import INSIDE, Edit, Kept
from dbt.adapters.sparkstream.sql.core.types import is_clock
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, constant, handles


class OverWindows(Rewriter):
    """Edits windows of OVER and their frames."""

    @handles(exp.Window)
    def _window(self, node: exp.Window) -> Iterator[Edit]:
        own = node.args.get("spec")
        if own is not None and _ends_before_start(own):
            self.refuse(
                node,
                "this frame ends before it starts",
                "write the earlier bound first: BETWEEN CURRENT ROW AND 1 FOLLOWING",
            )
        yield from self._ignored_frame(node)
        if node.arg_key != "windows":
            yield from self._without_peers(node)
        yield from self._named(node)
        yield from self._over_clock(node)

    def _ignored_frame(self, node: exp.Window) -> Iterator[Edit]:
        """Leaves out a frame behind a window's name, and a ROWS frame without ORDER BY, as Flink does."""
        parts, own = parts_of(node), node.args.get("spec")
        if parts.frame is None or (parts.order is not None and not has_ignored_frame(node)):
            return
        unordered = parts.order is None and (parts.frame.args.get("kind") or "").upper() == "RANGE"
        if own is not None and own.args.get("kind") != "GROUPS" and not unordered:  # which Spark refuses
            start, tokens = self.source.span(own)[0], self.source.tokens
            before = tokens[tokens.at(start) - 1]
            start = start if before.token_type == TokenType.L_PAREN else before.end + 1
            yield Edit.to((start, node.meta[INSIDE][1]), "")

    def _without_peers(self, node: exp.Window) -> Iterator[Edit]:
        """Empties a RANGE frame without the current row where the key is NULL."""
        order, frame = parts_of(node).order, in_force(node).frame
        if frame is None or order is None or not _leaves_peers_out(frame):
            return
        empty = " ELSE 0" if isinstance(node.this, exp.Anonymous) and "COUNT" in node.this.name.upper() else ""
        kept = Kept(self.source, self.source.span(order.expressions[0].this))
        yield kept.edit
        yield self.edit(node, lambda: f"CASE WHEN {kept.text} IS NOT NULL THEN {self.text(node)}{empty} END", level=1)

    def _named(self, node: exp.Window) -> Iterator[Edit]:
        """Writes the named window out in a window that adds to it, `OVER (w ORDER BY n)`, which Spark doesn't read."""
        name, base = node.args.get("alias"), named(node)
        if not isinstance(name, exp.Identifier) or base is None:
            return
        if not (node.arg_key == "windows" or any(node.args.get(part) for part in ("partition_by", "order", "spec"))):
            if subtracted_from(self.source, self.source.span(name)[1]):
                yield self.edit(name, lambda: f"({self.text(name)})")
            return  # OVER w is Spark's as well
        if node.args.get("spec") and parts_of(base).frame is not None:  # one of two frames would be dropped
            self.refuse(name, f"the window {name.name} has a frame already", "write OVER (...) in full")
        text = self._inside(base)
        yield self.edit(name, lambda: text)

    def _inside(self, window: exp.Window) -> str:
        """Text between the parentheses of an entry of the WINDOW clause.

        It has to be Spark's as it stands, as it is copied before any edit of it is made.
        """
        below = parts_of(window)
        for key in (*below.partition_by, *(item.this for item in (below.order.expressions if below.order else ()))):
            select = enclosing(key, exp.Select)
            found = self.resolver.find(key, select) if isinstance(key, exp.Column) and select is not None else None
            if not isinstance(key, exp.Column) or (found is not None and found.rows):
                self.refuse(key, "a window that others begin with has columns only", "write OVER (...) in full")
        if INSIDE not in window.meta:
            self.refuse(window, "a window that others begin with is in parentheses", "write WINDOW w AS (...)")
        first, last = window.meta[INSIDE]
        base = named(window)
        if base is None:
            return self.source.text[first:last].strip()
        start = self.source.span(window.args["alias"])[1]
        return f"{self._inside(base)} {self.source.text[start:last].strip()}".strip()

    def _over_clock(self, node: exp.Window) -> Iterator[Edit]:
        """`ORDER BY t RANGE INTERVAL '1' HOUR PRECEDING`, for which Spark takes no TIME."""
        order, frame = node.args.get("order"), parts_of(node).frame  # the order of a named window is written there
        if order is None or frame is None or (frame.args.get("kind") or "").upper() != "RANGE":
            return
        key = order.expressions[0].this
        if any(isinstance(frame.args.get(side), exp.Expr) for side in ("start", "end")) and is_clock(self.type(key)):
            yield self.edit(key, lambda: clocks.on_a_day(self.text(key)), level=2)

    @handles(exp.WindowSpec)
    def _frame(self, frame: exp.WindowSpec) -> Iterator[Edit]:
        """Gives both bounds of a frame one unit, and those of days over a TIMESTAMP_LTZ days of 24 hours."""
        offsets = [each for side in ("start", "end") if isinstance(each := frame.args.get(side), exp.Expr)]
        for offset in offsets:
            # Spark counts `-1 PRECEDING` rows as 1 FOLLOWING, and gives NULL for a frame that holds no rows then.
            if str(frame.args.get("kind") or "").upper() == "ROWS" and isinstance(offset, exp.Neg):
                self.refuse(offset, "a number of rows is not negative", "write PRECEDING or FOLLOWING")
        window = frame.parent
        bounds = [offset for offset in offsets if isinstance(offset, exp.Interval)]
        if not bounds or not isinstance(window, exp.Window) or has_ignored_frame(window):
            return
        try:
            lengths = [read_interval(self.source.tokens_in(self.source.span(each))) for each in bounds]
        except IntervalError:  # of months, or no constant
            return
        order = window.args.get("order")
        key = order.expressions[0].this if isinstance(order, exp.Order) else None
        if any(map(clocks.is_long, lengths)) and self.type(key) == "timestamp":
            # Spark adds days on the clock of the session's zone, to numbers as they elapse.
            assert key is not None
            yield self.edit(key, lambda: f"UNIX_MICROS({self.text(key)})", level=2)
            for each, length in zip(bounds, lengths, strict=True):
                yield self.edit(each, partial(str, length.micros))
        elif len(bounds) == 2 and bounds[0].args.get("unit") != bounds[1].args.get("unit"):
            # Spark's are of one type, and an HOUR is no MINUTE.
            for each, length, other in zip(bounds, lengths, reversed(lengths), strict=True):
                yield self.edit(each, partial(length.sql, other))


def has_ignored_frame(window: exp.Window) -> bool:
    """True if a window adds a frame to a named window, `OVER (w ROWS 1 PRECEDING)`: Flink ignores this frame."""
    return window.args.get("spec") is not None and named(window) is not None


def in_force(window: exp.Window) -> WindowParts:
    """Parts of a window without a frame that Flink ignores."""
    parts, base = parts_of(window), named(window)
    if base is None:
        return parts
    return replace(parts, frame=None if has_ignored_frame(window) else in_force(base).frame)


def _sign(offset: exp.Expr) -> int:
    """-1 for a negative offset such as `-1` or `INTERVAL -'1' SECOND`, 0 for 0, else 1."""
    number = constant(offset)
    if number is not None:
        return (number > 0) - (number < 0)
    length = offset.this if isinstance(offset, exp.Interval) else None
    return -1 if isinstance(length, exp.Neg) or (length is not None and length.name.strip().startswith("-")) else 1


def _ends_before_start(frame: exp.WindowSpec) -> bool:
    """True if a frame's end lies before its start, as in `CURRENT ROW AND 1 PRECEDING`."""
    (first, start), (last, end) = bound(frame, "start"), bound(frame, "end")
    from_, to = (0 if way == 0 else constant(offset) for way, offset in ((first, start), (last, end)))
    is_behind = from_ is not None and to is not None and from_ * first > to * last
    if any(offset is not None and _sign(offset) < 0 for offset in (start, end)):
        return is_behind
    return first > last if first != last else abs(first) == 2 or is_behind


def _leaves_peers_out(frame: exp.WindowSpec) -> bool:
    """True for a RANGE frame without the current row, as `1 PRECEDING` to `1 PRECEDING`: empty in Flink for NULL keys.

    In Spark the rows with NULL are in the frame of each other, whatever its offsets are.
    """
    (first, start), (last, end) = bound(frame, "start"), bound(frame, "end")
    if (frame.args.get("kind") or "").upper() != "RANGE" or start is None or end is None:
        return False
    return not first * _sign(start) <= 0 <= last * _sign(end)
