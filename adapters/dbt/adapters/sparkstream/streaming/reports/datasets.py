"""Datasets that a streaming model reads and writes, named by OpenLineage's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from dbt.adapters.sparkstream.streaming.sinks.topic import Topic
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.paths import path_of

METASTORES, WAREHOUSE = SETTINGS = ("spark.hadoop.hive.metastore.uris", "spark.sql.warehouse.dir")
"""The settings of Spark that say where a Hive metastore is, and where tables of the catalog lie."""


@dataclass(frozen=True)
class Dataset:
    """A table, a folder of files or a topic.

    Attributes:
        namespace: where it is.
        name: its name there.
        table: what Spark's catalog calls it, as SQL; None for what is no table.
        view: the name under which Spark has its columns; None where nothing has.
    """

    namespace: str
    name: str
    table: str | None = None
    view: str | None = None


def catalog_namespace(method: str, host: str | None, port: int | None, settings: Mapping[str, str]) -> str:
    """Where tables are.

    Args:
        method: of the profile.
        host: the server; of no meaning for a Spark in this process.
        port: its port.
        settings: the values of `SETTINGS`, as Spark has them.
    """
    metastore = urlsplit(settings.get(METASTORES, "").split(",")[0])
    if metastore.hostname:
        return f"hive://{metastore.hostname}:{metastore.port or 9083}"
    if method != "session":
        return f"spark://{host}:{port}"
    namespace, name = in_files(settings.get(WAREHOUSE, ""))
    return f"{namespace}:{name}" if namespace == "file" else f"{namespace}/{name}"


def table(namespace: str, relation: str, view: str | None = None) -> Dataset:
    """A table or view of the catalog.

    Args:
        namespace: of the catalog.
        relation: its name, as SQL has it.
        view: the name under which Spark has its columns; None for its own.
    """
    return Dataset(namespace, relation.replace("`", ""), relation, view or relation)


def topic(servers: str, name: str, view: str | None = None) -> Dataset:
    """A topic of Kafka, whose namespace is the first one of its servers."""
    first = servers.split(",")[0].strip().rpartition("//")[2]
    return Dataset(f"kafka://{first}" + ("" if ":" in first else ":9092"), name, view=view)


def in_files(path: str) -> tuple[str, str]:
    """Namespace and name of a file or folder."""
    parts = urlsplit(path_of(path))
    scheme = "s3" if parts.scheme in ("s3a", "s3n") else parts.scheme
    name = parts.path.rstrip("/") or "/"
    if scheme in ("", "file"):
        return "file", name
    login, _, host = parts.netloc.rpartition("@")
    host = host if ":" in login else parts.netloc  # Azure has a container before the @
    return f"{scheme}://{host}", name.lstrip("/") if scheme in ("s3", "gs") and name != "/" else name


def of_source(namespace: str, source: StreamSource) -> list[Dataset]:
    """What a stream is read from; more than one where it subscribes to several topics.

    Args:
        namespace: of the catalog.
        source: the stream.
    """
    if names := source.kind.topics:
        return [topic(source.kind.brokers, name, source.view) for name in names]
    if "path" in source.reader:
        return [Dataset(*in_files(str(source.reader["path"])), view=source.view)]
    return [table(namespace, source.relation, source.view)]


def of_sink(sink: Topic, relation: str) -> Dataset:
    """The topic that a model's rows are sent to.

    Args:
        sink: what the model says of it.
        relation: the model's table, whose columns its records have.
    """
    return topic(sink.servers, sink.name, relation)
