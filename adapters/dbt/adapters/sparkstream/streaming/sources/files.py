"""Files in a folder as sources of streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.kind import Kind, Portion, Read
from dbt.adapters.sparkstream.streaming.spark.paths import path_of
from dbt.adapters.sparkstream.streaming.tables.formats import IN_FOLDERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Files(Kind):
    """What lies at a path: the files in a folder; or the folder of a format with a log, which has no `folder` here."""

    has_portions = True
    without_batch = None

    def __init__(self, relation: str, reader: Mapping[str, Any], path: str | None = None) -> None:
        super().__init__(relation, reader, path)
        self.folder = str(reader["path"]) if self.name in IN_FOLDERS else None

    def check(self) -> None:
        """Checks what it says of files that go."""
        if self.folder is None:
            super().check()
        if not isinstance(self.reader.get("archived", False), bool):
            raise StreamingError(
                f"{self.relation}: archived can't be {self.reader['archived']!r}\n  write true or false"
            )

    def portion(self, read: Read) -> Portion | None:
        """The files of the micro-batch that lie in the folder."""
        # Its path may be relative to where Spark was started, which may be on another machine.
        folder = str(self.reader["path"]).strip("./")
        is_any = "*" in folder or read.is_only
        return Portion(tuple(name for name in read.files if is_any or f"/{folder}/" in path_of(name)))

    def without_rows(self, spark: SparkSession, project: Path | None) -> DataFrame:
        """The columns that it states, without a row: the folder may not be there yet."""
        return spark.createDataFrame([], "value string" if self.has_values else str(self.reader["schema"]))
