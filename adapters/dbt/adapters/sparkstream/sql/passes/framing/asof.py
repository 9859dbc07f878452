"""Joins that look for the nearest row in time, by one sort of both sides for each of them.

ASOF JOIN, and LAST JOIN where its condition is `l.k = r.k AND l.ts >= r.ts` and its order `r.ts`, or `l.ts <= r.ts` and
`r.ts DESC`:

    SELECT l, r FROM (
      SELECT l, last_value(r, true) OVER (PARTITION BY __key1 ORDER BY __time, __is_left ROWS UNBOUNDED PRECEDING) AS r,
        __is_left
      FROM (
        SELECT struct(l.*) AS l, NULL AS r, l.k AS __key1, l.ts AS __time, TRUE AS __is_left FROM l
        UNION ALL
        SELECT NULL, struct(r.*), r.k, r.ts, FALSE FROM r WHERE r.ts IS NOT NULL
      )
    )
    WHERE __is_left

The cost grows with the rows. A join that compares them pairs each row with all rows of its key before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import unquoted
from dbt.adapters.sparkstream.sql.core.names.scope import conjuncts, name_of, sources
from dbt.adapters.sparkstream.sql.core.source import SPAN, Span
from dbt.adapters.sparkstream.sql.core.writing import Query, Select, UnionAll, parenthesized
from dbt.adapters.sparkstream.sql.grammar.specs import AsOfJoin, LastJoin
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect, equality, side

_Sides = tuple[exp.Expr, exp.Expr]
"""The left and the right side of a comparison."""


@dataclass
class _AsOf:
    """Condition of an ASOF JOIN, or of a LAST JOIN of that kind, in its parts.

    Attributes:
        right: the name of the right table.
        time: the two times.
        comparison: of the left time with the right one: GTE, GT, LTE or LT.
        keys: the two sides of each equality.
        strict: the keys in which a NULL equals nothing.
        conditions: of the right table alone.
    """

    right: str
    time: _Sides
    comparison: type[exp.Expr]
    keys: list[_Sides]
    strict: list[_Sides]
    conditions: list[exp.Expr]

    @property
    def order(self) -> str:
        """ORDER BY in which the last right row before a left row is its match; equal times match for >= and <= only."""
        backward = self.comparison in (exp.GTE, exp.GT)
        exact = self.comparison in (exp.GTE, exp.LTE)
        return f"ORDER BY __time{'' if backward else ' DESC NULLS FIRST'}, __is_left{'' if exact else ' DESC'}"


_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LTE: exp.GTE, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.GT: exp.LT}


def as_of(select: FramedSelect, joins: list[LastJoin], head: Span, loose: list[str]) -> list[str] | None:
    """The lines of a query that gives every table as a struct of its name; None if LAST JOINs aren't of this kind.

    Args:
        joins: all joins of the SELECT.
        head: the relation in FROM before them.
        loose: the columns that the SELECT names without a table.
    """
    names = [name_of(table) for table in sources(select.select)]
    known = [name for name in names if name]
    if len(names) != len(joins) + 1 or len(known) != len(names):
        _refuse(select, joins[0], joins[0].meta[SPAN], "can't stand beside other relations without a name of their own")
        return None
    read = [_read(select, join, name) for join, name in zip(joins, known[1:], strict=True)]
    found = [one for one in read if one is not None]
    owned = _owned(select, loose)
    if len(found) < len(read) or owned is None:
        if owned is None:
            _refuse(select, joins[0], joins[0].meta[SPAN], f"needs the table of {', '.join(loose)}", "write t.column")
        return None
    carried = known[:1]
    rows: Query | str = select.render(head)
    own = [f"struct({carried[0]}.*) AS {carried[0]}"]
    for join, one in zip(joins, found, strict=True):
        matched = _matched(select, join, one, own, carried, rows)
        inner = isinstance(join, AsOfJoin) and not join.args["side"]
        carried = [*carried, one.right]
        where = f"__is_left AND {one.right} IS NOT NULL" if inner else "__is_left"
        rows = Select([*carried, *(owned if join is joins[-1] else [])], matched, where=[where])
        own = carried
    assert not isinstance(rows, str)
    kind = "as-of join" if isinstance(joins[0], AsOfJoin) else "last join"
    return parenthesized(rows, f"{kind}: rows of {' and '.join(known)} in order of time")


def _matched(
    select: FramedSelect, join: LastJoin, found: _AsOf, own: list[str], carried: list[str], rows: Query | str
) -> Select:
    """The rows of both sides, each row of the left side with its match."""
    text, right = select.source.rendered, found.right
    keys = [f"__key{number}" for number in range(1, len(found.keys) + 1)]
    mine = [*own, f"NULL AS {right}"]
    mine += [f"{text(one)} AS {key}" for (one, _), key in zip(found.keys, keys, strict=True)]
    mine += [f"{text(found.time[0])} AS __time", "TRUE AS __is_left"]
    theirs = ["NULL" for _ in carried]
    theirs += [f"struct({right}.*)", *(text(other) for _, other in found.keys), text(found.time[1]), "FALSE"]
    there = [text(found.time[1])]
    if isinstance(join, AsOfJoin):  # to a LAST JOIN, two NULLs are equal
        there += [text(other) for _, other in found.strict]
    known = [*(f"{value} IS NOT NULL" for value in there), *map(select.source.term, found.conditions)]
    both = UnionAll([Select(mine, rows), Select(theirs, text(join.this), where=[" AND ".join(known)])])
    partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
    last = f"last_value({right}, true) OVER ({partition}{found.order} ROWS UNBOUNDED PRECEDING) AS {right}"
    return Select([*carried, last, "__is_left"], both)


def _refuse(select: FramedSelect, join: LastJoin, place: exp.Expr | Span, message: str, hint: str = "") -> None:
    """Raises an error about an ASOF JOIN. A LAST JOIN has another way."""
    if isinstance(join, AsOfJoin):
        raise select.source.error(place, f"an ASOF JOIN {message}", hint or _SHAPE)


_SHAPE = "write FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k, and the rest in a query around it"


def _read(select: FramedSelect, join: LastJoin, right: str) -> _AsOf | None:
    """A join's condition: a comparison of times, equalities, conditions of the right table; None for another."""
    parts = conjuncts(join.args.get("on"))
    keys: list[_Sides] = []
    strict: list[_Sides] = []
    conditions: list[exp.Expr] = []
    times: list[tuple[_Sides, type[exp.Expr]]] = []
    if isinstance(join, AsOfJoin):
        time = _compared(select, join.args["match"], right)
        if time is None:
            message = "compares a time of its left side with one of its right side by >=, >, <= or <"
            _refuse(select, join, join.args["match"], message)
            return None
        times.append(time)
    for part in parts:
        equal = equality(select, part, right)
        if equal:
            keys.append(equal)
            strict += [equal] if isinstance(part, exp.EQ) else []
        elif not times and (time := _nearest(select, join, part, right)):
            times.append(time)
        elif side(select, part, right) == "right":
            conditions.append(part)
        else:
            _refuse(select, join, part, "takes equalities of both sides, and conditions of its right side alone")
            return None
    if not times:
        return None
    found = _AsOf(right, *times[0], keys, strict, conditions)
    if not all(_comparable(select, join, sides) for sides in (found.time, *keys)):
        return None
    return found


