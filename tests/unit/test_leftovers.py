"""Files in the way of a table: those of a killed run may go, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.messages.faults import Fault
from dbt.adapters.sparkstream.spark import left_files

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
THRIFT = (
    "org.apache.hive.service.cli.HiveSQLException: Error running query: [{0}] org.apache.spark.SparkRuntimeException: "
)
HERE = "file:/data/shop.db"


def node(materialized: str = "table", schema: str = "Shop", **config: Any) -> SimpleNamespace:
    return SimpleNamespace(schema=schema, alias="Bids", config={"materialized": materialized, **config})


def is_left(folder: str, of: Any, begun: bool = True, schema_folder: str = HERE) -> bool:
    return left_files.is_left(folder, of, begun, lambda: schema_folder)


class Pyspark(Exception):
    """An error with fields, as pyspark raises it."""

    def __init__(self, condition: str | None, message: str) -> None:
        super().__init__(message)
        self._condition = condition

    def getCondition(self) -> str | None:
        return self._condition


def test_the_folder_that_spark_names() -> None:
    for condition, message in (
        ("LOCATION_ALREADY_EXISTS", MANAGED.format("bids", "bids")),
        ("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", DELTA.format("bids", "bids")),
    ):
        assert left_files.occupied(Fault.of(message)) == f"{HERE}/bids"
        assert left_files.occupied(Fault.of(THRIFT.format(condition) + message)) == f"{HERE}/bids"
        assert left_files.occupied(Fault.of(Pyspark(condition, message))) == f"{HERE}/bids"
        assert left_files.occupied(Fault.of(Pyspark(None, message))) is None
    located = LOCATED.format("Bids")
    condition = "_LEGACY_ERROR_TEMP_1241"
    assert left_files.occupied(Fault.of(Pyspark(condition, located))) == "file:///data/root/Bids"
    thrift = f"Error running query: [{condition}] org.apache.spark.sql.AnalysisException: {located}"
    assert left_files.occupied(Fault.of(thrift)) == "file:///data/root/Bids"


@pytest.mark.parametrize("text", [MANAGED, DELTA, LOCATED], ids=["managed", "delta", "located"])
def test_data_names_no_folder(text: str) -> None:
    """A row's text in an error: `raise_error(concat('no number: ', txt))`, a failed cast, a Python function."""
    data = text.format("bids", "bids")
    for quoting, condition in (
        (f"[USER_RAISED_EXCEPTION] no number: x {data} SQLSTATE: P0001", "USER_RAISED_EXCEPTION"),
        (f"[USER_RAISED_EXCEPTION] {data}", "USER_RAISED_EXCEPTION"),
        (f"[CAST_INVALID_INPUT] The value '\n{data}' of the type", "CAST_INVALID_INPUT"),
    ):
        for error in (quoting, THRIFT.format(condition) + quoting, Pyspark(condition, quoting)):
            assert left_files.occupied(Fault.of(error)) is None
    assert left_files.occupied(Fault.of(f"Job aborted due to stage failure: ValueError: {data}")) is None
    assert left_files.occupied(Fault.of(Pyspark(None, data))) is None


@pytest.mark.parametrize("name", ["bids__dbt_build", "bids__dbt_tmp", "Bids__dbt_tmp"])
def test_folders_of_the_adapters_own_names(name: str) -> None:
    assert is_left(f"{HERE}/{name}", node(), begun=False)
    assert is_left(f"file:///data/shop.db/{name}", node(), begun=False)
    assert not is_left(f"file:/any/{name}", node())
    assert not is_left(f"{HERE}/../{name}", node())
    assert not is_left(f"s3://data/shop.db/{name}", node())


def test_the_tables_own_folder_only_after_a_kill() -> None:
    assert is_left(f"{HERE}/bids", node())
    assert not is_left(f"{HERE}/bids", node(), begun=False)
    assert not is_left("/any/folder", node())
    assert not is_left("file:/any/bids", node())
    assert not is_left(f"{HERE}/bids", node(), schema_folder="")


