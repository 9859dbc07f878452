"""Tables of streaming models in Delta that are rebuilt in staging."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.worker.appends import DeltaAppend
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_once import refused
from tests.functional.streaming.test_rebuilt import OLD, OTHER, add, generation, rows, run
from tests.parts.delta.test_streams import history
from tests.parts.swaps import BEGINNINGS, ENDINGS, REPLACES, check_kills, check_readers, check_what_was_begun

DELTA: dict[str, Any] = {"file_format": "delta"}
LEDGERS = (
    "DROP TABLE {table}__stream",
    "CREATE TABLE {table}__stream",
    "DROP TABLE IF EXISTS {table}__rebuilt__stream",
)
"""Statements to the tables that have the ledgers."""


@pytest.mark.long
def test_a_swap_that_is_killed(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    def versions() -> list[tuple[int, bool]]:
        return [(number, "AS SELECT" in what) for number, (what, _) in enumerate(history(feed))]

    check_kills(feed, monkeypatch, [*BEGINNINGS, REPLACES, *LEDGERS, *ENDINGS], versions, **DELTA)


@pytest.mark.long
def test_what_was_begun_aside(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    check_what_was_begun(feed, monkeypatch, DeltaAppend, True, **DELTA)


@pytest.mark.long
def test_readers_have_old_rows_or_new_ones_all_the_time(feed: Feed) -> None:
    check_readers(feed, **DELTA)


@pytest.mark.long
def test_what_a_swap_is(feed: Feed) -> None:
    """One commit, which says of which table and micro-batch it is; streams that read the table see another one."""
    given = {**DELTA, "tblproperties": (("delta.columnMapping.mode", "name"), ("mine", "1"))}
    add(feed, 1, 3)
    run(feed, OLD, **given)
    feed.spark.sql(f"DROP TABLE {feed.schema}.ask")
    run(feed, "SELECT id, ts, v FROM bid", name="ask", **given)
    run(feed, "SELECT id, v FROM ask", name="second", **DELTA)
    sql = "SELECT id, ts, v * 10 AS v FROM bid"
    run(feed, sql, name="ask", **given)
    [swap] = feed.spark.sql(f"DESCRIBE HISTORY {feed.schema}.ask LIMIT 1").collect()
    assert swap["operation"] == "CREATE OR REPLACE TABLE AS SELECT"
    assert swap["userMetadata"] == f"{generation(feed, 'ask')} 2"
    # Delta knows its micro-batches.
    feed.spark.sql(
        f"INSERT INTO {feed.schema}.ask WITH ('txnAppId' = '{generation(feed, 'ask')}', 'txnVersion' = '2') "
        "VALUES (9, now(), 9)"
    )
    assert [(row[0], row[2]) for row in feed.table("ask")] == rows(10, 3)
    assert feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.ask ('mine')").collect()[0][1] == "1"
    refused(feed, "SELECT id, v FROM ask", "created again", name="second", on_source_change="fail", **DELTA)
    run(feed, "SELECT id, v FROM ask", name="second", on_source_change="rebuild", on_query_change="rebuild", **DELTA)
    assert feed.table("second") == rows(10, 3)
    # The table goes on without the one that has its ledger.
    feed.spark.sql(f"DROP TABLE {feed.schema}.ask__stream")
    feed.spark.sql(f"ALTER TABLE {feed.schema}.ask SET TBLPROPERTIES ('sparkstream.run' = '')")
    add(feed, 4, 1)
    assert run(feed, sql, name="ask", **given).rows == 1
    feed.spark.sql(f"DELETE FROM {feed.schema}.ask WHERE id = 1")
    refused(feed, sql, "something else has written", "is a DELETE", name="ask", **given)
    run(feed, OTHER, name="ask", **given)
    assert feed.table("ask") == rows(100, 4)
