"""Snapshots before they run: their formats, and their columns, which dbt's macros write into SQL as they are."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.artifacts.resources import SnapshotConfig
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.snapshots import prepare
from dbt.adapters.sparkstream.sql.core.literals import backticked, unquoted
from tests.lib.macros import Macros

NAMES = [
    *("a`b", "`", "my col", "it's", 'd"q', "b\\s", "größe", "x;y", "${x}", "{{ x }}", "n\nl", "\u202ea"),
    *("a) or (b", "a)", "a) --", "a -- b", "a /* b", "/* /* */", "x, y", "id as x", "drop table t", "select 1"),
    "x` int) using parquet location '/p' -- ",
]
EXPRESSIONS = [
    *("id", "s.id", "`my col`", "s.`a``b`", "id || '-' || day", "lower(a)", "cast(a as string)", "a -- b\n + c"),
    *("concat(a, '${x}')", "coalesce(a, 0)", "ts + interval 1 day", "ts at time zone 'UTC'", "s['a']", "a[0]"),
]


def prepared(**config: Any) -> Any:
    given = {"unique_key": "id", "strategy": "check", "check_cols": "all", "file_format": "delta", **config}
    node = SimpleNamespace(config=SnapshotConfig.from_dict(given))
    prepare(node)
    return node.config


@pytest.mark.parametrize("name", NAMES)
def test_names_are_quoted(name: str) -> None:
    config = prepared(unique_key=["id", name], check_cols=[name], updated_at=name)
    assert config.unique_key == ["id", backticked(name)]
    assert config.check_cols == [backticked(name)]
    assert prepared(unique_key=name).unique_key == config.updated_at == backticked(name)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_stay(text: str) -> None:
    config = prepared(unique_key=text, check_cols=[text], updated_at=text)
    assert (config.unique_key, config.check_cols, config.updated_at) == (text, [text], text)


@pytest.mark.parametrize("name", NAMES)
def test_its_own_columns_are_names(name: str) -> None:
    config = prepared(snapshot_meta_column_names={"dbt_valid_to": name, "dbt_scd_id": "id"})
    assert config.snapshot_table_column_names["dbt_valid_to"] == backticked(name)
    assert config.snapshot_table_column_names["dbt_scd_id"] == "id"
    assert unquoted(config.snapshot_table_column_names["dbt_valid_to"]) == name
    prepare(SimpleNamespace(config=config))
    assert config.snapshot_table_column_names["dbt_valid_to"] == backticked(name)


def test_every_column_stays() -> None:
    assert prepared().check_cols == "all"
    assert prepared().updated_at is None


def test_plain_files_are_refused() -> None:
    with pytest.raises(DbtRuntimeError, match=r"pyspark==4\.2\.\*"):
        prepared(file_format="parquet")
    prepared(file_format="iceberg")


def test_new_columns_are_quoted() -> None:
    statements: list[str] = []

    def statement(*args: str, caller: Callable[[], str]) -> str:
        statements.append(caller().strip())
        return ""

    macros = Macros(statement=statement)
    columns = [
        SimpleNamespace(name=name, quoted=backticked(name), data_type="int")
        for name in ("a`b", "id", "dbt_unique_key_1")
    ]
    macros.call("sparkstream__create_columns", "s.t", columns)
    macros.call("sparkstream__create_columns", "s.t", columns[1:])
    assert statements == ["alter table s.t add columns (`a``b` int)"]
