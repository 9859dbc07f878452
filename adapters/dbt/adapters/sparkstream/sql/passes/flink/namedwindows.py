"""Windows of OVER that extend a named window, `OVER (w ORDER BY n)`, which Spark doesn't read."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.over import named, parts_of
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tree import enclosing
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


class NamedWindows(Rewriter):
    """Writes the named window out in a window that adds something to it."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {exp.Window: self._window}

    def _window(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, exp.Window)
        name = node.args.get("alias")
        if not isinstance(name, exp.Identifier):
            return
        base = named(node)
        if base is None:
            return
        below = parts_of(base)
        if not (node.arg_key == "windows" or any(node.args.get(part) for part in ("partition_by", "order", "spec"))):
            return  # OVER w is Spark's as well
        if node.args.get("spec") and below.frame is not None:  # one of two frames would be dropped
            self.refuse(name, f"the window {name.name} has a frame already", "write OVER (...) in full")
        text = self._inside(base)
        yield self.edit(name, lambda: text)

    def _inside(self, window: exp.Window) -> str:
        """What stands between the parentheses of an entry of the WINDOW clause.

        It has to be Spark's as it stands, as it is copied before any edit of it is made.
        """
        below = parts_of(window)
        for key in (*below.partition_by, *(item.this for item in (below.order.expressions if below.order else ()))):
            select = enclosing(key, exp.Select)
            found = self.resolver.find(key, select) if isinstance(key, exp.Column) and select is not None else None
            if not isinstance(key, exp.Column) or (found is not None and found.rows):
                self.refuse(key, "a window that others begin with has columns only", "write OVER (...) in full")
        tokens = self.source.tokens
        opening = tokens.at(self.source.span(window.this)[0]) + 2  # w AS (
        closing = tokens.closing(opening)
        assert closing is not None
        first, last = tokens[opening].end + 1, tokens[closing].start
        base = named(window)
        if base is None:
            return self.source.text[first:last].strip()
        start = self.source.span(window.args["alias"])[1]
        return f"{self._inside(base)} {self.source.text[start:last].strip()}".strip()
