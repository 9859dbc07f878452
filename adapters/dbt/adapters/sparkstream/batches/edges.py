"""The batches of microbatch models, for windows in the SQL itself; the macros do the same in Jinja."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.relation import EventTimeFilter

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host
    from dbt.adapters.sparkstream.sql.core.windows import Window
    from dbt.adapters.sparkstream.sql.passes.batches import BatchRows, CutTable, Microbatch

MACRO = "default__sparkstream_batch"
"""Macro that returns the rows that a window reads in a batch."""


@dataclass(frozen=True)
class CutRelation:
    """A relation for the macro: its name and its filter."""

    identifier: str
    event_time_filter: EventTimeFilter

    def render(self) -> str:
        return self.identifier


def batch_of(adapter: Host, node: Any) -> Microbatch | None:
    """The batch that a node's SQL is compiled for, or None."""
    context = getattr(node, "batch", None)
    if context is None:
        return None
    # Imported here, as they load sqlglot, and most runs have no microbatch model.
    from dbt.adapters.sparkstream.sql.passes.batches import BatchRows, Microbatch

    start, end = (_on_the_wall_clock(time) for time in (context.event_time_start, context.event_time_end))

    def widen(window: Window, time: str, cut: CutTable) -> BatchRows:
        relation = CutRelation(cut.relation, EventTimeFilter(cut.column, start, end))
        arguments = {
            "macro_name": window.name.lower(),
            "relation": relation,
            "timecol": time,
            "kind": _lengths(window),
            "event_time": node.config.get("event_time"),
        }
        rows: Any = adapter.execute_macro(MACRO, kwargs=arguments)
        return BatchRows(rows["relation"], rows["windows"])

    return Microbatch(start, end, widen)


def _on_the_wall_clock(time: datetime) -> datetime:
    """Wall-clock time of a batch's edge, which is dbt's time in UTC without its zone: nothing is converted."""
    return time.replace(tzinfo=None)


def _lengths(window: Window) -> dict[str, int | bool | None]:
    """Lengths of a window, in microseconds, in the form of the macro `sparkstream_lengths`."""
    from dbt.adapters.sparkstream.sql.core.windows import Cumulate, Hop, Session

    if isinstance(window, Session):
        plain = window.gap is not None and window.max_duration is None
        return {"gap": True, "reach": window.gap.micros if window.gap and plain else None, "size": None}
    every = window.slide if isinstance(window, Hop) else window.size
    period = window.step if isinstance(window, Cumulate) else every
    return {
        "gap": False,
        "size": window.size.micros,
        "every": every.micros,
        "period": period.micros,
        "offset": window.offset.micros,
    }
