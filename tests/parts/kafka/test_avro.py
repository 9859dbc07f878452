"""Records of Kafka with values in Avro: with a schema in a file, and with those of a registry."""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from tests.functional.adapter.project import Project
from tests.lib.schema_registry import FakeRegistry, registry
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.conftest import JARS
from tests.parts.kafka.shop import BIDS, ROWS, sources
from tests.parts.kafka.shop import bid as in_json
from tests.parts.kafka.test_sink import model as sending

HAS_AVRO = any("spark-avro" in jar for jar in JARS)
needs_avro = pytest.mark.skipif(
    not HAS_AVRO or importlib.util.find_spec("fastavro") is None,
    reason="Spark's package for Avro is not in the parts for this Spark; parts/.venv-iceberg has it",
)
needs_none = pytest.mark.skipif(HAS_AVRO, reason="Spark has its package for Avro here")

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
BID: dict[str, Any] = {
    "type": "record",
    "name": "Bid",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "at", "type": ["null", MILLIS]},
        {"name": "item", "type": "string"},
        {"name": "price", "type": "int"},
    ],
}
LATER = {**BID, "fields": [*BID["fields"], {"name": "currency", "type": "string", "default": "EUR"}]}
BROKEN = [b"", b"\xff" * 12, b"no avro at all", b"\x02\x02\x80"]
"""The last one is the beginning of a value."""


def encoded(schema: dict[str, Any], value: dict[str, Any], id_: int | None = None) -> bytes:
    """A value in Avro, with the number of its schema before it if there is one."""
    import fastavro

    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return (b"" if id_ is None else b"\x00" + id_.to_bytes(4, "big")) + out.getvalue()


def bid(number: int, at: str | None, **more: Any) -> dict[str, Any]:
    time = None if at is None else datetime.fromisoformat(f"2020-04-15T{at}:00+00:00").astimezone(timezone.utc)
    return {"id": number, "at": time, "item": "a", "price": 1, **more}


def message(project: Project, model: str = "bids") -> str:
    return {r.node.name: r.message for r in project.dbt("run").results}[model]


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with registry() as fake:
        yield fake


@needs_avro
def test_windows_of_values_in_avro(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids = topic(partitions=2)
    files = {"models/bids.sql": BIDS, "schemas/bid.avsc": json.dumps(BID)}
    shop = make_project(
        {**files, "models/schema.yml": sources(broker, bids, value_format="avro", schema="schemas/bid.avsc")}
    )
    values = [encoded(BID, bid(number, at)) for number, at in enumerate(["08:05", "08:06", "08:25"])]
    broker.send(bids, [("k", value) for value in [*values, *BROKEN, None]])
    assert f"{len(BROKEN)} unreadable rows" in message(shop)
    assert shop.rows("select n, total from {}.bids") == [(2, 2)]
    kept = shop.rows("select value from {}.bids__unreadable")
    assert sorted(bytes(value) for (value,) in kept) == sorted(BROKEN)
    # The record without a value has no time.
    assert shop.rows("select reason, id from {}.bids__late") == [("no event time", None)]
    broker.send(bids, [("k", encoded(BID, bid(4, "08:26"))), ("k", encoded(BID, bid(5, "08:59")))])
    assert "unreadable" not in message(shop)
    assert shop.rows("select n from {}.bids order by window_start") == [(2,), (2,)]


@needs_avro
def test_types(make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]) -> None:
    money = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    side = {"type": "enum", "name": "Side", "symbols": ["BUY", "SELL"]}
    place = {"type": "record", "name": "Place", "fields": [{"name": "city", "type": ["null", "string"]}]}
    names = {"id": "long", "money": money, "side": side, "tags": {"type": "array", "items": "string"}, "place": place}
    schema = {"type": "record", "name": "Bid", "fields": [{"name": n, "type": t} for n, t in names.items()]}
    bids = topic()
    stream = sources(broker, bids, value_format="avro", schema=json.dumps(schema), select=["*", "kafka_offset"])
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": stream})
    for number, city in enumerate([None, "Ulm"]):
        value = {"id": number, "money": Decimal("1.50"), "side": "SELL", "tags": ["x", "y"], "place": {"city": city}}
        broker.send(bids, [(None, encoded(schema, value))])
    shop.dbt("run")
    found = shop.rows("select id, money, side, tags[1], place.city, kafka_offset from {}.rows")
    assert found == [(0, Decimal("1.50"), "SELL", "y", None, 0), (1, Decimal("1.50"), "SELL", "y", "Ulm", 1)]
    types = shop.rows("select distinct typeof(money), typeof(place) from {}.rows")
    assert types == [("decimal(10,2)", "struct<city:string>")]


