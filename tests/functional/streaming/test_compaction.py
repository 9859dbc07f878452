"""Few files for many micro-batches: a table's rows, the notes in `sparkstream_runs`, the checkpoints of old tables."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.sparkstream.streaming import ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports import runs_table
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import Folders
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.killing import killed
from tests.functional.streaming.test_once import ROWS, location
from tests.lib.support import quick_session, seldom

STEPS = (
    "CREATE TABLE",
    "INSERT INTO",
    "SELECT count(*) FROM",
    "ALTER TABLE {aside} SET",
    "DROP TABLE {table}",
    "RENAME",
)
"""How the statements of a compaction begin, or what they have in them, in their order."""


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


def ids(feed: Feed, spark: SparkSession | None = None) -> list[int]:
    return [row[0] for row in (spark or feed.spark).table(f"{feed.schema}.model").select("id").orderBy("id").collect()]


def grow(feed: Feed, count: int, first: int = 1, **options: Any) -> None:
    """Runs a model of rows so often, with a row each time."""
    for number in range(first, first + count):
        feed.add("bid", [(number, 1000 + number, "a b" if number % 2 else None, number)])
        feed.run(ROWS, **options)


@pytest.mark.full
def test_rows_of_many_micro_batches_are_put_into_few_files(feed: Feed) -> None:
    reader = quick_session(feed.spark)
    grow(feed, 3, compact_every=3)
    assert len(files(location(feed))) == 3
    assert ids(feed, reader) == [1, 2, 3]
    before = location(feed)
    grow(feed, 1, 4, compact_every=3)
    assert location(feed) != before
    assert len(files(location(feed))) == 1
    # A query that was planned before has its files.
    assert len(files(before)) == 4
    assert ids(feed, reader) == ids(feed) == [1, 2, 3, 4]
    assert {row[0] for row in feed.spark.table(f"{feed.schema}.model").select("micro_batch").collect()} == {3}
    # The model goes on in the folder that it has now, and comes back to the first one.
    grow(feed, 2, 5, compact_every=3)
    assert (len(files(location(feed))), ids(feed, reader)) == (3, [1, 2, 3, 4, 5, 6])
    grow(feed, 1, 7, compact_every=3)
    assert location(feed) == before
    assert (len(files(before)), ids(feed, reader)) == (1, list(range(1, 8)))
    recorded = feed.spark.table(f"{feed.schema}.sparkstream_runs").select("batch", "rows_appended").orderBy("batch")
    assert [tuple(row) for row in recorded.collect()] == [(n, 1) for n in range(7)]


def test_partitions_properties_and_comments_stay(feed: Feed) -> None:
    options: dict[str, Any] = {"compact_every": 1, "partition_by": ("k",), "tblproperties": (("owner's", "we"),)}
    sql = "SELECT id, k FROM bid"
    feed.add("bid", [(1, 1001, "a b", 1), (2, 1002, None, 1)])
    feed.run(sql, **options)
    feed.spark.sql(f"COMMENT ON TABLE {feed.schema}.model IS 'all \"bids\"'")
    feed.add("bid", [(3, 1003, "a b", 1), (4, 1004, "x/y", 1)])
    feed.run(sql, **options)
    rows = feed.spark.table(f"{feed.schema}.model").select("id", "k").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(1, "a b"), (2, None), (3, "a b"), (4, "x/y")]
    assert len(files(location(feed))) == 3
    described = {row[0]: row[1] for row in feed.spark.sql(f"DESCRIBE TABLE EXTENDED {feed.schema}.model").collect()}
    assert described["Comment"] == 'all "bids"'
    assert "owner's=we" in described["Table Properties"]


@pytest.mark.long
@pytest.mark.parametrize("step", [*seldom([*STEPS[:4], *STEPS[5:]]), STEPS[4]])
@pytest.mark.parametrize("after", [*seldom([False]), True], ids=["before", "after"])
def test_a_compaction_that_is_killed(feed: Feed, monkeypatch: pytest.MonkeyPatch, step: str, after: bool) -> None:
    """At each statement: the next run has all rows once, and what was begun is gone or done."""
    table, aside = f"{feed.schema}.model", f"{feed.schema}.model__compacted"
    what = step.format(table=table, aside=aside)

    def dies(statement: str) -> bool:
        compacts = aside in statement and statement != f"SHOW TBLPROPERTIES {aside}"
        return what in statement and (compacts or statement == f"DROP TABLE {table}")

    grow(feed, 2, compact_every=2)
    feed.add("bid", [(3, 1003, "a", 3)])
    with killed(monkeypatch, feed, dies, after=after, aside="__compacted"):
        feed.run(ROWS, compact_every=2)
    there = feed.spark.catalog.tableExists(table)
    assert there == (what not in ("RENAME", f"DROP TABLE {table}") or (what == "RENAME") == after)
    if there:
        assert ids(feed) == [1, 2, 3]
    feed.add("bid", [(4, 1004, "a", 4)])
    feed.run(ROWS, compact_every=2)
    assert ids(feed) == [1, 2, 3, 4]
    assert not feed.spark.catalog.tableExists(aside)
    grow(feed, 3, 5, compact_every=2)
    assert ids(feed) == list(range(1, 8))
    assert len(files(location(feed))) <= 3


@pytest.mark.long
def test_what_no_compaction_may_touch(feed: Feed) -> None:
    warnings: list[str] = []
    grow(feed, 2)
    feed.add("bid", [(3, 1003, "a", 3)])
    feed.run(ROWS, compact_every=1, warn=warnings.append)
    assert len(warnings) == 1
    assert "it was made without compact_every" in warnings[0]
    feed.run(ROWS, compact_every=1, rebuild=True)
    feed.spark.sql(f"CREATE TABLE {feed.schema}.model__compacted USING parquet AS SELECT 1 AS x")
    with pytest.raises(StreamingError, match=r"model__compacted is there, and no compaction has made it"):
        grow(feed, 1, 4, compact_every=1)
    feed.spark.sql(f"DROP TABLE {feed.schema}.model__compacted")
    grow(feed, 1, 5, compact_every=1)
    assert ids(feed) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_no_file_of_the_table_is_removed(feed: Feed) -> None:
    """Whatever the catalog says where the table lies."""
    warnings: list[str] = []
    grow(feed, 1, compact_every=1)
    feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET LOCATION '{location(feed)}__compacted'")
    feed.add("bid", [(2, 1002, "a", 2)])
    feed.run(ROWS, compact_every=1, on_foreign_write="accept", warn=warnings.append)
    assert len(warnings) == 1
    assert "which is not the folder that the catalog names" in warnings[0]
    assert ids(feed) == [1, 2]


@pytest.mark.long
def test_a_run_that_was_taken_over_changes_nothing(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    grow(feed, 1, compact_every=1)
    run, other = Engine.sql, json.dumps({"id": "other", "host": "", "pid": 1, "alive": time.time()})

    def sql(self: Engine, statement: str) -> list[Any]:
        if statement.startswith("INSERT INTO"):
            run(self, f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.run' = '{other}')")
        return run(self, statement)

    monkeypatch.setattr(Engine, "sql", sql)
    before = location(feed)
    feed.add("bid", [(2, 1002, "a", 2)])
    feed.run(ROWS, compact_every=1, warn=warnings.append)
    assert "another run has taken it over" in warnings[0]
    assert (location(feed), ids(feed)) == (before, [1, 2])


def test_a_stream_of_a_compacted_table_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1001, "a", 1)])
    feed.run("SELECT id, ts, k, v FROM bid", compact_every=1)
    feed.spark.sql(f"DROP TABLE {feed.schema}.ask")
    feed.spark.sql(f"CREATE VIEW {feed.schema}.ask AS SELECT id, ts, k, v FROM {feed.schema}.model")
    try:
        with pytest.raises(StreamingError, match=r"is compacted \(compact_every\)") as error:
            feed.run("SELECT id, v FROM ask", "second")
        assert "file_format='delta'" in str(error.value)
    finally:
        feed.spark.sql(f"DROP VIEW {feed.schema}.ask")


@pytest.mark.long
def test_files_from_before_go_after_an_hour(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(feed, 1, compact_every=1)
    before = location(feed)
    grow(feed, 2, 2, compact_every=2)
    assert len(files(before)) == 3
    monkeypatch.setattr(ledger, "GRACE", -1.0)  # what is left is recorded in whole seconds, maybe of the next one
    feed.run(ROWS, compact_every=2)
    assert files(before) == []
    assert ids(feed) == [1, 2, 3]


@pytest.mark.full
def test_old_folders_go_when_the_table_is_made_anew(feed: Feed) -> None:
    grow(feed, 2, compact_every=1)
    compacted = location(feed)
    feed.spark.sql(f"CREATE SCHEMA {feed.schema}_b LOCATION '{feed.folder('b')}'")
    state = compacted.parent / "_sparkstream"
    [first] = state.glob("model-*")
    assert files(compacted) and list(first.iterdir())
    # Another model's, and one of another table with this name.
    (state / "model-x").mkdir()
    (state / "model-x" / "table").mkdir()
    (state / "model-x" / "table" / "part-0.txt").write_text("file:///elsewhere/model\n")
    feed.spark.sql(f"DROP SCHEMA {feed.schema}_b")
    feed.spark.sql(f"DROP TABLE {feed.schema}.model")
    feed.run(ROWS)
    assert ids(feed) == [1, 2]
    [second] = [folder for folder in state.glob("model-*") if folder not in (first, state / "model-x")]
    assert list(second.iterdir())
    assert not list(first.iterdir())
    assert list((state / "model-x").iterdir())
    feed.run(ROWS, rebuild=True)
    assert not list(second.iterdir())


@pytest.mark.full
def test_notes_of_micro_batches_stay_in_few_files(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_table, "MERGED", 4)
    folder = location(feed, "bid").with_name("sparkstream_runs")
    reader = quick_session(feed.spark)
    recorded = []
    for number in range(1, 11):
        grow(feed, 1, number)
        reader.catalog.refreshTable(f"{feed.schema}.sparkstream_runs")
        rows = reader.table(f"{feed.schema}.sparkstream_runs").select("batch", "rows_read").orderBy("batch").collect()
        assert [tuple(row) for row in rows] == [(n, 1) for n in range(number)]
        recorded.append(len(files(folder)))
    assert max(recorded) <= 10
    # A name that RECOVER PARTITIONS doesn't know.
    feed.spark.sql(f"ALTER TABLE {feed.schema}.sparkstream_runs RECOVER PARTITIONS")
    assert reader.table(f"{feed.schema}.sparkstream_runs").count() == 10


def test_runs_that_a_lost_catalog_has_forgotten(feed: Feed) -> None:
    """The table is made over the files that it has."""
    grow(feed, 1)
    folder = location(feed, "bid").with_name("sparkstream_runs")
    shutil.copytree(folder, folder.with_name("a_copy"))
    feed.spark.sql(f"DROP TABLE {feed.schema}.sparkstream_runs")
    folder.with_name("a_copy").rename(folder)
    grow(feed, 1, 2)
    recorded = feed.spark.table(f"{feed.schema}.sparkstream_runs").select("batch", "rows_read").orderBy("batch")
    assert [tuple(row) for row in recorded.collect()] == [(0, 1), (1, 1)]


def test_runs_in_a_table_without_partitions(feed: Feed) -> None:
    """Version 0.1.0 has made it."""
    columns = "run_id STRING, relation STRING, batch BIGINT, rows_read BIGINT, model STRING"
    feed.spark.sql(f"CREATE TABLE {feed.schema}.sparkstream_runs ({columns}) USING parquet")
    grow(feed, 1)
    grow(feed, 1, 2)
    recorded = feed.spark.table(f"{feed.schema}.sparkstream_runs").select("batch", "rows_read").orderBy("batch")
    assert [tuple(row) for row in recorded.collect()] == [(0, 1), (1, 1)]


@pytest.mark.full
@pytest.mark.parametrize("step", ["rewrite", "sql"])
def test_notes_of_a_run_that_is_killed_while_they_are_merged(
    feed: Feed, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(runs_table, "MERGED", 2)
    grow(feed, 1)

    def fail(*arguments: Any) -> None:
        raise StreamingError("killed")

    target: Callable[..., Any] = Engine.sql
    if step == "rewrite":
        write: Callable[..., Any] = Folders.write
        monkeypatch.setattr(
            Folders, "write", lambda own, path, query, *mode: write(own, path, query, *mode) if mode else fail()
        )
    else:
        monkeypatch.setattr(Engine, "sql", lambda self, text: fail() if "SET LOCATION" in text else target(self, text))
    grow(feed, 1, 2)
    monkeypatch.undo()
    monkeypatch.setattr(runs_table, "MERGED", 2)
    grow(feed, 2, 3)
    recorded = feed.spark.table(f"{feed.schema}.sparkstream_runs").select("batch").orderBy("batch").collect()
    assert [row[0] for row in recorded] == [0, 1, 2, 3]
