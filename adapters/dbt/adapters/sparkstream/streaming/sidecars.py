"""Sidecars of a streaming table: its folders, its views of open windows, and the folders of earlier tables."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql.core.literals import backticked, exactly
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, OnSlices
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.ledger import Ledger, Stage, is_over
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import side_tables
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import parent_of, path_of
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts, batch_of, make, suffixed
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable
from dbt.adapters.sparkstream.streaming.worker.open_views import IS_OPEN, NOW, OPEN, ROWS, SNAPSHOT, OpenViews

OWNER = "table"
"""Sidecar file with the path of the table's folder."""

_FOLDER_SUFFIXES = re.compile(f"(?:{'|'.join(stage.suffix for stage in Stage)}|-[0-9a-f]{{8,32}})*")
"""Pattern of the suffixes that the names of a table's folders have behind the table's own name."""


def definition_folder(checkpoint: str) -> str:
    """Folder with the recorded definition that a table was made for."""
    return f"{checkpoint}_query"


def is_named_for(identifier: str, folder: str, location: str | None = None) -> bool:
    """True if a folder has a name that only a table's folders are given.

    Folders are recorded in properties of the table, which every user who may alter the table can write.

    Args:
        folder: the folder, as a property of the table has it.
        location: folder of the table; a folder of just its name has to lie beside it. None if files in the folder
            have to be the table's own.
    """
    path, own = path_of(folder).rstrip("/"), identifier.lower()
    name = path.rpartition("/")[2].lower()
    if name == own:
        return location is None or parent_of(path) == parent_of(path_of(location))
    return name.startswith(own) and _FOLDER_SUFFIXES.fullmatch(name[len(own) :]) is not None


class OpenWindows:
    """Views of a model's open windows, which a run makes and drops."""

    def __init__(self, engine: Engine, model: Model, plan: StreamPlan) -> None:
        self._engine = engine
        self._model = model
        self._windows = plan.ending.open if isinstance(plan.ending, OnSlices) else None
        self._query = plan.ending.query
        self._open, self._now, self._rows = (suffixed(model.relation, suffix) for suffix in (OPEN, NOW, ROWS))

    def check(self, columns: Sequence[tuple[str, str]]) -> None:
        """Refuses columns that the views have for themselves, and views that no streaming model has made."""
        if self._windows is None:
            return
        taken = next((name for name, _ in columns if name.casefold() in (IS_OPEN, SNAPSHOT)), None)
        if taken is not None:
            raise StreamingError(
                f"with emit='open', the column {taken} is the adapter's own\n  give yours another name"
            )
        if not self._engine.exists(self._rows):
            for view in (self._open, self._now):
                if self._engine.exists(view):
                    raise StreamingError(
                        f"{view} is there already, and no streaming model has made it\n"
                        "  drop it, or give the model another name"
                    )

    def drop(self) -> None:
        """Drops the views of an earlier table of the model, and the table below them."""
        if not self._engine.exists(self._rows):
            return  # and views of these names, if there are any, are somebody else's
        for view in (self._open, self._now):
            if self._engine.exists(view) and Facts.of(self._engine, view).kind == "VIEW":
                self._engine.sql(f"DROP VIEW {view}")
        self._engine.sql(f"DROP TABLE {self._rows}")

    def make(self, columns: Sequence[tuple[str, str]]) -> None:
        """Makes the views with no rows, and the table below them, if they don't exist."""
        if self._windows is None:
            return
        types = {name.casefold(): type_ for name, type_ in columns}
        names = self._engine.columns(self._model.relation)
        lines = ",\n  ".join(f"{backticked(name)} {types[name.casefold()]}" for name in names if name != BATCH)
        make(
            self._engine,
            self._rows,
            f"CREATE TABLE IF NOT EXISTS {self._rows} (\n  {lines},\n  {SNAPSHOT} STRING\n) USING parquet "
            f"PARTITIONED BY ({SNAPSHOT})\nCOMMENT 'windows that are open; read them by {OPEN} and {NOW}'",
        )
        if (views := self.of(names)) is not None:
            views.define(self._engine.sql)

    def of(self, columns: Sequence[str]) -> OpenViews | None:
        """The views, for the sink; None where open windows aren't shown."""
        if self._windows is None or self._query is None:
            return None
        own = [backticked(name) for name in columns if name != BATCH]
        names = self._model.relation, self._open, self._now, self._rows
        return OpenViews(*names, own, BATCH, CLOSED, self._windows, self._query)


