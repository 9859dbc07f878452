"""Files that a killed run has left where a table's shall be, though the catalog has no such table.

Spark then refuses to make the table. dbt's tables are built anew in any case, so what lies in the folder of one of
them is of no use, and is removed.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from dbt.adapters.sparkstream.sql.core.literals import string_literal

_MANAGED = re.compile(r"\[LOCATION_ALREADY_EXISTS\] Cannot name the managed table as (\S+), .*? location '([^']+)'")
_DELTA = re.compile(
    r"\[DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION\] Cannot create table \('(\S+)'\)\."
    r" The associated location \('([^']+)'\)"
)
_LOCATED = re.compile(r"cannot create table with location to a non-empty directory (\S+?)\. To allow")
_BUILT = ("table", "incremental", "seed", "snapshot", "test")
"""The materializations whose tables dbt makes from nothing; the table of a test keeps its failures."""
SUFFIX = "__dbt_"
"""What follows the name of a node's table in the names of tables that are built beside it."""


def folder(message: str, node: Any) -> str | None:
    """The folder that keeps a node's table from being made; None where something else is wrong, or isn't the node's.

    Args:
        message: what Spark says.
        node: what dbt is working on.
    """
    if node is None or node.config.get("materialized") not in _BUILT:
        return None
    root = node.config.get("location_root")
    found = _MANAGED.search(message) or (None if root else _DELTA.search(message))
    if found:
        schema, table = [name.strip("`").lower() for name in found[1].split(".")][-2:]
        own = node.alias.lower()
        return found[2] if schema == node.schema.lower() and (table == own or table.startswith(own + SUFFIX)) else None
    if root and (found := _LOCATED.search(message)):
        own = "/" + urlsplit(f"{root.rstrip('/')}/{node.alias}").path.strip("/")
        return found[1] if unquote(urlsplit(found[1]).path).rstrip("/").endswith(own) else None
    return None


def clearing(folder: str, node: Any) -> list[str]:
    """Statements that remove a folder: Spark has none for that but DROP TABLE of a managed table.

    The table that does it is sent to the folder before it is dropped, so it is never dropped anywhere else, also where
    an earlier run was killed among these statements. In a catalog of Iceberg's, DROP
    TABLE without PURGE leaves files.
    """
    table = f"{node.schema}.{node.alias}{SUFFIX}leftover"
    create = f"CREATE TABLE IF NOT EXISTS {table} (empty INT) USING parquet"
    return [
        create,
        f"ALTER TABLE {table} SET LOCATION {string_literal(folder)}",
        f"DROP TABLE {table} PURGE",
        # Its own folder is still there, and empty.
        create,
        f"DROP TABLE {table} PURGE",
    ]
