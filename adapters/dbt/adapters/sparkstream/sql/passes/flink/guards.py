"""Refuses what Spark would answer, with rows that mislead: each check says in a line why Spark's own answer won't do.

What Flink refuses and Spark takes, such as reserved words as names or `LEFT SEMI JOIN`, is refused nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.constructs import is_map_constructor
from dbt.adapters.sparkstream.sql.passes.flink.families import family
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class Guards(Rewriter):
    """Refuses expressions whose translation Spark would answer otherwise than their text says."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            exp.Anonymous: self._call,
            exp.Bracket: self._bracket,
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
            exp.WindowSpec: self._frame,
        }

    def _call(self, node: exp.Expr) -> Iterable[Edit]:
        """Both systems have a database of their own."""
        if node.name.upper() == "CURRENT_DATABASE":
            self.refuse(self.source.call_span(node), "Spark's CURRENT_DATABASE isn't Flink's", "write the name")
        return ()

    def _bracket(self, node: exp.Expr) -> Iterable[Edit]:
        """`a[0]` of an array is NULL: Flink's first element is `a[1]`, and Spark's users write `a[0]`."""
        if is_map_constructor(node):
            return ()
        index = node.expressions[0] if node.expressions else None
        zero = isinstance(index, exp.Literal) and not index.name.strip("0")
        if index is not None and family(self.type(node.this)) == "array" and (zero or isinstance(index, exp.Neg)):
            self.refuse(index, "the elements of an array count from 1", "write a[1]")
        return ()

    def _cast(self, node: exp.Expr) -> Iterable[Edit]:
        """A cast is rewritten by Flink's rules: they have no FORMAT, which would be dropped, and read no `::`."""
        assert isinstance(node, (exp.Cast, exp.TryCast))
        span = self.source.span(node)
        if "::" in self.source.text[self.source.span(node.this)[1] : span[1]]:
            self.refuse(span, "Flink has no ::", "write CAST(x AS INT)")
        if node.args.get("format"):
            self.refuse(span, "Flink's CAST takes no FORMAT", "write DATE_FORMAT or TO_TIMESTAMP")
        return ()

    def _frame(self, node: exp.Expr) -> Iterable[Edit]:
        """Spark counts `-1 PRECEDING` rows as 1 FOLLOWING, and gives NULL for a frame that holds no rows then."""
        for offset in (node.args.get("start"), node.args.get("end")):
            if str(node.args.get("kind") or "").upper() == "ROWS" and isinstance(offset, exp.Neg):
                self.refuse(offset, "a number of rows is not negative", "write PRECEDING or FOLLOWING")
        return ()
