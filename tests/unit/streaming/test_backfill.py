"""Decisions of a backfill without Spark: its range, and its refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.operations.backfill import Backfill, Range
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.staging import Goes

COUNTS = "SELECT window_start, window_end, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '1' MINUTE) GROUP BY ALL"
BY_BOUNDS = " FROM TUMBLE(s, ts, INTERVAL '1' MINUTE) GROUP BY window_start, window_end"
DAY = Range(datetime(2026, 11, 17), datetime(2026, 11, 18))


def test_a_range() -> None:
    assert Range.read("2026-11-17", "2026-11-18 00:00") == DAY
    assert str(DAY) == "2026-11-17 00:00 to 2026-11-18 00:00"
    assert Range.read("2026-11-17T08:00:00.5", "2026-11-18").literals("timestamp_ntz") == (
        "TIMESTAMP_NTZ '2026-11-17 08:00:00.500000'",
        "TIMESTAMP_NTZ '2026-11-18 00:00:00'",
    )
    for since, words in (("17 Nov", "--from is no time: 17 Nov\n"), ("2026-11-17T00:00+01:00", "--from has an offset")):
        with pytest.raises(DbtRuntimeError) as error:
            Range.read(since, "2026-11-18")
        assert words in str(error.value)


def test_conditions_are_on_the_columns_of_either_side() -> None:
    windows = Goes("w`e", (("window_start", "< B"), ("w`e", "> A")), "C")
    assert windows("t.") == "t.`window_start` < B AND t.`w``e` > A AND t.`w``e` <= C"
    assert Goes("b", (("a", ">= timestamp_micros(1)"), ("b", "<= x")))() == "`a` >= timestamp_micros(1) AND `b` <= x"


def refused(sql: str = COUNTS, range_: Range = DAY, **config: Any) -> str:
    found = plan(sql, streams=["s"])
    model = Model("model.shop.bids", "bids", "shop.bids", "shop.runs", sql, "spark", StreamConfig(**config), ())
    engine: Engine = None  # type: ignore[assignment]  # nothing is asked of Spark
    with pytest.raises(StreamingError) as error:
        Backfill(model, found, engine, batch=found)(range_)
    return str(error.value)


def test_models_that_are_refused() -> None:
    assert "is empty" in refused(range_=Range(DAY.until, DAY.since))
    assert "it has a sink" in refused(topic=object())
    session = "SELECT window_start, window_end, k FROM session(s PARTITION BY k, ts, '1 hour', max_duration => '1 day')"
    assert "leave the stream as rows" in refused(session)
    later = f"SELECT *, lag(n) OVER (ORDER BY window_end) AS l FROM ({COUNTS})"
    assert "its rows depend on rows of earlier windows" in refused(later)
    assert "don't say which window they are of" in refused(f"SELECT count(*) AS n{BY_BOUNDS}")
    windows = "TUMBLE(s, ts, INTERVAL '10' SECOND)"
    met = f"SELECT l.v FROM {windows} l JOIN {windows} r USING (window_start, window_end)"
    assert "rows of its streams meet each other" in refused(met)


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        ({"format": "kafka", "options": {"subscribe": "bids"}}, "shop.bid is a topic"),
        ({"format": "rate"}, "can't be read a second time"),
        ({"data_source": "mine:Source"}, "can't be read a second time"),
        ({"format": "csv", "path": "in", "options": {"cleanSource": "delete"}}, "can't be read a second time"),
    ],
)
def test_sources_that_are_refused(reader: dict[str, Any], words: str) -> None:
    with pytest.raises(StreamingError, match=words):
        source_of("stream_bid", "shop.bid", reader=reader).check_backfill()


def test_sources_that_can_be_read_again() -> None:
    source_of("stream_bid", "shop.bid").check_backfill()
    source_of("stream_bid", "shop.bid", reader={"format": "csv", "path": "in"}).check_backfill()