def _compared(select: FramedSelect, node: exp.Expr, right: str) -> tuple[_Sides, type[exp.Expr]] | None:
    """Left and right side of a comparison such as `l.ts >= r.ts` or `r.ts <= l.ts`, and the operator in this order."""
    node = node.unnest()
    kind: type[exp.Expr] = type(node)
    if kind not in _MIRRORED:
        return None
    one, other = node.args["this"], node.args["expression"]
    if (side(select, one, right), side(select, other, right)) == ("right", "left"):
        kind, one, other = _MIRRORED[kind], other, one
    if (side(select, one, right), side(select, other, right)) != ("left", "right"):
        return None
    return (one, other), kind


def _nearest(select: FramedSelect, join: LastJoin, node: exp.Expr, right: str) -> tuple[_Sides, type[exp.Expr]] | None:
    """The comparison of a LAST JOIN with the column that orders it, if the last row that it allows is the nearest."""
    found, order = _compared(select, node, right), join.args.get("order")
    if found is None or order is None or (found[1] in (exp.GTE, exp.GT)) == order.descending:
        return None
    texts = {select.source.written(e).casefold().replace("`", "") for e in (found[0][1], order.expression)}
    short = min(texts, key=len)  # `ts` in ORDER BY is `r.ts`
    return found if texts <= {short, f"{right}.{short}".casefold().replace("`", "")} else None


def _comparable(select: FramedSelect, join: LastJoin, sides: _Sides) -> bool:
    """True if one column can hold both sides of a comparison: a string and a number would both become strings."""
    one, other = map(select.type_of, sides)
    if one == other and one is not None:
        return True
    if one in types.INTEGERS and other in types.INTEGERS:
        return True
    if isinstance(join, AsOfJoin):
        if one is not None and other is not None and types.is_string(one) != types.is_string(other):
            hint = "write CAST(... AS ...) on one side"
            _refuse(select, join, sides[1], f"compares a {one} with a {other}", hint)
        return True
    return False


def _owned(select: FramedSelect, loose: list[str]) -> list[str] | None:
    """`a` -> `t.a AS a`, with the table that has the column; None unless each column is of exactly one table."""
    tables = sources(select.select)
    found = []
    for name in loose:
        owners = [name_of(table) for table in tables if select.resolver.columns(table).find(unquoted(name))]
        if len(owners) != 1 or not all(select.resolver.columns(table).complete for table in tables):
            return None
        found.append(f"{owners[0]}.{name} AS {name}")
    return found