@needs_avro
def test_schemas_of_a_registry_and_one_that_comes_while_the_run_goes_on(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], fake: FakeRegistry
) -> None:
    bids = topic()
    first = fake.register(f"{bids}-value", BID, 7)
    stream = sources(broker, bids, value_format="avro", schema=1, schema_registry=fake.url)
    shop = make_project({"models/bids.sql": BIDS, "models/rows.sql": ROWS, "models/schema.yml": stream})
    broker.send(bids, [(None, encoded(BID, bid(1, "08:05"), first))])
    shop.dbt("run")
    # The second version is read as the first one, whose columns the table has.
    second = fake.register(f"{bids}-value", LATER, 300)
    broker.send(bids, [(None, encoded(LATER, bid(2, "08:06", currency="CHF"), second))])
    shop.dbt("run")
    # This one is no version of the subject, so the run finds it first in a value, as one that was just registered.
    other = fake.register("shop.Bid", LATER, 70_000)
    strange = [encoded(BID, bid(9, "08:07"), 999), encoded(BID, bid(9, "08:07")), b"\x00\x00", b"{}"]
    broker.send(bids, [(None, encoded(LATER, bid(3, "08:25", currency="CHF"), other)), *((None, v) for v in strange)])
    assert "4 unreadable rows" in message(shop)
    assert shop.rows("select id, price from {}.rows") == [(1, 1), (2, 1), (3, 1)]
    for model in ("bids", "rows"):
        kept = shop.rows(f"select value from {{}}.{model}__unreadable")
        assert sorted(bytes(value) for (value,) in kept) == sorted(strange)
    assert "/schemas/ids/70000" in fake.asked and "/schemas/ids/999" in fake.asked
    # Spark 4.1 closes windows of a micro-batch that it did again when the next rows come.
    broker.send(bids, [(None, encoded(BID, bid(4, "08:26"), first))])
    shop.dbt("run")
    assert shop.rows("select n from {}.bids") == [(2,)]
    shop.dbt("run", "--full-refresh")
    assert shop.rows("select id from {}.rows") == [(1,), (2,), (3,), (4,)]


def decoded(value: bytes, schema: Any) -> Any:
    """A value as fastavro reads it."""
    import fastavro

    stream = io.BytesIO(value)
    read = fastavro.schemaless_reader(stream, fastavro.parse_schema(schema), None)
    assert stream.read() == b"", "there are bytes behind the value"
    return read


SENT = """\
select id, at, item, cast(price as decimal(10, 2)) as price, cast(at as timestamp_ntz) as wall, cast(at as date) as day,
  cast(null as double) as empty, array(item, null) as tags, map('n', id) as counts,
  struct(price, item as `name`) as both, cast(item as binary) as raw, price > 1 as dear
from {{ stream(source('kafka', 'bid')) }}
"""


