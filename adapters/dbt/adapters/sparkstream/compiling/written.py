"""Memory of connections while dbt compiles: the SQL in a node's file, and a row that a macro asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Written:
    """SQL that a node has in its file, on its way to Spark SQL.

    Attributes:
        sql: the SQL, rendered.
        dialect: what it is written in.
        arrival: the column that numbers rows in order of arrival.
        optimize: whether it may be rewritten to a faster one.
        skewed: whether one key has most of the rows.
    """

    sql: str
    dialect: str
    arrival: str | None
    optimize: bool
    skewed: bool = False


@dataclass
class Request:
    """A row that a model is asked for.

    Attributes:
        model: the model's unique id.
        row: column of the model's main table -> value, as JSON has them.
        written: whether SQL of the model was written for the row; what stands around it stays as it is then.
    """

    model: str
    row: Mapping[str, Any]
    written: bool = False
