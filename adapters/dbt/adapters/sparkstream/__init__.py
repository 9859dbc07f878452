"""dbt adapter for Spark with the window SQL of Flink, OpenMLDB and SQLstream.

`dbt.adapters.sparkstream.sql` works without dbt, so nothing of dbt is imported until dbt asks for the plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.plugin import Plugin

__all__ = ["Plugin"]


def __getattr__(name: str) -> Any:
    if name == "Plugin":
        from dbt.adapters.sparkstream.plugin import Plugin

        return Plugin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
