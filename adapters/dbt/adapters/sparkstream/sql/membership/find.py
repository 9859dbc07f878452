"""The windows of a statement, each with the query of the rows that it sees."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import name_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import own
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import INSIDE, SPAN, Source, Span, blamed_on
from dbt.adapters.sparkstream.sql.core.windows import Session, Window, WindowFunction, window_functions
from dbt.adapters.sparkstream.sql.grammar.net import netted
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, WindowSpec
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows
from dbt.adapters.sparkstream.sql.membership.queries import FrameUse, Input, Use, WindowUse, projections, union_name
from dbt.adapters.sparkstream.sql.passes.framing.aggregates import RANKS
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.windows.groups import GroupWindow, GroupWindows
from dbt.adapters.sparkstream.sql.statement import Statement
from dbt.adapters.sparkstream.sql.streaming.names import with_clause
from dbt.adapters.sparkstream.sql.translate import translate

_FRAMELESS = {*RANKS, "LAG"}
"""Functions that look at all rows of the partition, whatever the frame."""
_WHOLE = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""SQL's frame where none is written."""


def find(
    sql: str,
    dialect: str = "spark",
    *,
    schema: Schema | None = None,
    arrival: str | None = None,
    own_frames: bool = True,
) -> list[Use]:
    """The windows of a statement, in the order of its text.

    Args:
        schema: table -> column -> Spark type, as far as known.
        arrival: the column that numbers rows in order of arrival.
        own_frames: True if frames that Spark has itself count.

    Raises:
        TranslationError: what is wrong, where and how to write it.
    """

    def work() -> list[tuple[int, Use]]:
        statement = Statement.parse(sql, dialect, whole=True)
        finder = _Finder(statement.source, dialect, schema, arrival, own_frames)
        return [use for tree in statement.trees for use in finder.uses(tree)]

    return [use for _, use in sorted(netted(sql, dialect, work), key=lambda pair: pair[0])]


def row_windows(sql: str, dialect: str = "spark") -> list[Window]:
    """The windows that a statement assigns rows to, by a table function or in GROUP BY.

    Raises:
        TranslationError: the statement can't be parsed.
    """
    if dialect == "spark" and not may_hold_windows(sql):
        return []
    statement = Statement.parse(sql, dialect, whole=True)
    groups = GroupWindows(statement.source, Resolver(None), strict=dialect == "flink")
    found: list[Window] = []
    for tree in statement.trees:
        found += [function.window for function in window_functions(tree)]
        found += [window for _, _, window in groups.windows(tree)]
    return found


def has_row_windows(sql: str, dialect: str = "spark") -> bool:
    """True if a statement assigns rows to windows; raises as `row_windows` does."""
    return bool(row_windows(sql, dialect))


