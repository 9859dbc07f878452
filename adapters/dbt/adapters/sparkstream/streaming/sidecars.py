"""Paths of a streaming table's checkpoint and of its sidecar folders."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.sparkstream.streaming.config import StreamConfig
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.spark.paths import beside
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable


class Places:
    """The folders of a model's table, by what is recorded of it.

    Args:
        model: the model.
        table: its table.
    """

    def __init__(self, model: Model, table: StreamTable) -> None:
        self._model = model
        self._table = table

    def folder(self, known: Mapping[str, str]) -> str:
        """The folder of all that is kept of a table beside its rows. A table that is rebuilt gets a new folder.

        It isn't in the table's own folder, which Spark deletes when somebody overwrites the whole table.
        """
        return self.root(self._model.config, self._table.facts().location) + known["kept"]

    @staticmethod
    def root(config: StreamConfig, location: str) -> str:
        """What the folder's name begins with.

        Args:
            config: the configs of the model.
            location: the folder of its table.
        """
        return (config.checkpoint_location or f"{beside(location)}/_sparkstream").rstrip("/") + "/"

    def checkpoint(self, known: Mapping[str, str]) -> str:
        """The folder with a table's offsets and state."""
        if "kept" in known:
            return f"{self.folder(known)}/checkpoint"
        # A table of version 0.1.0.
        root = self._model.config.checkpoint_location
        if root is None:
            return f"{self._table.facts().location}/_checkpoint"
        return f"{root.rstrip('/')}/{self._model.identifier}-{known['table']}"
