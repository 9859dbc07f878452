"""Streaming models into tables in Delta and out of them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.streaming import lease, run
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker import sink
from dbt.adapters.sparkstream.streaming.worker.appends import DeltaAppend
from tests.functional.adapter.project import Project
from tests.functional.streaming.feed import COLUMNS, Feed
from tests.functional.streaming.test_once import HOP, ROWS, TUMBLE, refused
from tests.parts.backfills import check_backfills
from tests.parts.corrections import correct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CLOSED = "window_end <= timestamp_seconds(1091)"
DELTA: dict[str, Any] = {"file_format": "delta"}


def folder_of(feed: Feed, table: str) -> Path:
    [detail] = feed.spark.sql(f"DESCRIBE DETAIL {feed.schema}.{table}").collect()
    return Path(detail["location"].removeprefix("file:"))


def history(feed: Feed, table: str = "model") -> list[tuple[str, str | None]]:
    """What was done to a table, the oldest first: the operation, and the number of the micro-batch that did it."""
    commits = feed.spark.sql(f"DESCRIBE HISTORY {feed.schema}.{table}").orderBy("version").collect()
    return [(c["operation"], c["userMetadata"] and c["userMetadata"].partition(" ")[2]) for c in commits]


def in_delta(feed: Feed, *tables: str) -> None:
    """Makes sources of a feed anew, in Delta."""
    for table in tables or ("bid",):
        feed.spark.sql(f"DROP TABLE {feed.schema}.{table}")
        feed.spark.sql(f"CREATE TABLE {feed.schema}.{table} ({COLUMNS}) USING delta")


def test_a_micro_batch_is_one_commit(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SETTLES", 0.0)  # what is done is recorded while later micro-batches run
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    assert "+1 row," in feed.run(TUMBLE, keep_late=True, **DELTA).message
    feed.add("bid", [(3, 1001, "a", 5), (4, 1061, "b", 2), (5, 1101, "b", 2)])
    outcome = feed.run(TUMBLE, keep_late=True, **DELTA)
    assert outcome.message.startswith("+2 rows, 1 late row"), outcome.message
    assert len(feed.table("model__late")) == 1
    assert feed.table() == feed.batch(TUMBLE.replace("bid,", "(SELECT * FROM bid WHERE id <> 3),"), CLOSED)
    assert feed.spark.table(f"{feed.schema}.model").columns == ["window_start", "window_end", "k", "s"]
    assert history(feed) == [("CREATE TABLE", None), *(("WRITE", str(number)) for number in range(4))]
    appended = feed.spark.sql(f"SELECT rows_appended FROM {feed.schema}.sparkstream_runs ORDER BY batch").collect()
    assert [row[0] for row in appended] == [0, 1, 0, 2]
    assert "nothing new" in feed.run(TUMBLE, keep_late=True, **DELTA).message
    assert len(history(feed)) == 5


@pytest.mark.parametrize(
    ("sql", "when"),
    [(ROWS, "after"), (TUMBLE, "before"), (TUMBLE, "after"), (HOP, "after")],
    ids=["rows_after", "tumble_before", "tumble_after", "hop_of_slices_after"],
)
def test_an_interrupted_micro_batch_comes_again(
    feed: Feed, when: str, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its rows are in the table, or after that."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(sql, **DELTA)
    feed.add("bid", [(3, 1061, "a", 1), (4, 1101, "b", 2)])
    last = 1 if sql == ROWS else 3
    write = DeltaAppend._write

    def dies(self: DeltaAppend, rows: DataFrame, batch: int) -> None:
        if batch != last or when == "after":
            write(self, rows, batch)
        if batch == last:
            raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(DeltaAppend, "_write", dies)
        feed.run(sql, **DELTA)
    assert (history(feed)[-1] == ("WRITE", str(last))) == (when != "before")
    feed.run(sql, **DELTA)
    until = "TRUE" if sql == ROWS else CLOSED
    assert feed.table() == feed.batch(sql, until)
    assert [number for _, number in history(feed)].count(str(last)) == 1
    appended = feed.spark.table(f"{feed.schema}.sparkstream_runs").selectExpr("sum(rows_appended)").head()
    assert appended is not None and appended[0] == len(feed.table())
    feed.add("bid", [(5, 1300, "b", 2)])
    feed.run(sql, **DELTA)
    until = "TRUE" if sql == ROWS else "window_end <= timestamp_seconds(1290)"
    assert feed.table() == feed.batch(sql, until)


@pytest.mark.long
def test_late_rows_correct_windows(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    correct(feed, "delta", DeltaAppend, monkeypatch)
    operations = [operation for operation, _ in history(feed)]
    assert operations.count("MERGE") == 2, "each micro-batch with corrections is one commit"


def test_signs_of_life_do_not_disturb_a_commit(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append to Delta fails where the table's properties have changed meanwhile."""
    monkeypatch.setattr(lease, "RENEWED", 0.2)

    def slowly(value: int) -> int:
        time.sleep(2)
        return value

    feed.prepare = lambda session: session.udf.register("slowly", slowly, "bigint")
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run("SELECT id, slowly(v) AS v FROM bid", **DELTA)
    assert feed.table() == [(1, 1)]


