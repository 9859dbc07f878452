"""`sparkstream import flink`: scripts whose tables are topics, and the records that come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from tests.functional.adapter.project import Project
from tests.functional.adapter.test_import import at, build, made
from tests.lib.schema_registry import registry
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.test_avro import encoded, needs_avro

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


UPSERTS = """\
CREATE TABLE rates (
  currency STRING, rate DECIMAL(10, 2), since TIMESTAMP(3), WATERMARK FOR since AS since,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'RATES', 'properties.bootstrap.servers' = 'SERVERS',
  'key.format' = 'raw', 'value.format' = 'json'
);
CREATE TABLE orders (id INT, currency STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = 'ORDERS', 'properties.bootstrap.servers' = 'SERVERS', 'format' = 'json'
);
CREATE TABLE at_the_time (id INT, rate DECIMAL(10, 2)) WITH ('connector' = 'print');
CREATE TABLE now_valid (id INT, rate DECIMAL(10, 2)) WITH ('connector' = 'print');
INSERT INTO at_the_time
SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
INSERT INTO now_valid SELECT o.id, r.rate FROM orders AS o JOIN rates AS r ON o.currency = r.currency;
"""


def test_upserts(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], tmp_path: Path
) -> None:
    rates, orders = topic(partitions=2), topic()
    text = UPSERTS.replace("'RATES'", f"'{rates}'").replace("'ORDERS'", f"'{orders}'")
    (tmp_path / "job.sql").write_text(text.replace("'SERVERS'", f"'{broker.servers}'"))
    project = made(make_project, tmp_path / "job.sql")

    def rate(currency: str, value: float, since: str) -> tuple[str, object]:
        return currency, {"currency": currency, "rate": value, "since": f"2020-04-15 {since}:00"}

    broker.send(rates, [rate("EUR", 1.1, "08:00"), rate("YEN", 0.01, "08:00"), rate("EUR", 1.2, "09:00")])
    sent = [(1, "EUR", "08:30"), (2, "EUR", "09:30"), (3, "YEN", "09:30"), (4, "USD", "09:30")]
    broker.send(orders, [(None, {"id": i, "currency": c, "ts": f"2020-04-15 {t}:00"}) for i, c, t in sent])
    build(project)
    versions = [(1, Decimal("1.10")), (2, Decimal("1.20")), (3, Decimal("0.01")), (4, None)]
    assert project.rows("select id, rate from {}.at_the_time") == versions
    assert project.rows("select currency, rate from {}.rates") == [
        ("EUR", Decimal("1.20")),
        ("YEN", Decimal("0.01")),
    ]
    assert [i for i, _ in project.rows("select id, rate from {}.now_valid")] == [1, 2, 3]

    # A record without a value deletes its key, and one behind it brings the key back.
    broker.send(rates, [("EUR", None), ("YEN", None), rate("YEN", 0.02, "10:00")])
    build(project)
    assert project.rows("select currency, rate from {}.rates") == [("YEN", Decimal("0.02"))]
    assert project.rows("select id, rate from {}.now_valid") == [(3, Decimal("0.02"))]
    assert project.rows("select id, rate from {}.at_the_time") == versions
    assert project.rows("select currency, kafka_deleted from {}.rates_changes where kafka_deleted") == [
        ("EUR", True),
        ("YEN", True),
    ]


DEBEZIUM = """\
CREATE TABLE products (
  id BIGINT, price DECIMAL(10, 2), changed TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp' VIRTUAL,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'TOPIC', 'properties.bootstrap.servers' = 'SERVERS',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json', 'debezium-json.schema-include' = 'true'
);
CREATE TABLE dear (n BIGINT, latest TIMESTAMP_LTZ(3)) WITH ('connector' = 'print');
INSERT INTO dear SELECT COUNT(*), MAX(changed) FROM products WHERE price > 1;
"""


def test_changes_of_debezium(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], tmp_path: Path
) -> None:
    products = topic()
    (tmp_path / "job.sql").write_text(DEBEZIUM.replace("TOPIC", products).replace("SERVERS", broker.servers))
    project = made(make_project, tmp_path / "job.sql")

    def change(op: str, number: int, before: float | None, after: float | None, at: str) -> tuple[str, object]:
        rows = [None if price is None else {"id": number, "price": price} for price in (before, after)]
        source = {"ts_ms": millis(at), "db": "shop", "schema": "public", "table": "products", "lsn": 7}
        payload = {"before": rows[0], "after": rows[1], "op": op, "ts_ms": millis(at) + 5, "source": source}
        return str(number), {"schema": {"type": "struct"}, "payload": payload}

    broker.send(
        products,
        [change("r", 1, None, 5, "08:00"), change("c", 2, None, 3, "08:01"), change("u", 1, 5, 0.5, "08:02")],
    )
    build(project)
    assert project.rows("select id, price from {}.products") == [(1, Decimal("0.50")), (2, Decimal("3.00"))]
    assert project.rows("select n, latest from {}.dear") == [(1, at("08:01"))]

    # Behind a deletion comes a record without a value.
    broker.send(products, [change("d", 2, 3, None, "08:03"), ("2", None), change("c", 3, None, 2, "08:04")])
    build(project)
    assert project.rows("select id, price from {}.products") == [(1, Decimal("0.50")), (3, Decimal("2.00"))]
    assert project.rows("select n from {}.dear") == [(1,)]


AVRO = """\
CREATE TABLE bids (id BIGINT, ts TIMESTAMP(3), item STRING, price INT, WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = 'BIDS', 'properties.bootstrap.servers' = 'SERVERS',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'avro-confluent', 'avro-confluent.url' = 'REGISTRY'
);
CREATE TABLE totals (starts TIMESTAMP(3), total BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'TOTALS', 'properties.bootstrap.servers' = 'SERVERS',
  'format' = 'avro-confluent', 'avro-confluent.url' = 'REGISTRY'
);
INSERT INTO totals
SELECT window_start, SUM(price) FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end;
"""


@needs_avro
def test_avro(make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], tmp_path: Path) -> None:
    time = {"type": "long", "logicalType": "timestamp-millis"}
    # Flink writes all fields of a table's record as nullable, and in the order of its columns; others may do otherwise.
    fields = {"item": ["null", "string"], "price": "int", "ts": time, "more": "string", "id": "long"}
    schema = {"type": "record", "name": "Bid", "fields": [{"name": n, "type": t} for n, t in fields.items()]}
    bids, totals = topic(), topic()
    with registry() as fake:
        id_ = fake.register(f"{bids}-value", schema, 7)
        text = AVRO.replace("'BIDS'", f"'{bids}'").replace("'TOTALS'", f"'{totals}'").replace("REGISTRY", fake.url)
        (tmp_path / "job.sql").write_text(text.replace("SERVERS", broker.servers))
        project = made(make_project, tmp_path / "job.sql")
        times = ["08:01", "08:09", "08:31"]
        rows = [{"item": None, "price": 2, "ts": millis(t), "more": "x", "id": n} for n, t in enumerate(times)]
        broker.send(bids, [(None, encoded(schema, row, id_)) for row in rows])
        build(project)
        assert project.rows("select id, ts, item from {}.bids") == [(n, at(t), None) for n, t in enumerate(times)]
        assert project.rows("select starts, total from {}.totals") == [(at("08:00"), 4)]
        [record] = broker.read_bytes(totals)
        assert record[1][:1] == b"\x00"
        assert f"{totals}-value" in fake.subjects
