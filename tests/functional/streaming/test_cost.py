"""A run after many others costs what one after few does, and one with nothing new next to nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming import ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.watch import Watch
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.staging import Compaction
from dbt.adapters.sparkstream.streaming.worker.corrections import Corrections
from dbt.adapters.sparkstream.streaming.worker.sink import Done
from tests.functional.streaming.feed import Feed

FROM = "FROM tumble(bid, ts, '20 seconds') GROUP BY window_start, window_end"
TUMBLE = f"SELECT window_start, count(*) AS n {FROM}"
BOUNDED = f"SELECT window_start, window_end, count(*) AS n {FROM}"
START, FILES = Engine.start, Engine.files


class Asked:
    """What runs ask of Spark."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.queries = 0
        self.listed: list[int] = []
        monkeypatch.setattr(Engine, "start", lambda engine, *args: self._start(engine, *args))
        monkeypatch.setattr(Engine, "files", lambda engine, *args: self._files(engine, *args))

    def _start(self, engine: Engine, *args: Any) -> Any:
        self.queries += 1
        return START(engine, *args)

    def _files(self, engine: Engine, table: str, folder: str) -> list[str]:
        found = FILES(engine, table, folder)
        self.listed.append(len(found))
        return found


def counted(feed: Feed) -> list[int]:
    return [n for (n,) in feed.spark.sql(f"SELECT n FROM {feed.schema}.model ORDER BY window_start").collect()]


def jobs(feed: Feed) -> int:
    scheduler: Any = feed.spark._jsc.sc().dagScheduler()
    return int(scheduler.numTotalJobs())


