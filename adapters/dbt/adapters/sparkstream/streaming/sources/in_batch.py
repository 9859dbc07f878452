"""Views for batches over sources with `meta: stream:`, with the rows that the stream would read.

Such a source has no table. SQL that names it (a batch model, a test, `dbt show`, the columns of a unit test) gets a
view in its place. The view is a global one, which all sessions of a Spark see: SQL through Thrift, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.spark.descriptions import asks_columns
from dbt.adapters.sparkstream.sql.streaming.standins import Name, name_of, replaced
from dbt.adapters.sparkstream.streaming.nodes import meta_of, read_from
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.spark.environments import Environment

CATALOG = "spark.sql.globalTempDatabase"
"""Setting of the schema that global views are in."""


def without_tables(sources: Iterable[Any]) -> dict[Name, Any]:
    """Sources of a project that have no table, by their names."""
    return {name_of(node.relation_name): node for node in sources if node.relation_name and meta_of(node).get("stream")}


def with_views(sql: str, sources: Mapping[Name, Any], environment: Environment) -> str:
    """A statement with views in place of sources without a table, by their names; the same object if it reads none."""
    return replaced(sql, sources, lambda name: _view(sources[name], environment, asks_columns(sql)))


def _view(node: Any, environment: Environment, is_question: bool) -> str:
    from dbt.adapters.sparkstream.streaming.spark.engine import Engine

    source = read_from(node.relation_name, meta_of(node), environment)
    with closing(Engine.open(environment)) as engine:
        name = _name(source)
        if not is_question:
            engine.check_brokers(source.brokers, f"the options of {source.relation}, in meta: stream:")
        engine.streams.define_globally(source, name, is_question)
        return f"{engine.setting(CATALOG) or 'global_temp'}.{name}"


def _name(source: StreamSource) -> str:
    """A name that tells one definition of a source from another."""
    facts = json.dumps([source.relation, dict(source.reader)], sort_keys=True, default=str)
    return f"sparkstream_{hashlib.sha256(facts.encode()).hexdigest()[:20]}"
