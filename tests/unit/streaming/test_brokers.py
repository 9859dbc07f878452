"""Brokers of Kafka that can't be reached."""

from __future__ import annotations

import socket
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError, explained
from dbt.adapters.sparkstream.streaming.sources.kafka import check_brokers
from dbt.adapters.sparkstream.streaming.spark import engine


def test_no_broker_answers() -> None:
    with socket.socket() as unused, pytest.raises(StreamingError) as error:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        check_brokers(f"{address}, nowhere.invalid:9092,PLAINTEXT://broker", "the options of raw.bid")
    told = str(error.value)
    for words in (
        f"no broker of Kafka answers at {address}: connection refused",
        "nowhere.invalid:9092: ",
        "PLAINTEXT://broker: this is no HOST:PORT",
        "kafka.bootstrap.servers: the options of raw.bid",
    ):
        assert words in told


def test_one_broker_of_several_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker:
        check_brokers(f"nowhere.invalid:9092,127.0.0.1:{broker.getsockname()[1]}", "")


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        (None, "an error"),
        ("sc://localhost:15002", "a warning"),
        ("sc://127.0.0.1:15002/;user_id=me", "a warning"),
        ("sc://spark.example:15002", "nothing"),
    ],
)
def test_where_the_driver_is(url: str | None, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine may be in a container, which finds a broker by another name."""
    warned: list[str] = []
    monkeypatch.setattr(engine.logger, "warning", warned.append)
    with pytest.raises(StreamingError) if outcome == "an error" else nullcontext():
        engine.Engine.check_brokers(SimpleNamespace(_url=url), "127.0.0.1:1", "the options of raw.bid")  # type: ignore[arg-type]
    assert [outcome for text in warned if text.startswith("no broker of Kafka answers at 127.0.0.1:1: ")] == (
        ["a warning"] if outcome == "a warning" else []
    )


def test_a_server_s_own_words_are_explained() -> None:
    said = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: listNodes"
    told = str(explained(StreamingError(said), "/checkpoint"))
    assert told.startswith("no broker of Kafka answers\n  look whether Kafka runs there")
