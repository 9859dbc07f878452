"""Once and only once: whatever happens to a table, its sources or a run, no row is lost or doubled silently."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.server.process import birth
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.streaming import lease
from dbt.adapters.sparkstream.streaming.ledger import place
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.runs_table import RunsTable
from dbt.adapters.sparkstream.streaming.spark import engine
from dbt.adapters.sparkstream.streaming.spark.progress import MicroBatch
from dbt.adapters.sparkstream.streaming.worker import appends, sink
from dbt.adapters.sparkstream.streaming.worker.appends import Append, FolderAppend
from tests.functional.streaming.feed import Feed
from tests.lib.support import quick_session, seldom

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TUMBLE = """\
SELECT window_start, window_end, k, sum(v) AS s
FROM tumble(bid, ts, '20 seconds') GROUP BY window_start, window_end, k"""
HOP = """\
SELECT window_start, window_end, k, max(v) AS m, count(*) AS n
FROM hop(bid, ts, '1 second', '20 seconds') GROUP BY window_start, window_end, k"""
ROWS = "SELECT id, v FROM bid"


def location(feed: Feed, table: str = "model") -> Path:
    rows = feed.spark.sql(f"DESCRIBE TABLE EXTENDED {feed.schema}.{table}").collect()
    return Path(next(row[1] for row in rows if row[0] == "Location").removeprefix("file:"))


def kept(feed: Feed, table: str = "model") -> Path:
    """The folder with what is kept of a model's table beside its rows."""
    [folder] = [f for f in location(feed, table).parent.glob(f"_sparkstream/{table}-*") if any(f.iterdir())]
    return folder


def refused(feed: Feed, sql: str, *words: str, **options: Any) -> None:
    before = feed.table()
    with pytest.raises(StreamingError) as error:
        feed.run(sql, **options)
    for word in words:
        assert word in str(error.value)
    assert feed.table() == before


def test_late_rows_are_counted_and_kept(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE, keep_late=True)
    # The watermark is 1050: windows up to [1020, 1040) are closed.
    feed.add("bid", [(3, 1001, "a", 5), (4, 1002, "b", 5), (5, 1041, "a", 7), (6, 1030, "c", 9)])
    outcome = feed.run(TUMBLE, keep_late=True)
    assert outcome.late == 3
    assert "3 late rows" in outcome.message
    late = feed.spark.sql(
        f"SELECT id, v, unix_seconds(window_end), reason, unix_seconds(watermark) FROM {feed.schema}.model__late"
    )
    assert sorted(map(tuple, late.collect())) == [
        (3, 5, 1020, "window closed", 1050),
        (4, 5, 1020, "window closed", 1050),
        (6, 9, 1040, "window closed", 1050),
    ]
    runs = feed.spark.sql(f"SELECT sum(rows_late), sum(rows_read) FROM {feed.schema}.sparkstream_runs").collect()
    assert [tuple(row) for row in runs] == [(3, 6)]


@pytest.mark.long
def test_flush_closes_all_windows(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE, flush=False)
    assert len(feed.table()) == 1
    outcome = feed.run(TUMBLE, flush=True)
    assert "all windows closed" in outcome.message
    assert feed.table() == feed.batch(TUMBLE)
    feed.add("bid", [(3, 5000, "a", 1)])
    assert feed.run(TUMBLE, flush=True).late == 1


@pytest.mark.long
def test_another_query_is_refused_or_rebuilds(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE)
    feed.run(TUMBLE.replace("GROUP", "  /* the same */ group"))
    refused(feed, TUMBLE.replace("20 seconds", "10 seconds"), "the query", "--full-refresh", "on_query_change")
    refused(feed, TUMBLE.replace("bid,", "(SELECT * FROM bid WHERE v > 0),"), "have changed")
    refused(feed, TUMBLE, "have changed", watermark=Interval.parse("1 second"))
    feed.run(TUMBLE.replace("20 seconds", "10 seconds"), on_query_change="rebuild")
    assert [row[2:] for row in feed.table()] == [("a", 1)]


