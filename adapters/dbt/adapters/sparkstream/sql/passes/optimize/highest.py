"""Rows with the highest value of their window, by rank: the query that they are of is computed once.

    WITH c AS (SELECT window_start, k, count(*) AS n ... GROUP BY window_start, k),
         m AS (SELECT window_start, max(n) AS n FROM c GROUP BY window_start)
    SELECT ... FROM c JOIN m ON c.window_start = m.window_start AND c.n = m.n

Spark computes `c` for each side of the join. The rows of `c` that meet a row of `m` are the first by rank in their
window, and each of them meets one. A NULL in `n` or in a key meets none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, find_cte, from_item, sources
from dbt.adapters.sparkstream.sql.core.nodes import SETS, has_more
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import BOUNDS
from dbt.adapters.sparkstream.sql.core.writing import Select, parenthesized, placed
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.optimize.grouping import plain_keys

_ORDERS = {"MAX": "DESC", "MIN": "ASC NULLS LAST"}
_WORDS = {"DESC": "highest", "ASC NULLS LAST": "lowest"}
_PLACE = "__place"
"""Column with the rank of a row."""
_TYPES = ("tinyint", "smallint", "int", "bigint", "decimal", "date", "timestamp", "string")
"""Types, or how they begin, of which equal values are the same: 0.0 and -0.0 are equal."""


@dataclass(frozen=True)
class _Extremes:
    """The query `SELECT keys, max(of) AS value FROM c GROUP BY keys`, with names in lower case.

    Attributes:
        keys: its key column -> the column of c.
        value: its column with the maximum, or minimum.
        of: the column of c that it is of.
        order: DESC for a maximum, ASC NULLS LAST for a minimum.
    """

    keys: dict[str, str]
    value: str
    of: str
    order: str


def by_rank(
    source: Source, resolver: Resolver, select: exp.Select, follows_of: Callable[[exp.Expr], Mapping[str, str]]
) -> list[Edit]:
    """The edits of a query that joins the groups of a CTE with their highest or lowest values; none for another query.

    Args:
        follows_of: gives, for a relation, its columns -> those that they follow from, in lower case.
    """
    [join, *more] = select.args.get("joins") or [None]
    rows = from_item(select)
    cte = _grouped(rows)
    if rows is None or cte is None or more or not _is_inner(join) or any(map(select.args.get, ("laterals", "pivots"))):
        return []
    most = _most(join.this, cte)
    sides = [relation.alias_or_name.casefold() for relation in (rows, join.this)]
    names = _joined(source, join.args["on"], sides, most) if most and sides[0] != sides[1] else None
    known = resolver.columns(rows)
    value = known.find(most.of) if most else None
    is_ranked = value is not None and (value.type or "").startswith(_TYPES) and known.find(_PLACE) is None
    if most is None or names is None or not is_ranked:
        return []
    alias = source.name_of(rows)
    columns = {column: f"{alias}.{names[of]}" for column, of in {**most.keys, most.value: most.of}.items()}
    references = _references(source, select, sides[1], columns)
    if references is None:
        return []
    # The bounds of a window are NULL in grouping sets without them, and where an outer join finds no window.
    may_be = cte.args["group"].find(*SETS) or any(each.side for each in select.root().find_all(exp.Join))
    never = set() if may_be else {name for name in names if getattr(known.find(name), "origin", 0) in BOUNDS}
    follows = follows_of(rows)
    keys = ", ".join(names[of] for of in most.keys.values() if follows.get(of) not in names)
    place = f"rank() OVER (PARTITION BY {keys} ORDER BY {names[most.of]} {most.order}) AS {_PLACE}"
    where = [f"{_PLACE} = 1", *(f"  AND {written} IS NOT NULL" for name, written in names.items() if name not in never)]
    query = Select([f"* EXCEPT ({_PLACE})"], Select(["*", place], source.written(rows.this)), where=where)
    words = f"the rows whose {names[most.of]} is the {_WORDS[most.order]} of their {keys}"
    start, end = source.span(rows)[0], source.span(join.args["on"])[1]
    text = f"{placed(parenthesized(query, words), source.indent(start))} AS {alias}"
    return [Edit((start, end), lambda: text), *references]


def _grouped(rows: exp.Expr | None) -> exp.Select | None:
    """The query of a CTE that is read under its own columns' names, if it has groups."""
    if not isinstance(rows, exp.Table) or has_more(rows, "this", "alias"):
        return None
    cte = find_cte(rows)
    query = cte.this if cte and not cte.alias_column_names and not rows.alias_column_names else None
    return query if isinstance(query, exp.Select) and query.args.get("group") else None


