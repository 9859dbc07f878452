"""Kinds of a streaming model's table, by format."""

from __future__ import annotations

from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.delta import DeltaTable
from dbt.adapters.sparkstream.streaming.tables.formats import DELTA, FILE_FORMATS, ICEBERG
from dbt.adapters.sparkstream.streaming.tables.giving_way import GivesWay
from dbt.adapters.sparkstream.streaming.tables.iceberg import IcebergTable
from dbt.adapters.sparkstream.streaming.tables.plain_files import FileTable

_KINDS = {**dict.fromkeys(FILE_FORMATS, FileTable), DELTA.name: DeltaTable, ICEBERG.name: IcebergTable}


def table_of(engine: Engine, name: str, file_format: str) -> GivesWay:
    """The table of a streaming model.

    Args:
        engine: the Spark that has it.
        name: its name, as SQL has it.
        file_format: what it is stored as.
    """
    return _KINDS.get(file_format, GivesWay)(engine, name)
