"""The parts of streaming models that need no Spark."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    DateType,
    DecimalType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.streaming import MATERIALIZATION
from dbt.adapters.sparkstream.streaming.adapter import Registry
from dbt.adapters.sparkstream.streaming.fingerprint import Definition, digest
from dbt.adapters.sparkstream.streaming.ledger import Holder
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.nodes import changes_clock, read_model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import warnings
from dbt.adapters.sparkstream.streaming.settings import MEANINGLESS, NAMED, SETTINGS, Kind
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.spark.engine import written_type
from dbt.adapters.sparkstream.streaming.spark.folders import path_of
from dbt.adapters.sparkstream.streaming.spark.progress import LeftOut, MicroBatch, bytes_in_words, counted
from dbt.adapters.sparkstream.streaming.spark.streams import is_ahead, limit
from dbt.adapters.sparkstream.streaming.tables.catalog import batch_of


def test_configs_are_read() -> None:
    config = StreamConfig.read(
        {
            "materialized": "streaming_incremental",
            "event_time": "ts",
            "watermark": "10 minutes",
            "trigger": {"processing_time": "10 seconds"},
            "late_rows": "keep",
            "emit": "open",
            "partition_by": "day",
            "flush": "false",
            "on_schema_change": "ignore",
            "unique_key": None,
        },
    )
    assert (config.watermark, config.interval) == (Interval.parse("10 minutes"), Interval.parse("10 seconds"))
    assert (config.keep_late, config.partition_by, config.flush) == (True, ("day",), False)
    assert (config.shows_open, StreamConfig.read({"emit": "on_close"}).shows_open) == (True, False)
    assert StreamConfig.read({}).flush is None


def test_other_configs_are_the_user_s_own() -> None:
    assert StreamConfig.read({"team": "x", "owner": "me", "sla": 3}) == StreamConfig.read({})


def test_each_config_is_read_and_shown_as_what_it_is() -> None:
    assert {setting.kind is Kind.WORD for setting in SETTINGS if setting.words} == {True}
    assert len(NAMED) == len(SETTINGS)
    assert not {setting.name for setting in SETTINGS if MATERIALIZATION in setting.of} & MEANINGLESS.keys()
    assert next(s for s in SETTINGS if s.name == "sql_dialect").words == tuple(DIALECTS)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"waterrmark": "1 hour"}, ["no config 'waterrmark'", "did you mean watermark?"]),
        ({"watermark": "soon"}, ["watermark: 'soon' is not an interval"]),
        ({"watermark": "-1 hour"}, ["can't be negative"]),
        ({"watermark": "1 month"}, ["MONTH"]),
        ({"trigger": "hourly"}, ["trigger can't be 'hourly'", "available_now"]),
        ({"trigger": {"processing_time": "often"}}, ["trigger's processing_time"]),
        ({"output_mode": "update"}, ["output_mode can't be 'update'", "append"]),
        ({"max_future": "soon"}, ["max_future: 'soon' is not an interval"]),
        ({"max_future": "-1 day"}, ["max_future can't be negative"]),
        ({"max_future": True}, ["max_future"]),
        ({"unique_key": "id"}, ["takes no unique_key", "leave it out"]),
        ({"incremental_strategy": "merge"}, ["takes no incremental_strategy"]),
        ({"skewed": True}, ["takes no skewed", "leave it out"]),
        ({"max_files_per_trigger": 0}, ["no positive whole number: 0"]),
        ({"max_files_per_trigger": True}, ["no positive whole number"]),
        ({"compact_every": 0}, ["compact_every is no positive whole number: 0"]),
        ({"partition_by": 5}, ["partition_by is no column and no list of columns: 5"]),
        ({"tblproperties": "x"}, ["tblproperties is no mapping: 'x'", "write it such as"]),
        ({"on_query_change": "ignore"}, ["on_query_change can't be 'ignore'", "fail, rebuild"]),
        ({"on_schema_change": "append_new_columns"}, ["on_schema_change", "on_query_change='rebuild'"]),
        ({"late_rows": "count"}, ["drop, keep"]),
        ({"emit": "early"}, ["emit can't be 'early'", "on_close, open"]),
        ({"late_rows": "update"}, ["needs to know how long", "write lateness='1 hour'"]),
        ({"lateness": "1 hour"}, ["write late_rows='update' with it"]),
        ({"late_rows": "update", "lateness": "0 seconds"}, ["no whole number of milliseconds above 0"]),
        ({"late_rows": "update", "lateness": "soon"}, ["lateness: "]),
        ({"emit": "open", "file_format": "delta"}, ["emit='open' needs a table of files", "is in Delta"]),
        ({"emit": "open", "file_format": "iceberg"}, ["is in Iceberg", "write another file_format"]),
        ({"on_full_refresh": "fail"}, ["on_full_refresh can't be 'fail'", "rebuild, swap"]),
        (
            {"on_full_refresh": "swap", "file_format": "hudi"},
            ["='swap' can't be with file_format='hudi'", "write on_full_refresh='rebuild'"],
        ),
        ({"on_source_change": "swap", "file_format": "Iceberg", "flush": True}, ["on_source_change='swap' can't"]),
        ({"on_query_change": "swap", "late_rows": "keep"}, ["can't be with late_rows='keep'"]),
        (
            {"on_query_change": "swap", "late_rows": "update", "lateness": "1 hour"},
            ["can't be with late_rows='update'", "nothing beside it"],
        ),
        ({"on_query_change": "swap", "emit": "open"}, ["can't be with emit='open'"]),
        ({"on_full_refresh": "swap", "flush": False}, ["can't be with flush"]),
        (
            {
                "on_query_change": "swap",
                "sink": {"format": "kafka", "topic": "t", "options": {"kafka.bootstrap.servers": "h:1"}},
            },
            ["can't be with sink"],
        ),
        ({"flush": "perhaps"}, ["true or false"]),
        ({"liquid_clustered_by": "k"}, ["only a table in Delta without partitions is clustered"]),
        (
            {"liquid_clustered_by": "k", "file_format": "delta", "partition_by": "d"},
            ["without partitions", "no partition_by"],
        ),
        ({"flush": True, "trigger": {"processing_time": "1 s"}}, ["flush closes all windows", "leave one"]),
    ],
)
def test_configs_are_refused(config: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(StreamingError) as error:
        StreamConfig.read(config)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"file_format": "hudi"}, "for tables in Delta, Iceberg and files"),
        ({"partition_by": "day"}, "doesn't go with partition_by in a table of files"),
        ({"compact_every": 9}, "doesn't go with compact_every in a table of files"),
        (
            {"sink": {"format": "kafka", "topic": "t", "options": {"kafka.bootstrap.servers": "h:1"}}},
            "doesn't go with a sink",
        ),
        ({"file_format": "delta", "partition_by": "day", "compact_every": 9}, None),
        ({"file_format": "iceberg", "partition_by": "day"}, None),
        ({}, None),
    ],
)
def test_where_late_rows_correct_windows(config: dict[str, Any], words: str | None) -> None:
    given = {"late_rows": "update", "lateness": "1 hour", **config}
    if words is None:
        read = StreamConfig.read(given)
        assert (read.lateness, read.keep_late) == (Interval.parse("1 hour"), True)
        return
    with pytest.raises(StreamingError, match=words):
        StreamConfig.read(given)


@pytest.mark.parametrize(
    ("file_format", "refused"),
    [("parquet", False), ("csv", False), ("delta", False), ("iceberg", True), ("hudi", True)],
)
def test_formats_that_can_be_compacted(file_format: str, refused: bool) -> None:
    config = {"compact_every": 50, "file_format": file_format}
    if not refused:
        assert StreamConfig.read(config).compact_every == 50
        return
    with pytest.raises(StreamingError, match=f"a table in {file_format} takes no compact_every"):
        StreamConfig.read(config)


@pytest.mark.parametrize(
    ("config", "reader", "refused"),
    [
        ({"on_query_change": "swap"}, {"format": "kafka", "value_format": "json"}, True),
        ({"on_query_change": "swap", "unreadable_rows": "drop"}, {"format": "kafka", "value_format": "json"}, False),
        ({"on_query_change": "swap"}, {"format": "json", "path": "p"}, False),
        ({"on_query_change": "rebuild"}, {"format": "kafka", "value_format": "json"}, False),
    ],
)
def test_rows_that_are_kept_and_swaps(config: dict[str, Any], reader: dict[str, Any], refused: bool) -> None:
    node = {"config": config, "unique_id": "model.shop.m", "alias": "m"}
    streams = {"bid": source_of("bid", "s.bid", reader)}
    if not refused:
        model = read_model(node, "SELECT 1", "s.m", "s.runs", streams, "", Path())
        assert model.config.swaps == ("on_query_change" if config["on_query_change"] == "swap" else None)
        return
    with pytest.raises(StreamingError, match="where rows with values that can't be read are kept"):
        read_model(node, "SELECT 1", "s.m", "s.runs", streams, "", Path())


def test_how_far_ahead_a_time_may_be() -> None:
    assert StreamConfig.read({}).max_future == Interval.parse("1 day")
    assert StreamConfig.read({"max_future": "2 hours"}).max_future == Interval.parse("2 hours")
    assert StreamConfig.read({"max_future": "off"}).max_future is None
    assert StreamConfig.read({"max_future": False}).max_future is None  # as YAML reads `off`
    in_a_day = "timestamp_micros(unix_micros(current_timestamp()) + 86400000000)"
    assert limit(Interval.parse("1 day")) == f"least({in_a_day}, timestamp'9999-01-01')"
    years = f"timestamp_micros(unix_micros(now) + {2**58})"
    assert limit(Interval.parse("100000000 days"), "now") == f"least({years}, timestamp'9999-01-01')"
    assert limit(None) == "timestamp'9999-01-01'"
    now = datetime.now(timezone.utc)
    day = Interval.parse("1 day")
    assert [is_ahead(now + timedelta(days=n), day) for n in (0, 2)] == [False, True]
    assert not is_ahead(datetime(9999, 5, 31, tzinfo=timezone.utc), day)  # of a flush


def test_a_fingerprint_is_of_what_matters() -> None:
    source = source_of("bid", "db.bid", event_time="ts", watermark=Interval.parse("1 minute"))
    columns = (("n", "bigint"),)

    def of(sql: str = "SELECT count(*) AS n FROM bid", **changes: Any) -> str:
        given: dict[str, Any] = {
            "dialect": "spark",
            "sources": (source,),
            "columns": columns,
            "flush": False,
            "zone": "UTC",
        }
        given |= changes
        return Definition(sql, **given).fingerprint

    assert of() == of("SELECT  count(*) AS n -- all of them\nFROM bid")
    others = [
        of("SELECT count(1) AS n FROM bid"),
        of(columns=(("n", "int"),)),
        of(flush=True),
        of(zone="Europe/Berlin"),
        of(sources=(source_of("bid", "db.bid", event_time="ts", watermark=Interval.parse("2 minutes")),)),
        of(sources=(source_of("bid", "db.other", event_time="ts", watermark=Interval.parse("1 minute")),)),
    ]
    assert len({of(), *others}) == len(others) + 1
    assert digest(["a", "b"]) == digest(["b", "a"]) != digest(["a"])


def test_a_run_that_is_dead() -> None:
    mine = Holder.mine()
    assert Holder.read(json.dumps(asdict(mine))) == mine
    assert mine.is_alive()
    # A later process has the same pid.
    assert replace(mine, born="earlier").is_alive() is False
    # Containers have one name, and each has a process 1; nobody can look at the others' processes.
    assert replace(mine, place="another container").is_alive() is None
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert replace(mine, pid=child).is_alive() is False
    # Its Spark runs on for a moment.
    server = Holder.mine(java=os.getpid(), session=("ann", "1f"))
    assert server.java_runs()
    assert Holder.read(json.dumps(asdict(server))) == server
    assert not replace(server, java=(os.getpid(), "earlier")).java_runs()
    # As earlier versions have written it.
    assert Holder.read('{"id": "x", "host": "h", "pid": 1, "alive": 2.0}') == Holder("x", "h", 1, 2.0)
    assert Holder.read("") is None
    assert Holder.read("{") is None
    assert Holder.read('{"id": "x"}') is None


def test_progress_is_read() -> None:
    text = json.dumps(
        {
            "batchId": 3,
            "timestamp": "2020-01-01T10:00:00.500Z",
            "batchDuration": 250,
            "durationMs": {"addBatch": 200},
            "eventTime": {"watermark": "2020-01-01T09:00:00.000Z"},
            "sources": [{"numInputRows": 2}, {"numInputRows": 3}],
            "stateOperators": [{"numRowsTotal": 4, "memoryUsedBytes": 2048, "numRowsDroppedByWatermark": 1}],
        }
    )
    batch = MicroBatch.read(text)
    assert (batch.number, batch.rows, batch.left_out.late, batch.state_rows, batch.ran) == (3, 5, 1, 4, True)
    assert batch.watermark is not None
    assert batch.watermark.isoformat() == "2020-01-01T09:00:00+00:00"
    idle = MicroBatch.read('{"batchId": 4, "timestamp": "2020-01-01T10:00:00.500Z", "durationMs": {}, "eventTime": {}}')
    assert (idle.ran, idle.watermark) == (False, None)


def test_odd_times_are_read() -> None:
    def read(**facts: Any) -> MicroBatch:
        text = {"batchId": 3, "timestamp": "2020-01-01T10:00:00.500Z", "durationMs": {"addBatch": 200}, **facts}
        return MicroBatch.read(json.dumps(text))

    watermark = {"watermark": "2020-01-01T09:00:00.000Z"}
    assert not read(eventTime={**watermark, "min": "2020-01-01T09:00:00.000Z"}).is_odd
    # Spark has 1970 for NULL, and a time too far ahead is one of the year 1.
    for earliest in ("1970-01-01T00:00:00.000Z", "0001-01-01T00:00:07.777Z", "-0044-03-15T00:00:00.000Z"):
        assert read(eventTime={**watermark, "min": earliest}).is_odd
    assert read(eventTime={"watermark": "+54000-01-01T00:00:00.000Z"}).watermark.year == 9999  # type: ignore[union-attr]
    early = 1_577_869_200_000_000 - 1
    metrics: dict[str, dict[str, Any]] = {
        "sparkstream_times_bid": {"untimed": 0, "ahead": 0, "furthest": None, "earliest": early},
        "sparkstream_times_ask": {"untimed": 2, "ahead": 3, "furthest": 10**18, "earliest": None},
        "mine": {"n": 1},
    }
    batch = read(eventTime=watermark, observedMetrics=metrics)
    assert (batch.is_odd, batch.is_behind) == (True, True)
    assert batch.left_out == LeftOut(ahead=3, untimed=2, furthest="9999-12-31 23:59:59 UTC")
    metrics["sparkstream_values_bid"] = {"unreadable": 4}
    # Over Spark Connect, the same is a list of values and a schema.
    listed = {
        name: {"values": list(facts.values()), "schema": {"type": "struct", "fields": [{"name": n} for n in facts]}}
        for name, facts in metrics.items()
    }
    by_name, by_place = (read(eventTime=watermark, observedMetrics=given) for given in (metrics, listed))
    assert by_name == by_place
    assert by_place.left_out == replace(batch.left_out, unreadable=4)
    del metrics["sparkstream_times_ask"]
    assert not read(eventTime=watermark, observedMetrics=metrics).is_odd
    several = LeftOut.total([LeftOut(1, 2, 3, "2098"), LeftOut(), LeftOut(0, 1, 0, "2099")])
    assert several == LeftOut(1, 3, 3, "2099")


def test_what_is_told_of_rows_left_out() -> None:
    day = Interval.parse("1 day")
    now = datetime.now(timezone.utc)
    assert list(warnings(LeftOut(late=3, untimed=2), now, day, None)) == []
    [ahead] = warnings(LeftOut(ahead=1, furthest="2099-01-01 00:00:00"), now, day, "shop.bids__late")
    assert ahead.startswith("1 row left out with times more than 1 day ahead of the clock, such as 2099-01-01 00:00:00")
    assert ahead.endswith("shop.bids__late has them; if such times are right, write config(max_future='off')")
    [stuck] = warnings(LeftOut(late=3), datetime(2098, 12, 31, tzinfo=timezone.utc), day, None)
    assert "the watermark stands at 2098-12-31 00:00 UTC" in stuck
    assert "--full-refresh" in stuck
    assert list(warnings(LeftOut(late=3), datetime(9999, 5, 31, tzinfo=timezone.utc), day, None)) == []  # of a flush
    [endless] = warnings(LeftOut(ahead=2, furthest="+54000-01-01 00:00:00"), now, None, None)
    assert "2 rows left out with times after the year 9998" in endless
    assert "max_future" not in endless


def test_numbers_in_words() -> None:
    assert [counted(n, "row") for n in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
    assert [bytes_in_words(n) for n in (0, 900, 3072, 1_600_000)] == ["0 B", "900 B", "3 KB", "1.5 MB"]


def test_files() -> None:
    assert batch_of("file:///w/t/micro_batch=12/part-0.parquet") == 12
    assert batch_of("file:///w/t/day=1/micro_batch=3/part-0.parquet") == 3
    assert batch_of("file:///w/t/part-0.parquet") is None
    assert batch_of("file:///w/t/micro_batch=__HIVE_DEFAULT_PARTITION__/part-0.parquet") is None
    assert path_of("file:/a%20b/c") == path_of("file:///a b/c") == "file:///a b/c"


def test_streams_have_names_of_their_own() -> None:
    registry = Registry()
    bid = source_of("stream_bid", "db.bid")
    assert registry.add("m", bid) == "stream_bid"
    assert registry.add("m", bid) == "stream_bid"
    assert registry.add("m", source_of("stream_bid", "other.bid")) == "stream_bid_2"
    assert registry.add("other", source_of("stream_bid", "other.bid")) == "stream_bid"
    assert set(registry.of("m")) == {"stream_bid", "stream_bid_2"}


@pytest.mark.parametrize(
    ("zone", "changes"),
    [
        ("Europe/Berlin", True),
        ("Australia/Lord_Howe", True),
        ("Asia/Kathmandu", False),
        ("UTC", False),
        ("+05:30", False),
        ("No/Where", False),
    ],
)
def test_zones_whose_clock_changes(zone: str, changes: bool) -> None:
    assert changes_clock(zone, 2021) is changes


def test_types_name_fields_with_backticks() -> None:
    inner = StructType([StructField("a b", DecimalType(3, 1)), StructField("c", MapType(StringType(), DateType()))])
    type_ = StructType([StructField("x", ArrayType(inner)), StructField("se`lect", IntegerType())])
    assert written_type(type_) == "struct<x:array<struct<`a b`:decimal(3,1),c:map<string,date>>>,`se``lect`:int>"
