"""Streaming models as nodes of dbt: the text of `stream()` in their SQL, and a node's facts for a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dbt.adapters.sparkstream.sql.core.errors import Warn
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import blamed_on
from dbt.adapters.sparkstream.sql.core.traced import Traced
from dbt.adapters.sparkstream.sql.streaming import StreamPlan, plan
from dbt.adapters.sparkstream.sql.streaming.standins import name_of
from dbt.adapters.sparkstream.sql.translate import may_name_rowtime, with_event_times
from dbt.adapters.sparkstream.streaming import MATERIALIZATION
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig, read_interval
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.settings import SWAP
from dbt.adapters.sparkstream.streaming.sources.reader import located, reader_of, source_of
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.tables.catalog import is_in_catalog
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH, format_of

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.spark.environments import Environment


def is_streaming(resource_type: str, materialized: str) -> bool:
    """True if a node is a streaming model."""
    return str(resource_type) == "model" and materialized == MATERIALIZATION


def stream_of(
    model: Mapping[str, Any],
    relation: str,
    node: Any | None,
    delay: str | None,
    event_time: str | None,
    environment: Environment,
) -> StreamSource:
    """The stream that a model reads with `stream(relation, watermark, event_time)`.

    Args:
        node: the model, seed, snapshot or source behind it, if dbt has one.
        delay: the watermark, if it is given for this stream.
    """
    if not is_streaming(model["resource_type"], model["config"]["materialized"]):
        raise StreamingError(
            f"stream() stands in a streaming model, and this one is materialized as {model['config']['materialized']}\n"
            f"  write config(materialized='{MATERIALIZATION}'), or read the relation without stream()"
        )
    source = read_from(relation, meta_of(node), environment)
    checksum = getattr(node, "checksum", None) if node is not None and str(node.resource_type) == "seed" else None
    return replace(
        source,
        event_time=event_time or own_event_time(node),
        watermark=None if delay is None else read_interval("watermark", delay),
        checksum=getattr(checksum, "checksum", None),
    )


def node_named(manifest: Any, relation: str) -> Any | None:
    """Node or source of the project with a relation's name in SQL, however that is quoted; None if there is none."""
    name = name_of(relation)
    nodes = (*getattr(manifest, "sources", {}).values(), *getattr(manifest, "nodes", {}).values())
    near = (n for n in nodes if n.relation_name and name[-1] in n.relation_name.casefold())
    return next((n for n in near if name_of(n.relation_name) == name), None)


def own_event_time(node: Any | None) -> str | None:
    """Event time of a node's rows; None for a streaming model, whose event time is a column of its source."""
    return None if _streams(node) else _config(node).get("event_time") or None


def read_event_time(node: Any | None) -> str | None:
    """Event time of a streaming model's sources, by the model's config; None for another node."""
    return _config(node).get("event_time") or None if _streams(node) else None


def _config(node: Any | None) -> Any:
    config = getattr(node, "config", None)
    return {} if config is None else config


def _streams(node: Any | None) -> bool:
    return bool(_config(node).get("materialized") == MATERIALIZATION)


def meta_of(node: Any | None) -> Mapping[str, Any]:
    """The meta of a source; empty for other nodes."""
    if node is None or str(node.resource_type) != "source":
        return {}
    return {**(getattr(node, "meta", None) or {}), **(_config(node).get("meta") or {})}


def read_from(relation: str, meta: Mapping[str, Any], environment: Environment) -> StreamSource:
    """Stream of a relation, or of the source that `stream` in its meta describes."""
    identifier = relation.replace("`", "").rsplit(".", 1)[-1]
    root = environment.project
    reader = reader_of(meta, relation, root)
    path = reader.get("path") if "format" in reader else None
    if path is not None:
        reader["path"] = located(path, relation, root, environment.is_here)
    return source_of(f"stream_{identifier}", relation, reader=reader, path=path, project=root)


