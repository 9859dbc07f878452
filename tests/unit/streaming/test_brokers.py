"""Brokers of Kafka that can't be reached."""

from __future__ import annotations

import socket

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError, explained
from dbt.adapters.sparkstream.streaming.sources import brokers


def test_no_broker_answers() -> None:
    with socket.socket() as unused, pytest.raises(StreamingError) as error:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        brokers.check(f"{address}, nowhere.invalid:9092,PLAINTEXT://broker", "the options of raw.bid")
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
        brokers.check(f"nowhere.invalid:9092,127.0.0.1:{broker.getsockname()[1]}", "")


def test_a_server_s_own_words_are_explained() -> None:
    said = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: listNodes"
    told = str(explained(StreamingError(said), "/checkpoint"))
    assert told.startswith("no broker of Kafka answers\n  look whether Kafka runs there")
