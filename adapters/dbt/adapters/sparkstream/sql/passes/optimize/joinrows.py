"""A join of two HOPs by rows as Spark SQL (see `joins`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import MILLISECOND, Interval
from dbt.adapters.sparkstream.sql.core.source import Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Hop, WindowFunction
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.optimize.clock import clock, multiple


@dataclass(frozen=True)
class Side:
    """One side of a join.

    Attributes:
        relation: what stands in FROM or behind JOIN.
        function: the HOP that it is made of.
        window: the windows of it.
        alias: the side's alias, as it is written.
        type: the type of the time column.
    """

    relation: exp.Expr
    function: WindowFunction
    window: Hop
    alias: str
    type: str

    @property
    def name(self) -> str:
        """The alias as references have it, in lower case."""
        return self.relation.alias.casefold()


@dataclass(frozen=True)
class JoinByRows:
    """A SELECT that joins two HOPs of the same windows, which it writes as a join by rows.

    Attributes:
        wall_bounds: True if windows have TIMESTAMP_NTZ bounds (see `Resolver`).
        left: the side in FROM.
        right: the side behind JOIN.
        bounds: window_start and window_end -> the term of ON that says that it is equal.
        needless: terms of ON that say so once more.
        references: edits that give columns and stars the alias of their side.
        used: the window columns that the query names.
    """

    source: Source
    wall_bounds: bool
    select: exp.Select
    left: Side
    right: Side
    bounds: Mapping[str, exp.Expr]
    needless: tuple[exp.Expr, ...]
    references: tuple[Edit, ...]
    used: Set[str]

    def edits(self) -> Iterator[Edit]:
        """The join by rows. What stands between the changed pieces of FROM stays as it is."""
        yield from self.references
        for side in (self.left, self.right):
            yield Edit(self.source.span(side.function), lambda side=side: self._rows(side))  # type: ignore[misc]
        replaced = {
            "window_start": f"{self.left.alias}.__bucket = {self.right.alias}.__bucket",
            "window_end": "{} <= {}".format(*self._shared()),
        }
        for bound, term in self.bounds.items():
            yield Edit(self.source.span(term), lambda text=replaced[bound]: text)  # type: ignore[misc]
        for term in self.needless:
            yield Edit(self.source.span(term), lambda: "TRUE")
        span = Block(self.source, self.select).clauses["from"]
        yield Edit(span, lambda: self._joined(span), level=1)

    def _shared(self) -> tuple[str, str]:
        """Starts of the first and the last window that two rows share."""
        left, right = self.left.alias, self.right.alias
        return f"greatest({left}.__first, {right}.__first)", f"least({left}.__last, {right}.__last)"

    def _rows(self, side: Side) -> str:
        """The rows of a side, with the starts of the first and the last window that each is in, and with its bucket."""
        window = self.left.window
        offset, length = window.offset % window.slide, 2 * window.overlap
        time = clock(self.source.written(side.function.timecol), side.type)
        rows = time.rows(self.source.rendered(side.function.this))
        rows = Select(["*", f"{time.floor('__wall', window.slide, offset)} AS __last"], rows)
        rows = Select(["*", f"{time.number('__last', window.slide, offset)} AS __number"], rows)
        first = time.plus("__last", window.slide * (1 - window.overlap))
        if not window.even:
            # By the end of a slide, the first of the windows is over.
            rest = time.plus("__last", window.size + window.slide * (1 - window.overlap))
            first = f"IF(__wall < {rest}, {first}, {time.plus('__last', window.slide * (2 - window.overlap))})"
        items = ["* EXCEPT (__wall, __number)", f"{first} AS __first"]
        items += [f"{multiple('__number', length)} AS __bucket"] if side is self.left else []
        buckets = []
        if side is self.right:
            ends = [multiple(f"__number {sign} {window.overlap - 1}", length) for sign in "-+"]
            buckets = [f"explode(sequence({', '.join(ends)}, {length})) AS __bucket"]
        indent = self.source.indent(self.source.span(side.function)[0])
        return placed(parenthesized(Select(items, rows, views=buckets)), indent)

    def _joined(self, span: Span) -> str:
        """FROM of a query that gives each side as a column; what stood there becomes its FROM."""
        source = self.source
        indent, clause = source.indent(span[0]), source.render(span)
        if not any("\n" in source.text[t.start : t.end + 1] for t in source.tokens_in(span)):
            clause = clause.replace("\n", "\n  ")  # no new line is part of a string
        used = [name for name in WINDOW_COLUMNS if name in self.used]
        sides = (
            f"struct({', '.join([f'{s.alias}.* EXCEPT (__first, __last, __bucket)', *used])}) AS {s.alias}"
            for s in (self.left, self.right)
        )
        comment = f"/* hop: {self.left.window.words()}, in which rows are joined before they are copied */"
        lines = [comment, "SELECT", f"  {next(sides)},", f"  {next(sides)}", clause, *self._copies(used)]
        text = "".join(f"\n{indent}  {line}" for line in lines)
        return f"{clause[: len('from')]} ({text}\n{indent})"

    def _copies(self, used: list[str]) -> Iterator[str]:
        """The copies of a pair, one for each window that both are in, with the window columns that are used.

        They stand here, and not in the columns of the sides: Spark would take a struct of columns alone apart.
        """
        window, time = self.left.window, clock("", self.left.type, wall_bounds=self.wall_bounds)
        first, last = self._shared()
        step = time.length(window.slide)
        shifts = (Interval(0), window.size, window.size + MILLISECOND * -1)
        if self.left.type == NTZ and used:
            needed = [shift for name, shift in zip(WINDOW_COLUMNS, shifts, strict=True) if name in used]
            # Numbers to Spark: it counts on by a step faster than it adds an INTERVAL.
            starts = (f"sequence({time.plus(first, s)}, {time.plus(last, s)}, {step})" for s in needed)
            yield f"LATERAL VIEW inline(arrays_zip({', '.join(starts)})) AS {', '.join(used)}"
            return
        yield f"LATERAL VIEW explode(sequence({first}, {last}, {step})) AS __start"
        if used:
            columns = time.columns(*(time.plus("__start", shift) for shift in shifts))
            times = (column for name, column in zip(WINDOW_COLUMNS, columns, strict=True) if name in used)
            yield f"LATERAL VIEW inline(array(struct({', '.join(times)}))) AS {', '.join(used)}"
