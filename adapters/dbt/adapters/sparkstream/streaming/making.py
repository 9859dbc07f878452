"""Tables made where a killed run may have left files that no table has.

The catalog forgets a table before its files go. Delta writes the first entry of a table's log before the catalog knows
the table. A run that is killed between leaves a folder in which Spark makes no table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dbt.adapters.sparkstream.streaming.engine import Engine
from dbt.adapters.sparkstream.streaming.errors import StreamingError

_IN_DELTA = re.compile(
    r"\[DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION\].*? The associated location \('([^']+)'\)", re.DOTALL
)


def make(engine: Engine, statement: str, clear: Callable[[str], None] | None = None) -> None:
    """Makes a table, also where files lie in its folder and the catalog has no such table.

    Args:
        engine: the Spark that makes it.
        statement: makes it.
        clear: removes what is in the folder, or raises if it is somebody else's; by default it is removed.

    Raises:
        StreamingError: what Spark says is wrong.
    """
    try:
        engine.sql(statement)
    except StreamingError as error:
        folder = _occupied_folder(error)
        if folder is None:
            raise
        (clear or engine.folders.clear)(folder)
        engine.sql(statement)


def _occupied_folder(error: StreamingError) -> str | None:
    """The folder that keeps Spark from making a table, as something is in it; None for another error."""
    if found := _IN_DELTA.search(str(error)):
        return found[1]
    cause: Any = error.__cause__
    if "LOCATION_ALREADY_EXISTS" not in str(error) or not hasattr(cause, "getMessageParameters"):
        return None
    return str((cause.getMessageParameters() or {}).get("location", "")).strip("'`\"") or None
