"""Queries that the translator writes, as values with one layout.

A query is written as a list of lines. The user's own SQL goes into a line as it is, with its own new lines: they may
stand in a string, so a line is indented at its beginning only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_SHORT = 3
"""Items of a SELECT list that stand in one line where the first of them is a star."""


@dataclass(frozen=True)
class Select:
    """A SELECT.

    Attributes:
        items: the SELECT list, such as `*` and `sum(x) AS total`.
        rows: what stands in FROM: a query, or a relation as SQL.
        alias: the name of what stands in FROM, or nothing.
        views: what stands behind LATERAL VIEW, such as `explode(array(1, 2)) AS x`.
        where: the lines of the condition; no condition if empty.
        group: what stands behind GROUP BY.
        windows: name -> specification, of WINDOW.
    """

    items: Sequence[str]
    rows: Select | str
    alias: str = ""
    views: Sequence[str] = ()
    where: Sequence[str] = ()
    group: Sequence[str] = ()
    windows: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The query, line by line."""
        named = f" AS {self.alias}" if self.alias else ""
        if self.items[0].startswith("*") and len(self.items) <= _SHORT:
            lines = [f"SELECT {', '.join(self.items)}"]
        else:
            lines = ["SELECT", *_listed(self.items)]
        if isinstance(self.rows, Select):
            lines += ["FROM (", *indented(self.rows.lines()), f"){named}"]
        else:
            lines.append(f"FROM {self.rows}{named}")
        lines += [f"LATERAL VIEW {view}" for view in self.views]
        if self.where:
            first, *more = self.where
            lines += [f"WHERE {first}", *more]
        if self.group:
            lines.append(f"GROUP BY {', '.join(self.group)}")
        if self.windows:
            lines += ["WINDOW", *_listed([f"{name} AS ({text})" for name, text in self.windows.items()])]
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


def named(columns: Mapping[str, str]) -> list[str]:
    """Items of a SELECT list, from name -> expression."""
    return [sql if sql == name else f"{sql} AS {name}" for name, sql in columns.items()]


def indented(lines: Iterable[str]) -> list[str]:
    """Lines that stand one step further in."""
    return [f"  {line}" for line in lines]


def parenthesized(comment: str, query: Select, indent: str = "") -> str:
    """A query in parentheses, for FROM.

    Args:
        comment: what the query begins with, in words.
        indent: white space that the lines after the first begin with.
    """
    words = f"/* {comment.replace('*/', '* /')} */"
    return f"\n{indent}".join(["(", *indented([words, *query.lines()]), ")"])


def _listed(items: Sequence[str]) -> list[str]:
    """Items with commas between them, each in a line."""
    return indented([*(f"{item}," for item in items[:-1]), items[-1]])