@pytest.mark.long
def test_a_row_that_is_late_for_some_windows_counts_in_the_others(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(HOP, keep_late=True)
    # The watermark is 1050. Of a row at 1040, windows that end from 1041 to 1050 are closed, and those to 1060 aren't.
    feed.add("bid", [(3, 1040, "a", 7), (4, 1020, "b", 9), (5, 1050, "c", 3)])
    assert feed.run(HOP, keep_late=True).late == 10 + 20
    feed.add("bid", [(9, 2000, "z", 0)])
    feed.run(HOP, keep_late=True)
    late = feed.spark.table(f"{feed.schema}.model__late").selectExpr("id", "unix_seconds(window_end)").collect()
    assert sorted(map(tuple, late)) == [(3, end) for end in range(1041, 1051)] + [(4, end) for end in range(1021, 1041)]
    late_ones = "(id = 3 AND window_end <= timestamp_seconds(1050)) OR id = 4 OR window_end > timestamp_seconds(1990)"
    windows = "(SELECT * FROM hop(bid, ts, '1 second', '20 seconds'))"
    assert feed.table() == feed.batch(
        "SELECT window_start, window_end, k, max(v) AS m, count(*) AS n "
        f"FROM {windows} WHERE NOT ({late_ones}) GROUP BY window_start, window_end, k"
    )


@pytest.mark.full
def test_the_state_of_windows_is_not_that_of_slices(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(HOP)
    assert feed.state() == 1  # the slice of 1060
    feed.optimize = False
    refused(feed, HOP, "have changed", "--full-refresh")
    feed.run(HOP, on_query_change="rebuild")
    assert feed.table() == feed.batch(HOP, "window_end <= timestamp_seconds(1050)")


@pytest.mark.long
def test_a_source_made_anew_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"DROP TABLE {feed.schema}.bid")
    time.sleep(1.1)  # the catalog knows seconds
    feed.spark.sql(f"CREATE TABLE {feed.schema}.bid (id BIGINT, ts TIMESTAMP, k STRING, v BIGINT) USING parquet")
    feed.add("bid", [(1, 1005, "a", 1), (2, 1006, "a", 2)])
    refused(feed, ROWS, "created again")
    feed.run(ROWS, on_source_change="rebuild")
    assert feed.table() == [(1, 1), (2, 2)]


@pytest.mark.long
def test_an_overwritten_source_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"INSERT OVERWRITE {feed.schema}.bid SELECT 7, timestamp_seconds(1005), 'a', 7")
    refused(feed, ROWS, "was overwritten", "on_source_change='rebuild'", "on_source_change='accept'")
    # A compaction looks like this, and the new file has the old rows then.
    refused(feed, ROWS, "was overwritten", "after a compaction they hold the same rows", on_source_change="accept")
    feed.run(ROWS, on_source_change="rebuild")
    assert feed.table() == [(7, 7)]


@pytest.mark.full
def test_old_partitions_of_a_source_may_be_removed(feed: Feed) -> None:
    feed.spark.sql(f"DROP TABLE {feed.schema}.bid")
    feed.spark.sql(
        f"CREATE TABLE {feed.schema}.bid (id BIGINT, ts TIMESTAMP, v BIGINT, k STRING) USING parquet PARTITIONED BY (k)"
    )
    add = f"INSERT INTO {feed.schema}.bid SELECT /*+ COALESCE(1) */ * FROM VALUES "
    feed.spark.sql(f"{add} (1, timestamp_seconds(1005), 1, 'a'), (2, timestamp_seconds(1006), 2, 'b')")
    feed.run(ROWS)
    feed.spark.sql(f"ALTER TABLE {feed.schema}.bid DROP PARTITION (k = 'a')")
    feed.spark.sql(f"{add} (3, timestamp_seconds(1007), 3, 'c')")
    refused(feed, ROWS, "was overwritten: 1 of the files")
    feed.run(ROWS, on_source_change="accept")
    assert feed.table() == [(1, 1), (2, 2), (3, 3)]
    # What was accepted once is no question any more, not even where new rows come to the same partition.
    feed.spark.sql(f"{add} (4, timestamp_seconds(1008), 4, 'a')")
    feed.run(ROWS, on_source_change="accept")
    assert feed.table() == [(1, 1), (2, 2), (3, 3), (4, 4)]