def test_a_run_with_nothing_new_starts_no_query(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    feed.add("bid", [(1, 1000, "a", 1), (2, 1031, "a", 1)])
    feed.run(TUMBLE)
    feed.add("bid", [(3, 1051, "a", 1)])
    feed.run(TUMBLE)
    assert asked.listed == [0, 1]  # by each run as it begins; the query that counts its rows names their files
    queries, before = asked.queries, jobs(feed)
    assert feed.run(TUMBLE).message == "+0 rows, nothing new"
    assert (asked.queries - queries, jobs(feed) - before) == (0, 2)  # they read the checkpoint, and list the source
    feed.add("bid", [(4, 1071, "a", 1)])
    assert feed.run(TUMBLE).rows == 1
    assert counted(feed) == [1, 1, 1]


def test_many_folders_on_a_disk_are_listed_without_a_job(feed: Feed) -> None:
    query = f"SELECT k, window_start, count(*) AS n {FROM}, k"
    feed.add("bid", [(n, 1000, f"item {n}", 1) for n in range(40)] + [(40, 1031, "last", 1)])
    assert feed.run(query, partition_by=["k"]).rows == 40
    before = jobs(feed)
    assert feed.run(query, partition_by=["k"]).message == "+0 rows, nothing new"
    assert jobs(feed) - before == 2


def test_a_run_that_was_told_to_end_leaves_windows_to_the_next_one(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    feed.add("bid", [(1, 1000, "a", 1), (2, 1031, "a", 1)])
    told = iter([False])
    feed.run(TUMBLE, stopping=lambda: next(told, True))
    # There are no new files. Whether the micro-batch that closes [1000, 1020) was still to come is up to the clock.
    feed.run(TUMBLE)
    assert asked.queries == 2
    assert counted(feed) == [1]
    feed.run(TUMBLE)
    assert asked.queries == 2


@pytest.mark.long
def test_what_is_due_without_new_files(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these needs a run, though no file has come; the run after it starts no query."""
    asked = Asked(monkeypatch)
    options: dict[str, Any] = {"compact_every": 1, "keep_late": True}

    def runs(query: str = TUMBLE, **given: Any) -> int:
        before = asked.queries
        feed.run(query, **{**options, **given})
        return asked.queries - before

    def recorded(name: str) -> str:
        [row] = feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.model ('sparkstream.{name}')").collect()
        return str(row[1])

    feed.add("bid", [(1, 1000, "a", 1), (2, 1031, "a", 1)])
    assert (runs(), runs()) == (1, 0)
    # A run that has written its rows, and could not say so.
    feed.add("bid", [(3, 1051, "a", 1)])
    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(Watch, "end", failing)
        runs()
    assert (recorded("batch"), recorded("run")) == ("1", "")
    assert (runs(), recorded("batch"), runs()) == (1, "3", 0)
    # A compaction that has failed.
    feed.add("bid", [(4, 1071, "a", 1)])
    with monkeypatch.context() as patched:
        patched.setattr(Compaction, "fill", failing)
        assert runs() == 1
    assert len(files(feed)) == 2
    assert (runs(), len(files(feed)), runs()) == (1, 1, 0)
    # Files from before it that nobody reads any more.
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "GRACE", -1)
        assert recorded("left_files") != ""
        assert (runs(), recorded("left_files"), runs()) == (1, "", 0)
    # The table of late rows.
    feed.spark.sql(f"DROP TABLE {feed.schema}.model__late")
    assert (runs(), runs()) == (1, 0)
    # What others write, and another query.
    feed.spark.sql(f"INSERT INTO {feed.schema}.model SELECT timestamp_seconds(0), 7, {recorded('batch')}")
    with pytest.raises(StreamingError, match="something else has written"):
        runs()
    assert (runs(on_foreign_write="accept"), runs()) == (1, 0)
    with pytest.raises(StreamingError, match="the query: "):
        runs(f"{TUMBLE} HAVING count(*) > 0")
    assert (runs(f"{TUMBLE} HAVING count(*) > 0", on_query_change="rebuild"), counted(feed)) == (1, [1, 1, 1])
    assert feed.run(TUMBLE, rebuild=True, **options).rows == 3


def failing(*_: Any) -> None:
    raise StreamingError("killed")


def files(feed: Feed) -> list[str]:
    feed.spark.sql(f"REFRESH TABLE {feed.schema}.model")
    return list(feed.spark.table(f"{feed.schema}.model").inputFiles())


@pytest.mark.full
def test_a_correction_that_was_interrupted_is_due(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    update: dict[str, Any] = {"keep_late": True, "lateness": Interval.parse("60 seconds")}
    feed.add("bid", [(1, 1000, "a", 1), (2, 1045, "a", 1)])
    feed.run(BOUNDED, **update)
    feed.add("bid", [(3, 1001, "a", 1), (4, 985, "a", 1)])
    for target, method in ((Corrections, "rewrite"), (Done, "record")):
        with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
            patched.setattr(target, method, failing)
            feed.run(BOUNDED, **update)
    queries = asked.queries
    done = feed.run(BOUNDED, **update)
    # One window had rows before, and one is new.
    assert (asked.queries - queries, done.rows) == (1, 1)
    assert "1 window closed, 2 windows corrected" in done.message
    assert counted(feed) == [1, 2]
    assert "nothing new" in feed.run(BOUNDED, **update).message
    assert asked.queries == queries + 1
    runs = feed.spark.table(f"{feed.schema}.sparkstream_runs").orderBy("batch")
    assert [row[0] for row in runs.select("windows_corrected").collect()] == [0, 0, 2]


@pytest.mark.full
def test_the_state_is_put_together_while_a_short_run_lasts(feed: Feed) -> None:
    began = time.monotonic()
    snapshots: list[Path] = []
    for number in range(30):
        feed.add("bid", [(number, 1000 + 20 * number, "a", 1)])
        feed.run(TUMBLE)
        location = feed.spark.sql(f"DESCRIBE SCHEMA {feed.schema}").where("info_name = 'Location'").collect()[0][1]
        [state] = Path(urlsplit(location).path).glob("_sparkstream/model-*/checkpoint/state/0/0")
        snapshots = list(state.glob("*.snapshot"))
        if snapshots:
            break
    # Two micro-batches a run; ten changes make a snapshot. By itself, Spark would look for them after a minute.
    assert snapshots and (number < 15 or time.monotonic() - began < 60)