def test_a_compaction_is_no_change_to_those_that_read_the_table(feed: Feed) -> None:
    every = "SELECT id, ts, k, v FROM bid"
    in_delta(feed, "ask")
    feed.spark.sql(f"DROP TABLE {feed.schema}.ask")
    for number in range(1, 6):
        feed.add("bid", [(number, 1000 + number, "a", number)])
        feed.run(every, "ask", compact_every=2, **DELTA)
        feed.run("SELECT id, v FROM ask", "second", **DELTA)
    assert [what for what, _ in history(feed, "ask")].count("OPTIMIZE") == 2
    assert feed.table("second") == [(number, number) for number in range(1, 6)]
    assert sorted(row[0] for row in feed.table("ask")) == [1, 2, 3, 4, 5]
    assert "nothing new" in feed.run(every, "ask", compact_every=2, **DELTA).message


def test_rows_of_others_are_refused(feed: Feed) -> None:
    table = f"{feed.schema}.model"
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS, **DELTA)
    feed.spark.sql(f"OPTIMIZE {table}")
    feed.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')")
    feed.add("bid", [(2, 1006, "a", 2)])
    feed.run(ROWS, **DELTA)
    feed.spark.sql(f"DELETE FROM {table} WHERE id = 1")
    refused(feed, ROWS, "something else has written", "is a DELETE", "on_foreign_write='accept'", **DELTA)
    feed.add("bid", [(3, 1007, "a", 3)])
    feed.run(ROWS, on_foreign_write="accept", **DELTA)
    feed.run(ROWS, **DELTA)
    assert feed.table() == [(2, 2), (3, 3)]
    feed.spark.sql(f"CREATE OR REPLACE TABLE {table} USING delta AS SELECT 1L AS id, 1L AS v")
    refused(feed, ROWS, "no streaming model has made it", **DELTA)


