"""Frames of keys that have most of the rows: the rows of a key are split by time (see `timeblocks`).

Spark computes all frames of a key in one task. With blocks of time in PARTITION BY, as many tasks as blocks share them:

    SELECT id, __over_1 AS total                                 the SELECT as written, calls replaced
    FROM (
      SELECT *, sum(v) OVER w AS __over_1                        the calls whose frames reach a bounded time
      FROM (SELECT *, unix_micros(ts) AS __at FROM t WHERE ...)  the rows, with their time as a number
      LATERAL VIEW OUTER explode(sequence(...)) AS __block       their blocks
      WINDOW w AS (PARTITION BY __block, k ORDER BY ts RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW)
    ) AS t
    WHERE ... <=> __block                                        without copies

Other calls stay in the outer SELECT. Nothing is put together, so a row's frame has the same rows in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.interval import MICROS
from dbt.adapters.sparkstream.sql.core.literals import unquoted
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import name_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import find, has_aggregate, own
from dbt.adapters.sparkstream.sql.core.over import measure_of, named, offset, parts_of
from dbt.adapters.sparkstream.sql.core.source import INSIDE, Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import LTZ, NTZ
from dbt.adapters.sparkstream.sql.core.writing import Select, defined, parenthesized, placed
from dbt.adapters.sparkstream.sql.core.writing import named as columns_named
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.editor import Editor
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.optimize.aggregates import words
from dbt.adapters.sparkstream.sql.passes.optimize.form import check_form
from dbt.adapters.sparkstream.sql.passes.optimize.oversums import SlidingFrame
from dbt.adapters.sparkstream.sql.passes.optimize.timeblocks import AT, BLOCK, TimeBlocks

_READ = words("expressions from_ where order sort limit offset distinct hint windows with_ kind operation_modifiers")
_TIMES = {
    LTZ: "unix_micros({})",
    NTZ: "({} - TIMESTAMP_NTZ '1970-01-01 00:00:00') DIV INTERVAL '0.000001' SECOND",
    "date": f"unix_date({{}}) * {MICROS['DAY']}L",
    "number": "{}",
}
"""Measure of a frame's offsets -> its time as a BIGINT."""


@dataclass(frozen=True)
class _Frame:
    """A call over a frame that reaches a bounded time.

    Attributes:
        window: the call with OVER.
        key: what its rows are ordered by, as it is written.
        measure: what its offsets are added to.
        first, last: the same as in `TimeBlocks`.
    """

    window: exp.Window
    key: exp.Expr
    measure: str
    first: int
    last: int


