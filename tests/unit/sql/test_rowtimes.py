"""Confluent's `$rowtime` in models of dialect flink: the event time of the table that it is read from."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.translate import traced, with_event_times
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.nodes import planned
from dbt.adapters.sparkstream.streaming.sources.reader import source_of

TIMES = {"db.bid": "ts", "`db`.`my bid`": "my ts", "asks": "at"}
WINDOW = "TUMBLE(TABLE {}, DESCRIPTOR($rowtime), INTERVAL '5' MINUTE)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT $rowtime FROM db.bid", "SELECT ts FROM db.bid"),
        ("SELECT MAX($RowTime) AS t FROM `db`.`my bid` AS b", "SELECT MAX(`my ts`) AS t FROM `db`.`my bid` AS b"),
        ("SELECT b.$rowtime FROM db.bid b", "SELECT b.ts FROM db.bid b"),
        (
            "SELECT 1 AS x FROM db.bid b JOIN asks ON b.$rowtime BETWEEN asks.$rowtime AND asks.$rowtime + x",
            "SELECT 1 AS x FROM db.bid b JOIN asks ON b.ts BETWEEN asks.at AND asks.at + x",
        ),
        (
            f"SELECT window_end, $rowtime FROM {WINDOW.format('db.bid')}",
            f"SELECT window_end, ts FROM {WINDOW.format('db.bid').replace('$rowtime', 'ts')}",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT * FROM asks WHERE x > 1) GROUP BY TUMBLE($rowtime, INTERVAL '1' HOUR)",
            "SELECT COUNT(*) AS n FROM (SELECT * FROM asks WHERE x > 1) GROUP BY TUMBLE(at, INTERVAL '1' HOUR)",
        ),
        ("WITH a AS (SELECT * FROM asks) SELECT $rowtime FROM a", "WITH a AS (SELECT * FROM asks) SELECT at FROM a"),
        ("SELECT '$rowtime' AS t, x /* $rowtime */ FROM asks", "SELECT '$rowtime' AS t, x /* $rowtime */ FROM asks"),
    ],
)
def test_the_event_time(sql: str, expected: str) -> None:
    assert with_event_times(sql, TIMES.get).text == expected


def batch(sql: str) -> str:
    found = traced(
        *(sql, "flink"), optimize=True, arrival=None, schema=None, warn=print, batch=None, event_time_of=TIMES.get
    )
    assert found is not None
    return found.text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT\n  $rowtime FROM other",
        "SELECT\n  $rowtime FROM db.bid, asks",
        "WITH a AS (SELECT k FROM asks) SELECT\n  $rowtime FROM a",
        "SELECT\n  b.$rowtime FROM asks",
    ],
)
def test_an_event_time_that_isnt_known(sql: str) -> None:
    with pytest.raises(TranslationError, match="which column has it isn't known here") as error:
        batch(sql)
    assert (error.value.line, error.value.column) == (2, sql.split("\n")[1].index("$") + 1)


def test_errors_are_where_the_author_wrote() -> None:
    sql = f"SELECT $rowtime, window_start FROM {WINDOW.format('db.bid').replace('5', '0')}"
    with pytest.raises(TranslationError) as error:
        batch(sql)
    assert error.value.column == sql.index("INTERVAL") + 1
    assert "AS window_start" in batch(sql.replace("'0'", "'5'"))


def test_a_stream() -> None:
    def plan(**config: Any) -> StreamPlan:
        streams = {"stream_bid": source_of("stream_bid", "db.bid")}
        sql = f"SELECT window_end, COUNT(*) AS n FROM {WINDOW.format('stream_bid')} GROUP BY window_start, window_end"
        read = StreamConfig.read({"materialized": "streaming_incremental", **config}, None)  # type: ignore[arg-type]
        return planned(sql, "flink", streams, {}, read, utc=True, optimize=True)

    assert "ts" in str(plan(event_time="ts", watermark="5 minutes").stages)
    with pytest.raises(TranslationError, match="which column has it isn't known here"):
        plan()