@dataclass
class Sidecars:
    """Sidecar folders of a model's table, by its ledger."""

    engine: Engine
    table: StreamTable
    model: Model
    views: OpenWindows
    report: Callable[[str], None]

    def folder(self, ledger: Ledger) -> str:
        """The folder of a table's checkpoint and of its sidecars. A table that is rebuilt gets a new folder.

        It isn't in the table's own folder, which Spark deletes when the whole table is overwritten.
        """
        return self.model.config.sidecar_root(self.table.facts().location) + ledger.sidecars

    def checkpoint(self, ledger: Ledger) -> str:
        """The folder with a table's offsets and state."""
        return f"{self.folder(ledger)}/checkpoint"

    def remains(self, ledger: Ledger) -> dict[str, int]:
        """The folders that stay when the table is dropped or a new table takes its place, as `Ledger.left` has them."""
        rows = dict.fromkeys(self.table.remains(ledger), round(time.time()))
        return {**ledger.left, **rows, self.folder(ledger): 0}

    def clear(self, left: Mapping[str, int], ledger: Ledger) -> None:
        """Removes the folders that earlier tables of the model have left."""
        # Of a table that was dropped by hand, only a file beside its checkpoint tells whose that was.
        own, location = self.folder(ledger), path_of(self.table.facts().location)
        self.engine.folders.write_lines(f"{own}/{OWNER}", [location])
        others = self.engine.folders.named_lines(
            f"{exactly(parent_of(own))}/{exactly(self.model.identifier)}-*/{OWNER}"
        )
        owned = {parent_of(parent_of(file)): 0 for file, line in others if line == location}
        self._empty({**owned, **left}, ledger)

    def staging(self, ledger: Ledger, definition: Definition) -> str | None:
        """The folder of the staging table that a run can go on with; None where there is none."""
        folder = ledger.staging
        if not folder or folder in ledger.left:
            return None
        its = self.table.rebuilt.ledger()
        return folder if its is not None and definition.is_of(its.query) else None

    def tidy(self, ledger: Ledger, goes_on: bool = False) -> Ledger:
        """Removes folders of the replaced table and those without a reader.

        The staging table goes, too, unless the run `goes_on` with it.
        """
        if self.model.staging_of:
            return ledger  # what is recorded there is for the time when it has its place
        before, is_swapped = ledger, bool(ledger.whole.get(Stage.REBUILD))
        if is_swapped:
            self.drop_tables()
        if (is_swapped or ledger.staging) and not goes_on:
            ledger = replace(self.drop_staging(ledger), staging="", whole={**ledger.whole, Stage.REBUILD: ""})
        over = {folder: since for folder, since in ledger.left.items() if is_over(since)}
        if over:
            self._empty(over, ledger)
            ledger = replace(ledger, left={name: since for name, since in ledger.left.items() if name not in over})
        if ledger != before:
            self.table.record(whole=ledger.whole, staging=ledger.staging, left=ledger.left)
        return ledger

    def drop_tables(self) -> None:
        """Drops the side tables and the views of the table before this one."""
        for table in side_tables(self.model):
            self.engine.sql(f"DROP TABLE IF EXISTS {table}")
        self.views.drop()

    def drop_staging(self, ledger: Ledger) -> Ledger:
        """Drops the staging table, if there is one. Its folders are recorded before, in case the run is killed."""
        folder, its = ledger.staging, self.table.rebuilt.ledger()
        if folder:
            folders = {folder: 0}
            if its is not None:
                folders[self.table.staging_checkpoints(folder) + its.sidecars] = 0
            ledger = replace(ledger, left={**ledger.left, **folders})
            self.table.record(left=ledger.left)
        if its is not None:
            self.table.rebuilt.drop()
        return ledger

    def _empty(self, folders: Mapping[str, int], ledger: Ledger) -> None:
        own = {path_of(self.table.facts().location), path_of(self.folder(ledger))}
        for folder, since in folders.items():
            if path_of(folder) in own or "/" not in folder:  # of a table whose files went with it
                continue
            if not is_named_for(self.model.identifier, folder, None if since else self.table.facts().location):
                self.report(f"{folder} stays: it has no name that is given to folders of {self.model.relation}")
                continue
            strange = [name for name in self.engine.folders.stored_files(folder) if since and batch_of(name) is None]
            if strange:
                self.report(f"{folder} stays: it holds files of something else, such as {strange[0]}")
            else:
                self.engine.folders.clear(folder)
