"""Columns that no input of a SELECT has: Spark refuses them, but can't say where the user wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.interval import TIME_UNITS
from dbt.adapters.sparkstream.sql.core.opaque import Opaque
from dbt.adapters.sparkstream.sql.core.scope import joins_of, name_of, sources
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing

_WORDS = frozenset(
    (
        *("CURRENT_CATALOG", "CURRENT_DATABASE", "CURRENT_DATE", "CURRENT_SCHEMA", "CURRENT_TIME", "CURRENT_TIMESTAMP"),
        *("CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP", "SESSION_USER", "USER", "GROUPING__ID", "_METADATA"),
    )
)
"""What Spark reads without a column of that name: functions without parentheses, and columns that files have."""

_UNITS = frozenset((*TIME_UNITS, "DAYOFYEAR"))
"""Words that are no columns as an argument: `timestampdiff(MINUTE, a, b)`."""


@dataclass(frozen=True)
class _Names:
    """What the names in a SELECT may mean.

    Attributes:
        aliases: those of its SELECT list.
        inputs: what stands in its FROM, by name; names and aliases are in lower case.
        reads: whether it has a FROM of which all columns may be known.
        joined: whether columns of joined inputs stand side by side, and a name that two of them have is ambiguous.
    """

    aliases: frozenset[str]
    inputs: Mapping[str, Sequence[exp.Expr]]
    reads: bool
    joined: bool


def check_names(source: Source, resolver: Resolver, tree: exp.Expr) -> None:
    """Refuses a name that no input has, where the columns of all inputs are known.

    A name without a table may be an alias of the SELECT list, but not in WHERE, where Spark knows none.

    Raises:
        TranslationError: at the column.
    """
    for query in tree.find_all(exp.Select):
        if not query.expressions and sources(query):
            raise source.error(
                source.span(query), "this SELECT has no columns", "write SELECT * FROM t, or its columns"
            )
    known: dict[int, _Names] = {}
    for column in tree.find_all(exp.Column):
        select = enclosing(column, exp.Query, exp.Lambda)
        if not isinstance(select, exp.Select) or column.is_star or _is_word(column) or len(column.parts) > 2:
            continue
        if id(select) not in known:
            known[id(select)] = _names(select)
        names = known[id(select)]
        if not names.reads:
            continue
        if column.table:
            _check_dotted(source, resolver, column, select, names)
        elif column.name.casefold() in names.aliases and enclosing(column, exp.Where, exp.Select) is select:
            continue
        else:
            _check_bare(source, resolver, column, select, names)


def _names(select: exp.Select) -> _Names:
    inputs: dict[str, list[exp.Expr]] = {}
    for each in sources(select):
        inputs.setdefault((name_of(each) or "").strip("`").casefold(), []).append(each)
    aliases = frozenset(item.alias.casefold() for item in select.expressions if isinstance(item, exp.Alias))
    reads = bool(inputs) and not select.args.get("laterals") and not isinstance(select, Opaque)
    apart = any(
        join.args.get("using") or join.method or join.kind.upper() in ("SEMI", "ANTI") for join in joins_of(select)
    )
    return _Names(aliases, inputs, reads, joined=not apart)


def _check_bare(source: Source, resolver: Resolver, column: exp.Column, select: exp.Select, names: _Names) -> None:
    """Refuses `a` where no input has a column a, or where two have. ORDER BY and the like may mean the SELECT list."""
    found = resolver.candidates(column, select)
    if found == []:
        _refuse(source, resolver, column, [each for called in names.inputs.values() for each in called])
    place = enclosing(column, exp.Order, exp.Group, exp.Having, exp.Select)
    if found is not None and len(found) > 1 and names.joined and place is select:
        tables = [name for name in names.inputs if name]
        raise source.error(
            source.span(column),
            f"{column.name} is ambiguous: two tables of this FROM have it",
            f"write its table before it: {tables[0] if tables else 't'}.{column.name}",
        )


def _is_word(column: exp.Column) -> bool:
    word = column.name.upper()
    return not column.table and (word in _WORDS or (word in _UNITS and isinstance(column.parent, exp.Func)))


def _check_dotted(source: Source, resolver: Resolver, column: exp.Column, select: exp.Select, names: _Names) -> None:
    """Refuses `t.a` where t has no column a, or where there is no t."""
    named = names.inputs.get(column.table.casefold())
    if named:
        if all(_lacks(resolver, each, column.name) for each in named):
            _refuse(source, resolver, column, named)
    elif "" not in names.inputs and not enclosing(select, exp.Select) and resolver.candidates(column, select) == []:
        tables = ", ".join((name_of(each) or "").strip("`") for called in names.inputs.values() for each in called)
        raise source.error(source.span(column), f"there is no table {column.table} in this FROM", f"it has {tables}")


def _lacks(resolver: Resolver, relation: exp.Expr, name: str) -> bool:
    known = resolver.columns(relation)
    return known.complete and known.find(name) is None


def _refuse(source: Source, resolver: Resolver, column: exp.Column, inputs: Sequence[exp.Expr]) -> None:
    columns = ", ".join(c.name for each in inputs for c in resolver.columns(each).items)
    raise source.error(source.span(column), f"there is no column {column.name} in this FROM", f"it has {columns}")
