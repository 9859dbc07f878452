"""Messages of a run when Kafka hasn't the records any more that it has not read."""

from __future__ import annotations

from collections.abc import Callable

from tests.functional.adapter.project import Project
from tests.parts.kafka.broker import Broker
from tests.parts.kafka.shop import ROWS, bid, sources


def test_records_that_retention_has_removed(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids = topic()
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": sources(broker, bids)})
    broker.send(bids, [(None, bid(1, "08:05"))])
    shop.dbt("run")
    broker.send(bids, [(None, bid(number, "08:05")) for number in (2, 3, 4)])
    broker.delete_before(bids, 3)
    said = shop.failure("run")
    assert "Kafka has lost records" in said
    assert "--full-refresh" in said
    assert 'File "' not in said
    assert shop.rows("select id from {}.rows") == [(1,)]


def test_a_topic_that_was_deleted_and_made_again(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]
) -> None:
    bids = topic()
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": sources(broker, bids)})
    broker.send(bids, [(None, bid(number, "08:05")) for number in (1, 2)])
    shop.dbt("run")
    broker.delete(bids)
    assert "hasn't a topic" in shop.failure("run")
    broker.create(bids)
    broker.send(bids, [(None, bid(3, "08:05"))])
    said = shop.failure("run")
    assert "Kafka has lost records" in said
    broker.send(bids, [(None, bid(number, "08:05")) for number in (4, 5, 6)])
    assert "was deleted and created again" in shop.failure("run")
    shop.dbt("run", "--full-refresh")
    shop.sql("REFRESH TABLE {}.rows")
    assert shop.rows("select id from {}.rows") == [(3,), (4,), (5,), (6,)]
