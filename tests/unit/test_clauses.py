"""Clauses of CREATE TABLE: what a config names, and what is said where it can't be that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.lib.macros import CompilerError, Macros


def clause(name: str, config: dict[str, Any], *args: Any) -> str:
    found = Macros(
        config=SimpleNamespace(get=lambda key, default=None: config.get(key, default)),
        model={"alias": "t"},
        target=SimpleNamespace(method="session"),
        spark__options_clause=lambda: "dbt-spark's",
    )
    return str(found.call(f"sparkstream__{name}", *args)).strip()


PARTITIONS = ("partition_cols", "partitioned by")
CLUSTERS = ("clustered_cols", "clustered by")


@pytest.mark.parametrize(
    ("name", "config", "text"),
    [
        (PARTITIONS, {}, ""),
        (PARTITIONS, {"partition_by": []}, ""),
        (PARTITIONS, {"partition_by": "day"}, "partitioned by (day)"),
        (PARTITIONS, {"partition_by": ["my day", "b-c", "`x y`"]}, "partitioned by (`my day`, `b-c`, `x y`)"),
        (PARTITIONS, {"partition_by": ["days(ts)"]}, "partitioned by (days(ts))"),
        (CLUSTERS, {"clustered_by": "a b", "buckets": 4}, "clustered by (`a b`) into 4 buckets"),
        (CLUSTERS, {"clustered_by": "a"}, ""),
        (CLUSTERS, {"liquid_clustered_by": ["a", "b c"], "file_format": "delta"}, "cluster by (a, `b c`)"),
        (("file_format_clause",), {"file_format": "orc"}, "using orc"),
        (("file_format_clause",), {}, ""),
        (("location_clause",), {"location_root": "/d"}, "location '/d/t'"),
        (("location_clause",), {}, ""),
        (("options_clause",), {"options": {"a": "it's \"", "my-key": 2}}, "options ('a' 'it\\'s \"', 'my-key' '2')"),
        (("options_clause",), {"options": {}}, ""),
        (("options_clause",), {}, "dbt-spark's"),
        (("options_clause",), {"options": {"a": "b"}, "file_format": "hudi"}, "dbt-spark's"),
    ],
)
def test_clauses(name: tuple[str, ...], config: dict[str, Any], text: str) -> None:
    assert clause(name[0], config, *name[1:]) == text


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        (PARTITIONS, {"partition_by": {"field": "day"}}, "partition_by is no name of a column, and no list of them"),
        (PARTITIONS, {"partition_by": [{"field": "day"}]}, "partition_by is no name of a column"),
        (PARTITIONS, {"partition_by": ["day", ""]}, "partition_by is no name of a column"),
        (CLUSTERS, {"clustered_by": {"a": 1}, "buckets": 2}, "clustered_by is no name of a column"),
        (CLUSTERS, {"liquid_clustered_by": [3]}, "liquid_clustered_by is no name of a column"),
        (
            ("file_format_clause",),
            {"file_format": ""},
            "file_format is empty\n  write it such as file_format='parquet'",
        ),
        (("file_format_clause",), {"file_format": ["orc"]}, "file_format is no text"),
        (("location_clause",), {"location_root": " "}, "location_root is empty"),
        (("options_clause",), {"options": "a=b"}, "options is no mapping: a=b"),
    ],
)
def test_configs_of_the_wrong_kind(name: tuple[str, ...], config: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilerError) as error:
        clause(name[0], config, *name[1:])
    assert message in str(error.value)
