"""A SELECT with windows of ours, or with LAST JOIN, as a SELECT that Spark has.

Where Spark's own frames say it, calls and windows are rewritten where they stand. Else FROM becomes a subquery that
numbers the rows; and where rows of UNION tables come in, or a call needs the result of another one, the calls
become columns of that subquery:

    SELECT id, __total                                    the SELECT as written, calls replaced
    FROM (
      SELECT *, sum(qty) OVER w AS __total                the calls
      FROM (SELECT *, ... AS __order                      the order of the rows
            FROM (SELECT *, 0 AS __source FROM trades     the rows
                  UNION ALL SELECT *, 1 FROM quotes)) ...
      WINDOW w AS (...)
    ) WHERE __source = 0
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver, sources
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source, Span
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin, WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.block import Block
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window, find_calls, find_windows
from dbt.adapters.sparkstream.sql.passes.framing.checks import check_block, check_order_type, check_union
from dbt.adapters.sparkstream.sql.passes.framing.functions import keeps_order
from dbt.adapters.sparkstream.sql.passes.framing.lowering import Lowering
from dbt.adapters.sparkstream.sql.passes.framing.relation import name_of, relation_of
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import by_key, needs_order
from dbt.adapters.sparkstream.sql.passes.framing.streams import ARRIVAL, KEY_TYPES, MARK, SOURCE, Stream
from dbt.adapters.sparkstream.sql.passes.framing.typing import type_of


class Frames:
    """Edits the SELECTs of a statement that have windows of ours, or LAST JOIN."""

    def __init__(
        self,
        source: Source,
        resolver: Resolver,
        *,
        dialect: str,
        arrival: str | None = None,
        request: bool = False,
    ) -> None:
        self._source = source
        self._resolver = resolver
        self._dialect = dialect
        self._arrival = arrival
        self._request = request

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """One edit for every such SELECT; checks come first, so that a fault is told whatever else is edited."""
        for select in tree.find_all(exp.Select):
            if SPAN not in select.meta or not (select.args.get("windows") or _has_frames(select)):
                continue
            query = Query(self._source, self._resolver, select, self._dialect, self._arrival, request=self._request)
            if query.is_ours:
                yield from query.inner_edits()
                yield Edit(query.block.span, query.text)


def _has_frames(select: exp.Select) -> bool:
    return any(n.find_ancestor(exp.Select) is select for n in select.find_all(exp.Window, LastJoin))


class Query:
    """One SELECT on its way to Spark."""

    def __init__(
        self,
        source: Source,
        resolver: Resolver,
        select: exp.Select,
        dialect: str,
        arrival: str | None,
        *,
        request: bool = False,
    ) -> None:
        self.source = source
        self.resolver = resolver
        self.select = select
        self.dialect = dialect
        self.arrival = arrival
        tables = sources(select)[:1] if request else []
        self.requested = any(resolver.columns(table).find(MARK) for table in tables)
        self.block = Block(source, select)
        self.windows = find_windows(source, self.block)
        self.calls = find_calls(source, self.block, self.windows, strict=dialect != "spark")
        self.last_joins = [n for n in select.find_all(LastJoin) if n.find_ancestor(exp.Select) is select]
        self._extra: list[str] = []
        self._type_guards: dict[str, None] = {}
        self.is_ours = bool(self.calls or self.last_joins or any(self.windows.values()))
        if self.is_ours:
            check_block(self)

    @cached_property
    def tables(self) -> dict[str, list[exp.Expr]]:
        """What stands in FROM, by the names that columns have before their dot; in lower case."""
        found: dict[str, list[exp.Expr]] = {}
        for table in sources(self.select):
            found.setdefault((name_of(table) or "").strip("`").lower(), []).append(table)
        return found

    @property
    def has_unions(self) -> bool:
        """Whether a window has UNION tables."""
        return any(window.spec.unions for window in self.our_windows())

    def inner_edits(self) -> Iterator[Edit]:
        """Where rows of UNION tables join those of several tables, columns go by their names alone."""
        if not self.has_unions or len(sources(self.select)) < 2:
            return
        kept = [self.block.clauses[c] for c in ("from", "where") if c in self.block.clauses]
        for column in self.select.find_all(exp.Column):
            if not column.table or column.find_ancestor(exp.Select) is not self.select:
                continue
            start = self.source.span(column.args["table"])[0]
            if any(s[0] <= start < s[1] for s in kept):
                continue
            if isinstance(column.this, exp.Star):
                raise self.source.error(
                    self.source.span(column),
                    "a window with UNION and a join in one SELECT can't have all columns of one table",
                    "name the columns, or put the join in a subquery",
                )
            yield Edit((start, self.source.span(column.this)[0]), lambda: "")

    # -- windows -------------------------------------------------------------------------------------
    def our_windows(self) -> list[Window]:
        """Every window of ours: declared ones, used or not, then those in OVER."""
        found: dict[int, Window] = {id(w): w for w in self.windows.values() if w}
        for call in self.calls:
            found.setdefault(id(call.window), call.window)
        return list(found.values())

    def type_of(self, span: Span) -> str | None:
        """The type of the expression that stands in a span."""
        return type_of(self.source.text[slice(*span)], self.dialect, self.select, self.resolver)

    def render(self, span: Span) -> str:
        return self.block.text(span)

    # -- the text ------------------------------------------------------------------------------------
    def text(self) -> str:
        """The SELECT as Spark has it."""
        block = self.block
        self.relation = relation_of(self)
        if not any(self.windows.values()) and not self.calls:
            return self._assemble({}, self.relation.sql, block.condition(), [])
        self._plan()
        lowering = Lowering(self)
        replaced: dict[Call, str] = {call: lowering.call(call) for call in self.calls}
        self._extra = [*lowering.attached, *lowering.columns]
        if not self.inner:
            condition = block.condition()
            guards = self._guards()
            if any(s.ordered for s in self.streams):
                frm = self._from(self._ordered(lowering, condition, guards))
                return self._assemble(replaced, frm, None, lowering.windows.definitions)
            both = [f"({condition})" if guards and condition and _or(condition) else condition, *guards]
            where = " AND ".join(c for c in both if c) or None
            return self._assemble(replaced, self.relation.sql, where, lowering.windows.definitions)
        rows = self._ordered(lowering, block.condition(), self._guards())
        lines = ["SELECT", "  *,"]
        lines.append(",\n".join(f"  {text} AS {name}" for name, text in lowering.columns.items()))
        lines.append(f"FROM {self._from(rows)}")
        lines += _window_clause(lowering.windows.definitions)
        where = f"{SOURCE} = 0" if self.unions else None
        return self._assemble(replaced, self._from("\n".join(lines)), where, [])

    def _from(self, query: str) -> str:
        alias = f" AS {self.relation.alias}" if self.relation.alias else ""
        return f"(\n{_indent(query)}\n){alias}"

    def _plan(self) -> None:
        """Decides the streams, and whether calls become columns of a subquery."""
        self.unions: list[exp.Expr] = []
        self.union_numbers: dict[tuple[str, int], int] = {}
        windows = self.our_windows()
        for window in windows:
            for union, name in zip(window.spec.unions, self._union_names(window.spec), strict=True):
                if name not in self.union_numbers:
                    self.unions.append(union)
                    self.union_numbers[name] = len(self.unions)
                    check_union(self, union)
        self.streams: list[Stream] = []
        self.stream_of: dict[int, Stream] = {}
        for window in windows:
            self.stream_of[id(window)] = self._stream(window.spec)
        for call in self.calls:
            frame = call.window.spec.frame
            stream = self.stream_of[id(call.window)]
            if needs_order(frame) or (by_key(frame) and keeps_order(call)):
                stream.ordered = True
        self.inner = bool(self.unions) or any(c.inner and c.is_aggregate for c in _every(self.calls))
        if self.inner:
            for stream in self.streams:
                stream.ordered = True
        if not any(s.ordered for s in self.streams) and not self.relation.structured:
            for stream in self.streams:
                if ARRIVAL in stream.arrival:
                    stream.arrival = (*stream.arrival[:-1], "monotonically_increasing_id()")

    def _stream(self, spec: WindowSpec) -> Stream:
        partition = tuple(self.render(key.span) for key in spec.partition)
        sources_ = tuple(self.union_numbers[name] for name in self._union_names(spec))
        ties: tuple[str, ...] = ()
        key: str | None = None
        key_type: str | None = None
        if spec.order:
            key = self.render(spec.order[0].span)
            key_type = self.type_of(spec.order[0].span)
            check_order_type(self, spec, key_type)
        elif self.dialect == "sqlstream":
            key, key_type = self._rowtime(), None
        if self.dialect == "sqlstream" and key:
            rowtime = self._rowtime()
            ties = () if key.lower() == rowtime.lower() or not self._has_rowtime() else (rowtime,)
        elif self.dialect == "spark" and key and key_type not in KEY_TYPES[:4]:
            ties = (key,)
        arrival = self._arrival(spec)
        wanted = (partition, key, sources_, arrival)
        for stream in self.streams:
            if (stream.partition, stream.key, stream.sources, stream.arrival) == wanted:
                return stream
        stream = Stream(
            number=len(self.streams) + 1,
            partition=partition,
            key=key,
            key_type=key_type if key_type in KEY_TYPES else None,
            ties=ties,
            sources=sources_,
            all_sources=len(sources_) == len(self.unions),
            timed=self.dialect == "sqlstream",
            arrival=arrival,
            nullable=self.dialect != "openmldb",
        )
        self.streams.append(stream)
        return stream

    def _union_names(self, spec: WindowSpec) -> list[tuple[str, int]]:
        """What tells the UNION tables of a window apart: the text, and its place among equal ones."""
        texts = [self.render(union.meta[SPAN]) for union in spec.unions]
        return [(text, texts[:i].count(text)) for i, text in enumerate(texts)]

    def _rowtime(self) -> str:
        """ROWTIME, of the first table where there are several."""
        if not self.relation.qualified:
            return "ROWTIME"
        return f"{self.relation.first}.ROWTIME"

    def _has_rowtime(self) -> bool:
        """Whether the rows have a ROWTIME, as far as is known: from the schema, else because the SELECT names it."""
        tables = sources(self.select)[:1] if self.relation.qualified else sources(self.select)
        known = [self.resolver.columns(table) for table in tables]
        if any(columns.find("ROWTIME") for columns in known):
            return True
        if known and all(columns.complete for columns in known):
            return False
        return any(column.name.upper() == "ROWTIME" for column in self.select.find_all(exp.Column))

    def _arrival(self, spec: WindowSpec) -> tuple[str, ...]:
        prefix = f"{self.relation.first}." if self.relation.qualified else ""
        last = (f"{prefix}{MARK}",) if self.requested else ()  # a request's row is the last to arrive
        if len(spec.order) > 1:
            return (*last, self.render(spec.order[1].span))
        if self.arrival:
            return (*last, f"{prefix}{self.arrival}")
        return (*last, ARRIVAL)

    def guard_type(self, value: str, forbidden: Iterable[str], message: str) -> None:
        """Has Spark refuse an argument whose type isn't known here, if it is of a type that it can't have."""
        types = ", ".join(f"'{t}'" for t in forbidden)
        self._type_guards[f"IF(typeof({value}) IN ({types}), raise_error('{message}'), TRUE)"] = None

    def _guards(self) -> list[str]:
        """Conditions on the keys: OpenMLDB gives no row for a row without a key. And on types not known here."""
        if self.dialect != "openmldb":
            return []
        found: dict[str, None] = dict(self._type_guards)
        for stream in self.streams:
            if stream.key is None:
                continue
            if stream.key_type:
                found[f"{stream.key} IS NOT NULL"] = None
            else:
                types = ", ".join(f"'{t}'" for t in KEY_TYPES)
                found[
                    f"IF(typeof({stream.key}) IN ({types}), {stream.key} IS NOT NULL, "
                    "raise_error('a window is ordered by a number or a timestamp'))"
                ] = None
        return list(found)

    def _ordered(self, lowering: Lowering, condition: str | None, guards: list[str]) -> str:
        """The query that gives the rows with their order, and what is attached to them."""
        ordered = [s for s in self.streams if s.ordered]
        keys = [f"{s.key_sql()} AS {s.key_column}" for s in ordered]
        arrival = [f"monotonically_increasing_id() AS {ARRIVAL}"]
        if (self.relation.structured and not self.relation.flat) or all(ARRIVAL not in s.arrival for s in self.streams):
            arrival = []
        if self.unions:
            query = _select([*self.relation.items, f"0 AS {SOURCE}", *arrival], self.relation.sql, condition)
            for i, union in enumerate(self.unions, 1):
                table = self.render(union.meta[SPAN])
                query += "\nUNION ALL\n" + _select(["*", str(i), *(a.split(" AS ")[0] for a in arrival)], table, None)
            checks = [check for u in self.unions for check in check_union(self, u)]
            query = _select(["*", *keys], self._from(query), " AND ".join([*checks, *guards]) or None)
        else:
            both = [f"({condition})" if guards and condition and _or(condition) else condition, *guards]
            where = " AND ".join(c for c in both if c) or None
            if self.relation.several:
                query = _select([*self.relation.items, *arrival], self.relation.sql, where)
                query = _select(["*", *keys], self._from(query), None)
            else:
                query = _select([*self.relation.items, *arrival, *keys], self.relation.sql, where)
        query = _select(["*", *(s.order_sql() for s in ordered)], self._from(query), None)
        if lowering.attached:
            items = [f"{text} AS {name}" for name, text in lowering.attached.items()]
            query = _select(["*", *items], self._from(query), None)
        return query

    def helpers(self, lowering_columns: list[str]) -> list[str]:
        """Names of the columns that `*` must not show."""
        ordered = [s for s in self.streams if s.ordered]
        if not ordered and not self.inner:
            return []
        names = [SOURCE] if self.unions else []
        if any(ARRIVAL in s.arrival for s in self.streams):
            names.append(ARRIVAL)
        for stream in ordered:
            names += [stream.key_column, stream.order_column]
        return names + lowering_columns

    # -- assembling ----------------------------------------------------------------------------------
    def _assemble(self, replaced: dict[Call, str], frm: str, where: str | None, definitions: list[str]) -> str:
        """The SELECT as written with other calls, FROM, WHERE and windows."""
        block = self.block
        pieces: list[tuple[Span, str]] = []
        hidden = self.helpers(self._extra) if self.calls else []
        for item in block.projections:
            pieces += self._projection(item, replaced, hidden)
        for call, text in replaced.items():
            if not any(p[0] <= call.span[0] and call.span[1] <= p[1] for p in block.projections):
                pieces.append((call.span, text))
        clauses = block.clauses
        indent = self.source.indent(block.span[0])
        start, end = clauses["from"]
        word = self.source.text[start : start + len("from")]
        tail = {"where": f"\n{indent}WHERE {where}" if where else ""}
        clause = _window_clause([*self._native_windows(), *definitions])
        tail["window"] = f"\n{indent}" + _indent("\n".join(clause), indent, first=False) if clause else ""
        text = f"{word} {_indent(frm, indent, first=False)}"
        place = start, end
        for name, sql in tail.items():
            if name in clauses:
                pieces.append((place, text))
                place, text = self._with_space(clauses[name]), sql
            else:
                text += sql
        return block.text(block.span, [*pieces, (place, text)])

    def _with_space(self, span: Span) -> Span:
        """A span with the white space before it."""
        start = span[0]
        while self.source.text[start - 1].isspace():
            start -= 1
        return start, span[1]

    def _native_windows(self) -> list[str]:
        """Declared windows that Spark has itself, as they are written."""
        if "window" not in self.block.clauses:
            return []
        found = []
        for node in self.select.args.get("windows") or []:
            if self.windows[node.this.name.lower()] is None:
                start, end = self._window_span(node)
                found.append(self.render((start, end)))
        return found

    def _window_span(self, node: exp.Window) -> Span:
        start = self.source.span(node.this)[0]
        tokens = self.source.tokens
        places = tokens.within((start, self.block.clauses["window"][1]))
        return tokens.span(tokens.pieces(places.start, places.stop)[0])

    def _projection(self, item: Span, replaced: dict[Call, str], hidden: list[str]) -> Iterator[tuple[Span, str]]:
        text = self.source.text[slice(*item)].strip()
        star = re.fullmatch(r"(?:(.+)\s*\.\s*)?\*(?:\s*EXCEPT\s*\((.+)\))?", text, re.S | re.I)
        if star:
            if self.relation.qualified and (hidden or self.relation.structured):
                if star[2] and not star[1]:
                    raise self.source.error(item, "* EXCEPT can't stand beside a join here", "name the columns")
                yield item, text if star[1] else ", ".join(f"{name}.*" for name in self.relation.names)
            elif hidden:
                names = [*(n for n in (star[2] or "").split(",") if n), *hidden]
                yield item, f"{star[1] + '.' if star[1] else ''}* EXCEPT ({', '.join(n.strip() for n in names)})"
            return
        mine = [c for c in replaced if item[0] <= c.span[0] and c.span[1] <= item[1]]
        for call in mine:
            yield call.span, replaced[call]
        if mine and not self._is_named(item):
            name = self._output_name(item, mine)
            yield (item[1], item[1]), f" AS `{name}`"

    def _is_named(self, item: Span) -> bool:
        """Whether an item of the SELECT list has an alias."""
        index = self.block.projections.index(item)
        return index < len(self.select.expressions) and isinstance(
            self.select.expressions[index], (exp.Alias, exp.Aliases)
        )

    def _output_name(self, item: Span, calls: list[Call]) -> str:
        """OpenMLDB names a column without an alias by its text: sum(c4)over w1."""
        text = self.source.text
        name = text[slice(*item)]
        if len(calls) == 1 and calls[0].span == item and calls[0].window.name:
            name = f"{text[slice(*calls[0].call)]}over {calls[0].window.name}"
        return re.sub(r"\s+", " ", name).replace("`", "")


def _every(calls: list[Call]) -> Iterator[Call]:
    for call in calls:
        yield call
        yield from _every(call.inner)


def _or(condition: str) -> bool:
    return bool(re.search(r"\bor\b", condition, re.I))


def _select(items: list[str], frm: str, where: str | None) -> str:
    text = f"SELECT {', '.join(items)}\nFROM {frm}"
    return f"{text}\nWHERE {where}" if where else text


def _indent(text: str, by: str = "  ", *, first: bool = True) -> str:
    lines = text.split("\n")
    return "\n".join(line if (i == 0 and not first) or not line else by + line for i, line in enumerate(lines))


def _window_clause(definitions: list[str]) -> list[str]:
    if not definitions:
        return []
    lines: list[str] = []
    for i, definition in enumerate(definitions):
        lead = "WINDOW\n  " if i == 0 else "  "
        lines.append(lead + definition.replace("\n", "\n  ") + ("," if i + 1 < len(definitions) else ""))
    return "\n".join(lines).split("\n")
