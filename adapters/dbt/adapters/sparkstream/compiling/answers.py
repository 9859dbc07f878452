"""Answers of the adapter to the commands of `sparkstream`, which ask it by `dbt run-operation`."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available

from dbt.adapters.sparkstream.compiling import requests
from dbt.adapters.sparkstream.connections import SparkStreamConnectionManager
from dbt.adapters.sparkstream.spark.namespaces import Namespaces

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.compiling.host import Host
    from dbt.adapters.sparkstream.streaming.adapter import StreamingModels


class Answers(Namespaces):
    """dbt-spark's adapter, with answers to commands; a method whose `self` is a `Host` needs the whole adapter."""

    ConnectionManager = SparkStreamConnectionManager
    connections: SparkStreamConnectionManager

    @property
    @abstractmethod
    def _streaming(self) -> StreamingModels: ...

    @available
    def request(self: Host, model: str, rows: list[dict[str, Any]]) -> list[str | None]:
        """A model's results for rows that aren't stored, each row on its own, for the macro `request`.

        Args:
            model: its name, or `package.name`.
            rows: column of the model's main table -> value.

        Returns:
            For each row JSON of the model's columns, or None where the model has no result for it.
        """
        return requests.answer(self, model, rows)

    @available
    def explain(self: Host, model: str | None = None, **options: Any) -> list[str]:
        """Report on a model, or on SQL, and its optimisation, for `sparkstream explain`.

        Args:
            model: the model's name, or `package.name`; None for `sql`.
            options: the fields of `explain.subject.Options`.

        Returns:
            Lines of text.
        """
        from dbt.adapters.sparkstream.explain import subject

        return subject.explained(self, model, subject.Options(**options))

    @available
    def stream_overview(self, models: list[str]) -> list[dict[str, Any]]:
        """Status and progress of the project's streaming models, for `sparkstream streams`.

        Args:
            models: names of models; none for all.

        Returns:
            The dicts of `streaming.reports.overview.overview`.
        """
        return self._streaming.overview(models)

    @available
    def batches(self: Host, model: str, options: dict[str, Any]) -> dict[str, Any]:
        """The batches of a microbatch model, for `sparkstream batches`.

        Args:
            model: the model's name, or `package.name`.
            options: the arguments of `listed.batches`.

        Returns:
            The dict of `listed.batches`.
        """
        from dbt.adapters.sparkstream.batches import listed

        return listed.batches(self, model, **options)

    @available
    def backfill(self, model: str, since: str, until: str, removes: bool = False, run_id: str = "") -> str:
        """Replaces the rows of a range of time in a streaming model's table, for `sparkstream backfill`.

        Args:
            model: the model's name, or `package.name`.
            since: the begin of the range, such as `2026-11-17 00:00`.
            until: its end.
            removes: True to remove rows where the sources have none any more.
            run_id: dbt's invocation.

        Returns:
            A message on what was done.
        """
        from dbt.adapters.sparkstream.streaming.operations.backfill import Range

        with self.connections.descriptions.changing():
            return self._streaming.backfill(model, Range.read(since, until), removes, run_id)

    @available
    def stop_streams(self, models: list[str], patience: float) -> dict[str, str]:
        """Ends runs of streaming models, for `sparkstream streams stop`.

        Args:
            models: names of models.
            patience: seconds to wait for the runs to end.

        Returns:
            Name -> what has become of the model's run; a model whose run goes on is left out.
        """
        return self._streaming.stop(models, patience)

    @available
    def build(self: Host, **options: Any) -> str:
        """Writes the project in plain Spark SQL, for `sparkstream build`.

        Args:
            options: the arguments of `export.project.build`.

        Returns:
            The outcome, as JSON.
        """
        from dbt.adapters.sparkstream.export import project

        return project.build(self, **options)
