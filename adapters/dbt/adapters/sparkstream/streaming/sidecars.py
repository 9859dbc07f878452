"""Paths of a streaming table's checkpoint and of its sidecar folders."""

from __future__ import annotations

from dbt.adapters.sparkstream.streaming.config import StreamConfig
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.spark.paths import parent_of
from dbt.adapters.sparkstream.streaming.tables.table import StreamTable


def definition_folder(checkpoint: str) -> str:
    """Where it is recorded what a table was made for."""
    return f"{checkpoint}_query"


class Places:
    """The folders of a model's table, by what is recorded of it.

    Args:
        model: the model.
        table: its table.
    """

    def __init__(self, model: Model, table: StreamTable) -> None:
        self._model = model
        self._table = table

    def folder(self, ledger: Ledger) -> str:
        """The folder of all that is kept of a table beside its rows. A table that is rebuilt gets a new folder.

        It isn't in the table's own folder, which Spark deletes when somebody overwrites the whole table.
        """
        return self.root(self._model.config, self._table.facts().location) + ledger.sidecars

    @staticmethod
    def root(config: StreamConfig, location: str) -> str:
        """What the folder's name begins with.

        Args:
            config: the configs of the model.
            location: the folder of its table.
        """
        return (config.checkpoint_location or f"{parent_of(location)}/_sparkstream").rstrip("/") + "/"

    def checkpoint(self, ledger: Ledger) -> str:
        """The folder with a table's offsets and state."""
        if ledger.sidecars:
            return f"{self.folder(ledger)}/checkpoint"
        # A table of version 0.1.0.
        root = self._model.config.checkpoint_location
        if root is None:
            return f"{self._table.facts().location}/_checkpoint"
        return f"{root.rstrip('/')}/{self._model.identifier}-{ledger.generation}"