def _is_inner(join: exp.Join) -> bool:
    plain = not isinstance(join, LastJoin) and join.kind in ("", "INNER")
    return plain and bool(join.args.get("on")) and not has_more(join, "this", "on", "kind")


def _most(relation: exp.Expr, cte: exp.Select) -> _Extremes | None:
    """The highest or lowest values of the groups of a CTE, if that is what a relation is."""
    query = relation.this if isinstance(relation, exp.Subquery) else _grouped(relation)
    if not isinstance(query, exp.Select) or getattr(relation, "alias_column_names", None) or relation.args.get("joins"):
        return None
    by = plain_keys(query)
    if by is None or has_more(query, "expressions", "from_", "group"):
        return None
    rows = sources(query)
    if len(rows) != 1 or _grouped(rows[0]) is not cte:
        return None
    grouped = [column.name.casefold() for column in by if isinstance(column, exp.Column)]
    keys: dict[str, str] = {}
    values = []
    for item in query.expressions:
        node = item.unalias()
        if isinstance(node, exp.Column) and node.name.casefold() in grouped and len(node.parts) == 1:
            keys[item.alias_or_name.casefold()] = node.name.casefold()
        else:
            values.append(item)
    call = values[0].unalias() if len(values) == 1 and isinstance(values[0], exp.Alias) else None
    order = _ORDERS.get(call.name.upper()) if isinstance(call, exp.Anonymous) and len(call.expressions) == 1 else None
    of = call.expressions[0] if call and order else None
    if order is None or not isinstance(of, exp.Column) or len(of.parts) > 1 or set(keys.values()) != set(grouped):
        return None
    return _Extremes(keys, values[0].alias.casefold(), of.name.casefold(), order) if len(grouped) == len(by) else None


def _joined(source: Source, on: exp.Expr, sides: list[str], most: _Extremes) -> dict[str, str] | None:
    """The rows' columns that a condition equates with all columns of the highest values; None for another condition.

    Returns:
        Name in lower case -> the name as it is written.
    """
    wanted = {**most.keys, most.value: most.of}
    found: dict[str, str] = {}
    for term in conjuncts(on):
        both = (term.this, term.expression) if isinstance(term, exp.EQ) else ()
        pair = {c.table.casefold(): c for c in both if isinstance(c, exp.Column) and len(c.parts) == 2}
        if set(pair) != set(sides):
            return None
        its, other = (pair[side] for side in sides)
        if wanted.get(other.name.casefold()) != its.name.casefold():
            return None
        found[its.name.casefold()] = source.written(its.this)
    return found if set(found) == set(wanted.values()) else None


def _references(source: Source, select: exp.Select, side: str, columns: dict[str, str]) -> list[Edit] | None:
    """Edits from a side's columns to the rows' columns; None with a name of unclear meaning.

    Args:
        columns: column of the side -> the same of the rows.
    """
    edits: list[Edit] = []
    for clause, found in select.args.items():
        if clause in ("with_", "from_", "joins"):
            continue
        for node in found if isinstance(found, list) else [found] if isinstance(found, exp.Expr) else []:
            if node.find(exp.Select) or isinstance(node, exp.Star):
                return None
            for column in node.find_all(exp.Column):
                name = column.name.casefold()
                if len(column.parts) == 1 and name in columns and clause != "order":
                    return None
                if len(column.parts) > 1 and column.parts[0].name.casefold() == side:
                    if len(column.parts) > 2 or name not in columns:
                        return None
                    named = f" AS {source.written(column.this)}" if column.parent is select else ""
                    same = named or columns[name].casefold().endswith(f".{name}")
                    if clause == "expressions" and not (same or isinstance(column.parent, exp.Alias)):
                        return None  # the name of a column or a field is made of it: struct(m.most), m.most + 1
                    edits.append(Edit(source.span(column), lambda text=columns[name] + named: text))  # type: ignore[misc]
    return edits
