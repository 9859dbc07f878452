"""A real Kafka: one process that is controller and broker, on loopback, with its data in a folder."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.spark.java import find_java
from tests.lib.support import free_port
from tests.parts.kafka.security import Secrets

PARTS = Path(__file__).parents[3] / "parts" / "jars"
PASSWORD = "S3CR3T-of-ada"
STARTS_WITHIN = 60.0
"""Seconds that the broker has to start."""

Record = tuple[str | None, Any]
"""Key, and value: bytes as they are, None for a tombstone, and anything else as JSON."""


class Broker:
    """The broker, and what tests do with it.

    Args:
        folder: for its data and its log.

    Attributes:
        servers: where it takes everybody.
        secure_servers: where it takes who logs in, over TLS.
        secrets: with what.
    """

    def __init__(self, folder: Path) -> None:
        from kafka import KafkaProducer

        self.port, controller, secure = free_port(), free_port(), free_port()
        self.servers, self.secure_servers = f"127.0.0.1:{self.port}", f"127.0.0.1:{secure}"
        self.secrets = Secrets.make(folder / "secrets", PASSWORD)
        self._log = folder / "log"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.servers},CONTROLLER://127.0.0.1:{controller},SECURE://{self.secure_servers}",
            "advertised.listeners": f"PLAINTEXT://{self.servers},SECURE://{self.secure_servers}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": folder / "data",
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "auto.create.topics.enable": "false",
            "log.retention.ms": -1,
            "log.initial.task.delay.ms": 500,
            "log.retention.check.interval.ms": 500,
            "file.delete.delay.ms": 0,
            **self.secrets.of_the_broker,
        }
        properties = folder / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        java = [str(find_java().executable), "-Xmx384m", "-cp", str(PARTS / "broker" / "*")]
        # The id of a cluster is 16 bytes in Base64.
        format_ = [
            "kafka.tools.StorageTool",
            "format",
            "--standalone",
            "-t",
            "sparkstreamsparkstream",
            "-c",
            str(properties),
            "--add-scram",
            self.secrets.scram,
        ]
        subprocess.run([*java, *format_], check=True, capture_output=True)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [*java, "kafka.Kafka", str(properties)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ},
                start_new_session=True,  # Ctrl-C ends what uses it first
            )
        try:
            self.admin = self._client()
            self._producer = KafkaProducer(bootstrap_servers=self.servers, acks="all", metadata_max_age_ms=500)
        except BaseException:
            self._process.kill()  # nobody else knows of it yet
            raise

    def _client(self) -> Any:
        from kafka import KafkaAdminClient
        from kafka.errors import KafkaError

        deadline = time.monotonic() + STARTS_WITHIN
        while True:
            with socket.socket() as trial:  # the client would wait longer and longer before it tries again
                answers = trial.connect_ex(("127.0.0.1", self.port)) == 0
            if not answers and self._process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            try:
                return KafkaAdminClient(bootstrap_servers=self.servers)
            except (KafkaError, OSError, ValueError) as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the broker hasn't started: {self._log.read_text()[-2000:]}") from error
                time.sleep(0.5)

    def stop(self) -> None:
        self._producer.close(0)
        self.admin.close()
        self._process.kill()
        self._process.wait()

    def create(self, topic: str, partitions: int = 1, **configs: Any) -> None:
        """Makes a topic."""
        from kafka.admin import NewTopic

        given = {name.replace("_", "."): str(value) for name, value in configs.items()}
        self._until(lambda: self.admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=given)]))
        wait_until(lambda: topic in self.admin.list_topics())

    def delete(self, topic: str) -> None:
        self.admin.delete_topics([topic])
        wait_until(lambda: topic not in self.admin.list_topics())

    def delete_before(self, topic: str, offset: int, partition: int = 0) -> None:
        """Removes the records before an offset, as retention does."""
        from kafka import TopicPartition

        self.admin.delete_records({TopicPartition(topic, partition): offset})

    def send(
        self,
        topic: str,
        records: Iterable[Record],
        partition: int | None = None,
        timestamp: int | None = None,
        headers: Mapping[str, bytes] | None = None,
    ) -> None:
        """Writes records.

        Args:
            topic: the topic.
            records: the records.
            partition: where they go; None for that of their key.
            timestamp: of the records, in milliseconds since the epoch; None for now.
            headers: of each record.
        """
        if partition is not None:
            wait_until(lambda: partition in (self._producer.partitions_for(topic) or ()))
        for key, value in records:
            self._producer.send(
                topic,
                key=None if key is None else key.encode(),
                value=value if value is None or isinstance(value, bytes) else json.dumps(value).encode(),
                partition=partition,
                timestamp_ms=timestamp,
                headers=list((headers or {}).items()),
            )
        self._producer.flush()

    def read(self, topic: str) -> list[tuple[str | None, str, dict[str, str]]]:
        """Key, value and headers of all records, partition by partition."""
        return [(key, value.decode(), headers) for key, value, headers in self.read_bytes(topic)]

    def read_bytes(self, topic: str) -> list[tuple[str | None, bytes, dict[str, str]]]:
        """The same with values that are no text."""
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(bootstrap_servers=self.servers, enable_auto_commit=False)
        try:
            places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
            ends, found = consumer.end_offsets(places), []
            for place in places:
                consumer.assign([place])
                consumer.seek_to_beginning(place)
                while consumer.position(place) < ends[place]:
                    for record in consumer.poll(1000).get(place, []):
                        headers = {name: text.decode() for name, text in record.headers}
                        found.append((record.key and record.key.decode(), record.value, headers))
            return found
        finally:
            consumer.close()

    @staticmethod
    def _until(do: Callable[[], Any]) -> None:
        from kafka.errors import TopicAlreadyExistsError

        def done() -> bool:  # a topic that was deleted goes a moment later
            try:
                do()
            except TopicAlreadyExistsError:
                return False
            return True

        wait_until(done)


def wait_until(holds: Callable[[], bool], seconds: float = 30) -> None:
    """Waits for something.

    Raises:
        AssertionError: it hasn't come in time.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it hasn't come in time"
        time.sleep(0.2)