@pytest.mark.long
def test_a_source_file_written_again_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"INSERT INTO {feed.schema}.ask VALUES (2, timestamp_seconds(1006), 'a', 2)")
    [old] = location(feed, "bid").glob("*.parquet")
    [other] = location(feed, "ask").glob("*.parquet")
    (old.parent / f".{old.name}.crc").unlink()
    shutil.copyfile(other, old)
    os.utime(old, (time.time() + 5, time.time() + 5))
    refused(feed, ROWS, "1 of its files were written again", old.name, "on_source_change='accept'")
    feed.run(ROWS, on_source_change="accept")
    feed.run(ROWS)
    assert feed.table() == [(1, 1)]
    os.utime(old, (time.time() + 9, time.time() + 9))
    feed.run(ROWS, on_source_change="rebuild")
    assert feed.table() == [(2, 2)]


@pytest.mark.long
def test_rows_of_others_are_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"INSERT INTO {feed.schema}.model VALUES (9, 9, 77)")
    refused(feed, ROWS, "something else has written", "DROP PARTITION")
    refused(feed, ROWS, "something else has written", on_foreign_write="accept")
    feed.spark.sql(f"ALTER TABLE {feed.schema}.model DROP PARTITION (micro_batch = 77)")
    feed.run(ROWS)
    feed.spark.sql(f"INSERT INTO {feed.schema}.model VALUES (9, 9, 0)")
    refused(feed, ROWS, "something else has written", "on_foreign_write")
    feed.run(ROWS, on_foreign_write="accept")
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (9, 9)]


@pytest.mark.long
def test_a_lost_checkpoint_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    (kept(feed) / "checkpoint" / "metadata").unlink()
    feed.add("bid", [(2, 1006, "a", 1)])
    refused(feed, ROWS, f"the checkpoint in file:{kept(feed)}/checkpoint is damaged", "--full-refresh", "Spark says")
    shutil.rmtree(kept(feed) / "checkpoint")
    refused(feed, ROWS, "checkpoint", "gone")


@pytest.mark.long
def test_a_model_and_its_table_may_get_another_name(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE)
    feed.spark.sql(f"ALTER TABLE {feed.schema}.model RENAME TO {feed.schema}.renamed")
    feed.add("bid", [(3, 1100, "b", 2)])
    feed.run(TUMBLE, "renamed")
    assert feed.table("renamed") == feed.batch(TUMBLE, "window_end <= timestamp_seconds(1090)")


def test_truncating_the_table_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"TRUNCATE TABLE {feed.schema}.model")
    refused(feed, ROWS, "--full-refresh")


