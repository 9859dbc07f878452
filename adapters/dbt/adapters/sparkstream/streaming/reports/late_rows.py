"""Rows left out of the table: late, with a time too far ahead, without a time, or with values that can't be read.

Such rows are counted exactly, and kept where a model wants them. Spark counts late rows after it has aggregated the
rows of a micro-batch, so its count is too small. So where a micro-batch has such rows, its files, or its records of
Kafka, are read once more, and each row is put to the same tests: is the window's end behind the watermark of the
micro-batch before? Is the time further ahead of the micro-batch's clock than the model allows?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import REBUILD
from dbt.adapters.sparkstream.streaming.sources.source import Portion
from dbt.adapters.sparkstream.streaming.spark.checkpoint import NOTHING_YET, Offsets, Portions
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.progress import LeftOut, MicroBatch, counted
from dbt.adapters.sparkstream.streaming.spark.streams import is_ahead, limit
from dbt.adapters.sparkstream.streaming.tables.catalog import make, suffixed
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH

LATE_TABLE, UNREADABLE_TABLE = "__late", "__unreadable"
"""Suffixes of the tables for rows that no window has, and for unreadable rows."""

LATE = "window closed"
AHEAD = "time too far ahead"
UNTIMED = "no event time"


UNREADABLE = {
    "source": ("STRING", "the source that has the row"),
    "file": ("STRING", "the file that has it; NULL for Kafka"),
    "topic": ("STRING", "of Kafka"),
    "partition": ("INT", "of the topic"),
    "offset": ("BIGINT", "in the partition"),
    "timestamp": ("TIMESTAMP", "that Kafka has of it"),
    "key": ("BINARY", "that Kafka has of it"),
    "value": ("BINARY", "what can not be read, byte for byte"),
}
"""Column -> type and comment, of the table of unreadable rows. It is partitioned by the micro-batch's number, too."""


def side_tables(model: Model) -> tuple[str, str]:
    """Tables for the rows that a model's own table leaves out: that no window has, and that can't be read."""
    return suffixed(model.relation, LATE_TABLE), suffixed(model.relation, UNREADABLE_TABLE)


def warnings(
    left: LeftOut, watermark: datetime | None, max_future: Interval | None, table: str | None, broken: str | None = None
) -> Iterator[str]:
    """Warnings about rows that no window has and records that can't be read, with advice; `max_future`: see `limit`."""
    if left.unreadable:
        kept = f"{broken} has them" if broken else "to keep them, write config(unreadable_rows='keep')"
        yield (
            f"{counted(left.unreadable, 'row')} left out, with values that aren't what the source's value_format and "
            f"schema say\n  {kept}"
        )
    if left.late and watermark and max_future and is_ahead(watermark, max_future):
        yield (
            f"the watermark stands at {watermark:%Y-%m-%d %H:%M} UTC, ahead of the clock, so rows before that are late"
            f"\n  {REBUILD}"
        )
    if left.ahead:
        limit_ = f"more than {max_future.words()} ahead of the clock" if max_future else "after the year 9998"
        kept = f"{table} has them" if table else "to keep them, write config(late_rows='keep')"
        right = "; if such times are right, write config(max_future='off')" if max_future else ""
        yield (
            f"{counted(left.ahead, 'row')} left out with times {limit_}, such as {left.furthest}, which would make all "
            f"later rows late\n  {kept}{right}"
        )


