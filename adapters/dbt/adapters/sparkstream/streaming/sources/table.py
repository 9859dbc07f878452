"""Tables of the catalog as sources of streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.streaming.sources.kind import Kind, Portion, Read
from dbt.adapters.sparkstream.streaming.spark.paths import path_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Table(Kind):
    """A table of the catalog, of which `meta: stream:` says nothing."""

    has_portions = True
    without_batch = None

    @property
    def listing(self) -> dict[str, str]:
        """All files below its folder are its own."""
        return {"recursiveFileLookup": "true"}

    def portion(self, read: Read) -> Portion | None:
        """The files of the micro-batch that lie in the table's folder."""
        folder = path_of(read.location(self.relation)).rstrip("/") + "/"
        return Portion(tuple(name for name in read.files if path_of(name).startswith(folder)))

    def stream(self, spark: SparkSession, project: Path | None, options: Mapping[str, str]) -> DataFrame:
        """Its rows as a stream."""
        return spark.readStream.options(**options).table(self.relation)

    def rows(self, spark: SparkSession, project: Path | None) -> DataFrame:
        """All rows that it has by now."""
        return spark.read.table(self.relation)