@pytest.mark.parametrize(
    ("when", "sql"),
    [
        pytest.param("before", TUMBLE, id="before-tumble"),
        pytest.param("after", TUMBLE, id="after-tumble", marks=pytest.mark.long),
        pytest.param("before", HOP, id="before-hop_of_slices", marks=pytest.mark.long),
        pytest.param("after", HOP, id="after-hop_of_slices", marks=pytest.mark.full),
    ],
)
def test_an_interrupted_micro_batch_comes_again(
    feed: Feed, when: str, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(sql)
    feed.add("bid", [(3, 1061, "a", 1), (4, 1101, "b", 2)])
    write = Append.__call__

    def dies(self: Append, rows: object, batch: int) -> None:
        if batch == 3 and when == "before":
            raise RuntimeError("killed")
        write(self, rows, batch)  # type: ignore[arg-type]
        if batch == 3:
            raise RuntimeError("killed")

    monkeypatch.setattr(Append, "__call__", dies)
    with pytest.raises(StreamingError, match="killed"):
        feed.run(sql)
    monkeypatch.undo()
    files = sorted(location(feed).glob("micro_batch=3/*.parquet"))
    assert bool(files) == (when == "after")
    feed.run(sql)
    assert feed.table() == feed.batch(sql, "window_end <= timestamp_seconds(1091)")
    if files:  # whoever reads the table as a stream must not see its rows twice
        assert sorted(location(feed).glob("micro_batch=3/*.parquet")) == files


@pytest.mark.long
@pytest.mark.parametrize("interrupted", [False, True], ids=["done", "interrupted"])
def test_a_seed_loaded_again(feed: Feed, interrupted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are those of the model, unless the run that read them was killed."""
    feed.checksums["bid"] = "sum of the rows"
    feed.add("bid", [(1, 1005, "a", 1)])
    if interrupted:
        with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):

            def dies(self: Append, rows: object, batch: int) -> None:
                raise RuntimeError("killed")

            patched.setattr(Append, "__call__", dies)
            feed.run(ROWS)
    else:
        feed.run(ROWS)
    feed.spark.sql(f"INSERT OVERWRITE {feed.schema}.bid SELECT * FROM VALUES (1, timestamp_seconds(1005), 'a', 1)")
    if interrupted:
        refused(feed, ROWS, "lacks 1 files that an interrupted run has begun to read")
        feed.run(ROWS, on_source_change="rebuild")
    else:
        assert "nothing new" in feed.run(ROWS).message
    assert feed.table() == [(1, 1)]


@pytest.mark.full
def test_a_file_that_cannot_be_read(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    before = set(location(feed, "bid").glob("*.parquet"))
    feed.add("bid", [(2, 1006, "a", 2)])
    [broken] = set(location(feed, "bid").glob("*.parquet")) - before
    whole = broken.read_bytes()
    broken.with_name(f".{broken.name}.crc").unlink()
    broken.write_bytes(whole[:40])
    refused(feed, ROWS, "a file can't be read", broken.name, "under the same name", "on_source_change='accept'")
    # Mended, it is read. It belongs to a micro-batch that was interrupted, so it is none that was written again.
    broken.write_bytes(whole)
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2)]
    feed.add("bid", [(3, 1007, "a", 3)])
    [broken] = set(location(feed, "bid").glob("*.parquet")) - before - {broken}
    broken.with_name(f".{broken.name}.crc").unlink()
    broken.write_bytes(b"nothing")
    refused(feed, ROWS, "a file can't be read", broken.name)
    broken.unlink()
    refused(feed, ROWS, "lacks 1 files that an interrupted run has begun to read", broken.name, "put them back")
    feed.add("bid", [(4, 1008, "a", 4)])
    feed.run(ROWS, on_source_change="accept")
    feed.run(ROWS, on_source_change="accept")
    assert feed.table() == [(1, 1), (2, 2), (4, 4)]


@pytest.mark.parametrize(
    "same", [pytest.param(True, id="same_rows"), pytest.param(False, id="other_rows", marks=pytest.mark.long)]
)
def test_a_half_written_micro_batch_is_completed(feed: Feed, same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill may come when some partitions of a micro-batch are in the catalog, and others in the folder alone."""
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS, partition_by=("v",))
    feed.add("bid", [(i, 1010, "a", i if i < 8 else None) for i in range(2, 10)])
    table, write = f"{feed.schema}.model", appends.overwrite

    def half(rows: DataFrame, name: str) -> None:
        # 99 is a row that the second attempt doesn't have, as of a table that a join reads.
        other = rows.where("v = 2").selectExpr("99L AS id", "99L AS v", "micro_batch")
        some = rows.where("v < 6")
        write(some if same else some.unionByName(other), name)
        moved = location(feed) / "v=4" / "micro_batch=1"
        shutil.move(moved, moved.with_name("aside"))
        feed.spark.sql(f"ALTER TABLE {table} DROP PARTITION (v = 4, micro_batch = 1)")
        shutil.move(moved.with_name("aside"), moved)
        raise RuntimeError("killed")

    monkeypatch.setattr(appends, "overwrite", half)
    with pytest.raises(StreamingError, match="killed"):
        feed.run(ROWS, partition_by=("v",))
    monkeypatch.undo()
    assert len(feed.table()) == (4 if same else 5)
    files = set(location(feed).glob("v=*/micro_batch=1/*.parquet"))
    feed.run(ROWS, partition_by=("v",))
    assert sorted(row[0] for row in feed.table()) == list(range(1, 10))
    # Streams that read the table have read these files, perhaps.
    assert (files <= set(location(feed).glob("v=*/micro_batch=1/*.parquet"))) == same


@pytest.mark.long
def test_a_write_replaces_its_micro_batch_alone(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the session says: of a Spark that is being stopped, all settings are Spark's defaults."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "b", 1)])
    feed.run(TUMBLE, keep_late=True)
    feed.add("bid", [(3, 1006, "a", 1), (4, 1100, "b", 1)])
    mode, write, overwrite = "spark.sql.sources.partitionOverwriteMode", FolderAppend._write, engine.overwrite

    def micro_batch(own: FolderAppend, rows: DataFrame, batch: int) -> None:
        rows.sparkSession.conf.set(mode, "static")
        write(own, rows, batch)

    def late_rows(rows: DataFrame, name: str) -> None:
        rows.sparkSession.conf.set(mode, "static")
        overwrite(rows, name)

    monkeypatch.setattr(FolderAppend, "_write", micro_batch)
    monkeypatch.setattr(engine, "overwrite", late_rows)
    assert feed.run(TUMBLE, keep_late=True).late == 1
    feed.add("bid", [(5, 1006, "a", 1)])
    assert feed.run(TUMBLE, keep_late=True).late == 1
    assert len(feed.table()) == 2
    assert len(feed.table("model__late")) == 2
    assert (kept(feed) / "checkpoint" / "metadata").exists()


@pytest.mark.long
def test_a_query_of_an_earlier_run_writes_nothing_any_more(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.add("bid", [(2, 1006, "a", 2)])
    check = sink.Sink.check_owned
    taken = "'sparkstream.run' = '{\"id\": \"another\"}'"

    def late(self: sink.Sink, spark: SparkSession) -> None:
        feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ({taken})")
        check(self, spark)

    monkeypatch.setattr(sink.Sink, "check_owned", late)
    refused(feed, ROWS, "another run has taken over")
    taken = "'sparkstream.table' = 'made anew'"
    refused(feed, ROWS, "another run has taken over")


@pytest.mark.long
def test_a_table_made_anew_has_a_checkpoint_of_its_own(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS, checkpoint_location=feed.folder("state"))
    first = set(Path(feed.folder("state").removeprefix("file:")).iterdir())
    feed.run(ROWS, checkpoint_location=feed.folder("state"), rebuild=True)
    second = set(Path(feed.folder("state").removeprefix("file:")).iterdir()) - first
    assert len(first) == len(second) == 1
    assert not list(first.pop().iterdir())
    assert feed.table() == [(1, 1)]
    # A run was killed while it dropped the table: the catalog has forgotten it, and its folder is there.
    aside = location(feed).with_name("aside")
    shutil.copytree(location(feed), aside)
    feed.spark.sql(f"DROP TABLE {feed.schema}.model")
    aside.rename(aside.with_name("model"))
    feed.run(ROWS, checkpoint_location=feed.folder("state"))
    assert feed.table() == [(1, 1)]
    feed.spark.sql(f"DROP TABLE {feed.schema}.model")
    aside.with_name("model").mkdir()
    (aside.with_name("model") / "mine.txt").write_text("mine")
    with pytest.raises(StreamingError, match=r"holds files of something else, such as .*mine\.txt"):
        feed.run(ROWS, checkpoint_location=feed.folder("state"))


@pytest.mark.long
def test_a_second_run_is_refused_and_a_dead_one_taken_over(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)

    monkeypatch.setattr(lease, "WATCHED", 2.5)

    def holder(pid: int, host: str, seen: float) -> None:
        here = {"place": place(), "born": birth(1)} if host == socket.gethostname() else {}
        text = json.dumps({"id": "x", "host": host, "pid": pid, "alive": seen, **here})
        feed.spark.sql(
            f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.run' = {string_literal(text)})"
        )

    feed.add("bid", [(2, 1006, "a", 2)])
    holder(1, socket.gethostname(), time.time())
    refused(feed, ROWS, "another run of this model", "process 1")
    holder(4711, "elsewhere", time.time())
    refused(feed, ROWS, "process 4711 on elsewhere")
    holder(4711, "elsewhere", time.time())
    refused(feed, TUMBLE, "process 4711 on elsewhere", on_query_change="rebuild")  # which would drop its table
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    holder(dead, socket.gethostname(), time.time())
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2)]
    feed.add("bid", [(3, 1007, "a", 3)])
    # Its clock, or ours, may be wrong by a day. It gives no sign of life.
    holder(4711, "elsewhere", time.time() + 86400)
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2), (3, 3)]
    held = feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.model ('sparkstream.run')").collect()
    assert held[0][1] == ""


