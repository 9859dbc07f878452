"""Topic of `config(sink=...)`, which gets a streaming model's rows as its table does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.sql.core.errors import did_you_mean
from dbt.adapters.sparkstream.sql.core.literals import backticked, string_map
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sinks.avro import AvroRows
from dbt.adapters.sparkstream.streaming.sources.avro import AVRO, FORMATS
from dbt.adapters.sparkstream.streaming.sources.kafka import KAFKA, SERVERS
from dbt.adapters.sparkstream.streaming.sources.source import given_options
from dbt.adapters.sparkstream.streaming.worker.sink import Producer

KEYS = ("format", "topic", "key", "value_format", "value_options", "schema", "schema_registry", "options")

_EXAMPLE = f"write it such as sink={{'format': 'kafka', 'topic': 'bids', 'options': {{'{SERVERS}': 'HOST:9092'}}}}"


@dataclass(frozen=True)
class Topic:
    """The topic that a model's rows are sent to.

    Attributes:
        key: the columns that make a record's key; none for records without.
        value_format: format of all columns of a row together: `json`, `csv` or `avro`.
        options: options of Spark's Kafka sink, such as where Kafka is.
        avro: schema and registry for Avro; None for another format.
    """

    name: str
    key: tuple[str, ...]
    value_format: str
    value_options: Mapping[str, str]
    options: Mapping[str, str]
    avro: AvroRows | None = None

    @classmethod
    def read(cls, given: Any, root: Path = Path()) -> Topic:
        """Reads and checks the config."""
        if not isinstance(given, Mapping):
            raise StreamingError(f"sink is not a mapping: {given!r}\n  {_EXAMPLE}")
        for name in given:
            if name not in KEYS:
                hint = did_you_mean(name, KEYS, f"it has {', '.join(KEYS)}")
                raise StreamingError(f"sink has no {name!r}\n  {hint}; settings of Spark's Kafka sink go to options")
        if given.get("format") != KAFKA:
            said = f"can't be {given['format']!r}" if given.get("format") else "has no format"
            raise StreamingError(f"sink {said}: rows go to the model's table, and to Kafka if you like\n  {_EXAMPLE}")
        topic = given.get("topic")
        if not isinstance(topic, str) or not topic.strip():
            raise StreamingError(f"sink has no topic\n  {_EXAMPLE}")
        for name in ("options", "value_options"):
            if not isinstance(given.get(name) or {}, Mapping):
                raise StreamingError(f"sink's {name} is not a mapping\n  {_EXAMPLE}")
        value_format = given.get("value_format", "json")
        if value_format not in FORMATS:
            raise StreamingError(
                f"sink's value_format can't be {value_format!r}\n  write one of {', '.join(FORMATS)}; or have the "
                "model select the text itself, and a second model with it alone send it as csv"
            )
        _check_avro(given, value_format)
        return cls(
            name=topic,
            key=_key(given.get("key")),
            value_format=value_format,
            value_options=given_options({"options": given.get("value_options")}),
            options=_options(given_options(given)),
            avro=AvroRows.read(given, topic, root) if value_format == AVRO else None,
        )

    def producer(self, columns: Sequence[tuple[str, str]], generation: str) -> Producer:
        """Producer that sends the rows of a table."""
        options = {**self.options, "topic": self.name}
        return Producer(options, self.key_sql(columns), self.value_sql(columns), generation)

    def key_sql(self, columns: Sequence[tuple[str, str]]) -> str:
        """The key of a record: a column as text, several as a JSON object."""
        types = {name.casefold(): (name, type_) for name, type_ in columns}
        for name in self.key:
            if name.casefold() not in types:
                raise StreamingError(
                    f"sink's key has a column {name}, and the model hasn't\n"
                    f"  it has {', '.join(name for name, _ in columns)}"
                )
        key = [types[name.casefold()] for name in self.key]
        if not key:
            return "CAST(NULL AS STRING)"
        if len(key) > 1:
            return f"to_json({_struct(key)}, map('ignoreNullFields', 'false'))"
        [(name, type_)] = key
        return backticked(name) if type_ == "binary" else f"CAST({backticked(name)} AS STRING)"

    def value_sql(self, columns: Sequence[tuple[str, str]], *, registers: bool = True) -> str:
        """The value of a record: all columns of the model; `registers` gives a registry its schema."""
        row = _struct(columns)
        if self.avro is not None:
            return self.avro.sql(columns, row, registers=registers)
        # A consumer of JSON is to see every column of every row.
        options = {**({"ignoreNullFields": "false"} if self.value_format == "json" else {}), **self.value_options}
        settings = f", {string_map(options)}" if options else ""
        return f"to_{self.value_format}({row}{settings})"

    @property
    def servers(self) -> str:
        """Addresses of Kafka's brokers."""
        return next(text for name, text in self.options.items() if name.casefold() == SERVERS)


def _check_avro(given: Mapping[str, Any], value_format: str) -> None:
    if value_format == AVRO and given.get("value_options"):
        raise StreamingError("sink's value_options are those of json and csv\n  leave them out: Avro has a schema")
    if value_format != AVRO:
        for name in ("schema", "schema_registry"):
            if given.get(name) is not None:
                raise StreamingError(f"sink's {name} is for value_format 'avro'\n  leave it out, or write that format")


def _key(given: Any) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given or []
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name.strip() for name in names):
        raise StreamingError(f"sink's key is a column or a list of columns, and not {given!r}")
    return tuple(names)


def _options(given: dict[str, str]) -> dict[str, str]:
    names = {name.casefold() for name in given}
    if SERVERS not in names:
        raise StreamingError(f"sink doesn't say where Kafka is\n  {_EXAMPLE}")
    if "topic" in names:
        raise StreamingError("sink's options have a topic\n  write the topic beside the options")
    return given


def _struct(columns: Sequence[tuple[str, str]]) -> str:
    return f"struct({', '.join(backticked(name) for name, _ in columns)})"
