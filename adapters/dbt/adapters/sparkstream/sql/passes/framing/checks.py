"""Checks of a SELECT with windows of ours; each error has its place."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.frames import Kind
from dbt.adapters.sparkstream.sql.core.names.scope import Column, Columns, sources
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.core.types import TIMES
from dbt.adapters.sparkstream.sql.grammar.specs import WindowSpec
from dbt.adapters.sparkstream.sql.passes.framing.block import inside
from dbt.adapters.sparkstream.sql.passes.framing.relation import Relation
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.streams import KEY_TYPES, MARK


def check_block(select: FramedSelect) -> None:
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


def check_order_type(select: FramedSelect, spec: WindowSpec, type_: str | None) -> None:
    """Refuses to order by a type other than numbers and times, where the type is known."""
    if type_ is None and spec.order[0].expression.name.upper() == "ROWTIME" and select.rules.by_rowtime:
        type_ = "timestamp"
    if spec.frame.unitless and type_ in TIMES:
        raise select.source.error(
            spec.order[0].span,
            f"RANGE takes an interval for a {type_}",
            "write RANGE INTERVAL '1' HOUR PRECEDING, or order by a whole number",
        )
    if type_ is None or type_ in KEY_TYPES:
        return
    if select.rules.free_keys and spec.frame.kind is Kind.ROWS and not spec.frame.exclude_time:
        return
    raise select.source.error(
        spec.order[0].span,
        f"a window is ordered by a smallint, int, bigint or timestamp, and this is a {type_}",
        "convert it in a subquery: FROM (SELECT *, timestamp(d) AS ts FROM t)",
    )


def check_union(select: FramedSelect, relation: Relation, union: exp.Expr) -> list[str]:
    """Refuses a UNION table that has other columns than FROM.

    Returns:
        Conditions that are always true, and that Spark refuses for other columns; where they aren't known here.
    """
    place = union.meta[SPAN]
    tables = sources(select.select)
    wanted, given = Columns(), select.resolver.columns(union)
    for table in tables:
        wanted += select.resolver.columns(table)
    if select.requested:  # the mark comes last, behind the columns of all tables
        wanted = Columns(tuple(sorted(wanted.items, key=lambda c: c.name == MARK)), wanted.complete)
    if wanted.complete and given.complete:
        known = _compare(select, union, list(wanted.items), list(given.items))
        if known:
            return []
    rows = "\n".join(relation.lines)
    return [
        "NOT EXISTS (SELECT array(struct(a.*), struct(b.*)), "
        "aggregate(array(struct(b.*)), struct(a.*), (a_row, b_row) -> b_row) "
        f"FROM (SELECT {', '.join(relation.items)} FROM {rows}) AS a, "
        f"(SELECT * FROM {select.render(place)}) AS b WHERE FALSE)"
    ]


def _compare(select: FramedSelect, union: exp.Expr, wanted: list[Column], given: list[Column]) -> bool:
    """Compares columns; whether everything about them was known."""
    place = union.meta[SPAN]
    listed = ", ".join(f"{c.name} {c.type or ''}".strip() for c in wanted)
    hint = f"select the columns of FROM, in this order: {listed}"
    if len(wanted) != len(given):
        raise select.source.error(
            place, f"UNION needs the columns of FROM, which has {len(wanted)}, and this has {len(given)}", hint
        )
    for want, got in zip(wanted, given, strict=True):
        if want.name.casefold() != got.name.casefold():
            raise select.source.error(
                place, f"UNION needs the columns of FROM: {want.name} is called {got.name} here", hint
            )
        if want.type and got.type and want.type != got.type:
            raise select.source.error(
                place, f"UNION needs the columns of FROM: {want.name} is {want.type} there and {got.type} here", hint
            )
    return all(c.type for c in (*wanted, *given))
