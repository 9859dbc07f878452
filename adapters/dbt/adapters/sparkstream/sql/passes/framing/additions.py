"""Additions to a query for its calls: named windows, columns of subqueries, and conditions on types."""

from __future__ import annotations

import re

from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window


class WindowDefinitions:
    """The WINDOW clause of the query that the calls stand in."""

    def __init__(self, *, inline_unnamed: bool) -> None:
        self._inline = inline_unnamed
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self.definitions: list[list[str]] = []

    def over(self, window: Window, spec: str, comment: str | None = None) -> str:
        """`OVER ...` of a specification, under a name of its window if it has one."""
        if spec not in self._names:
            if window.name is None and self._inline:
                return f"OVER ({spec})"
            base = window.name or "__window"
            name, number = base, self._counts.get(base, 1)
            while name.lower() in self._taken:
                number += 1
                name = f"`{base[1:-1]}_{number}`" if base.startswith("`") else f"{base}_{number}"
            self._names[spec] = name
            self._taken.add(name.lower())
            self._counts[base] = number
            note = [f"/* {comment} */"] if comment and number == 1 else []
            self.definitions.append([*note, f"{name} AS ({spec})"])
        return f"OVER {self._names[spec]}"


class Additions:
    """Additions that the calls of a SELECT need; each text once.

    Attributes:
        windows: the windows of the query that the calls stand in.
        columns: calls that become columns of the query in FROM: name -> SQL.
        attached: aggregates at every row, which later rows look up: name -> SQL.
    """

    def __init__(self, *, inline_unnamed: bool) -> None:
        self.windows = WindowDefinitions(inline_unnamed=inline_unnamed)
        self.columns: dict[str, str] = {}
        self.attached: dict[str, str] = {}
        self._names_of: dict[str, str] = {}

    def column(self, text: str, call: Call | None = None) -> str:
        """A column of the query in FROM: it holds an expression that a call needs, or the rows of a frame."""
        stem = re.sub(r"\W", "", call.name.lower()) if call else "rows"
        return self._named(self.columns, text, f"__{stem}")

    def attach(self, text: str) -> str:
        """A column of the ordered rows that holds an expression."""
        return self._named(self.attached, text, "__newest")

    def _named(self, columns: dict[str, str], text: str, stem: str) -> str:
        """The name of an expression among columns, to which it is added under `stem_3` if it is new."""
        name = self._names_of.get(text, "")
        if name not in columns:
            name = self._names_of[text] = f"{stem}_{len(columns) + 1}"
            columns[name] = text
        return name
