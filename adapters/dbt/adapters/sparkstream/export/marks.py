"""Marks: names that stand in the SQL for Jinja, while it is translated."""

from __future__ import annotations

import re
from typing import Any

from dbt.adapters.sparkstream.sql.core.literals import backticked


class Unwritable(Exception):
    """Error of a part of a project that plain Spark SQL can't express; the message is for the user."""


_MARK = re.compile(r"dbt_mark_\d+_")


class Marks:
    """Marks in a template's SQL, and the Jinja that they replace.

    A relation's mark takes the place of its schema, so that the name of the table stays: `{{ ref('bid') }}` becomes
    `dbt_mark_1_.bid`, and a column may be called `bid.price` as ever.
    """

    def __init__(self) -> None:
        self._jinja: dict[str, str] = {}  # what stands in the SQL -> Jinja
        self._marks: dict[str, str] = {}  # Jinja -> mark
        self._real: dict[str, Any] = {}  # what stands in the SQL -> relation

    def relation(self, relation: Any, jinja: str) -> Any:
        """A relation under a mark.

        Args:
            relation: dbt's relation for the Jinja.
            jinja: such as `{{ ref('bid') }}`.
        """
        marked = relation.replace_path(database=None, schema=self._mark(jinja))
        quoted = f"{backticked(marked.schema)}.{backticked(marked.identifier)}"
        for written in (marked.render(), marked.render().replace("`", ""), quoted):
            self._jinja[written] = jinja
            self._real[written] = relation
        return marked

    def value(self, jinja: str) -> str:
        """The mark for Jinja whose output is a part of the text."""
        mark = self._mark(jinja)
        self._jinja[mark] = jinja
        return mark

    def real(self, written: str) -> Any | None:
        """The relation whose marked name is in the SQL; None for a name without a mark."""
        return self._real.get(written)

    def restore(self, sql: str) -> str:
        """SQL as a template, with the Jinja in place of its marks.

        Raises:
            Unwritable: a part of a relation's name stands alone, such as its schema.
        """
        # What looks like Jinja by now is the user's text.
        template = re.sub(r"\{\{|\{%|\{#", lambda found: "{{ '" + found[0] + "' }}", sql)
        # One search for all, as the Jinja itself may hold a mark's text.
        longest_first = sorted(self._jinja, key=len, reverse=True)
        marked = re.compile("|".join([*map(re.escape, longest_first), _MARK.pattern]))
        return marked.sub(lambda found: self._jinja_of(found[0]), template)

    def _jinja_of(self, written: str) -> str:
        part = next((text for text, mark in self._marks.items() if mark == written), None)
        if written in self._jinja or part is None:
            return self._jinja.get(written, written)
        raise Unwritable(f"it uses a part of the name of {part}, such as its schema, which differs between targets")

    def substitute(self, sql: str, values: dict[str, str]) -> str:
        """SQL with the values of marks.

        Args:
            values: Jinja -> value.
        """
        marked = {self._marks[jinja]: value for jinja, value in values.items()}
        return _MARK.sub(lambda found: marked.get(found[0], found[0]), sql)

    def _mark(self, jinja: str) -> str:
        return self._marks.setdefault(jinja, f"dbt_mark_{len(self._marks) + 1}_")
