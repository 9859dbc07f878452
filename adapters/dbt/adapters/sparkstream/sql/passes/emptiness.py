"""Queries without rows over empty inputs: such a batch of a microbatch model needn't run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.sparkstream.sql.core.interval import Interval, IntervalError
from dbt.adapters.sparkstream.sql.core.literals import read_time
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, find_cte, from_item
from dbt.adapters.sparkstream.sql.core.nodes import AGGREGATES, SETS, has_more, results

TURN = timedelta(hours=3)
"""Largest turn of a clock, forward or back."""

_NAMED = ("this", "db", "catalog", "alias")
_SCALARS = frozenset(
    """current_timezone from_csv make_timestamp_ntz monotonically_increasing_id named_struct pmod raise_error
    session_window shiftright timestamp_micros timestamp_millis timestamp_seconds to_csv typeof unix_date unix_micros
    unix_millis unix_seconds window window_time""".split()  # noqa: SIM905
)
"""Functions that sqlglot doesn't know and that aggregate nothing, as SQL of windows has them."""
_GROUPED_AS_A_WHOLE = ("rollup", "cube", "grouping_sets", "all", "totals")


@dataclass(frozen=True)
class Read:
    """The rows of a relation that a query reads by a time, a column or a field as SQL has it; None for no bound."""

    relation: str
    column: str
    since: datetime | None
    until: datetime | None


def gives_nothing(sql: str, is_empty: Callable[[Read], bool]) -> bool:
    """True if a query in Spark SQL certainly gives no rows; False where that isn't known.

    Args:
        sql: the query.
        is_empty: returns True if a part of a relation has no rows.
    """
    try:
        return _Emptiness(is_empty).of_query(sqlglot.parse_one(sql, read="spark"))
    except (SqlglotError, RecursionError):
        return False


class _Emptiness:
    def __init__(self, is_empty: Callable[[Read], bool]) -> None:
        self._is_empty = is_empty

    def of_query(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Subquery):
            return not has_more(node, "this", "alias", "with_") and self.of_query(node.this)
        if isinstance(node, exp.SetOperation):
            left = self.of_query(node.left)
            if isinstance(node, exp.Except):
                return left
            right = self.of_query(node.right)
            return left or right if isinstance(node, exp.Intersect) else left and right
        return isinstance(node, exp.Select) and not _has_row_of_nothing(node) and self._of_select(node)

    def _of_select(self, select: exp.Select) -> bool:
        first = from_item(select)
        if first is None:
            return False
        if isinstance(first, exp.Table) and isinstance(first.this, exp.Identifier) and find_cte(first) is None:
            read = _read(select)
            empty = read is not None and self._is_empty(read)
        else:
            empty = self._of_relation(first)
        for join in select.args.get("joins") or []:
            if join.method not in ("", "NATURAL"):
                return False
            right = self._of_relation(join.this)
            if join.kind in ("SEMI", "ANTI") or join.side == "LEFT":
                empty = empty or (join.kind == "SEMI" and right)
            elif join.side == "RIGHT":
                empty = right
            elif join.side == "FULL":
                empty = empty and right
            else:
                empty = empty or right
        return empty

    def _of_relation(self, node: exp.Expr) -> bool:
        cte = find_cte(node)
        if cte is None:
            return isinstance(node, exp.Subquery) and self.of_query(node)
        recursive = cte.parent is not None and cte.parent.args.get("recursive")
        return not recursive and not has_more(node, *_NAMED) and self.of_query(cte.this)


def _has_row_of_nothing(select: exp.Select) -> bool:
    """True if a SELECT may give a row for an input without rows: by an aggregate over all rows, going by names."""
    group = select.args.get("group")
    if group is not None:
        whole = any(group.args.get(key) for key in _GROUPED_AS_A_WHOLE)
        return whole or not group.expressions or any(isinstance(key, (exp.Tuple, *SETS)) for key in group.expressions)
    if select.args.get("having"):
        return True
    places = [*select.expressions, select.args.get("order"), select.args.get("qualify")]
    return any(_aggregates(call) for place in places if place is not None for call in place.find_all(exp.Func))


def _aggregates(call: exp.Func) -> bool:
    """True if a call may be an aggregate, also of a function unknown to sqlglot that isn't in `_SCALARS`."""
    window = call.parent
    if isinstance(window, exp.Window) and window.this is call:
        return False
    if isinstance(call, exp.Anonymous):
        return str(call.this).lower() not in _SCALARS
    return isinstance(call, exp.AggFunc) or not AGGREGATES.isdisjoint(name.lower() for name in call.sql_names())


def _read(select: exp.Select) -> Read | None:
    """Range of time that a SELECT reads of a table, by its WHERE; None without bounds."""
    table, where = select.args["from_"].this, select.args.get("where")
    if select.args.get("joins") or where is None or has_more(table, *_NAMED):
        return None
    found: dict[str, dict[type, datetime | None]] = {}
    for term in conjuncts(where):
        if not isinstance(term, (exp.GTE, exp.LT)) or not isinstance(term.this, exp.Column):
            continue
        edge = _edge(term.expression, min if isinstance(term, exp.GTE) else max)
        if edge is not None:
            found.setdefault(_time(term.this, table), {})[type(term)] = edge
    if len(found) != 1:
        return None
    [(column, edges)] = found.items()
    name = ".".join(part.sql(dialect="spark") for part in table.parts)
    return Read(name, column, edges.get(exp.GTE), edges.get(exp.LT))


def _time(column: exp.Column, table: exp.Table) -> str:
    """Name of a column without its table's; a field of a struct, `e.at`, has two parts as well."""
    first, *others = column.parts
    parts = others if others and first.name.casefold() == table.alias_or_name.casefold() else [first, *others]
    return ".".join(part.sql(dialect="spark") for part in parts)


def _edge(node: exp.Expr, widest: Callable[[list[datetime]], datetime]) -> datetime | None:
    """Time of `TIMESTAMP_NTZ'2024-01-02 00:00:00' - INTERVAL '1' HOUR`; of several possible times, the widest; or None.

    A LEAST or GREATEST has a time by the session's zone, at most a turn of the clock from the wall-clock time.
    """
    if isinstance(node, (exp.Least, exp.Greatest)):
        edge = _edge(node.this, widest)
        return None if edge is None else widest([edge - TURN, edge + TURN])
    if isinstance(node, exp.Case):
        edges = [_edge(choice, widest) for choice in results(node)]
        known = [edge for edge in edges if edge is not None]
        return widest(known) if node.args.get("default") is not None and len(known) == len(edges) else None
    if isinstance(node, (exp.Add, exp.Sub)) and isinstance(node.expression, exp.Interval):
        edge = _edge(node.this, widest)
        try:
            text = f"{node.expression.name} {node.expression.text('unit')}"
            length = timedelta(microseconds=Interval.parse(text).micros)
        except IntervalError:
            return None
        return None if edge is None else edge + length if isinstance(node, exp.Add) else edge - length
    if not isinstance(node, exp.Cast) or not node.to.is_type(exp.DataType.Type.TIMESTAMPNTZ):
        return None
    try:
        return read_time(node.name)
    except ValueError:
        return None
