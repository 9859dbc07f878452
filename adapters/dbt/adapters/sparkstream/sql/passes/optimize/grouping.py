"""GROUP BY of a query over windows: keys of the rows, window columns, grouping sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import NoRule
from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.core.nodes import SETS, has_more, once
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from dbt.adapters.sparkstream.sql.passes.forms import normal_form

Set = tuple[exp.Expr, ...]

_MOST_SETS = 4096
"""Grouping sets that are looked at: CUBE doubles them with each key."""


@dataclass(frozen=True)
class GroupKey:
    """A group key that is computed from a row.

    Attributes:
        node: its expression.
        form: its normal form, by which it is found elsewhere in the query.
        column: its name in the inner queries: the column's name, or a generated name for an expression.
    """

    node: exp.Expr
    form: str
    column: str

    @property
    def is_column(self) -> bool:
        """True if the key is a column under its own name."""
        return isinstance(self.node, exp.Column)


@dataclass(frozen=True)
class Grouping:
    """GROUP BY, read.

    Attributes:
        keys: the keys of rows, in order.
        window_forms: normal forms of the keys that are computed from window columns alone.
        sets: for each grouping set, the numbers of its keys; one set without GROUPING SETS.
        kinds: the types of all keys' nodes: nodes of other types are none of them.
    """

    keys: tuple[GroupKey, ...]
    window_forms: frozenset[str]
    sets: tuple[tuple[int, ...], ...]
    kinds: frozenset[type]

    @property
    def bounds(self) -> tuple[str, ...]:
        """The window columns among the keys."""
        return tuple(c for c in WINDOW_COLUMNS if c in self.window_forms)

    @property
    def has_sets(self) -> bool:
        """True if rows are grouped in more than one way."""
        return self.sets != (tuple(range(len(self.keys))),)


class Names:
    """Names of columns within one query over a window function."""

    def __init__(self, alias: str) -> None:
        self._alias = alias.casefold()

    def form(self, node: exp.Expr) -> str:
        """An expression's normal form: the same for two that mean the same column or computation."""
        if isinstance(node, exp.Column) and self.is_plain(node):
            return node.name.casefold()
        copy = node.copy()
        for column in copy.find_all(exp.Column):
            if column.table.casefold() == self._alias and not column.args.get("db"):
                column.set("table", None)
        return normal_form(copy)

    def is_plain(self, column: exp.Column) -> bool:
        """True if a column is one of the window function's, and no field of one."""
        return column.table.casefold() in ("", self._alias) and not column.args.get("db")

    def is_window(self, column: exp.Column) -> bool:
        """True if a column is one that the window function adds."""
        return self.is_plain(column) and column.name.casefold() in WINDOW_COLUMNS

    def origin(self, node: exp.Expr) -> str:
        """Source of an expression: `rows`, `window` (also of a constant), or `both`."""
        found = {"window" if self.is_window(c) else "rows" for c in node.find_all(exp.Column)}
        return "both" if len(found) > 1 else next(iter(found), "window")


def plain_keys(select: exp.Select) -> list[exp.Expr] | None:
    """Keys that a query groups by; None where it groups rows in several ways or none, or by ALL."""
    group = select.args.get("group")
    if group is None or has_more(group, "expressions") or group.find(*SETS):
        return None
    return group.expressions


