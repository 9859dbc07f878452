"""Streaming models into tables in Iceberg and out of them."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker.appends import IcebergAppend
from tests.functional.streaming.feed import COLUMNS, Feed
from tests.functional.streaming.test_once import HOP, ROWS, TUMBLE, refused
from tests.parts.backfills import check_backfills
from tests.parts.corrections import correct

CLOSED = "window_end <= timestamp_seconds(1091)"
ICEBERG: dict[str, Any] = {"file_format": "iceberg"}


def in_iceberg(feed: Feed) -> str:
    """Makes the source of a feed anew, in Iceberg, and gives its name."""
    bid = f"{feed.schema}.bid"
    feed.spark.sql(f"DROP TABLE {bid} PURGE")
    feed.spark.sql(f"CREATE TABLE {bid} ({COLUMNS}) USING iceberg")
    return bid


def test_windows_are_appended(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    assert "+1 row," in feed.run(TUMBLE, keep_late=True, **ICEBERG).message
    feed.add("bid", [(3, 1001, "a", 5), (4, 1061, "b", 2), (5, 1101, "b", 2)])
    outcome = feed.run(TUMBLE, keep_late=True, **ICEBERG)
    assert outcome.message.startswith("+2 rows, 1 window closed, 1 late row"), outcome.message
    assert len(feed.table("model__late")) == 1
    assert feed.table() == feed.batch(TUMBLE.replace("bid,", "(SELECT * FROM bid WHERE id <> 3),"), CLOSED)
    assert "nothing new" in feed.run(TUMBLE, keep_late=True, **ICEBERG).message
    feed.add("bid", [(6, 1002, "a", 5)])
    feed.run(TUMBLE, keep_late=True, **ICEBERG)
    assert len(feed.table("model__late")) == 2, "late rows of another micro-batch stay"


@pytest.mark.long
def test_late_rows_correct_windows(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    correct(feed, "iceberg", IcebergAppend, monkeypatch)


def test_a_backfill_is_one_snapshot(feed: Feed) -> None:
    check_backfills(feed, **ICEBERG)
    snapshots = feed.spark.sql(f"SELECT operation FROM {feed.schema}.model.snapshots ORDER BY committed_at").collect()
    assert [row[0] for row in snapshots if row[0] != "append"] == ["overwrite"] * 3


@pytest.mark.parametrize("sql", [ROWS, TUMBLE, HOP], ids=["rows", "tumble", "hop_of_slices"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupted_micro_batch_comes_again(
    feed: Feed, when: str, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its rows are in the table, or after that."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(sql, **ICEBERG)
    feed.add("bid", [(3, 1061, "a", 1), (4, 1101, "b", 2)])
    last = 1 if sql == ROWS else 3
    write = IcebergAppend._write

    def dies(self: IcebergAppend, rows: object, batch: int) -> None:
        if batch != last or when == "after":
            write(self, rows, batch)  # type: ignore[arg-type]
        if batch == last:
            raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(IcebergAppend, "_write", dies)
        feed.run(sql, **ICEBERG)
    feed.run(sql, **ICEBERG)
    until = "TRUE" if sql == ROWS else CLOSED
    assert feed.table() == feed.batch(sql, until)
    feed.add("bid", [(5, 1300, "b", 2)])
    feed.run(sql, **ICEBERG)
    until = "TRUE" if sql == ROWS else "window_end <= timestamp_seconds(1290)"
    assert feed.table() == feed.batch(sql, until)


def test_a_source_in_iceberg(feed: Feed) -> None:
    bid = in_iceberg(feed)
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.add("bid", [(2, 1060, "a", 2)])
    feed.run(TUMBLE, **ICEBERG)
    assert feed.table() == feed.batch(TUMBLE, "window_end <= timestamp_seconds(1050)")
    options = "options => map('min-input-files', '2')"
    feed.spark.sql(f"CALL spark_catalog.system.rewrite_data_files(table => '{bid}', {options})")
    feed.spark.sql(f"ALTER TABLE {bid} SET TBLPROPERTIES ('a' = 'b')")
    assert "nothing new" in feed.run(TUMBLE, **ICEBERG).message, "a compaction is no change"
    feed.add("bid", [(3, 1100, "b", 3)])
    feed.run(TUMBLE, **ICEBERG)
    assert feed.table() == feed.batch(TUMBLE, "window_end <= timestamp_seconds(1090)")


def test_a_source_in_iceberg_that_changes(feed: Feed) -> None:
    bid = in_iceberg(feed)
    feed.add("bid", [(1, 1005, "a", 1), (2, 1006, "a", 2)])
    feed.run(ROWS)
    feed.spark.sql(f"DELETE FROM {bid} WHERE id = 1")
    feed.add("bid", [(3, 1007, "a", 3)])
    refused(feed, ROWS, "a source has changed: snapshot", "on_source_change='rebuild'")
    feed.run(ROWS, on_source_change="accept")
    assert feed.table() == [(1, 1), (2, 2), (3, 3)]
    # From its beginning, the stream would get the row that was deleted.
    refused(feed, ROWS, "would not get all rows", "were changed or deleted", "and read the copy", rebuild=True)
    refused(feed, ROWS, "would not get all rows", on_source_change="rebuild", rebuild=True)
    feed.spark.sql(f"CREATE TABLE {bid}_copy USING iceberg AS SELECT * FROM {bid}")
    feed.spark.sql(f"DROP TABLE {bid} PURGE")
    feed.spark.sql(f"ALTER TABLE {bid}_copy RENAME TO {bid}")
    feed.run(ROWS, rebuild=True)
    assert feed.table() == [(2, 2), (3, 3)]
    for number in (4, 5):
        feed.add("bid", [(number, 1008, "a", number)])
    old = "older_than => current_timestamp(), retain_last => 1"
    feed.spark.sql(f"CALL spark_catalog.system.expire_snapshots(table => '{bid}', {old})")
    refused(feed, ROWS, "is not in Iceberg any more")
    refused(feed, ROWS, "would not get all rows", "have expired", on_source_change="rebuild")
    assert feed.table() == [(2, 2), (3, 3)]


def test_a_micro_batch_can_be_streamed_on(feed: Feed) -> None:
    """Another stream can read the table: what a micro-batch does to it is an append."""
    for number in (1, 2, 3):
        feed.add("bid", [(number, 1000 + 30 * number, "a", number)])
        feed.run(ROWS, **ICEBERG)
    snapshots = feed.spark.sql(f"SELECT operation FROM {feed.schema}.model.snapshots").collect()
    assert [row[0] for row in snapshots] == ["append"] * 3
