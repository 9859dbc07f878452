"""A SELECT with windows of ours, or with LAST JOIN, as a SELECT that Spark has.

Where Spark's own frames suffice, calls and windows are rewritten in their place. Else FROM becomes a subquery that
numbers the rows; and where rows of UNION tables come in, or a call has a call in its argument, the calls
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
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import sources
from dbt.adapters.sparkstream.sql.core.nodes import find, own
from dbt.adapters.sparkstream.sql.core.over import subtracted_from
from dbt.adapters.sparkstream.sql.core.source import INSIDE, SPAN, Edit, Source, Span
from dbt.adapters.sparkstream.sql.core.writing import Query as Written
from dbt.adapters.sparkstream.sql.core.writing import Select, UnionAll, named, parenthesized, placed, window_clause
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, LastJoin
from dbt.adapters.sparkstream.sql.passes.framing.block import holding, inside
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call
from dbt.adapters.sparkstream.sql.passes.framing.column_names import column_name, counted_name
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Additions, Evaluation
from dbt.adapters.sparkstream.sql.passes.framing.functions import call_sql, over_array
from dbt.adapters.sparkstream.sql.passes.framing.relation import relation_of
from dbt.adapters.sparkstream.sql.passes.framing.rowplan import RowPlan
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.streams import ARRIVAL, SOURCE
from dbt.adapters.sparkstream.sql.passes.optimize.timeblocks import AT, BLOCK


class Frames:
    """Edits the SELECTs of a statement that have windows of ours, or LAST JOIN.

    Args:
        running: True if aggregates that can be subtracted may come from running ones (see `optimize/oversums`).
        skewed: True if one key has most of the rows, which are split by time (see `optimize/timeblocks`).

    Attributes:
        summed: the frames whose aggregates come from running ones, in words; filled as the edits are made.
        whole: windows whose rows aren't split though `skewed`: span, frame in words, and reason.
    """

    def __init__(
        self,
        source: Source,
        resolver: Resolver,
        *,
        dialect: str,
        arrival: str | None = None,
        request: bool = False,
        running: bool = False,
        skewed: bool = False,
    ) -> None:
        self._source = source
        of_dialect = partial(FramedSelect, source, resolver, dialect=dialect, arrival=arrival)
        self._read = partial(of_dialect, request=request, running=running, skewed=skewed)
        self.summed: dict[str, None] = {}
        self.whole: list[tuple[Span, str, str]] = []

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """One edit for every SELECT with windows or LAST JOIN; the SELECT is checked before anything is edited."""
        for select in find(tree, exp.Select):
            if not (select.args.get("windows") or any(own(select, exp.Window, LastJoin))):
                continue
            if SPAN not in select.meta:
                self._check_pipe(select)
                continue
            read = self._read(select)
            if read.is_ours:
                query = Query(read, self.summed, self.whole)
                yield from query.inner_edits()
                yield Edit(query.block.span, query.text, whole=True)

    def _check_pipe(self, select: exp.Select) -> None:
        """Refuses windows of ours in a pipe, whose SELECT is nowhere in the text."""
        frame = next(own(select, FramedWindow), None)
        if frame is not None:
            raise self._source.error(
                frame.value.span,
                "a window that Spark has not can't stand behind |>",
                "write the SELECT in parentheses: FROM (SELECT *, sum(x) OVER w AS s FROM t WINDOW w AS ...) |> ...",
            )


class Query:
    """A SELECT on its way to Spark."""

    def __init__(self, select: FramedSelect, summed: dict[str, None], whole: list[tuple[Span, str, str]]) -> None:
        _check(select)
        self._summed = summed
        self._whole = whole
        self._select = select
        self.block = select.block

    def inner_edits(self) -> Iterator[Edit]:
        """Takes `t.` from `t.x` where rows of joined tables and of UNION tables come together in one row of columns."""
        if not self._select.has_unions or self._select.apart or len(sources(self._select.select)) < 2:
            return
        kept = [self.block.clauses[c] for c in ("from", "where") if c in self.block.clauses]
        for column in own(self._select.select, exp.Column):
            if not column.table:
                continue
            start = self._select.source.span(column.args["table"])[0]
            if any(s[0] <= start < s[1] for s in kept):
                continue
            if isinstance(column.this, exp.Star):
                raise self._select.source.error(
                    column,
                    "a window with UNION and a join in one SELECT can't have all columns of one table",
                    "name the columns, or put the join in a subquery",
                )
            yield Edit.to((start, self._select.source.span(column.this)[0]), "")

    # -- the text ------------------------------------------------------------------------------------
    def text(self) -> str:
        """The SELECT as Spark SQL."""
        select, condition = self._select, self.block.condition()
        self._relation = relation_of(select)
        if not any(select.windows.values()) and not select.calls:
            return self._assemble({}, self._relation.lines, condition, [])
        self._plan = RowPlan(select, self._relation)
        for call in select.calls:
            if self._plan.stream_of(call).running:
                self._summed[call.window.spec.frame.words()] = None
        self._whole += [(window.place, window.spec.frame.words(), why) for window, why in self._plan.whole]
        self._additions = Additions(inline_unnamed=not self._plan.inner and not self._plan.ordered)
        replaced = {call: self._call(call) for call in select.calls}
        definitions = self._additions.windows
        if not self._plan.inner:
            if self._plan.ordered:
                return self._assemble(replaced, self._from(self._ordered(condition)), None, definitions)
            return self._assemble(replaced, self._relation.lines, self._guarded(condition), definitions)
        calls = replace(self._over(self._ordered(condition), named(self._additions.columns)), windows=definitions)
        where = [f"{SOURCE} = 0"] if self._plan.unions else []
        where += [self._plan.blocks.is_own] if self._plan.blocks else []
        return self._assemble(replaced, self._from(calls), " AND ".join(where) or None, [], plain=True)

    def _from(self, query: Select) -> list[str]:
        """The lines of a query in FROM, under the name of the relation."""
        *lines, last = parenthesized(query, self._plan.blocks.comment if self._plan.blocks else "")
        return [*lines, f"{last} AS {self._relation.alias}" if self._relation.alias else last]

    def _over(self, query: Written, items: list[str], condition: str | None = None) -> Select:
        """SELECT *, items FROM query."""
        return Select(["*", *items], query, self._relation.alias or "", where=[condition] if condition else [])

    def _guarded(self, condition: str | None) -> str | None:
        """A condition and the guards of the keys, joined by AND; None without any."""
        guards = self._plan.key_guards()
        both = [
            f"({condition})" if guards and condition and re.search(r"\bor\b", condition, re.I) else condition,
            *guards,
        ]
        return " AND ".join(c for c in both if c) or None

    def _ordered(self, condition: str | None) -> Select:
        """Query of the rows with their order, and with the columns that are attached to them."""
        plan, relation = self._plan, self._relation
        keys = [f"{s.key_sql()} AS {s.key_column}" for s in plan.ordered]
        keys += [plan.blocks.column] if plan.blocks else []
        numbered = plan.numbers_arrival and (relation.flat or not relation.structured or bool(relation.columns))
        arrival = {ARRIVAL: "monotonically_increasing_id()"} if numbered else {}
        rows = [*relation.items, *([f"0 AS {SOURCE}"] if plan.unions else []), *named(arrival)]
        if not plan.unions and not relation.several:
            rows += keys
        where = condition if plan.unions else self._guarded(condition)
        first = Select(rows, relation.lines, where=[where] if where else [])
        query = first
        if plan.unions:
            tables = [self._select.render(union.meta[SPAN]) for union in plan.unions]
            others = [
                Select([*items, str(i), *arrival.values()], table)
                for i, (items, table) in enumerate(map(relation.union, tables), 1)
            ]
            checks = " AND ".join([*plan.union_checks, *plan.key_guards()]) or None
            query = self._over(UnionAll([first, *others]), keys, checks)
        elif relation.several:
            query = self._over(first, keys)
        if plan.ordered:
            query = self._over(query, [s.order_sql() for s in plan.ordered])
        if plan.blocks:
            query = plan.blocks.copied(query, relation.alias or "")
        return self._over(query, named(self._additions.attached)) if self._additions.attached else query

    def _helpers(self) -> list[str]:
        """Names of the columns that `*` must not show."""
        plan = self._plan
        if not plan.ordered and not plan.inner:
            return []
        names = [*([SOURCE] if plan.unions else []), *([AT, BLOCK] if plan.blocks else [])]
        if plan.numbers_arrival:
            names.append(ARRIVAL)
        for stream in plan.ordered:
            names += [stream.key_column, stream.order_column]
        return [*names, *self._additions.attached, *self._additions.columns]

    # -- the calls ---------------------------------------------------------------------------------
    def _call(self, call: Call) -> str:
        """Spark SQL in the place of an outermost call."""
        if not call.is_aggregate:  # OVER belongs to the aggregates within
            return self.block.text(call.call, [(c.span, self._placed(c)) for c in call.inner])
        return self._placed(call)

    def _placed(self, call: Call) -> str:
        """Text of an aggregate in the SELECT: the call, or the column of the query below."""
        if call.inner:
            return self._nested(call)
        text = call_sql(self._evaluation(call))
        if self._plan.inner:
            return self._additions.column(text, call)
        return f"({text})" if subtracted_from(self._select.source, call.span[1]) else text

    def _evaluation(self, call: Call) -> Evaluation:
        return Evaluation(self._select, self._plan.stream_of(call), self._additions, call)

    def _nested(self, call: Call) -> str:
        """An aggregate of an expression with aggregates, such as `sum(x - min(x))`: min(x) is one value for a frame."""
        select = self._select
        inner = [(c.span, self._placed(c)) for c in call.inner]
        fields: dict[str, str] = {}
        arguments: list[str] = []
        for argument in call.arguments:
            replaced = list(inner)
            for column in own(argument, exp.Column):
                place = select.source.span(column)
                if any(s[0] <= place[0] and place[1] <= s[1] for s, _ in inner):
                    continue
                text = select.render(place)
                fields.setdefault(text, f"c{len(fields)}")
                replaced.append((place, f"r.{fields[text]}"))
            arguments.append(self.block.text(select.source.span(argument), replaced))
        fields = fields or {"1": "c0"}
        evaluation = self._evaluation(call)
        rows = self._additions.column(evaluation.rows({name: text for text, name in fields.items()}))
        values = ", ".join(f"'a{i}', {a}" for i, a in enumerate(arguments))
        return over_array(evaluation, f"transform({rows}, r -> named_struct({values}))")

    # -- assembling ----------------------------------------------------------------------------------
    def _assemble(
        self,
        replaced: dict[Call, str],
        rows: list[str],
        where: str | None,
        definitions: list[list[str]],
        *,
        plain: bool = False,
    ) -> str:
        """The SELECT as written with other calls, FROM, WHERE and windows.

        Args:
            rows: the lines of the relation in FROM.
            plain: True if the calls have become columns.
        """
        block = self.block
        pieces: list[tuple[Span, str]] = []
        hidden = self._helpers() if self._select.calls else []
        for index, item in enumerate(block.projections):
            pieces += self._projection(index, item, replaced, hidden)
        for call, text in replaced.items():
            if holding(call.span, block.projections) is None:
                pieces.append((call.span, text))
        clauses = block.clauses
        if plain and "qualify" in clauses:
            start, end = clauses["qualify"][0] + len("qualify"), clauses["qualify"][1]
            condition = block.text(block.trim((start, end)), pieces)
            pieces = [piece for piece in pieces if not inside(piece[0], (start, end))]
            # Spark takes QUALIFY only with a window; it never computes this window.
            pieces.append(((start, end), f" ({condition}) AND (TRUE OR count(1) OVER () > 0)"))
        indent = self._select.source.indent(block.span[0])
        tail = {"where": f"\n{indent}WHERE {where}" if where else ""}
        clause = window_clause([*([window] for window in self._native_windows()), *definitions])
        tail["window"] = placed(["", *clause], indent) if clause else ""
        place, text = clauses["from"], f"{block.keyword('from')} {placed(rows, indent)}"
        for name, sql in tail.items():
            if name in clauses:
                pieces.append((place, text))
                place, text = block.with_space(clauses[name]), sql
            else:
                text += sql
        rendered = {clauses["from"], *(block.with_space(clauses[name]) for name in tail if name in clauses)}
        rendered |= {span for span, _ in pieces if span[0] == span[1]}  # names, behind what is inserted there
        return block.text(block.span, [*pieces, (place, text)], rendered)

    def _native_windows(self) -> list[str]:
        """Declared windows that Spark has itself, as they are written."""
        select, span = self._select, self._select.source.span
        nodes = [n for n in select.select.args.get("windows") or [] if select.windows[n.this.name.lower()] is None]
        ends = [node.meta[INSIDE][1] + 1 if INSIDE in node.meta else span(node)[1] for node in nodes]
        return [select.render((span(node.this)[0], end)) for node, end in zip(nodes, ends, strict=True)]

    def _projection(
        self, index: int, item: Span, replaced: dict[Call, str], hidden: list[str]
    ) -> Iterator[tuple[Span, str]]:
        block = self._select.block
        if (star := block.star(index)) is not None:
            of_all = isinstance(block.select.expressions[index], exp.Star)
            if self._relation.qualified and (hidden or self._relation.structured):
                if star.args.get("except_") and of_all:
                    raise self._select.source.error(item, "* EXCEPT can't stand beside a join here", "name the columns")
                if of_all:
                    yield item, ", ".join(f"{name}.*" for name in self._relation.names)
            elif hidden:
                yield block.without(index, star, hidden)
            return
        mine = self._select.calls_in(item) if replaced else []
        for call in mine:
            yield call.span, replaced[call]
        if mine and not isinstance(block.select.expressions[index], (exp.Alias, exp.Aliases)):
            name = self._output_name(index, item, mine)
            yield (item[1], item[1]), f" AS {backticked(name)}"

    def _output_name(self, index: int, item: Span, calls: list[Call]) -> str:
        """The name of a column without an alias: as OpenMLDB or SQLstream has it, else its text."""
        text, select = self._select.source.text, self._select.select
        if self._select.rules.printed_names:
            return column_name(self._select.source, select.expressions[index])
        if self._select.rules.counted_names and (counted := counted_name(select, index)):
            return counted
        name = text[slice(*item)]
        if len(calls) == 1 and calls[0].span == item and calls[0].window.name:
            name = f"{text[slice(*calls[0].call)]}over {calls[0].window.name}"
        return re.sub(r"\s+", " ", name).replace("`", "")


def _check(select: FramedSelect) -> None:
    """Refuses windows without FROM, with GROUP BY or HAVING, and in WHERE."""
    clauses, source = select.block.clauses, select.source
    if select.our_windows:
        for clause, words in (("group", "GROUP BY"), ("having", "HAVING")):
            if clause in clauses:
                raise source.error(
                    clauses[clause], f"{words} and a window can't stand in one SELECT", "put one of them in a subquery"
                )
    if "from" not in clauses:
        raise source.error(select.block.span, "a window needs rows: this SELECT has no FROM", "write FROM and a table")
    for call in select.calls:
        if "where" in clauses and inside(call.span, clauses["where"]):
            raise source.error(
                call.span,
                "a window can't stand in WHERE",
                "compute it in a subquery: SELECT * FROM (SELECT *, sum(x) OVER w AS s FROM t ...) WHERE s > 1",
            )
