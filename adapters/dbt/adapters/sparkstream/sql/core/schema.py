"""Columns of tables, as callers give them to the translator; loads no sqlglot."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Schema = Mapping[str, Mapping[str, str]]
"""Table, as the SQL names it -> column -> Spark type, such as `decimal(10,2)`."""
Describe = Callable[[list[str]], Schema]
"""Gives the Schema of tables, as far as it can."""