def read_grouping(select: exp.Select, names: Names, rows: Columns, identity: frozenset[str]) -> Grouping:
    """Reads GROUP BY.

    Args:
        rows: the columns of the window function.
        identity: window columns, any of which tells windows apart; each grouping set must have one.

    Raises:
        NoRule: no rule knows this way to group.
    """
    group = select.args.get("group")
    if group is None:
        raise NoRule("it doesn't group by the window")
    if has_more(group, "expressions"):
        raise NoRule("GROUP BY ALL, WITH ROLLUP and the like aren't read by any rule; name the columns")
    sets = [tuple(_resolved(node, select, names, rows) for node in one) for one in alternatives(group)]
    keys: dict[str, GroupKey] = {}
    window_forms: set[str] = set()
    numbered: list[tuple[int, ...]] = []
    for one in sets:
        have = {names.form(node) for node in one}
        if not identity & have:
            raise NoRule("it doesn't group by window_start and window_end")
        members = set()
        for node in one:
            origin = names.origin(node)
            if origin == "both":
                raise NoRule("a group key mixes columns of the rows and of the window")
            if origin == "window":
                window_forms.add(names.form(node))
                continue
            form = names.form(node)
            if form not in keys:
                named = isinstance(node, exp.Column) and names.is_plain(node)
                keys[form] = GroupKey(node, form, node.this.sql("spark") if named else f"__key_{len(keys) + 1}")
            members.add(list(keys).index(form))
        numbered.append(tuple(sorted(members)))
    if len(set(numbered)) < len(numbered):
        raise NoRule("the same grouping set stands there twice")
    if any({names.form(n) for n in one} & window_forms != window_forms for one in sets):
        raise NoRule("a column of the window is in some grouping sets only")
    kinds = frozenset(type(node.unnest()) for one in sets for node in one)
    return Grouping(tuple(keys.values()), frozenset(window_forms), tuple(numbered), kinds)


def alternatives(group: exp.Group) -> Iterator[Set]:
    """The grouping sets that a GROUP BY stands for.

    Raises:
        NoRule: there are too many.
    """
    kinds = [list(islice(_alternatives(e), _MOST_SETS + 1)) for e in group.expressions]
    if prod(map(len, kinds)) > _MOST_SETS:
        raise NoRule(f"it makes more than {_MOST_SETS} grouping sets")
    return (sum(parts, ()) for parts in product(*kinds))


def _alternatives(item: exp.Expr) -> Iterator[Set]:
    """The grouping sets that an item of GROUP BY stands for."""
    if isinstance(item, exp.GroupingSets):
        for inner in item.expressions:
            if isinstance(inner, SETS):
                yield from _alternatives(inner)
            else:
                yield _members(inner)
    elif isinstance(item, exp.Rollup):
        parts = [_members(e) for e in item.expressions]
        for length in range(len(parts), -1, -1):
            yield sum(parts[:length], ())
    elif isinstance(item, exp.Cube):
        parts = [_members(e) for e in item.expressions]
        for chosen in product((True, False), repeat=len(parts)):
            yield sum((p for p, taken in zip(parts, chosen, strict=True) if taken), ())
    else:
        yield (item,)


def _members(node: exp.Expr) -> Set:
    if isinstance(node, exp.Tuple):
        return tuple(node.expressions)
    return (node.unnest() if isinstance(node, exp.Paren) else node,)


@once
def _aliased(select: exp.Select) -> dict[str, exp.Alias]:
    """Alias -> the first item of the SELECT list that has it."""
    return {item.alias.casefold(): item for item in reversed(select.expressions) if isinstance(item, exp.Alias)}


def _resolved(node: exp.Expr, select: exp.Select, names: Names, rows: Columns) -> exp.Expr:
    """Meaning of an item of GROUP BY: the item, or the item of the SELECT list at its position or of its name."""
    if isinstance(node, exp.Literal) and node.is_int:
        position = int(node.this)
        if not 1 <= position <= len(select.expressions):
            raise NoRule(f"GROUP BY {position} points at no column")
        return select.expressions[position - 1].unalias()
    if isinstance(node, exp.Column) and not node.table and not names.is_window(node) and not rows.find(node.name):
        named = _aliased(select).get(node.name.casefold())
        if named:
            meant = named.this
            if isinstance(meant, exp.Column) and meant.name.casefold() == node.name.casefold():
                return meant
            if not rows.complete:
                raise NoRule(f"{node.name} in GROUP BY may be a column of the rows or of the SELECT list")
            return meant
    return node
