"""Syntax that Flink reads and ignores."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import UNREAD, WindowFunction
from dbt.adapters.sparkstream.sql.passes.flink.frames import is_unheeded

UNORDERED = "ARRAY_AGG"
"""The aggregate that takes an ORDER BY, of which Flink takes no notice."""
NEIGHBOURS = ("LAG", "LEAD")
"""The functions that take IGNORE NULLS, of which Flink takes no notice."""


def unheeded(tree: exp.Expr, source: Source) -> Iterator[TranslationWarning]:
    """A warning for each thing that is left out, as Flink takes no notice of it."""
    for node in tree.find_all(exp.Order, exp.IgnoreNulls, exp.Window, WindowFunction):
        if isinstance(node, exp.Window):
            if is_unheeded(node):
                name = node.args["alias"]
                yield source.warning(
                    source.span(name),
                    f"Flink heeds no frame behind the name of a window, {name.name}, so it is left out",
                    "write the window in full: OVER (PARTITION BY ... ORDER BY ... ROWS ...)",
                )
            continue
        if isinstance(node, WindowFunction):
            if UNREAD in node.timecol.meta:
                yield source.warning(
                    node.timecol.meta[UNREAD],
                    f"Flink takes {node.timecol.name}, the first column of DESCRIPTOR; the others are left out",
                    f"write DESCRIPTOR({node.timecol.name})",
                )
            continue
        call = node.parent if isinstance(node, exp.Order) else node.this
        if not isinstance(call, exp.Anonymous):
            continue
        name = call.name.upper()
        if isinstance(node, exp.Order) and name == UNORDERED:
            yield source.warning(
                source.call_span(call),
                f"Flink's {UNORDERED} heeds no ORDER BY, so it is left out",
                "to have an order, write ARRAY_SORT(ARRAY_AGG(x))",
            )
        elif isinstance(node, exp.IgnoreNulls) and name in NEIGHBOURS:
            yield source.warning(
                source.call_span(call),
                f"Flink's {name} heeds no IGNORE NULLS, so it is left out",
                "to skip NULLs, write LAST_VALUE(x) OVER (... ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
            )
