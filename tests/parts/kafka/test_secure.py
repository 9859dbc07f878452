"""A Kafka that is reached over TLS and asks who comes; and records that belong to transactions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.functional.adapter.project import Project
from tests.parts.kafka.broker import PASSWORD, Broker
from tests.parts.kafka.security import STORE_PASSWORD, USER
from tests.parts.kafka.shop import ROWS, bid, sources
from tests.parts.kafka.test_sink import WINDOWS, model

FROM_THE_ENVIRONMENT = "{{ env_var('KAFKA_PASSWORD') }}"


def shown(project: Project) -> str:
    """All that a run leaves for people to read: its logs, and what it has compiled. The manifest has the options."""
    files = [*(project.folder / "logs").glob("*"), *(project.folder / "target" / "compiled").rglob("*.sql")]
    files += [project.folder / "target" / "run_results.json"]
    return "\n".join(path.read_text() for path in files if path.is_file())


def test_source_and_sink_with_a_password(
    make_project: Callable[..., Project],
    broker: Broker,
    topic: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    bids, closed = topic(partitions=2), topic()
    options = broker.secrets.options(broker.secure_servers, FROM_THE_ENVIRONMENT)
    placed = broker.secrets.options(broker.secure_servers, "PLACE")
    text = model(WINDOWS, broker, closed, placed, key="item").replace("PLACE", "' ~ env_var('KAFKA_PASSWORD') ~ '")
    shop = make_project({"models/bids.sql": text, "models/schema.yml": sources(broker, bids, options)})
    broker.send(bids, [(None, bid(1, "08:01", "a", 4)), (None, bid(2, "08:02", "b", 2)), (None, bid(3, "08:11"))])
    shop.dbt("--debug", "run")
    broker.send(bids, [(None, bid(4, "08:25"))])
    shop.dbt("--debug", "run")
    assert shop.rows("select item, n from {}.bids order by window_start") == [("a", 1), ("a", 1), ("b", 1)]
    assert sorted(json.loads(value)["item"] for _, value, _ in broker.read(closed)) == ["a", "a", "b"]
    said = "".join(capfd.readouterr()) + shown(shop)
    said += str(shop.rows("select * from {}.sparkstream_runs")) + str(shop.rows("show tblproperties {}.bids"))
    assert "1 of 1 OK created sql streaming_incremental model" in said
    assert PASSWORD not in said and STORE_PASSWORD not in said


def test_a_wrong_password_and_a_certificate_that_nobody_vouches_for(
    make_project: Callable[..., Project],
    broker: Broker,
    topic: Callable[..., str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    bids, closed = topic(), topic()
    wrong = broker.secrets.options(broker.secure_servers, "S3CR3T-of-nobody")
    untrusting = broker.secrets.options(broker.secure_servers, trust="untrusted")
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": sources(broker, bids, wrong)})
    broker.send(bids, [(None, bid(1, "08:01"))])
    said = []
    for options, reason in ((wrong, "Kafka doesn't let the user in"), (untrusting, "don't agree about TLS")):
        shop.write({"models/schema.yml": sources(broker, bids, options)})
        begun = time.monotonic()
        message = shop.failure("run")
        assert reason in message, message
        assert time.monotonic() - begun < 120
        said.append(message)
    # The source is reached, the sink isn't.
    query = "select id, item from {{ stream(source('kafka', 'bid')) }}"
    for options, reason in ((wrong, "Kafka doesn't let the user in"), (untrusting, "don't agree about TLS")):
        shop.write(
            {
                "models/rows.sql": model(query, broker, closed, options),
                "models/schema.yml": sources(broker, bids, broker.secrets.options(broker.secure_servers)),
            }
        )
        begun = time.monotonic()
        message = shop.failure("run", "--full-refresh")
        assert f"can't send rows to the topic {closed}; they are in the table" in message
        assert reason in message, message
        assert time.monotonic() - begun < 180
        said.append(message)
    assert shop.rows("select id from {}.rows") == [(1,)]
    everything = "\n".join([*said, *capfd.readouterr(), shown(shop)])
    for secret in ("S3CR3T-of-nobody", PASSWORD, STORE_PASSWORD):
        assert secret not in everything


def test_a_password_that_only_the_machine_of_spark_knows(
    make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str], tmp_path: Path
) -> None:
    """As docs/kafka.md has it: neither dbt nor its manifest has seen it."""
    (tmp_path / "kafka.properties").write_text(f"password={PASSWORD}\n")
    bids = topic()
    options = {
        **broker.secrets.options(broker.secure_servers, f"${{file:{tmp_path}/kafka.properties:password}}"),
        "kafka.config.providers": "file",
        "kafka.config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": sources(broker, bids, options)})
    broker.send(bids, [(None, bid(1, "08:01"))])
    shop.dbt("run")
    assert shop.rows("select id from {}.rows") == [(1,)]
    manifest = (shop.folder / "target" / "manifest.json").read_text()
    assert USER in manifest and PASSWORD not in manifest


def test_transactions(make_project: Callable[..., Project], broker: Broker, topic: Callable[..., str]) -> None:
    """What was aborted is never seen; what is open holds back what comes behind it, until it is committed."""
    from kafka import KafkaProducer

    bids = topic()
    committed = {"kafka.isolation.level": "read_committed"}
    shop = make_project({"models/rows.sql": ROWS, "models/schema.yml": sources(broker, bids, committed)})

    def sent(producer: KafkaProducer, *numbers: int) -> None:
        for number in numbers:
            producer.send(bids, value=json.dumps(bid(number, "08:01")).encode())
        producer.flush()

    def run() -> list[int]:
        shop.dbt("run")
        return [number for (number,) in shop.rows("select id from {}.rows order by id")]

    producers = [KafkaProducer(bootstrap_servers=broker.servers, transactional_id=f"t{n}-{bids}") for n in range(2)]
    with closing(producers[0]) as one, closing(producers[1]) as two:
        for producer in producers:
            producer.init_transactions()
        one.begin_transaction()
        sent(one, 1, 2)
        one.commit_transaction()
        one.begin_transaction()
        sent(one, 3, 4)
        one.abort_transaction()
        two.begin_transaction()
        sent(two, 5)
        one.begin_transaction()
        sent(one, 6)
        one.commit_transaction()
        assert run() == [1, 2]
        assert run() == [1, 2]
        two.commit_transaction()
        assert run() == [1, 2, 5, 6]
        two.begin_transaction()
        sent(two, 7)
        two.abort_transaction()
        assert run() == [1, 2, 5, 6]
        broker.send(bids, [(None, bid(8, "08:01"))])
        assert run() == [1, 2, 5, 6, 8]
    assert shop.rows("select sum(rows_read) from {}.sparkstream_runs")[0][0] == 5
    shop.write({"models/schema.yml": sources(broker, bids)})
    shop.dbt("run", "--full-refresh")
    assert len(shop.rows("select id from {}.rows")) == 8