def as_batch(relation: str, node: Any | None) -> str:
    """The relation of `stream()` where nothing streams, as in `dbt show` and unit tests."""
    if _streams(node) and format_of(str(_config(node).get("file_format"))).numbers_rows:
        return f"(SELECT * EXCEPT ({BATCH}) FROM {relation})"
    return relation


def changes_clock(zone: str, year: int | None = None) -> bool:
    """True if a zone's clock changes within a year, this one if None. Zones that Python doesn't know don't change."""
    try:
        clock = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        return False
    year = year or datetime.now().year
    return len({datetime(year, month, 1, tzinfo=clock).utcoffset() for month in range(1, 13)}) > 1


def event_time(source: StreamSource, config: StreamConfig) -> str | None:
    """Column of a stream that has a watermark; None for a stream without one."""
    has_watermark = source.watermark is not None or config.watermark is not None
    return (source.event_time or config.event_time) if has_watermark else None


def streamed(source: StreamSource, config: StreamConfig, columns: Mapping[str, str]) -> dict[str, str]:
    """The types of a stream's columns, given its table's types: an event time with a watermark is a TIMESTAMP."""
    time = (event_time(source, config) or "").casefold()
    types = {name: type_ for name, type_ in columns.items() if name.casefold() != BATCH}
    for name, type_ in types.items():
        if name.casefold() == time and type_ == "timestamp_ntz":
            types[name] = "timestamp"
    return types


def planned(
    sql: str,
    dialect: str,
    streams: Mapping[str, StreamSource],
    schema: Schema,
    config: StreamConfig,
    *,
    utc: bool,
    optimize: bool,
    arrival: str | None = None,
    warn: Warn = lambda _: None,
) -> StreamPlan:
    """The plan of a model's query; `arrival` is the column that numbers rows in order of arrival, and breaks ties.

    Raises:
        TranslationError: the query can't stream; the message says what to do instead.
    """
    times = {view: time for view, source in streams.items() if (time := event_time(source, config)) is not None}
    named = with_event_times(sql, times.get) if may_name_rowtime(sql, dialect) else Traced.same(sql)
    with blamed_on(sql, named):
        return plan(
            named.text,
            dialect,
            streams=list(streams),
            schema=schema,
            utc=utc,
            optimize=optimize,
            shows_open=config.shows_open,
            corrects=config.lateness is not None,
            arrival=arrival,
            times=times,
            warn=warn,
        )


def read_model(
    node: Mapping[str, Any],
    sql: str,
    relation: str,
    runs: str,
    streams: Mapping[str, StreamSource],
    run_id: str,
    root: Path,
) -> Model:
    """Streaming model for a run, read from its node; its configs are checked."""
    config = node["config"]
    read = StreamConfig.read(config, root)
    if is_in_catalog(relation) and format_of(read.file_format).is_files:
        raise StreamingError(
            f"{relation} is in a catalog of its own, which has no tables in plain files of {read.file_format}\n"
            "  write the catalog's format in the model's config, such as file_format='iceberg'"
        )
    if read.swaps and read.keep_unreadable and any(source.has_values for source in streams.values()):
        raise StreamingError(
            f"{read.swaps}='{SWAP}' can't be where rows with values that can't be read are kept, in a table beside\n"
            f"  write unreadable_rows='drop', or {read.swaps}='rebuild'"
        )
    columns = list((node.get("columns") or {}).values())
    contract = {}
    if (node.get("contract") or {}).get("enforced"):
        contract = {str(c["name"]): str(c["data_type"]) for c in columns}
    docs = config.get("persist_docs") or {}
    comments: dict[str, str] = {}
    if docs.get("columns"):
        comments |= {str(c["name"]).casefold(): c["description"] for c in columns if c.get("description")}
    if docs.get("relation") and node.get("description"):
        comments[""] = str(node["description"])
    return Model(
        unique_id=node["unique_id"],
        identifier=node["alias"],
        relation=relation,
        runs=runs,
        sql=sql,
        dialect=config.get("sql_dialect") or "spark",
        config=read,
        sources=tuple(streams.values()),
        contract=contract,
        comments=comments,
        run_id=run_id,
    )
