"""Rows of a source with values that can't be read: counted, and kept as they came.

The query itself leaves them out and counts them, so Spark's report of a micro-batch tells whether it had such rows. If
it had, what the micro-batch has read of its sources is read once more, as for late rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.sparkstream.streaming.sources.portions import Portions
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import NOTHING_YET, Offsets
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.making import make
from dbt.adapters.sparkstream.streaming.tables.table import BATCH

SUFFIX = "__unreadable"

COLUMNS = {
    "source": ("STRING", "the source that has the row"),
    "file": ("STRING", "the file that has it; NULL for Kafka"),
    "topic": ("STRING", "of Kafka"),
    "partition": ("INT", "of the topic"),
    "offset": ("BIGINT", "in the partition"),
    "timestamp": ("TIMESTAMP", "that Kafka has of it"),
    "key": ("BINARY", "that Kafka has of it"),
    "value": ("BINARY", "what can not be read, byte for byte"),
}
"""Name -> type and comment. The table is partitioned by one more: the number of the micro-batch."""


class UnreadableRows:
    """The rows of a model's streams with values that can't be read.

    Args:
        engine: the session of the run.
        sources: the model's streams.
        portions: what its micro-batches have read.
        checkpoint: its checkpoint.
        table: the table that keeps them; None to count only.
        file_format: of that table.
    """

    def __init__(
        self,
        engine: Engine,
        sources: Sequence[StreamSource],
        portions: Portions,
        checkpoint: str,
        table: str | None,
        file_format: str,
    ) -> None:
        self._engine = engine
        self._sources = [source for source in sources if source.kind.has_values]
        self._portions = portions
        self._checkpoint = checkpoint
        self._table = table
        self._file_format = file_format

    def found(self, batch: int) -> int | None:
        """Counts the unreadable records of a micro-batch, and keeps them; None where they can't be read again."""
        if not self._sources:
            return 0
        now = Offsets.of(self._engine, self._checkpoint, batch)
        before = Offsets.of(self._engine, self._checkpoint, batch - 1) if batch > 0 else NOTHING_YET
        portions = self._portions.between(before, now) if now is not None and before is not None else None
        if portions is None:
            return None
        queries = []
        for source in self._sources:
            view = f"__unreadable_{source.view}"
            self._engine.streams.define_unreadable(source, portions[source.view], view)
            queries.append(f"SELECT * FROM {view}")
        [(number,)] = self._engine.sql(f"SELECT count(*) FROM (\n{' UNION ALL '.join(queries)}\n)")
        if number and self._table is not None:
            self._create(self._table)
            self._engine.replace(self._table, queries, batch)
        return int(number)

    def _create(self, table: str) -> None:
        if self._engine.exists(table):
            return
        columns = ",\n  ".join(f"{name} {type_} COMMENT '{text}'" for name, (type_, text) in COLUMNS.items())
        make(
            self._engine,
            table,
            f"CREATE TABLE {table} (\n  {columns},\n  {BATCH} BIGINT\n) USING {self._file_format} "
            f"PARTITIONED BY ({BATCH})\nCOMMENT 'rows with values that can not be read'",
        )
