"""Queries that the translator writes, as values with one layout.

A query is written as a list of lines. The user's own SQL goes into a line as it is, with its own new lines: they may
stand in a string, so a line is indented at its beginning only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_SHORT = 3
"""Items of a SELECT list that stand in one line where the first of them is a star."""


@dataclass(frozen=True)
class Select:
    """A SELECT.

    Attributes:
        items: the SELECT list, such as `*` and `sum(x) AS total`.
        rows: what stands in FROM: a query, or a relation as SQL, which may be given in lines.
        alias: the name of what stands in FROM, or nothing.
        views: what stands behind LATERAL VIEW, such as `explode(array(1, 2)) AS x`.
        where: the lines of the condition; no condition if empty.
        group: what stands behind GROUP BY.
        distribute: what stands behind DISTRIBUTE BY.
        windows: the definitions of WINDOW, such as `w AS (ORDER BY x)`, each in lines.
    """

    items: Sequence[str]
    rows: Query | str | list[str]
    alias: str = ""
    views: Sequence[str] = ()
    where: Sequence[str] = ()
    group: Sequence[str] = ()
    distribute: Sequence[str] = ()
    windows: Sequence[Sequence[str]] = ()

    def lines(self) -> list[str]:
        """The query, line by line."""
        named = f" AS {self.alias}" if self.alias else ""
        if self.items[0].startswith("*") and len(self.items) <= _SHORT:
            lines = [f"SELECT {', '.join(self.items)}"]
        else:
            lines = ["SELECT", *indented(listed(self.items))]
        rows = [self.rows] if isinstance(self.rows, str) else self.rows
        rows = rows if isinstance(rows, list) else parenthesized(rows)
        lines += [f"FROM {rows[0]}", *rows[1:]]
        lines[-1] += named
        lines += [f"LATERAL VIEW {view}" for view in self.views]
        if self.where:
            first, *more = self.where
            lines += [f"WHERE {first}", *more]
        if self.group:
            lines.append(f"GROUP BY {', '.join(self.group)}")
        if self.distribute:
            lines.append(f"DISTRIBUTE BY {', '.join(self.distribute)}")
        return lines + window_clause(self.windows)

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True)
class UnionAll:
    """The rows of several queries."""

    queries: Sequence[Select]

    def lines(self) -> list[str]:
        """The queries, line by line."""
        first, *more = self.queries
        return first.lines() + [line for query in more for line in ("UNION ALL", *query.lines())]


Query = Select | UnionAll


def named(columns: Mapping[str, str]) -> list[str]:
    """Items of a SELECT list, from name -> expression."""
    return [sql if sql == name else f"{sql} AS {name}" for name, sql in columns.items()]


def defined(windows: Mapping[str, str]) -> list[list[str]]:
    """Definitions of WINDOW, from name -> specification."""
    return [[f"{name} AS ({text})"] for name, text in windows.items()]


def window_clause(definitions: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a WINDOW clause; none without definitions."""
    texts = [[*lines[:-1], f"{lines[-1]},"] for lines in definitions[:-1]]
    lines = indented(line for text in [*texts, *definitions[-1:]] for line in text)
    return ["WINDOW", *lines] if lines else []


def listed(items: Sequence[str]) -> list[str]:
    """Items one below the other, with a comma behind each but the last."""
    return [*(f"{item}," for item in items[:-1]), *items[-1:]]


def indented(lines: Iterable[str]) -> list[str]:
    """Lines, one step further in."""
    return [f"  {line}" for line in lines]


def parenthesized(query: Query, comment: str = "") -> list[str]:
    """The lines of a query in parentheses, for FROM.

    Args:
        comment: what the query begins with, in words.
    """
    return ["(", *indented([*([commented(comment)] if comment else []), *query.lines()]), ")"]


def commented(words: str) -> str:
    """Words as a comment, which ends where they do."""
    return f"/* {words.replace('*/', '* /')} */"


def placed(lines: Iterable[str], indent: str) -> str:
    """Lines as a text, for a place in a line that begins with the white space `indent`."""
    return f"\n{indent}".join(lines)
