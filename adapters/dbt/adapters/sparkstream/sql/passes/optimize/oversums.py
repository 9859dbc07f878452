"""Sums and counts over sliding frames, from running sums: the sum at the frame's end less the sum before its start.

    sum(x) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW)
      =  sum(x) OVER (ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
       - sum(x) OVER (ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1200.000001' SECOND PRECEDING)

Frames that begin with the first row grow row by row, so a row costs the same however long the frame is. The two are
of one order, and Spark gives them in one pass over the sorted rows. As for windows of HOP (`running`), subtraction is
for counts and for sums of whole numbers and decimals, where it is exact.

Rows without a key are in the frame of each other, whatever the offsets are, and come first: nothing is gone for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import find, own
from dbt.adapters.sparkstream.sql.core.over import bound, measure_of, named, offset, parts_of
from dbt.adapters.sparkstream.sql.core.source import INSIDE, LAST_BOUND, SPAN, Edit, Source, Span
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import (
    MERGEABLE,
    Arguments,
    running,
    subtracted,
)
from dbt.adapters.sparkstream.sql.passes.optimize.block import VOLATILE

MOST_SUMS = 16
"""Running sums that the calls over one frame may take: of a BIGINT it is eight, as each stands where its value does."""
LEAST_ROWS = 8
"""Rows in a frame of ROWS from which on two running sums take less time than the frame itself."""
_MOST_ROWS = 2**31 - 2
_BEFORE = ("select", "from", "where", "group", "having", "window")
"""The clauses that may stand before the end of WINDOW."""


@dataclass(frozen=True)
class SlidingFrame:
    """A frame of OVER, as reports name it.

    Attributes:
        text: its frame as it is written.
    """

    text: str
    name: str = "over"

    def words(self) -> str:
        return f"a frame of {self.text}"


@dataclass(frozen=True)
class FrameSum:
    """A call over a sliding frame that running sums can compute.

    Attributes:
        place: where it stands.
        arguments: the call.
        come: the specification of the window of the rows up to the frame's end.
        gone: the specification of the window of the rows before the frame.
        key: the key of ORDER BY where rows without one are in the frame of each other; else None.
    """

    place: Span
    arguments: Arguments
    come: str
    gone: str
    key: str | None

    def sql(self, come: str, gone: str) -> str:
        """The call over the two windows, by their names."""
        return running(self.arguments, f"OVER {come}", f"OVER {gone}", self.key)


class Definitions:
    """New entries of a SELECT's WINDOW clause, each specification once.

    Raises:
        NoRule: the places of the SELECT's clauses are unknown.
    """

    def __init__(self, source: Source, select: exp.Select) -> None:
        if SPAN not in select.meta:
            raise NoRule("its query can't be taken apart")
        clauses = Block(source, select).clauses
        self._counts: Counter[str] = Counter()
        self._continued = "window" in clauses
        self._taken = {w.name.casefold() for w in select.args.get("windows") or []}
        self._names: dict[str, str] = {}
        self._end = max(end for clause, (_, end) in clauses.items() if clause in _BEFORE)
        self._indent = source.indent(clauses["from"][0]) if "from" in clauses else ""

    def name(self, stem: str, spec: str) -> str:
        """The name of a window, which is new unless there is one of the same specification."""
        if spec not in self._names:
            self._counts[stem] += 1
            while f"{stem}_{self._counts[stem]}" in self._taken:
                self._counts[stem] += 1
            self._names[spec] = f"{stem}_{self._counts[stem]}"
        return self._names[spec]

    def edit(self) -> Edit:
        """The change that adds the windows behind the last clause before ORDER BY and LIMIT."""
        text = f",\n{self._indent}  ".join(f"{name} AS ({spec})" for spec, name in self._names.items())
        before = "," if self._continued else f"\n{self._indent}WINDOW"
        return Edit((self._end, self._end), lambda: f"{before}\n{self._indent}  {text}")


class OverSums(Editor):
    """Edits the calls over sliding frames that running sums can compute.

    Attributes:
        found: the frames that it has read, and why calls over them stay as they are; None where they don't.
    """

    name = "frame-sums"
    does = "sums run along the rows, and a frame is the difference of two of them"

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.found: list[tuple[SlidingFrame, str | None]] = []

    def edits(self, tree: exp.Expr, skipped: Collection[int]) -> Iterator[Edit]:
        """Edits of all calls over a frame; none if a single call can't be a running sum, as the frame would stay.

        Args:
            skipped: ids of the queries that other rules have rewritten.
        """
        for select in find(tree, exp.Select):
            if id(select) in skipped:
                continue
            frames: dict[str, list[exp.Window]] = {}
            for window in own(select, exp.Window):
                if self._slides(window):
                    start, end = (named(window) or window).meta[INSIDE]
                    frames.setdefault(" ".join(self.source.text[start:end].split()), []).append(window)
            yield from self._of_select(select, frames)

    def _of_select(self, select: exp.Select, frames: dict[str, list[exp.Window]]) -> Iterator[Edit]:
        definitions: Definitions | None = None
        items = {id(w): item for item in select.expressions for w in own(item, exp.Window)} if frames else {}
        for windows in frames.values():
            written = self.source.written(parts_of(windows[0]).frame or windows[0])
            frame = SlidingFrame(" ".join(written.split()))
            try:
                sums = [self._read(window, select, items.get(id(window))) for window in windows]
                if sum(each.sql("", "").count(" OVER ") for each in sums) > MOST_SUMS:
                    raise NoRule("its calls would take more sums than they save")
                definitions = definitions or Definitions(self.source, select)
            except NoRule as reason:
                self.found.append((frame, str(reason)))
                continue
            self.found.append((frame, None))
            for each in sums:
                text = each.sql(definitions.name("__come", each.come), definitions.name("__gone", each.gone))
                yield Edit.to(each.place, text)
        if definitions is not None:
            yield definitions.edit()

    @staticmethod
    def _slides(window: exp.Window) -> bool:
        """True if a window slides by a frame of Spark's, which knows neither GROUPS nor EXCLUDE."""
        frame = parts_of(window).frame
        if window.arg_key == "windows" or frame is None or frame.args.get("exclude"):
            return False
        return (frame.args.get("kind") or "").upper() in ("ROWS", "RANGE") and bound(frame, "start")[0] != -2

    def _read(self, window: exp.Window, select: exp.Select, item: exp.Expr | None) -> FrameSum:
        """A call over a sliding frame.

        Args:
            item: the item of the SELECT list that it is in, if it is in one.

        Raises:
            NoRule: why it can't come from running sums.
        """
        call = window.this
        if not isinstance(call, exp.Anonymous):
            raise NoRule("FILTER, or IGNORE NULLS, stands behind a call")
        if select.args.get("group"):
            raise NoRule("the rows are groups: put the aggregation in a subquery")
        if item is not None and not isinstance(item, exp.Alias):
            raise NoRule("Spark names its column by the call: write AS")
        arguments = self._arguments(call, select)
        subtracted(arguments, str)  # so that what can't be subtracted is the first reason
        parts = parts_of(window)
        frame, order = parts.frame, parts.order
        if frame is None or order is None:
            raise NoRule("its frame is none of Spark's")
        kind, key = (frame.args.get("kind") or "").upper(), order.expressions[0]
        ranged = kind == "RANGE"
        if ranged and not key.args.get("nulls_first"):
            raise NoRule("rows without a key come last")
        measure = measure_of(key.this, select, self.resolver) if ranged else "rows"
        gone = self._gone(frame, measure, descending=bool(key.args.get("desc")))
        text, (inside, _), (place, behind) = self.source.text, (named(window) or window).meta[INSIDE], frame.meta[SPAN]
        head = f"{text[inside:place].strip()} {kind} BETWEEN UNBOUNDED PRECEDING AND"
        end = text[frame.meta[LAST_BOUND] : behind] if frame.args.get("end") is not None else "CURRENT ROW"
        return FrameSum(
            place=self.source.span(window),
            arguments=arguments,
            come=f"{head} {end}",
            gone=f"{head} {gone}",
            key=self.source.written(key.this) if ranged else None,
        )

    def _arguments(self, call: exp.Anonymous, select: exp.Select) -> Arguments:
        name = call.name.lower()
        if name not in MERGEABLE or not call.expressions:
            raise NoRule(f"{name} can't be subtracted")
        if any(isinstance(e, exp.Distinct) for e in call.expressions):
            raise NoRule(f"{name}(DISTINCT ...) can't be subtracted")
        if any(f.name.lower() in VOLATILE for f in call.find_all(exp.Anonymous)):
            raise NoRule("its argument has another value each time")
        if len(call.expressions) > 1 and name != "count":
            raise NoRule(f"{name} has several arguments")
        sql = ", ".join(self.source.written(e) for e in call.expressions)
        return Arguments(name, sql, self.resolver.type(call.expressions[0], select), distinct=False)

    # -- bounds ----------------------------------------------------------------------------------------
    def _gone(self, frame: exp.WindowSpec, measure: str, *, descending: bool) -> str:
        """The newest row before a frame: the end of the frame whose running sum is taken away.

        Args:
            measure: what offsets are added to: `rows`, `number`, or the type of a time.
        """
        start, end = (offset(self.source, frame, side, measure) for side in ("start", "end"))
        if start is None:
            raise NoRule("its frame holds no rows")
        if end is not None and start > end:
            raise NoRule("its frame ends before it starts")
        if measure == "rows" and end is not None and end - start < LEAST_ROWS:
            raise NoRule(f"its frame has no more than {LEAST_ROWS} rows")
        newest = start - (MICROS["DAY"] if measure == "date" else 1)
        if measure == "timestamp":
            # Spark adds whole days by the calendar and the rest by the clock: both have to have the same days.
            days = {int(v / MICROS["DAY"]) for v in ((-start, -newest) if descending else (start, newest))}
            if len(days) > 1:
                raise NoRule("a microsecond more or less makes its frame whole days")
        if newest == 0:
            return "CURRENT ROW"
        amount = str(abs(newest)) if measure in ("rows", "number") else Interval(abs(newest)).sql()
        if measure == "rows" and abs(newest) > _MOST_ROWS:
            raise NoRule("its frame is longer than Spark counts")
        return f"{amount} {'PRECEDING' if newest < 0 else 'FOLLOWING'}"
