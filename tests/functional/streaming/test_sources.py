"""Sources of streams: views over a table, event times without a zone; and clocks that are turned back."""

from __future__ import annotations

import random

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.functional.streaming.feed import Feed

BOUNDS = "window_start, window_end"
TOTALS = f"SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k"
END = 100_000


@pytest.mark.long
def test_a_view_streams_as_its_table(feed: Feed) -> None:
    feed.spark.sql(f"ALTER TABLE {feed.schema}.bid RENAME TO {feed.schema}.raw")
    feed.spark.sql(f"USE {feed.schema}")
    feed.spark.sql("CREATE VIEW staged AS WITH r AS (SELECT *, upper(k) AS u FROM raw WHERE v > 1) SELECT * FROM r")
    view = "CREATE OR REPLACE VIEW bid AS SELECT id, ts, staged.u AS k, v * 10 AS v FROM staged"
    feed.spark.sql(view)
    feed.add("raw", [(1, 1000, "a", 1), (2, 1001, "a", 2), (3, 1015, "b", 3), (4, 1019, "a", 4)])
    feed.run(TOTALS, keep_late=True)
    feed.add("raw", [(5, 1100, "b", 5), (6, 1018, "a", 6)])
    feed.run(TOTALS, keep_late=True)
    feed.add("raw", [(7, END, "a", 7), (8, 1002, "a", 8)])
    assert feed.run(TOTALS, keep_late=True).late == 1
    feed.spark.sql("CREATE VIEW in_time AS SELECT * FROM bid WHERE id <> 8")
    assert feed.table() == feed.batch(TOTALS.replace("bid", "in_time"), f"window_end < timestamp_seconds({END - 10})")
    late = feed.spark.table(f"{feed.schema}.model__late").select("id", "k", "v").collect()
    assert [tuple(row) for row in late] == [(8, "A", 80)]
    feed.spark.sql(view)  # as dbt does in every run
    assert feed.run(TOTALS, keep_late=True).rows == 0
    feed.spark.sql(view.replace("10", "20"))
    with pytest.raises(StreamingError, match="have changed since the table was made"):
        feed.run(TOTALS, keep_late=True)


@pytest.mark.parametrize("query", ["SELECT ts, count(*) AS v FROM ask GROUP BY ts", "SELECT a.* FROM ask a, ask b"])
def test_a_view_that_takes_more_than_a_row(feed: Feed, query: str) -> None:
    feed.spark.sql(f"DROP TABLE {feed.schema}.bid")
    feed.spark.sql(f"USE {feed.schema}")
    feed.spark.sql(f"CREATE VIEW bid AS {query}")
    with pytest.raises(StreamingError, match=r"a view that doesn't stream: it has (GROUP BY|an aggregate|a join)"):
        feed.run("SELECT * FROM bid")


@pytest.mark.long
def test_a_property_of_a_user_makes_no_streaming_table(feed: Feed) -> None:
    text = "sparkstream.updates=true, sparkstream.compacts=true"
    feed.spark.sql(f"ALTER TABLE {feed.schema}.bid SET TBLPROPERTIES (note = '{text}')")
    feed.add("bid", [(1, 1000, "a", 1)])
    assert feed.run("SELECT id, k FROM bid").rows == 1


def test_an_event_time_without_a_zone(feed: Feed) -> None:
    """It is on the clock of the session's zone."""
    feed.zone = "America/New_York"
    table = f"{feed.schema}.bid"
    feed.spark.sql(f"DROP TABLE {table}")
    feed.spark.sql(f"CREATE TABLE {table} (id BIGINT, ts TIMESTAMP_NTZ, k STRING, v BIGINT) USING parquet")

    def add(*rows: tuple[int, str, str]) -> None:
        values = ", ".join(f"({id_}, TIMESTAMP_NTZ'2024-11-02 {time}', '{k}', {id_})" for id_, time, k in rows)
        feed.spark.sql(f"INSERT INTO {table} VALUES {values}")

    add((1, "12:00:01", "a"), (2, "12:00:40", "b"))
    feed.run(TOTALS, keep_late=True)
    add((3, "11:59:30", "a"), (4, "12:01:00", "b"))
    assert feed.run(TOTALS, keep_late=True).late == 1
    feed.spark.conf.set("spark.sql.session.timeZone", feed.zone)
    found = (
        feed.spark.table(f"{feed.schema}.model")
        .selectExpr("CAST(window_start AS STRING)", "typeof(window_start)", "k", "s")
        .collect()
    )
    assert [tuple(row) for row in found] == [("2024-11-02 12:00:00", "timestamp", "a", 1)]


def test_an_event_time_that_is_none(feed: Feed) -> None:
    with pytest.raises(StreamingError, match="the event time k is of type string") as error:
        feed.run("SELECT * FROM bid", event_time="k")
    assert "CAST(k AS TIMESTAMP)" in str(error.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM session((SELECT *, ts + INTERVAL '1' HOUR AS later FROM bid), later, '1 minute')",
        "SELECT *, sum(v) OVER (ORDER BY later ROWS 3 PRECEDING) AS s "
        "FROM (SELECT *, ts + INTERVAL '1' HOUR AS later FROM bid)",
    ],
)
def test_rows_leave_the_stream_by_its_event_time(feed: Feed, sql: str) -> None:
    with pytest.raises(StreamingError, match="time column later has no watermark\n  ts has one") as error:
        feed.run(sql)
    assert "make later the event_time" in str(error.value)


@pytest.mark.full
@pytest.mark.parametrize("rule", ["", ", max_duration => '40 minutes'"])
def test_sessions_where_the_clock_is_turned_back(feed: Feed, rule: str) -> None:
    """Rows of the hour that comes twice are in one session, whatever the runs."""
    feed.zone = "America/New_York"
    sql = f"SELECT * FROM session(bid PARTITION BY k, ts, '15 minutes'{rule})"
    rng = random.Random(3)
    begin = 1_730_606_400  # 2024-11-03 04:00 UTC: the clock is turned back at 06:00 UTC
    times = sorted(begin + rng.randrange(0, 5 * 3600) for _ in range(36))
    for first in range(0, len(times), 6):
        feed.add("bid", [(first + i, time, rng.choice("ab"), i) for i, time in enumerate(times[first : first + 6])])
        feed.run(sql)
    feed.add("bid", [(99, begin + 99 * 3600, "z", 0)])
    feed.run(sql)
    expected = feed.batch(sql, "id <> 99")
    assert len(expected) == 36
    assert feed.table() == expected