class _Finder:
    def __init__(
        self, source: Source, dialect: str, schema: Schema | None, arrival: str | None, own_frames: bool
    ) -> None:
        self._source = source
        self._dialect = dialect
        self._schema = schema
        self._arrival = arrival
        self._own_frames = own_frames
        self._strict = dialect == "flink"
        self._group_windows = GroupWindows(source, Resolver(schema), strict=self._strict)

    def uses(self, tree: exp.Expr) -> Iterator[tuple[int, Use]]:
        """The windows of a syntax tree, and where each one stands."""
        for function in window_functions(tree):
            yield self._source.span(function)[0], self._function(function)
        for select in tree.find_all(exp.Select):
            if SPAN not in select.meta:
                continue
            grouped = self._group_windows.read(select)
            if grouped:
                yield self._source.span(grouped[0].time)[0], self._group(select, *grouped)
            yield from self._frames(select)

    # -- row windows ---------------------------------------------------------------------------------
    def _function(self, function: WindowFunction) -> Use:
        source = self._source
        keys = [source.written(key) for key in function.partition_by]
        relation = source.written(function.this)
        time = source.written(function.timecol)
        values = [time, *(source.written(v) for v in (function.gap, function.close_on) if v is not None)]
        sql = f"SELECT *, {projections(time, keys, values)} FROM {relation}"
        place = source.span(function)
        return WindowUse(
            name=function.window.name.lower(),
            words=function.window.words(),
            line=self._line(place[0]),
            written=source.text[slice(*place)],
            inputs=(Input(self._spark(sql, function.this), len(keys), len(values)),),
            lanes=bool(keys),
            window=function.window,
            wall_bounds=self._strict,
            own_gaps=function.gap is not None,
            closing=function.close_on is not None,
        )

    def _group(self, select: exp.Select, read: GroupWindow, keys: list[exp.Expr]) -> Use:
        source, window, time = self._source, read.window, read.time
        block = Block(source, select)
        parts = [source.written(key) for key in keys] if isinstance(window, Session) else []
        written = source.written(time)
        sql = f"SELECT *, {projections(written, parts, [written])} {self._clauses(block, 'from', 'where')}"
        return WindowUse(
            name=window.name.lower(),
            words=window.words(),
            line=self._line(source.span(time)[0]),
            written=f"{window.name}({written}, ...)",
            inputs=(Input(self._spark(sql, *_rows_of(select)), len(parts), 1),),
            lanes=bool(parts),
            window=window,
            wall_bounds=self._strict,
        )

    # -- frames --------------------------------------------------------------------------------------
    def _frames(self, select: exp.Select) -> Iterator[tuple[int, Use]]:
        """The frames of a SELECT. A frame that is written twice in the same words is given once."""
        definitions = {node.this.name.lower(): node for node in select.args.get("windows") or []}
        seen: dict[str, None] = {}
        block = Block(self._source, select)
        for node in own(select, exp.Window):
            if any(node is d for d in definitions.values()):
                continue
            name, window = None, node
            alias = node.args.get("alias")
            passed = dict(definitions)
            while isinstance(alias, exp.Identifier) and alias.name.lower() in passed:
                name, window = alias.name, passed.pop(alias.name.lower())  # WINDOW w AS (w) ends, too
                alias = window.args.get("alias")
            call = node.find(exp.Anonymous)
            function = "frame" if call is None else call.name
            if function.upper() in _FRAMELESS or (name is None and alias is not None):
                continue
            inside = window.meta.get(INSIDE)  # nothing, of a name alone
            place = (inside[0] - 1, inside[1] + 1) if inside else None
            place = window.value.span if isinstance(window, FramedWindow) else place
            if place is None or self._source.text[slice(*place)] in seen:
                continue
            seen[self._source.text[slice(*place)]] = None
            use = self._frame(select, block, window, place, name or f"{function.lower()} over")
            if use:
                yield place[0], use

    def _frame(self, select: exp.Select, block: Block, window: exp.Window, place: Span, name: str) -> Use | None:
        source = self._source
        if isinstance(window, FramedWindow):
            spec = window.value
            partition = [key.span for key in spec.partition]
            order = [key.span for key in spec.order]
            unions = spec.unions
            parts_before = [place[0] + 1, *(s[1] for s in (*partition, *order)), *(u.meta[SPAN][1] for u in unions)]
            words = " ".join(source.text[max(parts_before) : place[1] - 1].split())
            over = self._over(block, spec, place, partition, order)
        else:
            if not self._own_frames:
                return None
            keys_ = window.args["order"].expressions if window.args.get("order") else []
            partition = [source.span(key) for key in window.args.get("partition_by") or []]
            order, unions = [source.span(key.this) for key in keys_], ()
            own_frame = window.args.get("spec")
            frame = source.written(own_frame) if own_frame else _WHOLE
            words = frame if own_frame else "from the first row of the partition to the current one and its peers"
            over = self._own_over(bool(partition), keys_, frame)
        grouped = "group" in block.clauses
        rowtime = self._dialect == "sqlstream"
        if grouped or not (order or rowtime):
            # Over groups, or every row of a partition at once: no rows on a time line.
            return None
        main = name_of(sources(select)[0]) if sources(select) else None
        prefix = f"{main}." if main and len(sources(select)) > 1 else ""
        keys = [source.text[slice(*span)] for span in order]
        names = [f"__key_{i}" for i in range(1, len(keys) + 1)]
        if rowtime:
            keys, names = [*keys, f"{prefix}ROWTIME"], [*names, "ROWTIME"]
        by_arrival = bool(self._arrival) and len(order) < 2
        if by_arrival:
            keys, names = [*keys, f"{prefix}{self._arrival}"], [*names, "__arrived"]
        time = f"{prefix}ROWTIME" if rowtime else keys[0]
        parts_ = [source.text[slice(*span)] for span in partition]
        ours = projections(time, parts_, keys)
        inputs = [self._spark(f"SELECT *, {ours} {self._clauses(block, 'from', 'where')}", *_rows_of(select))]
        for union in unions:
            table = f"{source.text[slice(*union.meta[SPAN])]} AS {main or 'u'}"
            inputs.append(self._spark(f"SELECT *, {ours} FROM {table}", union))
        return FrameUse(
            name=name,
            words=words,
            line=self._line(place[0]),
            written=source.text[place[0] + 1 : place[1] - 1].strip(),
            inputs=tuple(Input(sql, len(parts_), len(keys)) for sql in inputs),
            lanes=bool(parts_),
            over=over,
            dialect=self._dialect,
            names=tuple(names),
            by_arrival=by_arrival,
        )

    def _over(self, block: Block, spec: WindowSpec, place: Span, partition: list[Span], order: list[Span]) -> str:
        """A specification of ours over the columns of a sample."""
        pieces = [(union.meta[SPAN], union_name(i)) for i, union in enumerate(spec.unions, 1)]
        if partition:
            pieces.append(((partition[0][0], partition[-1][1]), "__lane"))
        pieces += [(span, f"__key_{i}") for i, span in enumerate(order, 1)]
        return block.text((place[0] + 1, place[1] - 1), pieces)

    def _own_over(self, lanes: bool, keys: list[exp.Expr], frame: str) -> str:
        """A specification of Spark's own over the columns of a sample."""
        text, span = self._source.text, self._source.span
        ordering = [f"__key_{i}{text[span(key.this)[1] : span(key)[1]]}" for i, key in enumerate(keys, 1)]
        partition = "PARTITION BY __lane " if lanes else ""
        order = f"ORDER BY {', '.join(ordering)} " if ordering else ""
        return f"{partition}{order}{frame}"

    # -- the query around it -------------------------------------------------------------------------
    def _spark(self, sql: str, *nodes: exp.Expr) -> str:
        """A query of the statement's dialect with some nodes of it, and the CTEs that these read, as Spark SQL."""
        with blamed_on(self._source.text, self._source.span(nodes[0])):
            return translate(
                with_clause(self._source, *nodes) + sql,
                self._dialect,
                optimize=False,
                schema=self._schema,
                arrival=self._arrival,
                warn=lambda _: None,
            )

    def _clauses(self, block: Block, *names: str) -> str:
        """Clauses of a SELECT as they are written."""
        return "\n".join(self._source.text[slice(*block.clauses[n])] for n in names if n in block.clauses)

    def _line(self, offset: int) -> int:
        return self._source.text.count("\n", 0, offset) + 1


def _rows_of(select: exp.Select) -> list[exp.Expr]:
    """FROM and WHERE of a SELECT; itself where it has neither."""
    return [select.args[clause] for clause in ("from_", "where") if select.args.get(clause)] or [select]
