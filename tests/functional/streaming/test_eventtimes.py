"""Rows whose time is too far ahead, and rows without a time: counted, kept, and no reason for others to be late."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.model import DAY
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker.appends import Append
from tests.functional.streaming.feed import Feed

BOUNDS = "window_start, window_end"
WINDOWS = {
    "tumble": f"SELECT {BOUNDS}, count(*) AS n FROM tumble(bid, ts, '20 seconds') WHERE k <> 'z' GROUP BY {BOUNDS}",
    "hop_of_slices": f"SELECT {BOUNDS}, count(*) AS n FROM hop(bid, ts, '1 second', '20 seconds') GROUP BY {BOUNDS}",
    "session": f"SELECT {BOUNDS}, count(*) AS n FROM session(bid, ts, '20 seconds') GROUP BY {BOUNDS}",
    "sessions_of_rows": f"SELECT id, {BOUNDS} FROM session(bid, ts, '20 seconds')",
    "over": "SELECT id, count(*) OVER (ORDER BY ts RANGE INTERVAL '5' SECOND PRECEDING) AS n FROM bid",
    "self_join": "SELECT L.window_end, L.id AS l, R.id AS r FROM (SELECT * FROM tumble(bid, ts, '20 seconds')) L "
    "JOIN (SELECT * FROM tumble(bid, ts, '20 seconds')) R ON L.window_start = R.window_start "
    "AND L.window_end = R.window_end AND L.v = R.v",
}
FAR = 4_070_908_800
"""2099-01-01."""
END = 100_000
CLOSED = f"timestamp_seconds({END - 10})"


def add(feed: Feed, *rows: tuple[int, int | None]) -> None:
    values = ", ".join(f"({i}, timestamp_seconds({'NULL' if t is None else t}), 'a', {i % 2})" for i, t in rows)
    feed.spark.sql(f"INSERT INTO {feed.schema}.bid SELECT /*+ COALESCE(1) */ * FROM VALUES {values}")


def left(feed: Feed, table: str = "model") -> list[tuple[Any, ...]]:
    """The counts of each micro-batch with any row left out."""
    rows = feed.spark.table(f"{feed.schema}.sparkstream_runs").where(f"relation = '{feed.schema}.{table}'")
    counts = rows.selectExpr("rows_late", "rows_ahead", "rows_without_time").collect()
    return [tuple(row) for row in counts if any(row)]


LONG = (("tumble", None),)
"""What `make test-long` runs; the others are for `make test-all`."""
CASES = [
    pytest.param(name, flush, marks=() if (name, flush) in LONG else pytest.mark.full)
    for name in WINDOWS
    for flush in (None, False)
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "flush"), CASES)
def test_a_row_of_2099_makes_no_other_late(feed: Feed, name: str, flush: bool | None) -> None:
    sql = WINDOWS[name]
    options: dict[str, Any] = {"keep_late": True, "flush": flush}
    feed.spark.sql(f"CREATE TABLE {feed.schema}.clean LIKE {feed.schema}.bid")
    add(feed, (1, 1000), (2, FAR), (3, None), (4, 1035))
    first = feed.run(sql, **options)
    assert "1 row too far ahead, 1 row without a time" in first.message  # a self-join's sides have the same rows
    add(feed, (5, 1030), (6, 1060), (7, FAR + 5))
    second = feed.run(sql, **options)
    assert second.late == 0
    assert "without" not in second.message
    add(feed, (8, END))
    feed.run(sql, **options)
    kept = feed.spark.table(f"{feed.schema}.model__late").select("id", "reason").collect()
    ahead, untimed = "time too far ahead", "no event time"
    assert sorted(map(tuple, kept)) == [(2, ahead), (3, untimed), (7, ahead)]
    assert left(feed) == [(0, 1, 1), (0, 1, 0)]
    # Whatever the rows left out are, the table is that of the others.
    feed.spark.sql(
        f"INSERT OVERWRITE {feed.schema}.clean SELECT * FROM {feed.schema}.bid WHERE ts < timestamp_seconds({FAR})"
    )
    batch = sql.replace("(bid", "(clean").replace("FROM bid", "FROM clean")
    end = "id <> 8" if "id" in feed.spark.table(f"{feed.schema}.model").columns else f"window_end < {CLOSED}"
    found = [row for row in feed.table() if name != "self_join" or 8 not in row]  # a join doesn't wait
    assert found == feed.batch(batch, end)


@pytest.mark.full
def test_flush_still_closes_all_windows(feed: Feed) -> None:
    add(feed, (1, 1000), (2, FAR), (3, None))
    outcome = feed.run(WINDOWS["tumble"], flush=True, keep_late=True)
    assert "1 window closed, 1 row too far ahead, 1 row without a time, all windows closed" in outcome.message
    add(feed, (4, 1001), (5, FAR))
    assert feed.run(WINDOWS["tumble"], flush=True, keep_late=True).late == 1
    kept = feed.spark.table(f"{feed.schema}.model__late").select("id", "reason").collect()
    assert (4, "window closed") in map(tuple, kept)
    assert sorted(left(feed)) == [(0, 1, 1), (1, 1, 0)]


def test_rows_that_wait_for_nothing_all_go_through(feed: Feed) -> None:
    add(feed, (1, 1000), (2, FAR), (3, None))
    feed.run("SELECT id, ts FROM bid")
    assert [row[0] for row in feed.table()] == [1, 2, 3]


@pytest.mark.full
def test_a_limit_of_ones_own_and_none(feed: Feed) -> None:
    now = int(time.time())
    add(feed, (1, 1000), (2, now + 2 * 3600))
    assert "1 row too far ahead" in feed.run(WINDOWS["tumble"], max_future=Interval.parse("1 hour")).message
    # What a limit lets through may change from run to run.
    add(feed, (3, 1030), (4, now + 2 * 3600))
    assert "too far" not in feed.run(WINDOWS["tumble"], max_future=DAY).message
    add(feed, (5, FAR))
    outcome = feed.run(WINDOWS["tumble"], max_future=None)
    assert "watermark 2098-12-31 23:59:50" in outcome.message
    feed.spark.sql(
        f"INSERT INTO {feed.schema}.bid VALUES (6, timestamp'9999-12-31', 'a', 1), (7, timestamp'+54000-01-01', 'a', 1)"
    )
    assert "2 rows too far ahead" in feed.run(WINDOWS["tumble"], max_future=None).message


def test_what_is_told(feed: Feed) -> None:
    add(feed, (1, 1000), (2, FAR), (3, FAR - 1), (4, None))
    told: list[str] = []
    feed.run(WINDOWS["tumble"], warn=told.append)
    [warning] = told
    for words in (
        "model.test.model: 2 rows left out with times more than 1 day ahead of the clock, such as 2099-01-01 00:00:00",
        "late_rows='keep'",
        "max_future='off'",
    ):
        assert words in warning
    feed.run(WINDOWS["tumble"], warn=told.append)
    assert len(told) == 1


@pytest.mark.long
def test_a_micro_batch_that_comes_again_has_the_clock_it_had(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that was ahead when the micro-batch was planned is ahead when it comes again, years later."""

    def dies(self: Append, rows: object, batch: int) -> None:
        raise RuntimeError("killed")

    add(feed, (1, 1000), (2, 1_600_000_000))
    monkeypatch.setattr(Append, "__call__", dies)
    with pytest.raises(StreamingError, match="killed"):
        feed.run(WINDOWS["tumble"], keep_late=True)
    monkeypatch.undo()
    [offsets] = Path(feed.folder("").removeprefix("file:")).rglob("offsets/0")
    planned = offsets.read_text()
    clock = json.loads(planned.splitlines()[1])["batchTimestampMs"]
    offsets.write_text(planned.replace(str(clock), "1500000000000"))
    (offsets.parent / ".0.crc").unlink()
    outcome = feed.run(WINDOWS["tumble"], keep_late=True)
    assert "1 row too far ahead, watermark 1970-01-01 00:16:30" in outcome.message
    kept = feed.spark.table(f"{feed.schema}.model__late").select("id", "reason").collect()
    assert [tuple(row) for row in kept] == [(2, "time too far ahead")]


