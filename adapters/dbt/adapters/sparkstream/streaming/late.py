"""Rows that came after their windows were closed: counted exactly, and kept where a model wants them.

Spark says how many it dropped, after it has aggregated them within the micro-batch. So where it dropped any, the files
of that micro-batch are read once more, and their rows are put to the same test: is the window's end behind the
watermark of the micro-batch before?
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.literals import string_literal
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.paths import path_of
from dbt.adapters.sparkstream.streaming.source import StreamSource
from dbt.adapters.sparkstream.streaming.table import BATCH, Facts

SUFFIX = "__late"
REASON = "window closed"


@dataclass(frozen=True)
class _Offsets:
    """What Spark notes in the checkpoint before a micro-batch.

    Attributes:
        watermark: milliseconds since the epoch.
        sources: for each source, the last number in its log that is part of the micro-batch; None for other sources.
    """

    watermark: int
    sources: tuple[int | None, ...]

    @classmethod
    def of(cls, engine: Engine, checkpoint: str, batch: int) -> _Offsets | None:
        lines = engine.lines(f"{checkpoint}/offsets/{batch}")
        if len(lines) < 2:
            return None
        return cls(int(json.loads(lines[1])["batchWatermarkMs"]), tuple(map(_log_offset, lines[2:])))


def _log_offset(line: str) -> int | None:
    if not line.startswith("{"):
        return None
    facts = json.loads(line)
    return int(facts["logOffset"]) if "logOffset" in facts else None


class LateRows:
    """The late rows of a model.

    Args:
        engine: a session of its own: the names of the streams will stand for rows of one micro-batch in it.
        plan: of the model's query.
        sources: its streams.
        checkpoint: its checkpoint.
        table: the table that keeps them; None to count only.
    """

    def __init__(
        self, engine: Engine, plan: StreamPlan, sources: Sequence[StreamSource], checkpoint: str, table: str | None
    ) -> None:
        self._engine = engine
        self._plan = plan
        self._sources = sources
        self._checkpoint = checkpoint
        self._table = table

    def create(self, file_format: str) -> None:
        """Makes the table that keeps them, if it isn't there."""
        if self._table is None or self._engine.exists(self._table):
            return
        for source in self._sources:
            self._define(source, [])
        columns = ",\n  ".join(f"`{name}` {type_}" for name, type_ in self._engine.union(self._queries(0)))
        self._engine.sql(
            f"CREATE TABLE {self._table} (\n  {columns},\n  {BATCH} BIGINT\n) USING {file_format} "
            f"PARTITIONED BY ({BATCH})\nCOMMENT 'rows that came after their windows were closed'"
        )

    def found(self, batch: int) -> int | None:
        """Counts the late rows of a micro-batch, and keeps them; None where its rows can't be read again.

        A row that is late for several windows counts for each.
        """
        now = _Offsets.of(self._engine, self._checkpoint, batch)
        before = _Offsets.of(self._engine, self._checkpoint, batch - 1) if batch > 0 else None
        if now is None or before is None or not self._plan.late:
            return None
        files = self._files(before, now)
        if files is None:
            return None
        for source in self._sources:
            self._define(source, [name for name in files if self._is_of(source, name)])
        queries = self._queries(before.watermark)
        if self._table is not None:
            self._engine.replace(self._table, queries, batch)
        return self._engine.count(queries)

    def _is_of(self, source: StreamSource, file: str) -> bool:
        """Whether a file is one of a source's."""
        if source.reader:
            # Its path may be relative to where Spark was started, which may be on another machine.
            folder = str(source.reader.get("path", "")).strip("./")
            return f"/{folder}/" in path_of(file) or "*" in folder or len(self._sources) == 1
        return path_of(file).startswith(path_of(Facts.of(self._engine, source.relation).location).rstrip("/") + "/")

    def _queries(self, watermark: int) -> list[str]:
        moment = f"timestamp_millis({watermark})"
        return [
            f"SELECT *, {moment} AS watermark, {string_literal(REASON)} AS reason\nFROM (\n{query}\n)\n"
            f"WHERE window_end <= {moment}"
            for query in self._plan.late
        ]

    def _define(self, source: StreamSource, files: Sequence[str]) -> None:
        self._engine.define_files(source, files, (BATCH,))

    def _files(self, before: _Offsets, now: _Offsets) -> list[str] | None:
        files: list[str] = []
        for i, offset in enumerate(now.sources):
            earlier = before.sources[i] if i < len(before.sources) else None
            if offset is None:
                return None
            for line in self._engine.lines(f"{self._checkpoint}/sources/{i}"):
                if line.startswith("{"):
                    entry = json.loads(line)
                    if (-1 if earlier is None else earlier) < int(entry["batchId"]) <= offset:
                        files.append(str(entry["path"]))
        return list(dict.fromkeys(files))
