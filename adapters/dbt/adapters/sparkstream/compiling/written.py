"""State of connections while dbt compiles: the SQL in a node's file, and the row of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Written:
    """SQL of a node's file, before its translation.

    Attributes:
        sql: the SQL, rendered.
        dialect: its dialect.
        arrival: the column that numbers rows in order of arrival.
        optimize: True if it may be rewritten to faster SQL.
        skewed: True if one key has most of the rows.
    """

    sql: str
    dialect: str
    arrival: str | None
    optimize: bool
    skewed: bool = False


@dataclass
class Request:
    """A row for which a model's result is requested.

    Attributes:
        model: the model's unique id.
        row: column of the model's main table -> value, as JSON has them.
        written: True once SQL of the model was written for the row; the SQL around it is translated as usual then.
    """

    model: str
    row: Mapping[str, Any]
    written: bool = False
