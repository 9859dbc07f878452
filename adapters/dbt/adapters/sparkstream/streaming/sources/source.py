"""Sources of streams, a class for each kind: tables and files are here, topics and classes in Python next to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote

from dbt.adapters.sparkstream.secrecy.names import is_harmless_option
from dbt.adapters.sparkstream.secrecy.redaction import learn
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.streaming import RowView
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.tables.formats import IN_FOLDERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LISTING = ("recursivefilelookup", "pathglobfilter")
ORIGIN = {"topic": "string", "partition": "int", "offset": "bigint", "timestamp": "timestamp", "key": "binary"}
"""Columns of Kafka -> type, in the table of rows with values that can't be read."""

Positions = Mapping[str, Mapping[str, int]]
"""Offsets of Kafka: topic -> partition -> an offset."""


@dataclass(frozen=True)
class Portion:
    """Part of a stream that a micro-batch has read: files, or Kafka's first offsets in it and first ones after it."""

    files: tuple[str, ...] = ()
    since: Positions = field(default_factory=dict)
    until: Positions = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """A view over the rows of a table."""

    query: RowView
    columns: tuple[str, ...]


@dataclass(frozen=True)
class StreamSource:
    """A stream that a model reads under a name: of a format that Spark knows by name, such as a socket.

    A micro-batch's rows can't be read again. Classes below it are for sources that have more.

    Attributes:
        relation: the source, for words; a table, as SQL names it.
        event_time: the column with the time that the watermark is of; None for the model's `event_time`.
        watermark: how late a row may be; None for the model's `watermark`.
        reader: keys in `meta: stream:` of a dbt source, with the path where the files are; empty for a table.
        checksum: of a seed's rows; None for any other source.
        seen: the view through which the rows of `relation`, its table, are read; None for a table itself.
        path: the reader's path as the source's meta has it, which may be relative; None for the same.
        project: the folder of the dbt project, which may have a module with the source's class; None for no project.
    """

    view: str
    relation: str
    event_time: str | None = None
    watermark: Interval | None = None
    reader: Mapping[str, Any] = field(default_factory=dict)
    checksum: str | None = None
    seen: View | None = None
    path: str | None = None
    project: Path | None = None

    has_portions: ClassVar[bool] = False
    """True if the checkpoint records what a micro-batch has read, so that it can be read again."""

    prefix: ClassVar[str] = ""
    """Prefix for the names of the source's own columns, if the columns are those of the value."""

    batch_advice: ClassVar[str | None] = "keep its rows in a streaming model, and read that"
    """Advice if a batch can't read the source; None if Spark's error is enough."""

    @property
    def folder(self) -> str | None:
        """Folder of its files, each of which a stream reads once; None for a source without such files."""
        return None

    @property
    def as_written(self) -> Mapping[str, Any]:
        """The reader with its path as the source's meta has it: the same wherever the project lies."""
        return self.reader if self.path is None else {**self.reader, "path": self.path}

    @property
    def name(self) -> str:
        """The name of its format, in lower case."""
        return str(self.reader["format"]).casefold()

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The options for Spark."""
        return given_options(self.reader)

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The options by their names in lower case, as Spark makes no difference."""
        return {name.casefold(): text for name, text in self.options.items()}

    @property
    def brokers(self) -> str:
        """Addresses of Kafka's brokers, as `kafka.bootstrap.servers` has them; empty for any other source."""
        return ""

    @property
    def topics(self) -> Sequence[str]:
        """The topics that it reads, or their pattern."""
        return ()

    @property
    def has_values(self) -> bool:
        """True if columns are made of its `value`."""
        return "value_format" in self.reader

    @property
    def is_archived(self) -> bool:
        """True if its files go once they were read: people move them, or Spark itself does (`cleanSource`)."""
        return bool(self.reader.get("archived")) or self.folded.get("cleansource", "off").casefold() != "off"

    @property
    def listing(self) -> dict[str, str]:
        """Options that choose the files of its folder which it reads."""
        return {name: text for name, text in self.options.items() if name.casefold() in _LISTING}

    @property
    def state_depends_on(self) -> Mapping[str, Any]:
        """Keys of the reader whose change makes it another stream."""
        return {key: value for key, value in self.as_written.items() if key != "archived"}

    @property
    def identities(self) -> list[str]:
        """Texts that identify the source: as it is recorded now, and as version 0.2.0 has recorded it."""
        kind = str(self.reader.get("format", self.name))
        return [json.dumps([kind, reader.get("path")]) for reader in (self.reader, self.as_written)]

    def check(self) -> None:
        """Checks the reader's keys, as some are only for some kinds of sources."""
        if "archived" in self.reader:
            raise StreamingError(
                f"{self.relation}: archived says that files go once they were read, and this source has none\n"
                "  leave it out"
            )

    def check_backfill(self) -> None:
        """Refuses a source whose rows of earlier times may be gone, or can't be read again."""
        if not self.has_portions or "cleansource" in self.folded:
            raise StreamingError(f"{self.relation} can't be read a second time\n  run the model with --full-refresh")

    @property
    def states_columns(self) -> bool:
        """True if its columns are known before it has any rows."""
        return "schema" in self.reader or not self.has_portions

    def origin(self) -> list[str]:
        """SQL for each column of `ORIGIN`, which tells where a row comes from."""
        return [f"NULL :: {type_} AS {name}" for name, type_ in ORIGIN.items()]

    def stream(self, spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
        """Its rows as a stream, with options for Spark unless the source has others."""
        return self._loaded(spark.readStream.format(self._format(spark)).options(**{**options, **self.options}))

    def rows(self, spark: SparkSession) -> DataFrame:
        """All rows that the source has by now."""
        return self._loaded(spark.read.format(self._format(spark)).options(**self._batch_options()))

    def rows_of(self, spark: SparkSession, portion: Portion) -> DataFrame:
        """The rows that a micro-batch has read; none of a source that can't be read again."""
        if not self.has_portions:
            return self.without_rows(spark)
        names = ", ".join(string_literal(spelled) for name in portion.files for spelled in _spellings(name))
        return self.rows(spark).where(f"_metadata.file_path IN ({names})" if names else "FALSE")

    def without_rows(self, spark: SparkSession) -> DataFrame:
        """Its columns without a row."""
        return spark.createDataFrame([], self.stream(spark, {}).schema)

    def _batch_options(self) -> Mapping[str, str]:
        return self.options

    def _format(self, spark: SparkSession) -> str:
        """Name of the source's format in Spark."""
        return str(self.reader["format"])

    def _loaded(self, loader: Any) -> DataFrame:
        if "schema" in self.reader and not self.has_values:
            loader = loader.schema(str(self.reader["schema"]))
        rows: DataFrame = loader.load(str(self.reader["path"])) if "path" in self.reader else loader.load()
        return rows


def given_options(reader: Mapping[str, Any]) -> dict[str, str]:
    """The options for Spark, as texts: YAML has true where Spark wants `true`."""
    learn(reader)
    for kind in ("options", "value_options"):
        learn({str(key): value for key, value in dict(reader.get(kind) or {}).items()}, is_harmless_option)
    given = {str(key): value for key, value in dict(reader.get("options") or {}).items() if value is not None}
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in given.items()}


