"""Which files in the way of a table are those of a killed run, and may go."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream import leftovers

MANAGED = (
    "[LOCATION_ALREADY_EXISTS] Cannot name the managed table as `spark_catalog`.`shop`.`{}`, as its associated location"
    " 'file:/data/shop.db/{}' already exists. Please pick a different table name."
)
DELTA = (
    "[DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION] Cannot create table ('`shop`.`{}`'). The associated location"
    " ('file:/data/shop.db/{}') is not empty and also not a Delta table."
)
LOCATED = (
    "CREATE-TABLE-AS-SELECT cannot create table with location to a non-empty directory file:///data/root/{}. To allow"
    " overwriting the existing non-empty directory, set 'spark.sql.legacy.allowNonEmptyLocationInCTAS' to true."
)


def node(materialized: str = "table", schema: str = "Shop", **config: Any) -> SimpleNamespace:
    return SimpleNamespace(schema=schema, alias="Bids", config={"materialized": materialized, **config})


@pytest.mark.parametrize("name", ["bids", "bids__dbt_build", "bids__dbt_tmp"])
@pytest.mark.parametrize("materialized", ["table", "incremental", "seed", "snapshot", "test"])
def test_files_of_the_node(name: str, materialized: str) -> None:
    for message in (MANAGED, DELTA):
        assert leftovers.folder(message.format(name, name), node(materialized)) == f"file:/data/shop.db/{name}"


def test_files_at_its_location() -> None:
    here = node(location_root="/data/root/")
    assert leftovers.folder(LOCATED.format("Bids"), here) == "file:///data/root/Bids"
    assert leftovers.folder(LOCATED.format("other"), here) is None
    assert leftovers.folder(LOCATED.format("Bids"), node(location_root="/data/other")) is None
    assert leftovers.folder(LOCATED.format("Bids"), node()) is None
    # A folder of the user's own, with what nobody knows in it.
    assert leftovers.folder(DELTA.format("bids", "bids"), here) is None


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("other", node()),
        ("bids_of_today", node()),
        ("bids", node(schema="another")),
        # A stream's table and its offsets aren't made anew by every run.
        ("bids", node("streaming_incremental")),
        ("bids", node("view")),
        ("bids", None),
    ],
)
def test_files_of_others(name: str, of: Any) -> None:
    assert leftovers.folder(MANAGED.format(name, name), of) is None


def test_what_else_is_wrong() -> None:
    assert leftovers.folder("[TABLE_OR_VIEW_ALREADY_EXISTS] Cannot create table or view `shop`.`bids`", node()) is None


def test_the_table_that_removes_files_is_dropped_nowhere_else() -> None:
    statements = leftovers.clearing("file:/data/it's", node())
    assert statements[1] == "ALTER TABLE Shop.Bids__dbt_leftover SET LOCATION 'file:/data/it\\'s'"
    assert [statement.split()[0] for statement in statements] == ["CREATE", "ALTER", "DROP", "CREATE", "DROP"]
