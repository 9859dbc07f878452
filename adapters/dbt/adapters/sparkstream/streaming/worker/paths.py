"""Paths as Spark reads them. Runs where the sink does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def exactly(path: str) -> str:
    """A path of which Spark takes nothing for a wildcard: `a[b]` is no `ab`."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def lines_in(spark: SparkSession, folder: str) -> DataFrame | None:
    """The lines of the files in a folder; None where there is no folder."""
    from pyspark.errors import AnalysisException

    try:
        rows = spark.read.text(exactly(folder))
        rows.schema  # noqa: B018  over Spark Connect, Spark looks for the folder when it is asked for the columns
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return None
        raise
    return rows
