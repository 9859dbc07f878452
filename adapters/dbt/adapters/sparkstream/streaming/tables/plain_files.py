"""The table of a streaming model in plain files, whose folders tell who has written them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.sparkstream.streaming.fingerprint import digest
from dbt.adapters.sparkstream.streaming.ledger import GRACE, Holder, Ledger, Stage, is_over
from dbt.adapters.sparkstream.streaming.refusals import REBUILD, StreamingError
from dbt.adapters.sparkstream.streaming.spark.folders import path_of
from dbt.adapters.sparkstream.streaming.tables.catalog import Appended, batch_of, up_to
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH, Format
from dbt.adapters.sparkstream.streaming.tables.staging import Backfilled, Compaction, Replacement, StagingTable
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable
from dbt.adapters.sparkstream.streaming.worker.appends import FileAppend, FolderAppend
from dbt.adapters.sparkstream.streaming.worker.corrections import FOLDER
from dbt.adapters.sparkstream.streaming.worker.sink import Sink

_MOVED_AT_ONCE = ("file:", "hdfs:")
"""Beginnings of the paths of folders that are moved in one step. A store has no folders, and moves file by file."""


class FileTable(StreamTable):
    """A table that is the files in a folder, with no list of their own."""

    format = Format("files", is_files=True)
    _files_left: float | None = None
    """Time since which files from before corrections are there, as its ledger has it; None for no such files."""
    _seen: Sequence[str] = ()
    """Files of the table, or its partitions, as they were at `check_foreign`."""
    _files: Sequence[str] = ()
    """`_seen` and the files, or partitions, of micro-batches since; the next run finds files of other writers."""
    _updates = False
    """`Ledger.updates` at `check_foreign`."""

    @property
    def _compaction(self) -> Compaction:
        return Compaction(self._engine, self.name, self._recording)

    def restored(self) -> Ledger | None:
        found = self.ledger()
        if found is None and not self._engine.exists(self.name):
            stages = self._compaction, self.rebuilt, self._backfilled
            found = self.ledger() if any(stage.restore() for stage in stages) else None
        return found

    @property
    def _backfilled(self) -> Backfilled:
        return Backfilled(self._engine, self.name, self._recording)

    def sink(self, ledger: Ledger, **common: Any) -> Sink:
        facts, partition_by = self.facts(), self._config.partition_by
        if facts.location.startswith(_MOVED_AT_ONCE) and not partition_by and common["corrections"] is None:
            place, file_format = facts.location.rstrip("/"), self._config.file_format
            return FolderAppend(place=place, file_format=file_format, **self._without_done(common))
        return FileAppend(partitions=len(partition_by) + 1, is_managed=facts.kind == "MANAGED", **common)

    def give_way(self, ledger: Ledger, holder: Holder, left: Mapping[str, int]) -> None:
        facts = self.facts()
        # Files of a MANAGED table go with it, and nobody has removed the rest where a run is killed meanwhile.
        since = round(time.time()) if facts.kind == "EXTERNAL" else 0
        self.rebuilt.swap(ledger, holder, {**left, facts.location: since})
        self._facts = None
        self.refresh()

    def _place(self) -> str | None:
        # EXTERNAL, so that a compaction or a swap can take the table from the catalog and leave the files.
        is_external = self._config.compact_every is not None or self._config.swaps is not None
        return f"{self._root()}/{self._identifier}" if is_external else super()._place()

    def tidy(self, ledger: Ledger) -> None:
        if any(not since and Stage.BACKFILL.suffix in folder for folder, since in ledger.left.items()):
            self._backfilled.drop()  # of a backfill that was killed
        self._files_left = ledger.files_left
        if ledger.updates and is_over(self._files_left):
            self._files_left = self._forget()
            self.record(files_left=self._files_left)
        if ledger.compacts and self._compaction.tidy(ledger):
            self.record(files_left=None)

    def is_tidy(self, ledger: Ledger) -> bool:
        return super().is_tidy(ledger) and not is_over(ledger.files_left)

    def is_scattered(self, ledger: Ledger, every: int | None) -> bool:
        return every is not None and ledger.compacts and self._has_many(every)

    def _has_many(self, every: int) -> bool:
        return len({batch_of(name) for name in self._files}) > every

    def remains(self, ledger: Ledger) -> list[str]:
        location = self.facts().location
        if not ledger.compacts:
            return [location] if ledger.swaps or Stage.BACKFILL in ledger.of else []
        return [location] if self._compaction.is_foreign() else [location, Compaction.other(location)]

    def compact(self, every: int, last: int, finished: int) -> str | None:
        if not self._has_many(every):
            return None
        staging = self._compaction
        before = staging.fill(finished, self._config.partition_by)
        return self._give_way_to(staging, before, before.holder, files_left=time.time())

    def replace(self, replaced: Replacement, ledger: Ledger, holder: Holder) -> None:
        facts, now = self.facts(), round(time.time())
        place = Backfilled.place(facts.location)
        # For a run that is killed meanwhile: nobody reads the folder yet.
        self.record(left={**ledger.left, place: 0})
        [(spec, *_), *_] = self._engine.sql(f"SHOW PARTITIONS {self.name}")
        staging = self._backfilled
        staging.fill(replaced, place, len(str(spec).split("/")))
        left = {**ledger.left, **dict.fromkeys([facts.location, *self.remains(ledger)], now)}
        if facts.kind != "EXTERNAL":
            left[facts.location] = 0  # the files of a MANAGED table go with it
        self._give_way_to(staging, ledger, holder, files_left=None, left=left)

    def _give_way_to(self, staging: StagingTable, before: Ledger, holder: Holder | None, **changes: Any) -> str:
        """Gives its name to a full staging table; returns the new `Ledger.files`, for `check_foreign`."""
        other = FileTable(self._engine, staging.name, self._config)
        other._updates = before.updates
        files = other._digest(other._written())
        staging.take_over(before, holder, files=files, **changes)
        self._facts = None
        self.refresh()
        return files

    def _written(self) -> list[str]:
        """Data files of the table; its partitions if corrections give them other files."""
        return self._partitions() if self._updates else self._data_files()

    def _data_files(self) -> list[str]:
        return self._engine.files(self.name, self.facts().location)

    def _partitions(self) -> list[str]:
        return [str(row[0]) for row in self._engine.sql(f"SHOW PARTITIONS {self.name}")]

    def check_foreign(self, ledger: Ledger, begun: int) -> None:
        self._updates = ledger.updates
        self._seen = self._files = self._written()
        own = set(up_to(self._seen, begun))
        strange = [name for name in self._seen if name not in own]
        if strange:
            # Rows under the number of a later micro-batch would be taken for rows of an interrupted micro-batch.
            raise StreamingError(
                f"something else has written to {self.name}: {len(strange)} of its files are of no "
                f"micro-batch, such as {strange[0]}\n"
                f"  remove them with ALTER TABLE {self.name} DROP PARTITION ({BATCH} = ...), or {REBUILD}"
            )
        if not self._accepts and ledger.files not in ("", self._digest(up_to(self._seen, ledger.batch))):
            raise StreamingError(
                f"something else has written to {self.name}: its files are not the files of the last run\n"
                f"  {REBUILD}; or, if the table is right as it is, write config(on_foreign_write='accept')"
            )

    def is_recorded(self, ledger: Ledger) -> bool:
        return ledger.files == self._digest(self._seen)

    def settled(self, after: int, finished: int, windows: Sequence[str]) -> tuple[Appended, str]:
        found, new = self._appended(after, finished, windows, "NULL" if self._updates else "input_file_name()")
        if self._updates:
            new = [name for name in self._partitions() if (batch_of(name) or 0) > after]
        self._files = [*up_to(self._files, after), *new]
        return found, self._digest(up_to(self._files, finished))

    def corrected(self) -> dict[str, float]:
        if self._files_left is not None:
            return {}
        self._files_left = time.time()
        return {"files_left": self._files_left}

    def _digest(self, files: Sequence[str]) -> str:
        """Hash of files of the table, the same after the table has got another name and folder."""
        if self._updates:
            return digest({str(batch_of(name)) for name in files})
        folder = f"{path_of(self.facts().location)}/"
        return digest(path_of(name).removeprefix(folder) for name in files)

    def _forget(self) -> float | None:
        """Removes files from before corrections that have no readers; returns the time since which others are there."""
        place, clock = self.facts().location.rstrip("/"), time.time()
        files = {path_of(name) for name in self._data_files()}
        written = self._engine.folders.stored_files(f"{place}/{FOLDER}")
        # For each partition that a correction has written, when: what it had before has been left then.
        since = {batch_of(name): file.time / 1000 for name, file in written.items() if name in files}
        old = [number for number, moment in since.items() if clock - moment > GRACE]
        stored = {**written, **self._engine.folders.stored_files(place)}
        left = {name.rpartition("/")[0] for name in stored if name not in files and batch_of(name) in old}
        for folder in left - {name.rpartition("/")[0] for name in files}:
            self._engine.folders.clear(folder)
        return clock if len(old) < len(since) else None
