"""Views in place of the tables of a statement: for names that have something else behind them than a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.statement import whole_trees

Name = tuple[str, ...]
"""The parts of a table's name, in lower case."""

_READS = (TokenType.FROM, TokenType.JOIN)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


def name_of(relation: str) -> Name:
    """The parts of a name as SQL has it."""
    return tuple(token.text.casefold() for token in DIALECTS["spark"]().tokenize(relation) if token.text != ".")


def replaced(sql: str, names: Collection[Name], view: Callable[[Name], str]) -> str:
    """A statement of Spark SQL that reads views in place of tables; the same object if it reads none of them.

    Args:
        sql: the statement.
        names: the tables.
        view: gives the view that is read for a table; called once for each that the statement reads.
    """
    folded = sql.casefold()
    near = {name for name in names if name[-1] in folded}
    if not near:
        return sql
    found = sorted((start, end, name, alias) for start, end, name, alias in _tables(sql) if name in near)
    views = {name: view(name) for name in dict.fromkeys(name for *_, name, _ in found)}
    for start, end, name, alias in reversed(found):
        # Columns may be written with the table's name.
        own = f" AS {backticked(name[-1])}" if alias else ""
        sql = f"{sql[:start]}{views[name]}{own}{sql[end:]}"
    return sql


def _tables(sql: str) -> Iterator[tuple[int, int, Name, bool]]:
    """Tables that a statement reads: (start, end, parts of the name, needs an alias) of each."""
    trees = whole_trees(sql, "spark")
    if not trees:
        yield from _behind_from(DIALECTS["spark"]().tokenize(sql))
        return
    for tree in trees:
        for table in tree.find_all(exp.Table):
            parts, parent = table.parts, table.parent
            merged = isinstance(parent, exp.Merge) and parent.args.get("using") is table
            is_read, is_described = merged or isinstance(parent, exp.From | exp.Join), isinstance(parent, exp.Describe)
            if not (is_read or is_described) or not all(isinstance(part, exp.Identifier) for part in parts):
                continue
            alias = is_read and not table.alias and not table.args.get("sample")
            start, end = parts[0].meta["start"], parts[-1].meta["end"] + 1
            yield start, end, tuple(part.name.casefold() for part in parts), alias


def _behind_from(tokens: list[Token]) -> Iterator[tuple[int, int, Name, bool]]:
    """As `_tables`, by the tokens of a statement that can't be parsed: names behind FROM and JOIN."""
    for i, token in enumerate(tokens):
        if token.token_type not in _READS or (i and tokens[i - 1].token_type is TokenType.DISTINCT):
            continue
        j = i + 1
        while j + 2 < len(tokens) and tokens[j + 1].token_type is TokenType.DOT:
            j += 2
        parts = tokens[i + 1 : j + 1 : 2]
        if parts:
            behind = tokens[j + 1].token_type if j + 1 < len(tokens) else None
            alias = behind not in (TokenType.ALIAS, *_NAMES)
            yield parts[0].start, parts[-1].end + 1, tuple(part.text.casefold() for part in parts), alias