@pytest.mark.long
def test_models_of_two_processes_note_their_micro_batches(feed: Feed) -> None:
    """Each writes to a folder of its own; in one, each would remove the other's files on their way."""
    table, at = f"{feed.schema}.sparkstream_runs", datetime(2020, 4, 15, tzinfo=timezone.utc)

    def note(model: str) -> None:
        own = engine.Engine(quick_session(feed.spark))
        for number in range(4):
            batch = MicroBatch(number, at, 5, 1, None, 0, 0)
            known = Model(model, model, f"db.{model}", table, "", "spark", StreamConfig(), ())
            RunsTable(own, known, "t").record([batch], {}, {}, {})

    note("model.shop.first")
    with ThreadPoolExecutor() as pool:
        list(pool.map(note, ["model.shop.a", "model.shop.b", "model.shop.c"]))
    feed.spark.sql(f"REFRESH TABLE {table}")
    recorded = feed.spark.sql(f"SELECT model, count(*), max(batch) FROM {table} GROUP BY model").collect()
    assert sorted(map(tuple, recorded)) == [(f"model.shop.{name}", 4, 3) for name in ("a", "b", "c", "first")]


@pytest.mark.long
def test_state_is_empty_when_all_windows_are_closed(feed: Feed) -> None:
    feed.add("bid", [(i, 1000 + i, "abc"[i % 3], i) for i in range(100)])
    feed.run(TUMBLE, flush=True)
    states = feed.spark.sql(
        f"SELECT state_rows FROM {feed.schema}.sparkstream_runs ORDER BY batch DESC LIMIT 1"
    ).collect()
    assert [tuple(row) for row in states] == [(0,)]


