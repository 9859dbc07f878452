"""Views that can be read as streams: a view that only chooses, computes and filters the rows of one table."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.names.scope import find_cte
from dbt.adapters.sparkstream.sql.core.nodes import Opaque, has_aggregate
from dbt.adapters.sparkstream.sql.core.source import Span
from dbt.adapters.sparkstream.sql.statement import Statement

_BEYOND_A_ROW = {
    exp.Group: "GROUP BY",
    exp.Window: "OVER",
    exp.Distinct: "DISTINCT",
    exp.Order: "ORDER BY",
    exp.Limit: "LIMIT",
    exp.Join: "a join",
    exp.SetOperation: "a set operation",
}


@dataclass(frozen=True)
class RowView:
    """A view whose rows are each of one row of a table.

    Attributes:
        sql: its query.
        table: the table's name, as it stands in the query.
        place: where that is.
    """

    sql: str
    table: str
    place: Span

    @classmethod
    def read(cls, sql: str) -> RowView:
        """Reads a view's query.

        Raises:
            TranslationError: what of it takes more than a row.
        """
        statement = Statement.parse(sql, "spark", whole=True)
        [tree] = statement.trees
        if tree.find(Opaque) is not None:
            raise TranslationError("it can't be parsed")
        if tree.find(exp.Group) is None and has_aggregate(tree):
            raise TranslationError("it has an aggregate")
        for kind, name in _BEYOND_A_ROW.items():
            if tree.find(kind) is not None:
                raise TranslationError(f"it has {name}")
        tables = [
            table
            for table in tree.find_all(exp.Table)
            if not isinstance(table.this, exp.Identifier) or find_cte(table) is None
        ]
        if len(tables) != 1 or not isinstance(tables[0].this, exp.Identifier):
            raise TranslationError(f"it reads {len(tables)} tables" if len(tables) != 1 else "it reads no table")
        [table] = tables
        source = statement.source
        place = source.full_name(table)
        named = "" if table.alias else f" AS {source.written(table.parts[-1])}"
        return cls(sql[: place[1]] + named + sql[place[1] :], sql[slice(*place)], place)

    def below(self, outer: RowView) -> RowView:
        """The rows of a view over this one."""
        at = outer.place[0] + 1
        return RowView(outer.over(f"({self.sql})"), self.table, (at + self.place[0], at + self.place[1]))

    def over(self, name: str) -> str:
        """The query over another relation in the place of the table."""
        return self.sql[: self.place[0]] + name + self.sql[self.place[1] :]
