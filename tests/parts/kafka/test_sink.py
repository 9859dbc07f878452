"""Rows of streaming models in topics: what is in the table, at least once."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.literals import backticked
from tests.functional.adapter.project import Project
from tests.functional.streaming.test_hostile_names import NAMES
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.shop import bid, sources
from tests.parts.kafka.test_source import messages

WINDOWS = """\
select window_start, window_end, item, count(*) as n, sum(price) as total, cast(null as string) as remark
from {{ tumble(stream(source('kafka', 'bid')), 'at', '10 minutes') }}
group by window_start, window_end, item
"""


def model(query: str, broker: Broker, topic: str, options: dict[str, Any] | None = None, **sink: Any) -> str:
    """A model that sends its rows to a topic.

    Args:
        query: its query.
        broker: where the topic is.
        topic: the topic.
        options: options of the sink, beside where Kafka is.
        sink: what `sink` says besides.
    """
    given = {"kafka.bootstrap.servers": broker.servers, **(options or {})}
    sink = {"format": "kafka", "topic": topic, "options": given, **sink}
    configs = "materialized='streaming_incremental', event_time='at', watermark='0 seconds'"
    return f"{{{{ config({configs}, sink={sink}) }}}}\n{query}"


def test_windows_go_to_the_table_and_the_topic(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids, closed = topic(), topic(partitions=2)
    shop = make_project(
        {
            "models/bids.sql": model(WINDOWS, broker, closed, key=["window_start", "item"]),
            "models/schema.yml": sources(broker, bids),
        }
    )
    broker.send(bids, [(None, bid(1, "08:01", "a", 4)), (None, bid(2, "08:02", "b", 2)), (None, bid(3, "08:11", "a"))])
    shop.dbt("run")
    first = broker.read(closed)
    assert sorted(json.loads(value)["item"] for _, value, _ in first) == ["a", "b"]
    [(key, value, headers)] = [record for record in first if json.loads(record[1])["item"] == "a"]
    assert json.loads(key or "") == {"window_start": "2020-04-15T08:00:00.000Z", "item": "a"}
    assert json.loads(value) == {
        "window_start": "2020-04-15T08:00:00.000Z",
        "window_end": "2020-04-15T08:10:00.000Z",
        "item": "a",
        "n": 1,
        "total": 4,
        "remark": None,
    }
    assert set(headers) == {"sparkstream_table", "sparkstream_batch"}

    assert "nothing new" in messages(shop)["bids"]
    assert len(broker.read(closed)) == 2
    broker.send(bids, [(None, bid(4, "08:25"))])
    shop.dbt("run")
    records = broker.read(closed)
    sent = sorted((row["window_start"][11:16], row["item"], row["n"]) for row in (json.loads(r[1]) for r in records))
    assert sent == [("08:00", "a", 1), ("08:00", "b", 1), ("08:10", "a", 1)]
    assert sent == shop.rows("select date_format(window_start, 'HH:mm'), item, n from {}.bids")
    assert len({headers["sparkstream_table"] for _, _, headers in records}) == 1

    shop.dbt("run", "--full-refresh")
    records = broker.read(closed)
    assert len(records) == 6
    assert len({headers["sparkstream_table"] for _, _, headers in records}) == 2


def test_csv_without_a_key(make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]) -> None:
    bids, rows = topic(), topic()
    query = "select id, item, price / 4 as quarter from {{ stream(source('kafka', 'bid')) }}"
    shop = make_project(
        {
            "models/rows.sql": model(query, broker, rows, value_format="csv", value_options={"sep": ";"}),
            "models/schema.yml": sources(broker, bids),
        }
    )
    broker.send(bids, [(None, bid(1, "08:01", "a;b", 2))])
    shop.dbt("run")
    assert [(key, value) for key, value, _ in broker.read(rows)] == [(None, '1;"a;b";0.5')]


@pytest.mark.parametrize("key", [NAMES, NAMES[0]])
def test_names_that_hold_anything(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], key: str | list[str]
) -> None:
    bids, rows = topic(), topic()
    columns = ", ".join(f"concat(item, {n}) as {backticked(name)}" for n, name in enumerate(NAMES))
    query = f"select {columns} from {{{{ stream(source('kafka', 'bid')) }}}}"
    shop = make_project(
        {"models/rows.sql": model(query, broker, rows, key=key), "models/schema.yml": sources(broker, bids)}
    )
    broker.send(bids, [(None, bid(1, "08:01", "a"))])
    shop.dbt("run")
    [(sent_key, value, _)] = broker.read(rows)
    expected = {name: f"a{n}" for n, name in enumerate(NAMES)}
    assert json.loads(value) == expected
    assert (json.loads(sent_key or "") if isinstance(key, list) else {NAMES[0]: sent_key}) == (
        expected if isinstance(key, list) else {NAMES[0]: "a0"}
    )


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_rows_that_could_not_be_sent_are_sent_by_the_next_run(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], file_format: str
) -> None:
    bids, rows = topic(), topic()
    query = "select id, item from {{ stream(source('kafka', 'bid')) }}"
    text = model(query, broker, rows, key="id").replace("sink=", f"file_format='{file_format}', sink=")
    broker.send(bids, [(None, bid(number, "08:01")) for number in range(3)])
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections, which is all that a run asks first
        away = text.replace(
            f"'kafka.bootstrap.servers': '{broker.servers}'",
            f"'kafka.bootstrap.servers': '127.0.0.1:{silent.getsockname()[1]}', 'kafka.max.block.ms': 2000",
        )
        shop = make_project({"models/rows.sql": away, "models/schema.yml": sources(broker, bids)})
        message = shop.failure("run")
    assert f"can't send rows to the topic {rows}; they are in the table, and the next run sends them" in message
    assert f"Kafka says: Topic {rows} not present in metadata" in message
    assert shop.rows("select id from {}.rows") == [(0,), (1,), (2,)]
    assert broker.read(rows) == []

    shop.write({"models/rows.sql": text})
    shop.dbt("run")
    assert shop.rows("select id from {}.rows") == [(0,), (1,), (2,)]
    assert sorted(key or "" for key, _, _ in broker.read(rows)) == ["0", "1", "2"]


def test_what_was_sent_twice_is_once_in_a_model_that_reads_the_topic(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids, rows = topic(), topic(partitions=2)
    sent = "select id, at, item from {{ stream(source('kafka', 'bid')) }}"
    once = """\
    {{ config(materialized='streaming_incremental', event_time='at', watermark='10 minutes') }}
    select id, item from (
        select *, row_number() over (partition by window_start, window_end, id order by at) as nth
        from {{ tumble(stream(source('sent', 'row')), 'at', '10 minutes') }}
    ) where nth = 1
    """
    read = sources(broker, rows, schema="id bigint, at timestamp, item string")
    shop = make_project(
        {
            "models/rows.sql": model(sent, broker, rows, key="id"),
            "models/once.sql": once,
            "models/schema.yml": sources(broker, bids),
            "models/sent/schema.yml": read.replace("name: bid", "name: row").replace("name: kafka", "name: sent"),
        }
    )
    broker.send(bids, [(None, bid(number, "08:01")) for number in range(5)] + [(None, bid(9, "08:30"))])
    shop.dbt("run", "--select", "rows")
    # A run that was killed after it had sent the rows, and before anything said so.
    for key, value, _ in broker.read(rows):
        broker.send(rows, [(key, json.loads(value))])
    shop.dbt("run", "--select", "once")
    assert shop.rows("select id from {}.once") == [(0,), (1,), (2,), (3,), (4,)]
