"""LAST JOINs that look back in time, `ORDER BY r.ts ON l.k = r.k AND l.ts >= r.ts`, by one sort of both sides.

    SELECT l, last_value(r, true) OVER (PARTITION BY __key1 ORDER BY __time, __is_left ROWS UNBOUNDED PRECEDING) AS r
    FROM (
      SELECT struct(l.*) AS l, NULL AS r, l.k AS __key1, l.ts AS __time, TRUE AS __is_left FROM l
      UNION ALL
      SELECT NULL, struct(r.*), r.k, r.ts, FALSE FROM r WHERE r.ts IS NOT NULL
    )

The cost grows with the rows. A join that compares them pairs each row with all rows of its key before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.scope import conjuncts, name_of, sources
from dbt.adapters.sparkstream.sql.core.source import SPAN, Span
from dbt.adapters.sparkstream.sql.core.writing import Select, UnionAll, parenthesized
from dbt.adapters.sparkstream.sql.grammar.specs import LastJoin
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect
from dbt.adapters.sparkstream.sql.passes.framing.sides import equality, side


@dataclass
class _AsOf:
    """What the condition of a LAST JOIN says.

    Attributes:
        time: the left and the right side of the comparison of times.
        exact: whether rows of equal times meet.
        keys: the left and the right side of each equality.
        conditions: of the right table alone.
    """

    time: tuple[Span, Span]
    exact: bool
    keys: list[tuple[Span, Span]] = field(default_factory=list)
    conditions: list[Span] = field(default_factory=list)


_BACKWARD: dict[type[exp.Expr], bool] = {exp.GTE: True, exp.GT: False}
"""Comparison of a left time with a right one -> whether rows of equal times meet."""
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LTE: exp.GTE, exp.LT: exp.GT}


def as_of(select: FramedSelect, join: LastJoin, head: Span, loose: list[str]) -> list[str] | None:
    """The lines of a query that gives both sides as structs of their names; None where the join isn't of this kind.

    Args:
        head: what stands in FROM before the join.
        loose: the columns that the SELECT names without a table.
    """
    tables = sources(select.select)
    left, right = (name_of(table) for table in tables[:2])
    found = _read(select, join, right or "")
    if len(tables) != 2 or not left or not right or found is None or not _typed_alike(select, found):
        return None
    owned = _owned(select, loose)
    if owned is None:
        return None

    def text(span: Span) -> str:
        return select.render(span)

    keys = [f"__key{number}" for number in range(1, len(found.keys) + 1)]
    own = [f"struct({left}.*) AS {left}", f"NULL AS {right}"]
    own += [f"{text(one)} AS {key}" for (one, _), key in zip(found.keys, keys, strict=True)]
    own += [f"{text(found.time[0])} AS __time", "TRUE AS __is_left"]
    theirs = ["NULL", f"struct({right}.*)", *(text(other) for _, other in found.keys), text(found.time[1]), "FALSE"]
    known = [f"{text(found.time[1])} IS NOT NULL", *map(text, found.conditions)]
    rows = UnionAll(
        [
            Select(own, text(head)),
            Select(theirs, text(join.this.meta[SPAN]), where=[" AND ".join(known)]),
        ]
    )
    partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
    order = f"ORDER BY __time, __is_left{'' if found.exact else ' DESC'}"
    last = f"last_value({right}, true) OVER ({partition}{order} ROWS UNBOUNDED PRECEDING) AS {right}"
    matched = Select([left, last], rows)
    whole = Select(["*", *owned] if owned else ["*"], matched, where=[f"{left} IS NOT NULL"])
    return parenthesized(whole, f"last join: rows of {left} and {right} in order of time")


def _read(select: FramedSelect, join: LastJoin, right: str) -> _AsOf | None:
    """The condition, if it is one time that is not before the other, equalities, and what concerns the right table."""
    order = join.args.get("order")
    if order is None:
        return None
    times: list[tuple[tuple[Span, Span], bool]] = []
    keys, conditions = [], []
    for part in conjuncts(join.args["on"]):
        equal = equality(select, part, right)
        backward = _backward(select, part, right)
        if equal:
            keys.append(equal)
        elif backward is not None and _same(select, backward[0][1], order.span, right):
            times.append(backward)
        elif side(select, part, right) == "right":
            conditions.append(select.source.span(part))
        else:
            return None
    return _AsOf(*times[0], keys, conditions) if len(times) == 1 else None


def _backward(select: FramedSelect, node: exp.Expr, right: str) -> tuple[tuple[Span, Span], bool] | None:
    """Left and right side of `l.ts >= r.ts`, however it is written, and whether equal ones meet."""
    kind: type[exp.Expr] = type(node)
    one, other = node.args.get("this"), node.args.get("expression")
    if kind in _MIRRORED:
        kind, one, other = _MIRRORED[kind], other, one
    if kind not in _BACKWARD or one is None or other is None:
        return None
    if (side(select, one, right), side(select, other, right)) != ("left", "right"):
        return None
    return (select.source.span(one), select.source.span(other)), _BACKWARD[kind]


def _same(select: FramedSelect, one: Span, other: Span, right: str) -> bool:
    """Whether two expressions of the right table are one: `r.ts`, and `r.ts` or `ts` in ORDER BY."""
    texts = {select.source.text[slice(*span)].casefold().replace("`", "") for span in (one, other)}
    short = min(texts, key=len)
    return texts <= {short, f"{right}.{short}".casefold().replace("`", "")}


def _typed_alike(select: FramedSelect, found: _AsOf) -> bool:
    """Whether what is compared has one type on both sides, so that one column can hold both."""
    for one, other in (found.time, *found.keys):
        mine, theirs = select.type_of(one), select.type_of(other)
        if mine is None or theirs is None or (mine != theirs and not {mine, theirs} <= set(types.INTEGERS)):
            return False
    return True


def _owned(select: FramedSelect, loose: list[str]) -> list[str] | None:
    """Columns without a table, each as the field of the one that has it; None where nobody knows."""
    tables = sources(select.select)
    found = []
    for name in loose:
        owners = [name_of(table) for table in tables if select.resolver.columns(table).find(name.strip("`"))]
        if len(owners) != 1 or not all(select.resolver.columns(table).complete for table in tables):
            return None
        found.append(f"{owners[0]}.{name} AS {name}")
    return found
