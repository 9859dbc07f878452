"""Files of a killed run in the folder of a new table, though the catalog has no such table.

Spark then refuses to make the table. dbt's tables are rebuilt in any case, so such files are removed, if

- they lie where this table, or one that is built beside it, has to lie: Spark's message doesn't decide that;
- no link leads from there to another place;
- they are a killed run's: the folder has the name of a table that only the adapter builds, or a mark is left of a
  run that had begun to make the table and has not ended. Or they are of the table that this run has dropped.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dbt.adapters.sparkstream.messages.faults import Fault
from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal

try:
    import fcntl
except ImportError:  # Windows: no marks, so only folders whose names are the adapter's own are removed
    fcntl = None  # type: ignore[assignment]

_OCCUPIED = {
    "LOCATION_ALREADY_EXISTS": re.compile(
        r"\[LOCATION_ALREADY_EXISTS\] Cannot name the managed table as [^\n]{1,2000}?,"
        r" as its associated location '([^'\n]+)' already exists"
    ),
    "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION": re.compile(
        r"\[DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION\] Cannot create table \([^\n]{1,2000}?\)\."
        r"\s+The associated location \('([^'\n]+)'\)"
    ),
    "_LEGACY_ERROR_TEMP_1241": re.compile(
        r"CREATE-TABLE-AS-SELECT cannot create table with location to a non-empty directory (\S+?)\. To allow"
    ),
}
"""Error conditions of Spark for a table whose folder isn't empty, and a pattern of each message for the folder."""
_BUILT = ("table", "incremental", "seed", "snapshot", "test")
"""Materializations whose tables dbt makes from nothing; the table of a test keeps its failures."""
SUFFIX = "__dbt_"
"""Beginning of the suffixes of a node's staging tables."""


def occupied(fault: Fault) -> str | None:
    """Folder in which Spark can't make a table because it isn't empty; None for another fault."""
    pattern = _OCCUPIED.get(fault.condition)
    found = pattern.match(fault.message) if pattern else None
    return found[1] if found else None


def is_at(folder: str, place: str) -> bool:
    """True if a folder that Spark names is the place of a table, and is no link to another place.

    Args:
        folder: the folder, as a path or as a URI.
        place: folder of the table by the catalog or a config.
    """
    one, other = urlsplit(folder), urlsplit(place)
    elsewhere = one.scheme and other.scheme and (one.scheme, one.netloc) != (other.scheme, other.netloc)
    path = _path(folder)
    if elsewhere or path != _path(place):
        return False
    return one.scheme not in ("", "file") or not os.path.islink(path)


def _path(folder: str) -> str:
    parts = urlsplit(folder)
    path = unquote(parts.path) if parts.scheme else folder
    return os.path.normpath(path.rstrip("/") or "/")


def location_of(information: str) -> str:
    """The folder of a table, from the output of SHOW TABLE EXTENDED; empty if the output has none."""
    return next((line[10:] for line in information.splitlines() if line.startswith("Location: ")), "")


def makes_tables(node: Any) -> bool:
    """True if dbt makes a node's table from nothing."""
    return node is not None and node.config.get("materialized") in _BUILT


def is_left(folder: str, node: Any, begun: bool, schema_folder: Callable[[], str]) -> bool:
    """True if a folder holds files that a killed run has left of a node's table.

    Args:
        folder: the folder, as Spark names it.
        node: the node that dbt runs.
        begun: True if a mark shows that a run had begun to make the table.
        schema_folder: returns the folder of the node's schema, from the catalog.
    """
    name, own = _path(folder).rpartition("/")[2], node.alias.lower()
    is_own = name.lower() == own
    if not (name.lower().startswith(own + SUFFIX) or (begun and is_own)):
        return False
    root = node.config.get("location_root")
    if root and is_own:
        return is_at(folder, f"{root.rstrip('/')}/{node.alias}")
    return is_at(folder, f"{schema_folder().rstrip('/')}/{name}")


def clearing(folder: str, node: Any) -> list[str]:
    """Statements that remove a folder: Spark has none for that but DROP TABLE of a managed table.

    The table that does it is sent to the folder before it is dropped, so it is never dropped anywhere else, also where
    an earlier run was killed among these statements. In a catalog of Iceberg's, DROP
    TABLE without PURGE leaves files.
    """
    table = f"{quoted(node.schema)}.{quoted(node.alias + SUFFIX + 'leftover')}"
    create = f"CREATE TABLE IF NOT EXISTS {table} (empty INT) USING parquet"
    return [
        create,
        f"ALTER TABLE {table} SET LOCATION {string_literal(folder)}",
        f"DROP TABLE {table} PURGE",
        # Its own folder is still there, and empty.
        create,
        f"DROP TABLE {table} PURGE",
    ]


class Mark:
    """File in the project that marks a table being made: its run holds a lock on it until it ends.

    Args:
        folder: the folder of all marks.
        table: names the table: the server, the schema, the name.
    """

    def __init__(self, folder: Path, *table: str) -> None:
        self._path = folder / hashlib.sha256("\0".join(table).lower().encode()).hexdigest()
        self._handle: int | None = None
        self.left = False
        """True if a killed run has left the mark."""
        self.dropped = ""
        """Folder of the table that this run has dropped, for the new table."""
        self.stays = False
        """True if the mark stays when the run ends, as the run may have left files."""

    def put(self) -> None:
        """Makes the mark and locks it, unless another run holds it or the project's folder can't be written."""
        if fcntl is None or self._handle is not None:
            return
        try:
            private.make_folder(self._path.parent)
            private.write(self._path.parent / ".gitignore", "*\n")
            try:
                handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
                left = False
            except FileExistsError:
                handle, left = os.open(self._path, os.O_RDWR | os.O_NOFOLLOW), True
        except OSError:
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return
        self._handle, self.left = handle, left

    def end(self) -> None:
        """Removes the mark, unless it has to stay, and its lock."""
        if self._handle is None:
            return
        if not self.stays:
            self._path.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = None
