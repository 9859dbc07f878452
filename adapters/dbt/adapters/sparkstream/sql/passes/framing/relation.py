"""Relation in FROM, with LAST JOIN written as joins of Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, name_of, sources
from dbt.adapters.sparkstream.sql.core.nodes import own
from dbt.adapters.sparkstream.sql.core.source import SPAN, Source, Span
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized
from dbt.adapters.sparkstream.sql.grammar.specs import AsOfJoin, LastJoin, OrderKey
from dbt.adapters.sparkstream.sql.passes.framing.asof import as_of
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect, equality, side
from dbt.adapters.sparkstream.sql.passes.framing.streams import ARRIVAL, MARK


@dataclass
class Relation:
    """Relation in FROM, as Spark SQL.

    Attributes:
        lines: its text.
        names: the names of its tables and laterals in the SELECT.
        loose: columns that the SELECT names without a table.
        structured: True if every table is a struct column of its name.
        flat: True if rows of UNION tables join its rows, and the table of each column isn't known: then
            columns stand side by side, under their names alone.
        columns: where rows of UNION tables join its rows otherwise, the columns of each table.
        marked: True if the first table holds a request's row.
    """

    lines: list[str]
    names: list[str]
    several: bool
    loose: list[str] = field(default_factory=list)
    structured: bool = False
    flat: bool = False
    columns: list[list[str]] = field(default_factory=list)
    marked: bool = False

    @property
    def qualified(self) -> bool:
        """True if columns keep their table's name, as in `t.x`."""
        return self.several and not self.flat

    @property
    def alias(self) -> str | None:
        """The name that a subquery in its place takes."""
        return self.names[0] if self.names and not self.several else None

    @property
    def first(self) -> str:
        return self.names[0] if self.names else ""

    @property
    def items(self) -> list[str]:
        """Items to select from the relation, so that every column keeps its name."""
        if self.flat:
            if self.marked:
                return [f"{self.first}.* EXCEPT ({MARK})", *(f"{n}.*" for n in self.names[1:]), f"{self.first}.{MARK}"]
            return [f"{name}.*" for name in self.names]
        if self.columns and self.structured:
            return [*self.names, *self.loose]
        if not self.several or self.structured:
            return ["*"]
        return [*(f"struct({name}.*) AS {name}" for name in self.names), *self.loose]

    def union(self, table: str) -> tuple[list[str], str]:
        """Items to select from a UNION table, and the table in FROM."""
        if not self.columns:
            return ["*"], table
        items: list[str] = []
        names: list[str] = []
        for name, columns in zip(self.names, self.columns, strict=True):
            fields = [f"{string_literal(column)}, c{len(names) + i}" for i, column in enumerate(columns)]
            items.append(f"named_struct({', '.join(fields)}) AS {name}")
            names += [column.casefold() for column in columns]
        items += [f"c{names.index(name.strip('`').casefold())} AS {name}" for name in self.loose]
        return items, f"(SELECT * FROM {table}) AS __union({', '.join(f'c{i}' for i in range(len(names)))})"


def relation_of(select: FramedSelect) -> Relation:
    """Relation in a SELECT's FROM, with LAST JOIN as joins of Spark."""
    block = select.block
    span = block.body("from")
    tables = sources(select.select)
    names = [n for n in (name_of(t) for t in tables) if n]
    laterals = [
        quoted(lateral.args["alias"].name)
        for lateral in select.select.args.get("laterals") or []
        if lateral.args.get("alias") and lateral.args["alias"].name
    ]
    names += laterals
    several = len(tables) > 1 or bool(select.select.args.get("laterals"))
    relation = Relation([], names, several, _loose(select) if several else [])
    relation.flat = several and select.has_unions and not select.apart
    if select.apart:
        relation.columns = [[column.name for column in select.resolver.columns(table).items] for table in tables]
    relation.marked = select.requested
    pieces: list[tuple[Span, list[str]]] = []
    chosen: list[LastJoin] = []
    for join in select.last_joins:
        reduced = None if isinstance(join, AsOfJoin) else _reduced(select, join)
        if reduced is None:
            chosen.append(join)
        else:
            pieces.append((join.meta[SPAN], reduced))
    if chosen:
        return _choosing(select, relation, span, pieces, chosen)
    relation.lines = _lines(select.source, span, pieces)
    if relation.alias and not tables[0].alias_or_name:
        relation.lines[-1] += f" AS {relation.alias}"
    return relation


def _lines(source: Source, span: Span, pieces: list[tuple[Span, list[str]]]) -> list[str]:
    """The text of a span with the edits so far, and other lines in the place of some pieces of it."""
    lines, at = [""], span[0]
    for (first, last), (text, *more) in sorted(pieces):
        lines[-1] += source.render((at, first), behind=at > span[0]) + text
        lines += more
        at = last
    lines[-1] += source.render((at, span[1]), behind=at > span[0])
    return lines