@pytest.mark.parametrize(
    ("sql", "options", "words"),
    [
        (TUMBLE, {"watermark": None}, ["TUMBLE's time column ts has no watermark", "config(event_time='ts'"]),
        (HOP, {"watermark": None}, ["HOP's time column ts has no watermark", "config(event_time='ts'"]),
        (TUMBLE, {"event_time": "when"}, ["has no column when", "it has id, ts, k, v"]),
        (TUMBLE, {"event_time": None}, ["needs to know the event time"]),
        (TUMBLE, {"partition_by": ("nothing",)}, ["partition_by names nothing"]),
        (ROWS.replace("v", "v AS micro_batch"), {}, ["the column micro_batch is the adapter's own"]),
    ],
)
def test_errors_say_what_to_do(feed: Feed, sql: str, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(StreamingError) as error:
        feed.run(sql, **options)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("file_format", ["parquet", *seldom(["orc", "csv", "json"])])
@pytest.mark.parametrize("root", ["root", *seldom(["a [b] {c} d%20e"])])
def test_a_killed_micro_batch_in_a_folder_of_the_users(
    feed: Feed, root: str, file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is there, and no partition: its files stay, and the catalog gets the partition."""
    place = Path(feed.folder("x").removeprefix("file:")).parent / root
    options: dict[str, Any] = {"file_format": file_format, "location_root": f"file:{place}"}
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS, **options)
    feed.add("bid", [(2, 1006, "a", 2), (3, 1007, "a", None)])

    def dies(*_: object) -> bool:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(FolderAppend, "_is_there", dies)
        feed.run(ROWS, **options)
    assert feed.table() == [(1, 1)]
    [written] = (place / "model" / "micro_batch=1").glob("part-*")
    feed.run(ROWS, **options)
    assert sorted(feed.table(), key=str) == [(1, 1), (2, 2), (3, None)]
    assert list((place / "model" / "micro_batch=1").glob("part-*")) == [written]
    assert feed.run(ROWS, **options).rows == 0
    assert feed.spark.sql(f"SHOW PARTITIONS {feed.schema}.model").count() == 2
