"""The adapter as its parts see it, so that they need not import it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.connections import SparkStreamConnectionManager
    from dbt.adapters.sparkstream.sql.streaming import StreamPlan


class Host(Protocol):
    """The adapter's interface for requests, batches, streams and explanations."""

    config: Any

    @property
    def Relation(self) -> Any: ...

    @property
    def connections(self) -> SparkStreamConnectionManager: ...

    def get_macro_resolver(self) -> Any: ...

    def execute_macro(self, macro_name: str, *, kwargs: dict[str, Any]) -> Any: ...

    def get_columns_in_relation(self, relation: Any) -> Any: ...

    def get_relation(self, database: Any, schema: str, identifier: str) -> Any: ...

    def drop_relation(self, relation: Any) -> None: ...

    def working_on(self, node: Any) -> AbstractContextManager[None]: ...

    def streams(self, node: Any) -> bool: ...

    def stream_plan(self, node: Any) -> StreamPlan: ...

    def stream_overview(self, models: list[str]) -> list[dict[str, Any]]: ...