@needs_avro
def test_rows_are_sent_in_avro_and_read_again(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], fake: FakeRegistry
) -> None:
    bids, plain, numbered = topic(), topic(), topic()
    url: dict[str, Any] = {"schema_registry": fake.url}
    read = sources(broker, numbered, value_format="avro", schema=1, **url)
    shop = make_project(
        {
            "models/plain.sql": sending(SENT, broker, plain, key="id", value_format="avro"),
            "models/numbered.sql": sending(SENT, broker, numbered, value_format="avro", **url),
            "models/again.sql": ROWS.replace("'kafka'", "'sent'"),
            "models/schema.yml": sources(broker, bids),
            "models/sent/schema.yml": read.replace("name: kafka", "name: sent"),
        }
    )
    broker.send(bids, [(None, in_json(1, "08:01", "a", 1)), (None, in_json(2, "08:02", "b", 2))])
    shop.dbt("run", "--select", "plain", "numbered")
    [number] = fake.subjects[f"{numbered}-value"]
    schema = json.loads(fake.schemas[number]["schema"])
    at = datetime(2020, 4, 15, 8, 1, tzinfo=timezone.utc)
    row = {
        "id": 1,
        "at": at,
        "item": "a",
        "price": Decimal("1.00"),
        "wall": at.replace(tzinfo=None),
        "day": at.date(),
        "empty": None,
        "tags": ["a", None],
        "counts": {"n": 1},
        "both": {"price": 1, "name": "a"},
        "raw": b"a",
        "dear": False,
    }
    records = broker.read_bytes(numbered)
    assert [value[:5] for _, value, _ in records] == [b"\x00" + number.to_bytes(4, "big")] * 2
    found = sorted((decoded(value[5:], schema) for _, value, _ in records), key=lambda value: int(value["id"]))
    assert found[0] == row
    assert (found[1]["id"], found[1]["dear"]) == (2, True)
    # The same row without a number before it, with a schema that bears the other topic's name.
    text = json.dumps(schema).replace(numbered.replace("-", "_"), plain.replace("-", "_"))
    by_key = {key: value for key, value, _ in broker.read_bytes(plain)}
    assert decoded(by_key["1"], json.loads(text)) == row

    shop.dbt("run", "--select", "again")
    columns = "id, at, item, price, wall, day, empty, tags, counts['n'], both.name, raw, dear"
    assert shop.rows(f"select {columns} from {{}}.again") == shop.rows(f"select {columns} from {{}}.numbered")
    assert len(shop.rows("select id from {}.again")) == 2

    shop.dbt("run", "--select", "numbered", "--full-refresh")
    assert fake.subjects[f"{numbered}-value"] == [number], "the same schema has got another version"


@needs_avro
def test_rows_with_a_schema_that_is_given(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], fake: FakeRegistry
) -> None:
    bids, rows = topic(), topic()
    query = "select id, at, item, cast(price as int) as price from {{ stream(source('kafka', 'bid')) }}"
    first = fake.register("shop.Bid", BID, 70_000)
    url: dict[str, Any] = {"schema_registry": {"url": fake.url, "subject": "shop.Bid"}}
    shop = make_project(
        {
            "models/rows.sql": sending(query, broker, rows, value_format="avro", schema=1, **url),
            "models/schema.yml": sources(broker, bids),
            "schemas/bid.avsc": json.dumps(BID),
        }
    )
    broker.send(bids, [(None, in_json(1, "08:01", "a", 4))])
    shop.dbt("run")
    [(_, value, _)] = broker.read_bytes(rows)
    assert value[:5] == b"\x00" + first.to_bytes(4, "big")
    assert decoded(value[5:], BID) == {**bid(1, "08:01"), "price": 4}

    file = topic()
    shop.write({"models/rows.sql": sending(query, broker, file, value_format="avro", schema="schemas/bid.avsc")})
    shop.dbt("run", "--full-refresh")
    [(_, value, _)] = broker.read_bytes(file)
    assert decoded(value, BID) == {**bid(1, "08:01"), "price": 4}

    # What can't be written is refused before a row is in the table.
    before = shop.rows("select * from {}.rows")
    broker.send(bids, [(None, in_json(2, "08:02"))])
    more = sending(
        query.replace("as price", "as price, 1 as more"), broker, file, value_format="avro", schema="schemas/bid.avsc"
    )
    shop.write({"models/rows.sql": more})
    assert "the sink's schema has no field more" in shop.failure("run", "--full-refresh")
    fake.refuses = "Schema being registered is incompatible with an earlier schema"
    shop.write({"models/rows.sql": sending(query, broker, rows, value_format="avro", **url)})
    said = shop.failure("run", "--full-refresh")
    assert "doesn't take the schema of the model's rows as a version of shop.Bid: Schema being registered" in said
    assert shop.rows("select * from {}.rows") == before


@needs_none
def test_a_sink_without_sparks_package_for_avro(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    query = "select id from {{ stream(source('kafka', 'bid')) }}"
    text = sending(query, broker, topic(), value_format="avro")
    shop = make_project({"models/rows.sql": text, "models/schema.yml": sources(broker, topic())})
    said = shop.failure("run")
    assert "sink: Spark needs its package for Avro, in its own version" in said


@needs_none
def test_spark_without_its_package_for_avro(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    stream = sources(broker, topic(), value_format="avro", schema=json.dumps(BID))
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": stream})
    said = shop.failure("run")
    assert "Spark needs its package for Avro, in its own version" in said
    assert "org.apache.spark:spark-avro_2.13:" in said