def _loose(select: FramedSelect) -> list[str]:
    """Columns that the SELECT names without a table, outside FROM and WHERE."""
    skipped = [select.block.clauses[c] for c in ("from", "where") if c in select.block.clauses]
    aliases = {e.alias.lower() for e in select.select.expressions if isinstance(e, exp.Alias)}
    ordering = select.block.clauses.get("order")
    found: dict[str, str] = {}
    for column in own(select.select, exp.Column):
        if column.table or isinstance(column.this, exp.Star):
            continue
        at = select.source.span(column)[0]
        if any(s[0] <= at < s[1] for s in skipped):
            continue
        if ordering and ordering[0] <= at < ordering[1] and column.name.lower() in aliases:
            continue
        found.setdefault(column.name.lower(), quoted(column.name))
    return list(found.values())


# -- LAST JOIN -----------------------------------------------------------------------------------------
def _reduced(select: FramedSelect, join: LastJoin) -> list[str] | None:
    """Lines of a left join with one row for each key, if ON has only equalities and conditions of the right table."""
    right = name_of(join.this)
    if right is None:
        return None
    keys: list[tuple[exp.Expr, exp.Expr]] = []
    conditions: list[str] = []
    for part in conjuncts(join.args["on"]):
        equal = equality(select, part, right)
        if equal:
            keys.append(equal)
        elif side(select, part, right) == "right":
            conditions.append(select.source.term(part))
        else:
            return None
    if not keys:
        return None
    order = [*_last_first(select, join), "monotonically_increasing_id() DESC"]
    partition = ", ".join(select.source.rendered(key) for _, key in keys)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    on = " AND ".join(f"{select.source.rendered(one)} <=> {select.source.rendered(other)}" for one, other in keys)
    return [
        f"/* last join: of {right}, the last row of each key */ LEFT JOIN (",
        "    SELECT * EXCEPT (__nth)",
        f"    FROM (SELECT *, row_number() OVER (PARTITION BY {partition} ORDER BY {', '.join(order)}) AS __nth "
        f"FROM {select.render(join.this.meta[SPAN])}{where})",
        "    WHERE __nth = 1",
        f"  ) AS {right} ON {on}",
    ]


def _last_first(select: FramedSelect, join: LastJoin) -> list[str]:
    """The key of ORDER BY that puts the last row of a LAST JOIN first; none for a join without ORDER BY."""
    order: OrderKey | None = join.args.get("order")
    return [f"{select.render(order.span)}{'' if order.descending else ' DESC'}"] if order else []


def _choosing(
    select: FramedSelect,
    relation: Relation,
    span: Span,
    pieces: list[tuple[Span, list[str]]],
    joins: list[LastJoin],
) -> Relation:
    """Joins all matching rows and keeps the last one for every row of the first table."""
    block = select.block
    plain = [j for j in own(select.select, exp.Join) if not isinstance(j, LastJoin)]
    asof = next((j for j in joins if isinstance(j, AsOfJoin)), None)
    if plain or select.select.args.get("laterals"):
        words = "an ASOF JOIN" if asof else "LAST JOIN with this condition"
        raise select.source.error(
            joins[0].meta[SPAN],
            f"{words} can't stand beside another join",
            "put the other join in a subquery: FROM (SELECT ... FROM a JOIN b ON ...) AS ab "
            f"{'ASOF' if asof else 'LAST'} JOIN ...",
        )
    mixed = asof is not None and not all(isinstance(j, AsOfJoin) for j in select.last_joins)
    if asof is not None and (mixed or select.our_windows or select.requested):
        raise select.source.error(
            asof.meta[SPAN],
            f"an ASOF JOIN can't stand beside {'a LAST JOIN' if mixed else 'a window that Spark has not'}",
            "put one of them in a subquery",
        )
    first = relation.first
    start = min(j.meta[SPAN][0] for j in select.last_joins)
    head = block.trim((span[0], start))
    relation.structured = True
    # Frames number the rows, a request marks one, and a LAST JOIN with one row for each key is written already.
    if not (select.our_windows or select.requested or pieces):
        sorted_rows = as_of(select, joins, head, relation.loose)
        if sorted_rows is not None:
            relation.lines = sorted_rows
            return relation
    pieces.append(
        (head, [f"(SELECT *, monotonically_increasing_id() AS {ARRIVAL} FROM {select.render(head)}) AS {first}"])
    )
    order: list[str] = []
    for join in joins:
        right = name_of(join.this) or ""
        parts = []
        for part in conjuncts(join.args["on"]):
            sides = equality(select, part, right)
            parts.append(" <=> ".join(map(select.source.rendered, sides)) if sides else select.source.term(part))
        pieces.append((join.meta[SPAN], [f"LEFT JOIN {select.render(join.this.meta[SPAN])} ON {' AND '.join(parts)}"]))
        order += _last_first(select, join)
    structs = [f"struct({first}.* EXCEPT ({ARRIVAL})) AS {first}"]
    structs += [f"struct({n}.*) AS {n}" for n in relation.names[1:]]
    structs += [*relation.loose, f"{first}.{ARRIVAL} AS {ARRIVAL}"]
    by = ", ".join(order) or f"{first}.{ARRIVAL}"
    structs.append(f"row_number() OVER (PARTITION BY {first}.{ARRIVAL} ORDER BY {by}) AS __nth")
    matches = Select(structs, _lines(select.source, span, pieces))
    last = Select(["* EXCEPT (__nth)"], matches, where=["__nth = 1"])
    relation.lines = parenthesized(last, f"last join: for every row of {first}, the last match")
    return relation