def _spellings(file: str) -> set[str]:
    """Spellings of a file's path: Spark has `file:/a` and `file:///a`, and escapes what it likes."""
    spellings = {file, unquote(file)}
    return spellings | {name.replace(":///", ":/", 1) for name in spellings}


class Table(StreamSource):
    """A table of the catalog, without `meta: stream:`."""

    has_portions = True
    batch_advice = None

    @property
    def listing(self) -> dict[str, str]:
        return {"recursiveFileLookup": "true"}

    def stream(self, spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
        return spark.readStream.options(**options).table(self.relation)

    def rows(self, spark: SparkSession) -> DataFrame:
        return spark.read.table(self.relation)


class Files(StreamSource):
    """Files at a path: in a folder; or the folder of a format with a log, which has no `folder` here."""

    has_portions = True
    batch_advice = None

    @property
    def folder(self) -> str | None:
        return str(self.reader["path"]) if self.name in IN_FOLDERS else None

    def check(self) -> None:
        if self.folder is None:
            super().check()
        if not isinstance(self.reader.get("archived", False), bool):
            raise StreamingError(
                f"{self.relation}: archived can't be {self.reader['archived']!r}\n  write true or false"
            )

    def without_rows(self, spark: SparkSession) -> DataFrame:
        # The columns that it states: the folder may not be there yet.
        return spark.createDataFrame([], "value string" if self.has_values else str(self.reader["schema"]))
