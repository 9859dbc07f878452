"""Topics of Kafka as sources of streams, and brokers that can't be reached: Spark would ask them for minutes."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.streaming.refusals import NO_BROKER, StreamingError
from dbt.adapters.sparkstream.streaming.sources.avro import FORMATS
from dbt.adapters.sparkstream.streaming.sources.source import ORIGIN, Portion, Positions, StreamSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KAFKA = "kafka"

SERVERS = "kafka.bootstrap.servers"
"""Option with the addresses of Kafka's brokers."""

_TOPIC_OPTIONS = ("subscribe", "subscribePattern", "assign")
"""The options that name topics."""

_TRANSPORT_OPTIONS = (
    *("kafka.", "kafkaconsumer.", "fetchoffset.", "groupidprefix"),
    *("maxoffsetspertrigger", "minoffsetspertrigger", "maxtriggerdelay", "minpartitions", "maxrecordsperpartition"),
)
"""Beginnings of the names of options that change how Kafka is reached and read, and not which records."""

_EARLIEST = -2
"""Offset from which Spark reads a partition that was added: its earliest record."""

PATIENCE = 5.0
"""Seconds for a broker to take a connection."""


class Kafka(StreamSource):
    """Topics of Kafka."""

    has_portions = True
    prefix = "kafka_"
    batch_advice = None

    @property
    def brokers(self) -> str:
        return self.folded[SERVERS]

    @property
    def topics(self) -> Sequence[str]:
        if "assign" in self.folded:
            return list(json.loads(self.folded["assign"]))
        if "subscribepattern" in self.folded:
            return [self.folded["subscribepattern"]]
        return [name.strip() for name in self.folded["subscribe"].split(",")]

    @property
    def state_depends_on(self) -> Mapping[str, Any]:
        """Keys of the reader that make it another stream: topics, but not Kafka's address or the speed of reading."""
        reader = dict(self.as_written)
        if "schema_registry" in reader:  # it has the schemas of values, wherever it is
            reader["schema_registry"] = True
        options = reader.get("options") or {}
        kept = {k: v for k, v in options.items() if not str(k).casefold().startswith(_TRANSPORT_OPTIONS)}
        return {**reader, "options": kept}

    def check(self) -> None:
        super().check()
        relation, reader, options = self.relation, self.reader, self.folded
        if "path" in reader:
            raise StreamingError(
                f"{relation}: format: kafka has no path\n"
                f"  write options: {{subscribe: {reader['path']}, ...}} for a topic"
            )
        if "schema" in reader and "value_format" not in reader:
            raise StreamingError(
                f"{relation}: what has a schema is the value of Kafka's records, and nothing says how it is written\n"
                f"  write value_format: one of {', '.join(FORMATS)}"
            )
        if SERVERS not in options:
            raise StreamingError(
                f"{relation}: nothing says where Kafka is\n"
                "  write options: {kafka.bootstrap.servers: 'HOST:9092', ...}"
            )
        named = [name for name in _TOPIC_OPTIONS if name.casefold() in options]
        if len(named) != 1:
            said = " and ".join(named) + " both say" if named else "nothing says"
            raise StreamingError(
                f"{relation}: {said} which topics to read\n"
                "  write options: {subscribe: TOPIC, ...}, with commas between several; or subscribePattern, or assign"
            )
        if options.get("failondataloss", "true").casefold() != "true":
            raise StreamingError(
                f"{relation}: failOnDataLoss can't be {options['failondataloss']}: rows would be lost without a word\n"
                "  leave it out"
            )
        if ending := next((name for name in options if name.startswith("endingoffsets")), None):
            raise StreamingError(f"{relation}: a stream has no end, and so no {ending}\n  leave it out")

    def check_backfill(self) -> None:
        raise StreamingError(
            f"{self.relation} is a topic, and nobody can tell whether it has all rows of a range still\n"
            "  write its rows into a table with a streaming model, and let this model read that with stream()"
        )

    def origin(self) -> list[str]:
        return [f"{name} :: {type_} AS {name}" for name, type_ in ORIGIN.items()]

    def number_among(self, until: Mapping[int, Positions]) -> int | None:
        """Spark's number of this stream, by the topics that each has; None where another one has the same records."""
        own = [number for number, topics in until.items() if all(map(self._reads, topics))]
        return own[0] if len(own) == 1 else None

    def _reads(self, topic: str) -> bool:
        if "subscribepattern" not in self.folded:
            return topic in self.topics
        try:
            return re.fullmatch(self.folded["subscribepattern"], topic) is not None
        except re.error:  # a pattern of Java's alone, such as \p{Digit}: which topics it has, nobody tells
            return False

    def rows_of(self, spark: SparkSession, portion: Portion) -> DataFrame:
        return self._records(spark, portion, self.options)

    def records(self, spark: SparkSession, places: Positions) -> list[tuple[str, int, int, int, int]]:
        """Records at offsets, if they exist: topic, partition, offset, time in microseconds, hash of key and value."""
        until = {topic: {n: offset + 1 for n, offset in of.items()} for topic, of in places.items()}
        lenient = {"failOnDataLoss": "false", "kafkaConsumer.pollTimeoutMs": "10000"}
        facts = ("topic", "partition", "offset", "unix_micros(timestamp)", "xxhash64(key, value)")
        found = self._records(spark, Portion(since=places, until=until), {**self.options, **lenient})
        return [tuple(row) for row in found.selectExpr(*facts).collect()]

    def _records(self, spark: SparkSession, portion: Portion, options: Mapping[str, str]) -> DataFrame:
        replaced = ("starting", *map(str.casefold, _TOPIC_OPTIONS)) if portion.until else ("starting",)
        given = {name: text for name, text in options.items() if not name.casefold().startswith(replaced)}
        loader = spark.read.format(str(self.reader["format"])).options(**given)
        if not portion.until:
            return loader.load().where("FALSE")
        partitions = {topic: sorted(map(int, until)) for topic, until in portion.until.items()}
        since = {
            topic: {number: portion.since.get(topic, {}).get(number, _EARLIEST) for number in until}
            for topic, until in portion.until.items()
        }
        places = {"assign": partitions, "startingOffsets": since, "endingOffsets": portion.until}
        return loader.options(**{name: json.dumps(place) for name, place in places.items()}).load()

    def _batch_options(self) -> Mapping[str, str]:
        # A batch has to begin somewhere, and has an end.
        return {name: text for name, text in self.options.items() if text.casefold() != "latest"}


def check_brokers(servers: str, where: str) -> None:
    """Checks that one of some brokers, `HOST:PORT,HOST:PORT`, takes a connection from here, where Spark's driver is."""
    addresses = [address.strip() for address in servers.split(",") if address.strip()]
    if not addresses:
        return
    with ThreadPoolExecutor(len(addresses)) as pool:
        faults = list(pool.map(_fault, addresses))
    if all(faults):
        said = "; ".join(f"{address}: {fault}" for address, fault in zip(addresses, faults, strict=True))
        raise StreamingError(f"no broker of Kafka answers at {said}\n  {NO_BROKER}: {where}")


def _fault(address: str) -> str | None:
    """Reason why a broker takes no connection; None if it takes one."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not port.isdigit():
        return "this is no HOST:PORT"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), PATIENCE):
            return None
    except socket.gaierror:
        return "no such host is known here"
    except TimeoutError:
        return f"no answer in {PATIENCE:g} seconds"
    except OSError as error:
        return (error.strerror or str(error)).lower()
