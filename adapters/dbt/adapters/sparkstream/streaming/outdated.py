"""Stale folders of earlier tables of a streaming model, and staging tables that no run fills any more."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping

from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.operations.compaction import is_over
from dbt.adapters.sparkstream.streaming.reports.late_rows import tables_beside
from dbt.adapters.sparkstream.streaming.sidecars import Places
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.paths import beside, path_of
from dbt.adapters.sparkstream.streaming.tables.giving_way import GivesWay
from dbt.adapters.sparkstream.streaming.tables.open_windows import OpenWindows
from dbt.adapters.sparkstream.streaming.tables.rebuilding import ASIDE, LEAVES, WHOLE, left
from dbt.adapters.sparkstream.streaming.tables.table import batch_of

OWNER = "table"
"""The file beside a checkpoint that says where the table lies."""


class Leftovers:
    """What is left beside a table.

    Args:
        engine: the session of a run.
        table: the table.
        model: the model.
        places: where what is kept of the table lies.
        views: the views of its open windows.
        report: told, in a line, what is worth telling.
    """

    def __init__(
        self,
        engine: Engine,
        table: GivesWay,
        model: Model,
        places: Places,
        views: OpenWindows,
        report: Callable[[str], None],
    ) -> None:
        self._engine = engine
        self._table = table
        self._model = model
        self._places = places
        self._views = views
        self._report = report
        self._rebuilt = table.rebuilt

    def of_table(self, known: Mapping[str, str]) -> dict[str, int]:
        """The folders that stay when the table is dropped or a new table takes its place, as `LEAVES` has them.

        Args:
            known: what is recorded of the table.
        """
        kept = {self._places.folder(known): 0} if "kept" in known else {}
        return left(known) | dict.fromkeys(self._table.remains(known), round(time.time())) | kept

    def clear(self, leaves: Mapping[str, int], known: Mapping[str, str]) -> None:
        """Removes what tables that were made before this one have left.

        Args:
            leaves: their folders, as far as they are known.
            known: what is recorded of this one.
        """
        # Of a table that was dropped by hand, only a file beside its checkpoint tells whose that was.
        kept, location = known["kept"], path_of(self._table.facts().location)
        root = beside(self._places.folder(known))
        self._engine.folders.write_lines(f"{root}/{kept}/{OWNER}", [location])
        others = self._engine.folders.named_lines(f"{root}/{self._model.identifier}-*/{OWNER}")
        owned = {beside(beside(file)): 0 for file, line in others if line == location}
        self._empty({**owned, **leaves}, known)

    def aside(self, known: Mapping[str, str], definition: Definition) -> str | None:
        """The folder of the staging table that a run can go on with; None where there is none.

        Args:
            known: what is recorded of the table.
            definition: what the staging table has to be made for.
        """
        folder = known.get(ASIDE)
        if not folder or folder in left(known):
            return None
        aside = self._rebuilt.noted()
        return folder if aside is not None and definition.is_of(aside["query"]) else None

    def tidy(self, known: Mapping[str, str], goes_on: bool = False) -> Mapping[str, str]:
        """Removes what the table whose place this one has taken had beside it, and folders that nobody reads.

        Args:
            known: what is recorded of the table, by a run that has it to itself.
            goes_on: whether the staging table is filled further; else it is removed.

        Returns:
            What is recorded of the table now.
        """
        if self._model.aside_of:
            return known  # what is recorded there is for the time when it has its place
        noted: dict[str, str] = {}
        if known.get(WHOLE):
            for table in tables_beside(self._model):
                self._engine.sql(f"DROP TABLE IF EXISTS {table}")
            self._views.drop()
        if (known.get(WHOLE) or known.get(ASIDE)) and not goes_on:
            known = self.drop_staging(known)
            noted |= {WHOLE: "", ASIDE: ""}
        folders = left(known)
        over = {folder: since for folder, since in folders.items() if is_over(str(since))}
        if over:
            self._empty(over, known)
            noted[LEAVES] = json.dumps({folder: since for folder, since in folders.items() if folder not in over})
        if noted:
            self._table.note(**noted)
        return {**known, **noted}

    def drop_staging(self, known: Mapping[str, str]) -> Mapping[str, str]:
        """Drops the staging table, if there is one. Its folders are recorded before, in case the run is killed.

        Args:
            known: what is recorded of the table, by a run that has it to itself.

        Returns:
            What is recorded of the table now.
        """
        folder, aside = known.get(ASIDE), self._rebuilt.noted()
        if folder:
            folders = {folder: 0}
            if aside is not None:
                folders[self._table.staging_checkpoints(self._model.config, folder) + aside["kept"]] = 0
            known = {**known, LEAVES: json.dumps({**left(known), **folders})}
            self._table.note(**{LEAVES: known[LEAVES]})
        if aside is not None:
            self._rebuilt.drop()
        return known

    def _empty(self, folders: Mapping[str, int], known: Mapping[str, str]) -> None:
        own = {path_of(self._table.facts().location)}
        own |= {path_of(self._places.folder(known))} if "kept" in known else set()
        for folder, since in folders.items():
            if path_of(folder) in own or "/" not in folder:  # of a table whose files went with it
                continue
            strange = [name for name in self._engine.folders.stored_files(folder) if since and batch_of(name) is None]
            if strange:
                self._report(f"{folder} stays: it holds files of something else, such as {strange[0]}")
            else:
                self._engine.folders.clear(folder)