def test_a_table_is_made_anew(feed: Feed, tmp_path: Path) -> None:
    first = TUMBLE.replace(" k, sum(v) AS s", " sum(v) AS s, k")  # partition_by puts k at the end
    assert first != TUMBLE
    for options in (DELTA, {**DELTA, "location_root": str(tmp_path), "partition_by": ("k",)}):
        feed.spark.sql(f"TRUNCATE TABLE {feed.schema}.bid")
        feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
        feed.run(first, rebuild=True, **options)
        other = first.replace("20 seconds", "10 seconds")
        refused(feed, other, "the query", "--full-refresh", **options)
        feed.run(other, on_query_change="rebuild", **options)
        assert history(feed)[-1] == ("WRITE", "1")
        assert feed.table() == feed.batch(other, "window_end <= timestamp_seconds(1050)")
        assert feed.spark.table(f"{feed.schema}.model").count() == 1
        feed.spark.sql(f"DROP TABLE {feed.schema}.model")
        # What a dropped table has left is none of the new one's: no ledger, and no files in a folder of the user's.
        feed.run(other, **options)
        assert feed.table() == feed.batch(other, "window_end <= timestamp_seconds(1050)")
        # The checkpoint and the table know the same. (This process has made the table, and lives.)
        feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.run' = '')")
        feed.spark.sql(f"DROP TABLE {feed.schema}.model__stream")
        feed.add("bid", [(3, 1100, "b", 2)])
        feed.run(other, **options)
        assert feed.table() == feed.batch(other, "window_end <= timestamp_seconds(1090)")
        feed.run(other, "renamed", rebuild=True, **{**options, "location_root": None})
        feed.spark.sql(f"DROP TABLE {feed.schema}.model")
    feed.spark.sql(f"CREATE TABLE {feed.schema}.other (id BIGINT) USING delta LOCATION '{tmp_path}/mine'")
    with pytest.raises(StreamingError, match="holds a table of something else"):
        feed.run(ROWS, "mine", location_root=str(tmp_path), **DELTA)


def test_a_second_run_is_refused(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS, **DELTA)
    feed.add("bid", [(2, 1006, "a", 2)])
    check = sink.Sink.check_owned
    taken = f"{feed.schema}.model__stream SET TBLPROPERTIES ('sparkstream.run' = '{{\"id\": \"another\"}}')"

    def late(self: sink.Sink, spark: SparkSession) -> None:
        feed.spark.sql(f"ALTER TABLE {taken}")
        check(self, spark)

    monkeypatch.setattr(sink.Sink, "check_owned", late)
    refused(feed, ROWS, "another run has taken over", **DELTA)
    taken = f"{feed.schema}.model SET TBLPROPERTIES ('sparkstream.table' = 'made anew')"
    refused(feed, ROWS, "another run has taken over", **DELTA)


def test_a_source_in_delta(feed: Feed) -> None:
    in_delta(feed)
    bid = f"{feed.schema}.bid"
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.add("bid", [(2, 1060, "a", 2)])
    feed.run(TUMBLE, max_files_per_trigger=1, **DELTA)
    assert feed.table() == feed.batch(TUMBLE, "window_end <= timestamp_seconds(1050)")
    # What changes no rows is no change: a compaction, properties, another column.
    feed.spark.sql(f"OPTIMIZE {bid}")
    feed.spark.sql(f"VACUUM {bid}")
    feed.spark.sql(f"ALTER TABLE {bid} SET TBLPROPERTIES ('a' = 'b')")
    feed.spark.sql(f"ALTER TABLE {bid} ADD COLUMNS (more INT)")
    assert "+0 rows" in feed.run(TUMBLE, **DELTA).message
    feed.spark.sql(f"INSERT INTO {bid} VALUES (3, timestamp_seconds(1100), 'b', 3, 7)")
    feed.run(TUMBLE, **DELTA)
    assert feed.table() == feed.batch(TUMBLE, "window_end <= timestamp_seconds(1090)")


def test_a_source_in_delta_that_changes(feed: Feed) -> None:
    in_delta(feed)
    bid = f"{feed.schema}.bid"
    feed.add("bid", [(1, 1005, "a", 1), (2, 1006, "a", 2)])
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2)]
    feed.spark.sql(f"UPDATE {bid} SET v = 20 WHERE id = 2")
    feed.add("bid", [(3, 1007, "a", 3)])
    refused(feed, ROWS, "has changed: detected a data update (for example UPDATE", "on_source_change='rebuild'")
    feed.run(ROWS, on_source_change="accept")
    assert feed.table() == [(1, 1), (2, 2), (3, 3)]
    assert "nothing new" in feed.run(ROWS, on_source_change="accept").message
    feed.spark.sql(f"DELETE FROM {bid} WHERE id = 1")
    feed.run(ROWS, on_source_change="rebuild")
    assert feed.table() == [(2, 20), (3, 3)]
    feed.spark.sql(f"DELETE FROM {bid}")
    refused(feed, ROWS, "has changed: ", "on_source_change='accept'")
    feed.run(ROWS, on_source_change="accept")
    feed.spark.sql(f"CREATE OR REPLACE TABLE {bid} USING delta AS SELECT 1L AS id, now() AS ts, 'a' AS k, 1L AS v")
    refused(feed, ROWS, "created again", on_source_change="accept")
    feed.run(ROWS, on_source_change="rebuild")
    assert feed.table() == [(1, 1)]


