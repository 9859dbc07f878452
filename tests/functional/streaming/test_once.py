"""Once and only once: whatever happens to a table, its sources or a run, no row is lost or doubled silently."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.sql.interval import Interval
from dbt.adapters.sparkstream.sql.literals import string_literal
from dbt.adapters.sparkstream.streaming import sink
from dbt.adapters.sparkstream.streaming.errors import StreamingError
from tests.functional.streaming.feed import Feed

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


def refused(feed: Feed, sql: str, *words: str, **options: object) -> None:
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


def test_flush_closes_all_windows(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE, flush=False)
    assert len(feed.table()) == 1
    outcome = feed.run(TUMBLE, flush=True)
    assert "all windows closed" in outcome.message
    assert feed.table() == feed.batch(TUMBLE)
    feed.add("bid", [(3, 5000, "a", 1)])
    assert feed.run(TUMBLE, flush=True).late == 1


def test_another_query_is_refused_or_rebuilds(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TUMBLE)
    feed.run(TUMBLE.replace("GROUP", "  /* the same */ group"))
    refused(feed, TUMBLE.replace("20 seconds", "10 seconds"), "the query", "--full-refresh", "on_query_change")
    refused(feed, TUMBLE.replace("bid,", "(SELECT * FROM bid WHERE v > 0),"), "have changed")
    refused(feed, TUMBLE, "have changed", watermark=Interval.parse("1 second"))
    feed.run(TUMBLE.replace("20 seconds", "10 seconds"), on_query_change="rebuild")
    assert [row[2:] for row in feed.table()] == [("a", 1)]


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


def test_the_state_of_windows_is_not_that_of_slices(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(HOP)
    assert feed.state() == 1  # the slice of 1060
    feed.optimize = False
    refused(feed, HOP, "have changed", "--full-refresh")
    feed.run(HOP, on_query_change="rebuild")
    assert feed.table() == feed.batch(HOP, "window_end <= timestamp_seconds(1050)")


def test_a_source_made_anew_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"DROP TABLE {feed.schema}.bid")
    time.sleep(1.1)  # the catalog knows seconds
    feed.spark.sql(f"CREATE TABLE {feed.schema}.bid (id BIGINT, ts TIMESTAMP, k STRING, v BIGINT) USING parquet")
    feed.add("bid", [(1, 1005, "a", 1), (2, 1006, "a", 2)])
    refused(feed, ROWS, "made anew")
    feed.run(ROWS, on_source_change="rebuild")
    assert feed.table() == [(1, 1), (2, 2)]


def test_an_overwritten_source_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"INSERT OVERWRITE {feed.schema}.bid SELECT 7, timestamp_seconds(1005), 'a', 7")
    refused(feed, ROWS, "was overwritten")
    feed.run(ROWS, on_source_change="accept")
    assert feed.table() == [(1, 1), (7, 7)]


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


def test_a_lost_checkpoint_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    shutil.rmtree(location(feed) / "_checkpoint")
    refused(feed, ROWS, "checkpoint", "gone")


def test_truncating_the_table_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)
    feed.spark.sql(f"TRUNCATE TABLE {feed.schema}.model")
    refused(feed, ROWS, "--full-refresh")


@pytest.mark.parametrize("sql", [TUMBLE, HOP], ids=["tumble", "hop_of_slices"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupted_micro_batch_comes_again(
    feed: Feed, when: str, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(sql)
    feed.add("bid", [(3, 1061, "a", 1), (4, 1101, "b", 2)])
    write = sink.Append.__call__

    def dies(self: sink.Append, rows: object, batch: int) -> None:
        if batch == 3 and when == "before":
            raise RuntimeError("killed")
        write(self, rows, batch)  # type: ignore[arg-type]
        if batch == 3:
            raise RuntimeError("killed")

    monkeypatch.setattr(sink.Append, "__call__", dies)
    with pytest.raises(StreamingError, match="killed"):
        feed.run(sql)
    monkeypatch.undo()
    files = sorted(location(feed).glob("micro_batch=3/*.parquet"))
    assert bool(files) == (when == "after")
    feed.run(sql)
    assert feed.table() == feed.batch(sql, "window_end <= timestamp_seconds(1091)")
    if files:  # whoever reads the table as a stream must not see its rows twice
        assert sorted(location(feed).glob("micro_batch=3/*.parquet")) == files


def test_a_second_run_is_refused_and_a_dead_one_taken_over(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.run(ROWS)

    def holder(pid: int, host: str, seen: float) -> None:
        text = json.dumps({"id": "x", "host": host, "pid": pid, "alive": seen})
        feed.spark.sql(
            f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.run' = {string_literal(text)})"
        )

    feed.add("bid", [(2, 1006, "a", 2)])
    holder(1, socket.gethostname(), time.time())
    refused(feed, ROWS, "another run of this model", "process 1")
    holder(4711, "elsewhere", time.time())
    refused(feed, ROWS, "process 4711 on elsewhere")
    refused(feed, TUMBLE, "process 4711 on elsewhere", on_query_change="rebuild")  # which would drop its table
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    holder(dead, socket.gethostname(), time.time())
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2)]
    feed.add("bid", [(3, 1007, "a", 3)])
    holder(4711, "elsewhere", time.time() - 120)
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2), (3, 3)]
    held = feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.model ('sparkstream.run')").collect()
    assert held[0][1] == ""


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
def test_errors_say_what_to_do(feed: Feed, sql: str, options: dict[str, object], words: list[str]) -> None:
    with pytest.raises(StreamingError) as error:
        feed.run(sql, **options)
    for word in words:
        assert word in str(error.value)
