"""Windows over rows that dbt has cut to a batch: at the batch's edges they have rows outside of it.

A ref of a microbatch model is `(select * from bid where bidtime >= TIMESTAMP_NTZ'...' and bidtime < ...)`. A window
function right on such a query gets the rows that its windows need, and keeps the windows of the batch. A window on
more than such a query, on a join for one, is refused; for a frame of OVER there is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.literals import read_time
from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte, relations
from dbt.adapters.sparkstream.sql.core.nodes import enclosing
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS, Tumble, Window, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.windows.groups import GroupWindows

_CLAUSES = {"expressions", "from_", "where"}
_EPOCH = datetime(1970, 1, 1)
_CUT = "dbt cuts what this {} reads to the rows of a batch, and its windows need others"
_HINT = "write the window with a macro or an island right on the ref, and the rest of the query around it"


@dataclass(frozen=True)
class CutTable:
    """A relation, as it is written, and the column by whose times dbt cuts it."""

    relation: str
    column: str


@dataclass(frozen=True)
class BatchRows:
    """Rows that a window function reads in a batch, and the condition that keeps the batch's own windows, or None."""

    relation: str
    windows: str | None


Widen = Callable[[Window, str, CutTable], BatchRows]
"""Function from a window, its time column as written and its cut relation to the rows that it reads instead."""


@dataclass(frozen=True)
class Microbatch:
    """The times between which dbt cuts relations, on the wall clock."""

    start: datetime
    end: datetime
    widen: Widen

    def filled_by(self, window: Window) -> bool:
        """True if windows fill the batch, so that none needs a row from outside."""
        return isinstance(window, Tumble) and all(
            ((edge - _EPOCH) // timedelta(microseconds=1) - window.offset.micros) % window.size.micros == 0
            for edge in (self.start, self.end)
        )

    def cut(self, query: exp.Expr | None, source: Source) -> CutTable | None:
        """Relation that dbt has cut, if a query is dbt's cut of a relation to this batch; else None."""
        if not isinstance(query, exp.Select) or {key for key, value in query.args.items() if value} != _CLAUSES:
            return None
        both, table = query.args["where"].this, query.args["from_"].this
        if not (isinstance(both, exp.And) and isinstance(both.left, exp.GTE) and isinstance(both.right, exp.LT)):
            return None
        edges = [_time(both.left.expression), _time(both.right.expression)]
        everything = len(query.expressions) == 1 and isinstance(query.expressions[0], exp.Star)
        if not everything or edges != [self.start, self.end] or both.left.this != both.right.this:
            return None
        return CutTable(source.written(table), source.written(both.left.this)) if isinstance(table, exp.Table) else None

    def is_in(self, source: Source, *nodes: exp.Expr) -> bool:
        """True if nodes read rows that dbt has cut, through subqueries and CTEs as well."""
        remaining, seen = list(nodes), set()
        while remaining:
            for part in remaining.pop().find_all(exp.Select, exp.Table):
                if self.cut(part, source):
                    return True
                cte = find_cte(part)
                if cte and id(cte) not in seen:
                    seen.add(id(cte))
                    remaining.append(cte.this)
        return False


class Widened:
    """Edits the window functions on rows that dbt has cut: each gets the rows that its windows need.

    Attributes:
        filtered: ids of the window functions of which only the windows of the batch are kept.
    """

    def __init__(self, source: Source, batch: Microbatch) -> None:
        self._source = source
        self._batch = batch
        self.filtered: set[int] = set()

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """Edits that give window functions other rows, and keep the batch's own windows in a query around them."""
        source = self._source
        for function in window_functions(tree):
            cut = _cut_below(function, source, self._batch)
            if not cut:
                continue
            rows = self._batch.widen(function.window, source.written(function.timecol), cut)
            yield Edit(source.span(function.this), lambda rows=rows: rows.relation)  # type: ignore[misc]
            if rows.windows:
                self.filtered.add(id(function))
                text = lambda f=function, w=rows.windows: (  # noqa: E731
                    f"(/* windows of the batch */ SELECT * FROM {source.rendered(f)} WHERE {w})"
                )
                yield Edit(source.span(function), text, level=1)


def _cut_below(function: WindowFunction, source: Source, batch: Microbatch) -> CutTable | None:
    """The relation that dbt has cut to the batch, if a window function reads it directly."""
    relation = function.this
    return batch.cut(relation.this, source) if isinstance(relation, exp.Subquery) else None


def check(source: Source, tree: exp.Expr, batch: Microbatch, groups: GroupWindows) -> Iterator[TranslationWarning]:
    """Warnings about frames, LAST JOINs and MATCH_RECOGNIZEs that read rows of earlier times.

    Args:
        groups: reads the group windows of the statement.

    Raises:
        TranslationError: a window on a query over cut rows, or a group window, needs rows from outside the batch.
    """
    for function in window_functions(tree):
        if (
            not _cut_below(function, source, batch)
            and not batch.filled_by(function.window)
            and batch.is_in(source, function.this)
        ):
            raise source.error(function, _CUT.format(function.window.name), _HINT)
    for select, call, window in groups.windows(tree):
        if not batch.filled_by(window) and batch.is_in(source, *_inputs(select)):
            raise source.error(source.call_span(call), _CUT.format(window.name), _HINT)
    for node in tree.find_all(exp.Window, LastJoin, MatchRecognize):
        if _reads_back(node) and batch.is_in(source, *_inputs(node)):
            yield source.warning(
                node,
                "dbt cuts what is read here to the rows of a batch, so rows of earlier times are missing at its start",
                "read {{ read(ref('...'), before='1 hour') }}, and in a query around it: where {{ in_batch() }}",
            )


def _reads_back(node: exp.Expr) -> bool:
    """True if OVER, LAST JOIN or MATCH_RECOGNIZE reads rows of several windows.

    The ROW_NUMBER of a Top-N has a window's bounds among its keys. `OVER w` has no order: the definition of w has it.
    """
    if type(node) is exp.Window and not node.args.get("order"):
        return False
    keys = node.args.get("partition_by") or node.args.get("keys") or []
    return not any(key.name.lower() in WINDOW_COLUMNS for key in keys if isinstance(key, exp.Column))


def _inputs(node: exp.Expr) -> list[exp.Expr]:
    """The relations that the query of a node reads, or that MATCH_RECOGNIZE or a LAST JOIN reads itself."""
    if isinstance(node, MatchRecognize):
        return [node.this]
    select = enclosing(node, exp.Select) if isinstance(node, exp.Window) else node
    if not isinstance(select, exp.Select):
        return [node.this] if isinstance(node, LastJoin) else []
    return relations(select)


def _time(literal: exp.Expr) -> datetime | None:
    """A time as the adapter writes it into a ref, `TIMESTAMP_NTZ'2024-01-02 00:00:00'`."""
    try:
        return read_time(literal.name) if isinstance(literal, exp.Cast) else None
    except ValueError:
        return None