class SkewedFrames(Editor):
    """Edits the SELECTs with frames that reach a bounded time.

    Attributes:
        found: the frames that it has read, where they stand, and why they aren't split; None where they are.
    """

    name = "skewed-frames"
    does = "the rows of each key are split by time, and all cores share them"

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.found: list[tuple[SlidingFrame, Span, str | None]] = []

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """An edit of each SELECT whose frames are split."""
        for select in find(tree, exp.Select):
            calls = [w for w in own(select, exp.Window) if w.arg_key != "windows" and self._is_sparks(w)]
            frames = [frame for frame in (self._read(call, select) for call in calls) if frame is not None]
            if not frames:
                continue
            try:
                yield self._split(select, frames)
            except NoRule as reason:
                for frame in frames:
                    self._note(frame.window, str(reason))
            else:
                for frame in frames:
                    self._note(frame.window, None)

    def _is_sparks(self, window: exp.Window) -> bool:
        """True if a window is its author's, and Spark's own: names in the translator's windows begin with __."""
        base = named(window) or window
        if isinstance(base, FramedWindow) or INSIDE not in base.meta:
            return False
        return not any(token.text.startswith("__") for token in self.source.tokens_in(base.meta[INSIDE]))

    def _note(self, window: exp.Window, reason: str | None) -> None:
        frame = parts_of(window).frame
        text = " ".join(self.source.written(frame).split()) if frame else "no bounds"
        entry = SlidingFrame(text), self.source.span(window), reason
        if (entry[0], reason) not in {(known, why) for known, _, why in self.found}:
            self.found.append(entry)

    # -- reading ---------------------------------------------------------------------------------------
    def _read(self, window: exp.Window, select: exp.Select) -> _Frame | None:
        """A call over a frame that reaches a bounded time; None, with a note, of any other."""
        try:
            return self._frame(window, select)
        except NoRule as reason:
            self._note(window, str(reason))
            return None

    def _frame(self, window: exp.Window, select: exp.Select) -> _Frame:
        parts = parts_of(window)
        frame, order = parts.frame, parts.order
        if frame is None or order is None or (frame.args.get("kind") or "").upper() != "RANGE":
            raise NoRule("it isn't RANGE between two lengths of time")
        if len(order.expressions) != 1:
            raise NoRule("it goes by several keys")
        if select.args.get("group") or any(map(has_aggregate, self._parts(window))):
            raise NoRule("the rows are groups: put the aggregation in a subquery")
        key = order.expressions[0]
        measure = measure_of(key.this, select, self.resolver)
        start, end = (offset(self.source, frame, side, measure) for side in ("start", "end"))
        if start is None or end is None:
            raise NoRule("it reaches all rows on one side")
        if key.args.get("desc"):
            start, end = -end, -start
        # Whole days go by the calendar: a clock that is changed makes them longer or shorter.
        day = MICROS["DAY"] if measure == LTZ and max(-start, end) >= MICROS["DAY"] else 0
        return _Frame(window, key.this, measure, min(-end, 0) - day, max(-start, 0) + day)

    def _check(self, select: exp.Select, frames: list[_Frame]) -> None:
        """Refuses a SELECT that can't read its rows from a subquery."""
        check_form(select, _READ, "in its query: put the frames in a query of their own")
        relation = next(iter(sources(select)), None)
        if relation is None or relation.args.get("pivots"):
            raise NoRule("it reads no table, or a pivoted one")
        alias = relation.alias_or_name.casefold()
        if any(c.args.get("db") and c.parts[0].name.casefold() != alias for c in own(select, exp.Column)):
            raise NoRule("a column is named with its schema: give the table an alias")
        if len({self.source.written(frame.key) for frame in frames}) > 1:
            raise NoRule("frames beside it go by another time: put them in a query of their own")
        items = {id(w): item for item in select.expressions for w in own(item, exp.Window)}
        given = {e.alias.casefold() for e in select.expressions if isinstance(e, exp.Alias)}
        known = self.resolver.columns(relation)
        for frame in frames:
            if not isinstance(items.get(id(frame.window), exp.Alias()), exp.Alias):
                raise NoRule("Spark names its column by the call: write AS")
            for part in (frame.window.this, *self._parts(frame.window)):
                for column in part.find_all(exp.Column):
                    if not column.table and column.name.casefold() in given and not known.find(column.name):
                        raise NoRule("it reads a column that the SELECT list names")

    def _parts(self, window: exp.Window) -> list[exp.Expr]:
        parts = parts_of(window)
        return [*parts.partition_by, *(parts.order.expressions if parts.order else ())]

    # -- writing ---------------------------------------------------------------------------------------
    def _split(self, select: exp.Select, frames: list[_Frame]) -> Edit:
        self._check(select, frames)
        block = Block(self.source, select)
        first, last = min(f.first for f in frames), max(f.last for f in frames)
        return Edit(block.span, lambda: self._text(block, frames, first, last))

    def _text(self, block: Block, frames: list[_Frame], first: int, last: int) -> str:
        """The SELECT over a query that has the calls as columns."""
        source, select, clauses = self.source, block.select, block.clauses
        measure, key = frames[0].measure, source.rendered(frames[0].key)
        blocks = TimeBlocks(_TIMES[measure].format(key), first, last, None if measure == "number" else 1)
        specs: dict[str, str] = {}  # of named windows
        columns: dict[str, str] = {}
        pieces: list[tuple[Span, str]] = []
        for frame in frames:
            spec = self._spec(frame.window)
            base = named(frame.window)
            over = f"({spec})" if base is None else specs.setdefault(spec, source.written(base.this))
            call = f"{self._call(frame.window)} OVER {over}"
            pieces.append((source.span(frame.window), columns.setdefault(call, f"__over_{len(columns) + 1}")))
        alias = name_of(sources(select)[0]) or ""
        condition = block.condition()
        rows = Select(["*", blocks.column], block.text(block.body("from")), where=[condition] if condition else [])
        calls = columns_named({column: call for call, column in columns.items()})
        windows = defined({name: spec for spec, name in specs.items()})
        inner = replace(blocks.copied(rows, alias), items=["*", *calls], windows=windows)
        lines = parenthesized(inner, blocks.comment)
        indent = source.indent(block.span[0])
        read = f"{block.keyword('from')} {placed(lines, indent)}{f' AS {alias}' if alias else ''}"
        pieces.append((clauses["from"], f"{read}\n{indent}WHERE {blocks.is_own}"))
        moved = {id(f.window) for f in frames}
        left = [w for w in own(select, exp.Window) if w.arg_key != "windows" and id(w) not in moved and named(w)]
        gone = ["where", *([] if left else ["window"])]
        pieces += [(block.with_space(clauses[name]), "") for name in gone if name in clauses]
        pieces += self._stars(block, alias, [AT, BLOCK, *columns.values()])
        return block.text(block.span, pieces)

    def _call(self, window: exp.Window) -> str:
        """A call without OVER, but with the clauses before OVER, such as FILTER."""
        start, end = self.source.span(window)
        tokens = self.source.tokens.within((start, end))
        over = next(
            i for i in self.source.tokens.level(tokens.start) if self.source.tokens[i].token_type is TokenType.OVER
        )
        return self.source.render((start, self.source.tokens[over].start)).rstrip()

    def _spec(self, window: exp.Window) -> str:
        """A window's specification, by block too: first, as Spark sorts by what differs first in less time."""
        start, end = (named(window) or window).meta[INSIDE]
        keys = parts_of(window).partition_by
        if not keys:
            return f"PARTITION BY {BLOCK} {self.source.render((start, end)).strip()}"
        first = self.source.span(keys[0])[0]
        return f"{self.source.render((start, first)).strip()} {BLOCK}, {self.source.render((first, end)).rstrip()}"

    def _stars(self, block: Block, alias: str, hidden: list[str]) -> Iterator[tuple[Span, str]]:
        """Pieces that leave columns out of the stars of a SELECT list."""
        for index, item in enumerate(block.select.expressions):
            of = item.table.casefold() if isinstance(item, exp.Column) else ""
            if (star := block.star(index)) is not None and (not of or of == unquoted(alias).casefold()):
                yield block.without(index, star, hidden)
