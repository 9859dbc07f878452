"""Topics of Kafka as streams: each record once, by the time in its value."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from tests.functional.adapter.project import Project
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.shop import BIDS, ROWS, SCHEMA, bid, sources

UTC = {"server_side_parameters": {"spark.sql.session.timeZone": "UTC"}}


def messages(project: Project, *arguments: str) -> dict[str, str]:
    """Model -> what a run says of it."""
    return {r.node.name: r.message for r in project.dbt("run", *arguments).results}


def test_windows_by_the_time_in_the_value_are_those_of_batch(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids, chance = topic(partitions=3), random.Random(5)
    shop = make_project({"models/bids.sql": BIDS, "models/schema.yml": sources(broker, bids)})
    start = datetime(2020, 4, 15, 8, tzinfo=timezone.utc).timestamp()
    rows: list[tuple[int, float, str, int]] = []
    for run in range(3):
        for _ in range(60):
            seconds = start + 900 * run + chance.uniform(0, 1100)
            rows.append((len(rows), round(seconds, 3), chance.choice("abc"), chance.randrange(100)))
        values: list[dict[str, Any]] = [
            {"id": number, "at": datetime.fromtimestamp(at, timezone.utc).isoformat(), "item": item, "price": price}
            for number, at, item, price in rows[-60:]
        ]
        broker.send(bids, [(value["item"], value) for value in values])
        shop.dbt("run")
    sent = ", ".join(f"({number}, timestamp_millis({round(at * 1000)}), '{i}', {p})" for number, at, i, p in rows)
    shop.sql(f"CREATE TABLE {{}}.sent USING parquet AS SELECT * FROM VALUES {sent} AS v (id, at, item, price)")
    watermark = max(at for _, at, _, _ in rows) - 600
    window = "timestamp_seconds(floor(unix_seconds(at) / 600) * 600)"
    expected = shop.rows(
        f"select {window} as s, {window} + interval 10 minutes as e, item, count(*), sum(price) from {{}}.sent "
        f"group by s, e, item having e <= timestamp_millis({round(watermark * 1000)})"
    )
    assert shop.rows("select * from {}.bids__late") == []
    assert shop.rows("select window_start, window_end, item, n, total from {}.bids") == expected
    assert len(expected) >= 9
    assert shop.rows("select sum(rows_read) from {}.sparkstream_runs") == [(len(rows),)]
    assert "nothing new" in messages(shop)["bids"]


def test_each_record_once_with_what_kafka_has_of_it(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids = topic(partitions=2)
    select = ["*", "CAST(kafka_key AS STRING) AS key", "kafka_topic AS topic", "kafka_partition AS place"]
    select += ["kafka_offset", "kafka_timestamp", "CAST(kafka_headers[0].value AS STRING) AS header"]
    files = {
        "models/rows.sql": ROWS,
        "models/schema.yml": sources(broker, bids, {"includeHeaders": True}, select=select),
    }
    shop = make_project(files)
    for run in range(3):
        for partition in (0, 1):
            record = ("k", bid(10 * run + partition, "08:05"))
            broker.send(bids, [record], partition, timestamp=1_586_937_600_000, headers={"by": b"ada"})
        shop.dbt("run")
    found = shop.rows("select * except (at, item, price, micro_batch, kafka_timestamp) from {}.rows")
    assert found == [(10 * run + p, "k", bids, p, run, "ada") for run in range(3) for p in (0, 1)]
    assert shop.rows("select distinct unix_millis(kafka_timestamp) from {}.rows") == [(1_586_937_600_000,)]


def test_partitions_that_are_idle_or_come_later(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    from kafka.admin import NewPartitions

    bids = topic(partitions=2)
    shop = make_project({"models/bids.sql": BIDS, "models/schema.yml": sources(broker, bids)})
    broker.send(bids, [(None, bid(1, "08:05")), (None, bid(2, "08:25"))], partition=0)
    shop.dbt("run")
    assert shop.rows("select n from {}.bids") == [(1,)]
    # What was idle has rows behind the watermark, which are late, and before it, which count.
    broker.send(bids, [(None, bid(3, "08:06")), (None, bid(4, "08:26"))], partition=1)
    broker.admin.create_partitions({bids: NewPartitions(3)})
    broker.send(bids, [(None, bid(5, "08:27")), (None, bid(6, "08:59"))], partition=2)
    assert "1 late row" in messages(shop)["bids"]
    assert shop.rows("select n from {}.bids order by window_start") == [(1,), (3,)]
    assert shop.rows("select id, reason from {}.bids__late") == [(3, "window closed")]


def test_where_to_begin(make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]) -> None:
    bids = topic()
    for number in range(3):
        broker.send(bids, [(None, bid(number, "08:05"))], timestamp=1_000_000 * (number + 1))

    def begun(options: dict[str, Any]) -> Project:
        shop = make_project(
            {"models/rows.sql": ROWS, "models/bids.sql": BIDS, "models/schema.yml": sources(broker, bids, options)}
        )
        shop.dbt("run")
        return shop

    broker.send(bids, [(None, b"broken")], timestamp=1_000_000)
    latest = begun({"startingOffsets": "latest"})
    by_time = begun({"startingOffsets": None, "startingTimestamp": 1_500_000})
    by_offset = begun({"startingOffsets": json.dumps({bids: {"0": 2}})})
    broker.send(bids, [(None, bid(3, "08:05"))])
    found: list[list[int]] = []
    broken: list[int] = []
    for shop in (latest, by_time, by_offset):
        shop.dbt("run")
        found.append([number for (number,) in shop.rows("select id from {}.rows")])
        broken.append(shop.rows("select coalesce(sum(rows_unreadable), 0) from {}.sparkstream_runs")[0][0])
    assert found == [[3], [1, 2, 3], [2, 3]]
    assert broken == [0, 2, 2]


def test_values_that_can_t_be_read(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids = topic()
    shop = make_project({"models/bids.sql": BIDS, "models/schema.yml": sources(broker, bids)})
    broken = [
        b"no json",
        b'{"id": "x", "item": "a"}',
        b"",
        b"[1]",
        b'{"id": 1}\n{"id": 2}',
        b'{"id": 1},{"id": 2}',
        b"\xff",
    ]
    sound: list[Any] = [bid(1, "08:05"), {**bid(2, "08:06"), "item": "}, {"}, {**bid(3, "08:07"), "more": [{}, {}]}]
    broker.send(bids, [("k", value) for value in [*sound, *broken]])
    broker.send(bids, [("gone", None), (None, bid(4, "08:25"))])
    assert "7 unreadable rows" in messages(shop)["bids"]
    assert shop.rows("select sum(n) from {}.bids") == [(3,)]
    assert shop.rows("select reason, id from {}.bids__late") == [("no event time", None)]
    kept = shop.rows(
        "select source, file, topic, partition, offset, key, value, timestamp > '2020-01-01' from {}.bids__unreadable"
    )
    assert [(row[4], bytes(row[6])) for row in kept] == [(3 + i, value) for i, value in enumerate(broken)]
    assert {(row[0].split(".")[-1], row[1], row[2], row[3], bytes(row[5]), row[7]) for row in kept} == {
        ("bid", None, bids, 0, b"k", True)
    }
    assert shop.rows("select sum(rows_unreadable), sum(rows_without_time) from {}.sparkstream_runs") == [(7, 1)]
    broker.send(bids, [(None, b"nor this"), (None, bid(5, "08:45"))])
    assert "1 unreadable row" in messages(shop)["bids"]
    assert shop.rows("select count(*) from {}.bids__unreadable") == [(8,)]
    shop.dbt("run", "--full-refresh")
    shop.sql("REFRESH TABLE {}.bids__unreadable")  # the one that this session knows is gone
    assert shop.rows("select count(*) from {}.bids__unreadable") == [(8,)]


def test_values_of_csv_in_kafka_and_in_files(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids = topic()
    given: dict[str, Any] = {
        "value_format": "csv",
        "schema": SCHEMA,
        "value_options": {"sep": ";", "timestampFormat": "dd.MM.yyyy HH:mm"},
    }
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": sources(broker, bids, **given)})
    lines = [
        "1;15.04.2020 08:05;a;4",
        '2;15.04.2020 08:06;"b;\nc";5',
        "3;yesterday;a;1",
        "4;15.04.2020 08:05;a;1\n5;;;",
    ]
    broker.send(bids, [(None, line.encode()) for line in lines])
    assert "2 unreadable rows" in messages(shop)["rows"]
    assert shop.rows("select id, item, price from {}.rows") == [(1, "a", 4), (2, "b;\nc", 5)]
    folder = shop.folder / "lines"
    folder.mkdir()
    (folder / "1.txt").write_text(f"{lines[0]}\n{lines[2]}\n")
    select = ["id", "at + interval 1 hour as at", "upper(item) as item"]
    of_files: dict[str, Any] = {"format": "text", "path": str(folder), "options": {}, **given, "select": select}
    shop.write({"models/schema.yml": sources(broker, bids, **of_files)})
    shop.dbt("run", "--full-refresh")
    assert shop.rows("select id, item from {}.rows") == [(1, "A")]
    [(file, value)] = shop.rows("select file, value from {}.rows__unreadable")
    assert file.endswith("lines/1.txt")
    assert bytes(value).decode() == lines[2]
