"""Reserved words in the place of a name."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flinkwords import RESERVED, RESERVED_VALUES
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class ReservedNames(Rewriter):
    """Refuses a reserved word as the name of a column, a relation, a field or a window."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {exp.Identifier: self._identifier, exp.Column: self._column}

    def _column(self, node: exp.Expr) -> Iterable[Edit]:
        """Looks at a column's names before anybody misses the column."""
        assert isinstance(node, exp.Column)
        for part in node.parts:
            self._identifier(part)
        return ()

    def _identifier(self, node: exp.Expr) -> Iterable[Edit]:
        if is_reserved(node):
            name = self.source.written(node)
            self.refuse(node, f"{name} is a word of Flink's own, and no name", f"write it in backticks: `{name}`")
        return ()


def is_reserved(node: exp.Expr) -> bool:
    """Whether a node is a name without backticks that Flink keeps for itself, as in `SELECT value FROM t`."""
    word = node.name.upper()
    if not isinstance(node, exp.Identifier) or word not in RESERVED:
        return False
    written = not node.args.get("quoted") and node.meta.get("start") is not None
    return written and not _is_word(node, word) and not _is_dbts(node)


def _is_word(node: exp.Expr, word: str) -> bool:
    """Whether a word that sqlglot takes for a name is one of the grammar, or none of the author's.

    ref() and source() write `raw.match` without backticks, so that a table's name with its schema may be any word.
    """
    around = node.parent
    if isinstance(around, exp.Table):
        return around.args.get("db") is not None or word == "TABLE"  # another rewriter says more of TABLE
    if not isinstance(around, exp.Column) or len(around.parts) > 1:
        return isinstance(around, (WindowFunction, exp.Kwarg))
    return word in RESERVED_VALUES


def _is_dbts(node: exp.Expr) -> bool:
    """Whether dbt has written a name: a CTE of an ephemeral model, or of the rows of a unit test."""
    cte = enclosing(node, exp.CTE)
    while cte is not None:
        if cte.alias.startswith("__dbt__cte__"):
            return True
        cte = enclosing(cte, exp.CTE)
    return False
