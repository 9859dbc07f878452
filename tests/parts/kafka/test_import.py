"""`sparkstream import flink`: scripts whose tables are topics, and the records that come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from tests.functional.adapter.project import Project
from tests.functional.adapter.test_import import at, build, made
from tests.parts.kafka.broker import Broker

SCRIPT = """\
CREATE TABLE orders (
  order_id STRING, customer INT, amount DECIMAL(10, 2), ms BIGINT,
  ts AS TO_TIMESTAMP_LTZ(ms, 3),
  proctime AS PROCTIME(),
  `part` INT METADATA FROM 'partition' VIRTUAL,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'ORDERS', 'properties.bootstrap.servers' = 'SERVERS',
  'properties.group.id' = 'me', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json'
);
CREATE TABLE customers (id INT, name STRING) WITH ('connector' = 'jdbc', 'table-name' = 'customers');
CREATE TABLE enriched (
  order_id STRING, name STRING, amount DECIMAL(10, 2), ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'kafka', 'topic' = 'ENRICHED', 'properties.bootstrap.servers' = 'SERVERS',
  'key.format' = 'raw', 'key.fields' = 'order_id', 'value.format' = 'json'
);
CREATE TABLE revenue (
  starts TIMESTAMP(3), name STRING, total DECIMAL(20, 2), PRIMARY KEY (starts, name) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'REVENUE', 'properties.bootstrap.servers' = 'SERVERS',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE totals (name STRING, total DECIMAL(20, 2)) WITH ('connector' = 'print');
INSERT INTO enriched
SELECT o.order_id, c.name, o.amount, o.ts
FROM orders AS o LEFT JOIN customers FOR SYSTEM_TIME AS OF o.proctime AS c ON o.customer = c.id;
INSERT INTO revenue
SELECT window_start, name, SUM(amount)
FROM TUMBLE(TABLE enriched, DESCRIPTOR(ts), INTERVAL '10' MINUTES) GROUP BY window_start, window_end, name;
INSERT INTO totals SELECT name, SUM(amount) FROM enriched GROUP BY name;
"""


def millis(time: str) -> int:
    return int((at(time) - at("00:00")).total_seconds() * 1000) + 1_586_908_800_000


def test_a_job(make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], tmp_path: Path) -> None:
    names = {"ORDERS": topic(partitions=2), "ENRICHED": topic(), "REVENUE": topic(), "SERVERS": broker.servers}
    text = SCRIPT
    for word, name in names.items():
        text = text.replace(f"'{word}'", f"'{name}'")
    (tmp_path / "job.sql").write_text(text)
    project = made(make_project, tmp_path / "job.sql")
    build(project)
    project.sql("insert into {}_inputs.customers values (1, 'ada'), (2, 'bob')")
    sent = [("a", 1, 2.5, "08:05"), ("b", 2, 1, "08:06"), ("c", 1, 4, "08:09"), ("d", 3, 8, "08:31")]
    records = [{"order_id": i, "customer": c, "amount": n, "ms": millis(t)} for i, c, n, t in sent]
    broker.send(names["ORDERS"], [*((None, record) for record in records), (None, "no JSON")])

    assert "1 unreadable row" in build(project)["orders"]
    assert project.rows("select order_id, name, amount from {}.enriched") == [
        ("a", "ada", Decimal("2.50")),
        ("b", "bob", Decimal("1.00")),
        ("c", "ada", Decimal("4.00")),
        ("d", None, Decimal("8.00")),
    ]
    closed = [(at("08:00"), "ada", Decimal("6.50")), (at("08:00"), "bob", Decimal("1.00"))]
    assert project.rows("select starts, name, total from {}.revenue") == closed
    assert dict(project.rows("select name, total from {}.totals where name is not null")) == {
        "ada": Decimal("6.50"),
        "bob": Decimal("1.00"),
    }
    enriched = {key: json.loads(value) for key, value, _ in broker.read(names["ENRICHED"])}
    assert enriched["a"] == {"order_id": "a", "name": "ada", "amount": 2.50, "ts": "2020-04-15 08:05:00.000Z"}
    revenue = [(json.loads(key or ""), json.loads(value)) for key, value, _ in broker.read(names["REVENUE"])]
    assert sorted(value["total"] for _, value in revenue) == [1.0, 6.5]
    assert {key["starts"] for key, _ in revenue} == {"2020-04-15T08:00:00.000"}
    assert {value["starts"] for _, value in revenue} == {"2020-04-15 08:00:00.000"}

    # What came is read once.
    assert build(project)["orders"] == "+0 rows, nothing new"
    assert len(project.rows("select * from {}.enriched")) == 4