def test_the_folder_at_its_location() -> None:
    here = node(location_root="/data/root/")
    assert is_left("file:///data/root/Bids", here)
    assert not is_left("file:///data/root/Bids", here, begun=False)
    assert not is_left("file:///data/root/other", here)
    assert not is_left("file:///data/root/Bids", node(location_root="/data/other"))
    assert not is_left("file:///data/root/Bids", node())


@pytest.mark.parametrize("name", ["other", "bids_of_today", "bids__late"])
def test_folders_of_others(name: str) -> None:
    assert not is_left(f"{HERE}/{name}", node())


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "bids").symlink_to(tmp_path / "home")
    assert not is_left(f"file:{tmp_path}/bids", node(), schema_folder=f"file:{tmp_path}")
    (tmp_path / "bids").unlink()
    (tmp_path / "bids").mkdir()
    assert is_left(f"file:{tmp_path}/bids", node(), schema_folder=f"file:{tmp_path}")


@pytest.mark.parametrize("materialized", ["view", "streaming_incremental", "ephemeral"])
def test_nodes_whose_tables_are_not_made_from_nothing(materialized: str) -> None:
    assert not left_files.makes_tables(node(materialized))
    assert not left_files.makes_tables(None)


def test_the_table_that_removes_files_is_dropped_nowhere_else() -> None:
    statements = left_files.clearing("file:/data/it's", node())
    assert statements[1] == "ALTER TABLE Shop.Bids__dbt_leftover SET LOCATION 'file:/data/it\\'s'"
    assert [statement.split()[0] for statement in statements] == ["CREATE", "ALTER", "DROP", "CREATE", "DROP"]


def test_a_hostile_name_is_one_name_where_files_are_removed() -> None:
    hostile = node()
    hostile.schema, hostile.alias = "my-shop", "b`; drop table t --"
    table = "`my-shop`.`b``; drop table t --__dbt_leftover`"
    assert left_files.clearing("file:/data/x", hostile)[2] == f"DROP TABLE {table} PURGE"


def test_a_mark_of_a_run_that_ended(tmp_path: Path) -> None:
    mark = left_files.Mark(tmp_path / "unfinished", "shop", "bids")
    mark.put()
    assert not mark.left
    assert os.stat(tmp_path / "unfinished").st_mode & 0o777 == 0o700
    [path] = [path for path in (tmp_path / "unfinished").iterdir() if path.name != ".gitignore"]
    assert path.stat().st_mode & 0o777 == 0o600
    mark.end()
    assert not path.exists()


def test_a_mark_of_a_run_that_was_killed(tmp_path: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from dbt.adapters.sparkstream.spark.left_files import Mark\n"
        "Mark(Path(sys.argv[1]), 'shop', 'bids').put(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", killed, str(tmp_path)], check=False)
    other, mark = left_files.Mark(tmp_path, "shop", "other"), left_files.Mark(tmp_path, "shop", "bids")
    other.put()
    mark.put()
    assert (other.left, mark.left) == (False, True)
    # Another run that is under way: what it writes isn't left over.
    second = left_files.Mark(tmp_path, "shop", "bids")
    second.put()
    assert not second.left
    mark.stays = True
    mark.end()
    third = left_files.Mark(tmp_path, "shop", "bids")
    third.put()
    assert third.left
    third.end()


def test_a_planted_link_is_no_mark(tmp_path: Path) -> None:
    mark = left_files.Mark(tmp_path, "shop", "bids")
    mark.put()
    [path] = [path for path in tmp_path.iterdir() if path.name != ".gitignore"]
    mark.end()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path.symlink_to(victim)
    again = left_files.Mark(tmp_path, "shop", "bids")
    again.put()
    assert not again.left
    again.end()
    assert victim.read_text() == "mine"


def test_the_folder_of_a_table_that_is_listed() -> None:
    information = "Catalog: spark_catalog\nTable: bids\nLocation: file:/d/shop.db/bids\nProvider: hive\n"
    assert left_files.location_of(information) == "file:/d/shop.db/bids"
    assert left_files.location_of("Table: Location: x\n") == ""
