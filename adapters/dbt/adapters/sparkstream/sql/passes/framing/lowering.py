"""The calls of a SELECT and its windows, written for Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.passes.framing.calls import Call, Window
from dbt.adapters.sparkstream.sql.passes.framing.functions import Evaluation

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.passes.framing.query import Query


class WindowDefinitions:
    """The WINDOW clause of the query that the calls stand in."""

    def __init__(self, *, inline_unnamed: bool) -> None:
        self._inline = inline_unnamed
        self._names: dict[str, str] = {}
        self.definitions: list[str] = []

    def over(self, window: Window, spec: str, comment: str | None = None) -> str:
        """`OVER ...` of a specification, under a name of its window if it has one."""
        if spec not in self._names:
            if window.name is None and self._inline:
                return f"OVER ({spec})"
            base = window.name or "__window"
            name, number = base, 1
            while name.lower() in (n.lower() for n in self._names.values()):
                number += 1
                name = f"{base.strip('`')}_{number}"
                name = f"`{name}`" if base.startswith("`") else name
            self._names[spec] = name
            note = f"/* {comment} */\n" if comment and number == 1 else ""
            self.definitions.append(f"{note}{name} AS ({spec})")
        return f"OVER {self._names[spec]}"


@dataclass
class Lowering:
    """Writes the calls of a SELECT.

    Attributes:
        columns: calls that become columns of the query in FROM: name -> SQL.
        attached: aggregates at every row, for rows that look for theirs: name -> SQL.
        windows: the windows of the query that the calls stand in.
    """

    query: Query

    def __post_init__(self) -> None:
        self.columns: dict[str, str] = {}
        self.attached: dict[str, str] = {}
        self.windows = WindowDefinitions(
            inline_unnamed=not self.query.inner and not any(s.ordered for s in self.query.streams)
        )

    def call(self, call: Call) -> str:
        """What stands in the place of an outermost call."""
        if not call.is_aggregate:  # OVER belongs to the aggregates within
            return self.query.block.text(call.call, [(c.span, self._placed(c)) for c in call.inner])
        return self._placed(call)

    def _placed(self, call: Call) -> str:
        """An aggregate where the SELECT has it: itself, or the column that it has become."""
        if any(True for _ in call.inner):
            return self._nested(call)
        text = Evaluation(self, call).sql()
        return self.column(text, call) if self.query.inner else text

    def column(self, text: str, call: Call | None = None) -> str:
        """A column of the query in FROM that holds an expression."""
        for name, known in self.columns.items():
            if known == text:
                return name
        stem = re.sub(r"\W", "", call.name.lower()) if call else "rows"
        name = f"__{stem}_{len(self.columns) + 1}"
        self.columns[name] = text
        return name

    def attach(self, text: str) -> str:
        """A column of the ordered rows that holds an expression."""
        for name, known in self.attached.items():
            if known == text:
                return name
        name = f"__newest_{len(self.attached) + 1}"
        self.attached[name] = text
        return name

    def _nested(self, call: Call) -> str:
        """An aggregate of an expression with aggregates: these are constants of the current row's frame."""
        query = self.query
        inner = [(c.span, self._placed(c)) for c in call.inner]
        fields: dict[str, str] = {}
        arguments: list[str] = []
        for span in call.arguments:
            replaced = list(inner)
            for column in query.block.columns(span):
                place = query.source.span(column)
                if any(s[0] <= place[0] and place[1] <= s[1] for s, _ in inner):
                    continue
                text = query.render(place)
                fields.setdefault(text, f"c{len(fields)}")
                replaced.append((place, f"r.{fields[text]}"))
            arguments.append(query.block.text(span, replaced))
        fields = fields or {"1": "c0"}
        rows = self.column(Evaluation(self, call).rows({name: text for text, name in fields.items()}))
        values = ", ".join(f"'a{i}', {a}" for i, a in enumerate(arguments))
        return Evaluation(self, call).listed(f"transform({rows}, r -> named_struct({values}))")
