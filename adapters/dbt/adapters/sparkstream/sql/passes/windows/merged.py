"""GROUP BY over CUMULATE that puts several windows into one group."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.names.scope import sources
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.tree import find
from dbt.adapters.sparkstream.sql.core.windows import Cumulate, WindowFunction, window_functions

ENDS = {"window_end", "window_time"}


def merged_windows(tree: exp.Expr, source: Source) -> Iterator[TranslationWarning]:
    """Warns of a GROUP BY over CUMULATE by `window_start` alone, which several windows have in common.

    With steps of an hour, a row of 00:30 is in the windows [00:00, 01:00), [00:00, 02:00) and so on, and counts once
    for each of them. Windows of the other kinds that begin at the same time also end at the same time.
    """
    if not any(isinstance(call.window, Cumulate) for call in window_functions(tree)):
        return
    for select in find(tree, exp.Select):
        group = select.args.get("group")
        if group is None or not any(map(_cumulates, sources(select))):
            continue
        starts = [key for key in group.expressions if _name(key, select) == "window_start"]
        named = {column.name.lower() for column in group.find_all(exp.Column)}
        named |= {_name(key, select) for key in group.expressions}
        if starts and not named & ENDS:
            yield source.warning(
                source.span(starts[0]),
                "windows of CUMULATE that begin together are one group: each row counts once for every window it is in",
                "write GROUP BY window_start, window_end",
            )


def _cumulates(relation: exp.Expr) -> bool:
    call = relation.this if isinstance(relation, exp.Table) else None
    return isinstance(call, WindowFunction) and isinstance(call.window, Cumulate)


def _name(key: exp.Expr, select: exp.Select) -> str:
    """The name of the column that a key of GROUP BY is, or that its number means; empty where it is no column."""
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(select.expressions):
        key = select.expressions[int(key.this) - 1].unalias()
    return key.name.lower() if isinstance(key, exp.Column) else ""