def test_a_project_of_streams_in_delta(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            "models: {+file_format: delta}\n",
            "models/bids.sql": "{{ config(materialized='incremental', incremental_strategy='append') }}\n"
            "select * from values {% if is_incremental() %}(3, timestamp'2024-01-01 00:25:00')"
            "{% else %}(1, timestamp'2024-01-01 00:01:00'), (2, timestamp'2024-01-01 00:12:00')"
            "{% endif %} as t (id, ts)",
            "models/minutes.sql": "{{ config(materialized='streaming_incremental', event_time='ts', "
            "watermark='1 minute') }}\nselect window_start, window_end, window_time, count(*) as n\n"
            "from {{ tumble(stream(ref('bids')), 'ts', '5 minutes') }} group by window_start, window_end, window_time",
            "models/quarters.sql": "{{ config(materialized='streaming_incremental', event_time='window_time', "
            "watermark='0 seconds') }}\nwith m as (select window_time as ts, n from {{ stream(ref('minutes')) }})\n"
            "select window_start, window_end, sum(n) as n\n"
            "from {{ tumble('m', 'ts', '10 minutes') }} group by window_start, window_end",
        }
    )
    project.dbt("run")
    project.dbt("run")
    minutes = project.rows("select minute(window_start), n from {}.minutes")
    assert minutes == [(0, 1), (10, 1)]
    assert project.rows("select minute(window_start), n from {}.quarters") == [(0, 1)]
    project.dbt("show", "--select", "quarters")
    project.dbt("run", "--full-refresh", "--select", "minutes", "quarters")
    assert project.rows("select minute(window_start), n from {}.minutes") == minutes


@pytest.mark.parametrize("whole", [True, False], ids=["with_a_log", "with_a_part_of_a_log"])
def test_folders_of_tables_that_the_catalog_does_not_know(feed: Feed, whole: bool) -> None:
    """A run was killed when Delta's log had the new table and the catalog hadn't, or before that."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE, keep_late=True, **DELTA)
    for table in ("model", "model__late"):
        place = folder_of(feed, table)
        aside = place.with_name(f"{table}__saved")
        shutil.copytree(place, aside)
        feed.spark.sql(f"DROP TABLE {feed.schema}.{table}")
        if whole:
            aside.rename(place)
        else:
            (place / "_delta_log").mkdir(parents=True)
            (place / "_delta_log" / ".00000000000000000000.json.tmp").write_text("{")
    feed.add("bid", [(3, 1101, "b", 2)])
    feed.run(TUMBLE, keep_late=True, **DELTA)
    assert feed.table() == feed.batch(TUMBLE, CLOSED)
    feed.add("bid", [(4, 1001, "a", 1)])
    assert feed.run(TUMBLE, keep_late=True, **DELTA).late == 1
    assert len(feed.table("model__late")) == 1


def test_a_folder_with_a_table_of_somebody_else(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS, **DELTA)
    place = folder_of(feed, "model")
    feed.spark.sql(f"DROP TABLE {feed.schema}.model")
    feed.spark.sql(f"CREATE TABLE delta.`{place}` USING delta AS SELECT 1 AS x")
    with pytest.raises(StreamingError, match="holds a table of something else"):
        feed.run(ROWS, **DELTA)
    assert feed.spark.sql(f"SELECT * FROM delta.`{place}`").count() == 1


def test_a_backfill_is_one_commit(feed: Feed) -> None:
    check_backfills(feed, **DELTA)
    commits = [commit for commit in history(feed) if commit[0] != "WRITE"]
    assert commits == [("CREATE TABLE", None), *[("MERGE", "backfill")] * 3]