@pytest.mark.full
def test_the_second_of_two_streams(feed: Feed) -> None:
    """Spark reports the times of one stream only."""
    sql = f"SELECT {BOUNDS}, count(*) AS n FROM hop((SELECT ts FROM ask UNION ALL SELECT ts FROM bid), ts, '1 second', "
    sql += f"'20 seconds') GROUP BY {BOUNDS}"
    feed.add("ask", [(1, 1000, "a", 1), (2, 1060, "a", 1)])
    add(feed, (3, 1000), (4, 1060), (5, FAR), (6, None))
    assert "1 row too far ahead, 1 row without a time" in feed.run(sql).message
    feed.add("ask", [(7, 1070, "a", 1)])
    add(feed, (8, 1070), (9, 1020))
    assert feed.run(sql).late == 20


@pytest.mark.long
def test_a_stream_that_no_file_has(feed: Feed) -> None:
    """Rows that can't be read again are counted within the query."""
    from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
    from pyspark.sql.types import StructType

    class Reader(SimpleDataSourceStreamReader):
        def initialOffset(self) -> dict[str, int]:
            return {"at": 0}

        def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[Any, ...]], dict[str, int]]:
            from datetime import datetime, timezone

            times = [1000, None, FAR, None] if start["at"] == 0 else []
            rows = [(i, None if t is None else datetime.fromtimestamp(t, timezone.utc)) for i, t in enumerate(times)]
            return iter(rows), {"at": 4}

        def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[tuple[Any, ...]]:
            return self.read(start)[0]

    class Sensors(DataSource):
        @classmethod
        def name(cls) -> str:
            return "sensors"

        def schema(self) -> str:
            return "id int, ts timestamp"

        def simpleStreamReader(self, schema: StructType) -> Reader:
            return Reader()

    told: list[str] = []
    feed.readers = {"bid": {"format": "sensors"}}
    feed.prepare = lambda session: session.dataSource.register(Sensors)
    outcome = feed.run(WINDOWS["tumble"].replace("WHERE k <> 'z' ", ""), warn=told.append, keep_late=True)
    assert "1 row too far ahead, 2 rows without a time" in outcome.message
    assert left(feed) == [(0, 1, 2)]
    assert "2099-01-01" in told[0]


@pytest.mark.long
def test_a_table_of_runs_gets_the_new_columns(feed: Feed) -> None:
    add(feed, (1, 1000))
    feed.run(WINDOWS["tumble"])
    runs = f"{feed.schema}.sparkstream_runs"
    columns = [c for c in feed.spark.table(runs).columns if c not in ("rows_ahead", "rows_without_time")]
    feed.spark.sql(f"CREATE TABLE {feed.schema}.old USING parquet AS SELECT {', '.join(columns)} FROM {runs}")
    feed.spark.sql(f"DROP TABLE {runs}")
    feed.spark.sql(f"ALTER TABLE {feed.schema}.old RENAME TO {runs}")
    add(feed, (2, None))
    feed.run(WINDOWS["tumble"])
    assert left(feed) == [(0, 0, 1)]
