"""Tables of streaming models in Iceberg that are rebuilt in staging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.worker.appends import IcebergAppend
from tests.functional.adapter.project import Project
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_once import refused
from tests.functional.streaming.test_rebuilt import OLD, add, generation, rows, run
from tests.parts.parameters import HIVE, LAKE
from tests.parts.swaps import BEGINNINGS, ENDINGS, REPLACES, check_kills, check_readers, check_what_was_begun

ICEBERG: dict[str, Any] = {"file_format": "iceberg"}


def snapshots(feed: Feed, table: str = "model") -> list[Any]:
    found = f"SELECT snapshot_id, operation, summary FROM {feed.schema}.{table}.snapshots ORDER BY committed_at"
    return feed.spark.sql(found).collect()


@pytest.mark.long
def test_a_swap_that_is_killed(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    def versions() -> list[tuple[int, bool]]:
        return [(row[0], row[1] == "overwrite") for row in snapshots(feed)]

    check_kills(feed, monkeypatch, [*BEGINNINGS, REPLACES, *ENDINGS], versions, **ICEBERG)


@pytest.mark.long
def test_what_was_begun_aside(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    check_what_was_begun(feed, monkeypatch, IcebergAppend, False, **ICEBERG)


@pytest.mark.long
def test_readers_have_old_rows_or_new_ones_all_the_time(feed: Feed) -> None:
    check_readers(feed, **ICEBERG)


@pytest.mark.long
def test_what_a_swap_is(feed: Feed) -> None:
    """One snapshot, which says of which table and micro-batch it is; streams that read the table see another one."""
    given = {**ICEBERG, "tblproperties": (("mine", "1"),)}
    add(feed, 1, 3)
    run(feed, OLD, **given)
    feed.spark.sql(f"DROP TABLE {feed.schema}.ask PURGE")
    run(feed, "SELECT id, ts, v FROM bid", name="ask", **given)
    run(feed, "SELECT id, v FROM ask", name="second", **ICEBERG)
    new = "SELECT id, ts, v * 10 AS v FROM bid"
    run(feed, new, name="ask", **given)
    swap = snapshots(feed, "ask")[-1]
    said = {name: text for name, text in swap["summary"].items() if name.startswith("sparkstream")}
    assert said == {"sparkstream.table": generation(feed, "ask"), "sparkstream.batch": "2"}
    assert [(row[0], row[2]) for row in feed.table("ask")] == rows(10, 3)
    assert feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.ask ('mine')").collect()[0][1] == "1"
    second = {"name": "second", **ICEBERG}
    refused(feed, "SELECT id, v FROM ask", "created again", on_source_change="fail", **second)
    # Iceberg streams what was appended, and no rows that took the place of others.
    refused(feed, "SELECT id, v FROM ask", "would not get all rows", rebuild=True, **second)
    add(feed, 4, 1)
    assert run(feed, new, name="ask", **given).rows == 1
    # Another type, and other columns.
    run(feed, "SELECT CAST(v AS STRING) AS v, k FROM bid", name="ask", **given)
    assert feed.table("ask") == [(str(n), "a") for n in range(1, 5)]


@pytest.mark.long
@pytest.mark.parametrize("catalog", [LAKE, HIVE])
def test_a_swap_in_a_catalog_of_its_own(make_project: Callable[..., Project], catalog: str) -> None:
    """The catalog chooses the folders of tables."""
    project = make_project(
        {
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            "models: {+file_format: iceberg}\n",
            "models/bids.sql": "{{ config(materialized='incremental', incremental_strategy='append') }}\n"
            "select {{ '2' if is_incremental() else '1' }} as id, timestamp'2024-01-01 00:01:00' as ts",
            "models/rows_of.sql": "{{ config(materialized='streaming_incremental', event_time='ts', "
            "watermark='1 minute', on_query_change='swap') }}\n"
            "select id, id * {{ var('times', 1) }} as v from {{ stream(ref('bids')) }}",
        },
        database=catalog,
    )
    place = f"{catalog}.{project.schema}"
    project.dbt("run")
    project.dbt("run", "--empty", "--select", "rows_of", "--vars", "{times: 100}")
    assert project.rows(f"select id, v from {place}.rows_of") == [(1, 1)]
    for times in (10, 100):
        project.dbt("run", "--vars", f"{{times: {times}}}")
    assert sorted(project.rows(f"select id, v from {place}.rows_of")) == [(1, 100), (2, 200), (2, 200)]
    assert not [row for row in project.rows(f"show tables in {place}") if "__rebuilt" in row[1]]
