"""Batches of a microbatch model that have no rows: Spark is asked for them once for all batches of a run."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.sql.core.literals import named

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.passes.emptiness import Read

SOME, NONE, GONE = "some", "none", "gone"
"""State of a batch: it has rows, or that isn't known; it has none; it has none, but the table still has its rows."""

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class _Times:
    """The hours or days in which a relation has rows, from `since` on; `found` is None if Spark can't compute them."""

    since: datetime | None
    found: Sequence[datetime] | None


class EmptyBatches:
    """Cache of the hours or days in which relations have rows.

    Args:
        rows_of: sends a statement to Spark and returns its rows.
    """

    def __init__(self, rows_of: Callable[[str], Sequence[Sequence[Any]]]) -> None:
        self._rows_of = rows_of
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str, str, timedelta], _Times] = {}

    def of(self, node: Any, sql: str, table: str | None, start: datetime, end: datetime) -> str:
        """State of a batch: `some`, `none` or `gone`.

        Args:
            node: the model.
            sql: the query of the batch, in Spark SQL.
            table: the model's table; None if it lacks the column of the event time.
            start: when the batch begins, on the wall clock.
            end: when it ends.
        """
        from dbt.adapters.sparkstream.sql.passes.emptiness import Read, gives_nothing

        batch_size = node.config.batch_size
        size = _HOUR if str(getattr(batch_size, "value", batch_size)) == "hour" else _DAY

        def is_empty(read: Read) -> bool:
            return not self._has_rows(node.unique_id, read, size, start)

        if table is None or not gives_nothing(sql, is_empty):
            return SOME
        time = named(str(node.config.event_time))
        return NONE if is_empty(Read(table, time, start, end)) else GONE

    def _has_rows(self, model: str, read: Read, size: timedelta, start: datetime) -> bool:
        key = (model, read.relation, read.column, size)
        since = None if read.since is None else min(read.since, start) - _DAY
        with self._lock:  # of batches that run side by side, one asks
            known = self._known.get(key)
            if known is None or (known.since is not None and (since is None or since < known.since)):
                known = self._known[key] = _Times(since, self._with_rows(read, size, since))
        if known.found is None:
            return True
        from dbt.adapters.sparkstream.sql.passes.emptiness import TURN

        # An edge in an hour that a clock skips is compared as a later one.
        margin = TURN if size == _HOUR else timedelta(0)
        first = datetime.min if read.since is None else read.since - margin - size
        last = datetime.max if read.until is None else read.until + margin
        at = bisect_left(known.found, first + timedelta(microseconds=1) if read.since else first)
        return at < len(known.found) and known.found[at] < last

    def _with_rows(self, read: Read, size: timedelta, since: datetime | None) -> Sequence[datetime] | None:
        """Hours or days with rows, in order, cut from texts: other functions read a TIMESTAMP_NTZ as an instant."""
        length = 13 if size == _HOUR else 10
        where = f" WHERE {read.column} >= TIMESTAMP_NTZ'{since}'" if since is not None else ""
        text = f"substring(CAST(CAST({read.column} AS TIMESTAMP_NTZ) AS STRING), 1, {length})"
        try:
            rows = self._rows_of(f"SELECT DISTINCT {text} FROM {read.relation}{where}")
        except DbtDatabaseError:  # such as of a text that is no time; the batch's own query says more
            return None
        found = (row[0] for row in rows)
        return sorted(datetime.fromisoformat(one) for one in found if one and one[0].isdigit() and len(one) == length)