@dataclass
class LateRows:
    """Rows of a model's streams that its table leaves out. Views of a micro-batch's rows get the streams' names."""

    engine: Engine
    plan: StreamPlan
    portions: Portions
    model: Model

    def __post_init__(self) -> None:
        self.sources = self.portions.sources
        late, unreadable = side_tables(self.model)
        self.table = late if self.model.config.keep_late else None
        self.unreadable_table = unreadable if self.model.config.keep_unreadable else None

    def create(self) -> None:
        """Makes the table that keeps rows that no window has, if it isn't there."""
        if self.table is None or self.engine.exists(self.table):
            return
        for source in self.sources:
            self.engine.streams.define_portion(source, Portion())
        queries = [query for query, _ in self._queries(NOTHING_YET, NOTHING_YET)]
        columns = [f"{backticked(name)} {type_}" for name, type_ in self.engine.union(queries)]
        self._make(self.table, columns, "rows that no window has, with the reason")

    def _make(self, table: str, columns: Sequence[str], comment: str) -> None:
        listed = ",\n  ".join([*columns, f"{BATCH} BIGINT"])
        make(
            self.engine,
            table,
            f"CREATE TABLE {table} (\n  {listed}\n) USING {self.model.config.file_format} "
            f"PARTITIONED BY ({BATCH})\nCOMMENT '{comment}'",
        )

    def of(self, batch: MicroBatch) -> LeftOut:
        """Counts of a micro-batch's rows that no window has, or that can't be read, as exact as can be; keeps them."""
        reported = left_out = batch.left_out
        if reported.late or batch.is_odd or (self.plan.slices and batch.is_behind):
            found = self._found(batch.number) or reported
            # Which rows a join of streams has dropped, nothing but Spark knows.
            left_out = found if self.plan.late else replace(found, late=reported.late)
        unreadable = self._unreadable(batch.number) if reported.unreadable else None
        return replace(left_out, unreadable=reported.unreadable if unreadable is None else unreadable)

    def of_earlier(self, batch: int) -> LeftOut:
        """Counts as of `of`, for a micro-batch of a run that ended before it counted them."""
        return replace(self._found(batch) or LeftOut(), unreadable=self._unreadable(batch) or 0)

    def _found(self, batch: int) -> LeftOut | None:
        """Counts the rows of a micro-batch that no window has, and keeps them; None where they can't be read again."""
        read = self.portions.of(batch) if self.plan.waits else None
        if read is None:
            return None
        before, now, portions = read
        for source in self.sources:
            self.engine.streams.define_portion(source, portions[source.view])
        queries = list(self._queries(before, now))
        if not queries:
            return None
        if self.table is not None:
            self.engine.replace(self.table, [query for query, _ in queries], batch)
        return self._counted(queries)

    def _unreadable(self, batch: int) -> int | None:
        """Counts the unreadable records of a micro-batch, and keeps them; None where they can't be read again.

        The query itself leaves them out and counts them, so this is called if Spark's report has some.
        """
        sources, table = [source for source in self.sources if source.has_values], self.unreadable_table
        if not sources:
            return 0
        read = self.portions.of(batch)
        if read is None:
            return None
        *_, portions = read
        queries = []
        for source in sources:
            view = f"__unreadable_{source.view}"
            self.engine.streams.define_unreadable(source, portions[source.view], view)
            queries.append(f"SELECT * FROM {view}")
        [(number,)] = self.engine.sql(f"SELECT count(*) FROM (\n{' UNION ALL '.join(queries)}\n)")
        if number and table is not None:
            if not self.engine.exists(table):
                columns = [f"{name} {type_} COMMENT '{text}'" for name, (type_, text) in UNREADABLE.items()]
                self._make(table, columns, "rows with values that can not be read")
            self.engine.replace(table, queries, batch)
        return int(number)

    def _counted(self, queries: Sequence[tuple[str, str]]) -> LeftOut:
        counts = "\nUNION ALL\n".join(
            f"SELECT reason, count(*) AS n, CAST(max({time}) AS STRING) AS furthest FROM (\n{query}\n) GROUP BY reason"
            for query, time in queries
        )
        rows = self.engine.sql(f"SELECT reason, sum(n), max(furthest) FROM (\n{counts}\n) GROUP BY reason")
        found = {str(reason): (int(n), furthest) for reason, n, furthest in rows}
        late, ahead, untimed = (found.get(reason, (0, None)) for reason in (LATE, AHEAD, UNTIMED))
        return LeftOut(late[0], ahead[0], untimed[0], ahead[1])

    def _queries(self, before: Offsets, now: Offsets) -> Iterator[tuple[str, str]]:
        """Queries for rows that no window has, each with the name of its time column."""
        closed = f"timestamp_millis({before.watermark})"
        until = limit(self.model.config.max_future, f"timestamp_millis({now.clock})")
        for arrivals in self.plan.late:
            time = arrivals.time
            late = f"window_end <= {closed} AND {time} < {until}"
            odd = f"{time} IS NULL OR {time} >= {until}"
            reason = f"CASE WHEN {time} IS NULL THEN {string_literal(UNTIMED)} ELSE {string_literal(AHEAD)} END"
            yield _query(arrivals.windows, closed, string_literal(LATE), late), time
            yield _query(arrivals.rows, closed, reason, odd), time
        # Rows of other streams come to no window function, only to joins.
        covered = {name for arrivals in self.plan.late for name in arrivals.streams}
        for source in self.sources:
            if source.view not in covered and source.event_time is not None and source.watermark is not None:
                time, rows = backticked(source.event_time), f"SELECT * FROM {source.view}"
                yield _query(rows, closed, string_literal(AHEAD), f"{time} >= {until}"), time


def _query(rows: str, watermark: str, reason: str, condition: str) -> str:
    return f"SELECT *, {watermark} AS watermark, {reason} AS reason\nFROM (\n{rows}\n)\nWHERE {condition}"
