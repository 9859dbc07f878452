"""The adapter: thin methods over connections, the translator and the compile hook."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from multiprocessing.context import SpawnContext
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterRequiredConfig
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import GET_COLUMNS_IN_RELATION_RAW_MACRO_NAME
from dbt_common.contracts.metadata import CatalogTable
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.batches import edges, empty
from dbt.adapters.sparkstream.column import SparkStreamColumn
from dbt.adapters.sparkstream.compiling import dbtflags, hook
from dbt.adapters.sparkstream.compiling.answers import Answers
from dbt.adapters.sparkstream.compiling.python_models import PythonModels
from dbt.adapters.sparkstream.messages import arguments, diagnosis
from dbt.adapters.sparkstream.messages.readable import FOR_CHANGES
from dbt.adapters.sparkstream.secrecy import dbtlog
from dbt.adapters.sparkstream.spark import catalog
from dbt.adapters.sparkstream.spark.environments import CONNECT, SESSION
from dbt.adapters.sparkstream.sql.core.literals import backticked, named, unquoted
from dbt.adapters.sparkstream.streaming import MATERIALIZATION
from dbt.adapters.sparkstream.streaming.worker.open_views import NOW, OPEN, ROWS

if TYPE_CHECKING:
    import agate

    from dbt.adapters.sparkstream.sql.streaming import StreamPlan
    from dbt.adapters.sparkstream.sql.streaming.standins import Name
    from dbt.adapters.sparkstream.streaming.adapter import StreamingModels


PARTITIONS = "__dbt_partitions"
"""Suffix of the name of a staging table, whose partitions are to be moved into the table."""


class SparkStreamAdapter(Answers):
    """dbt-spark's adapter, with window SQL."""

    Column = SparkStreamColumn

    def __init__(self, config: AdapterRequiredConfig, mp_context: SpawnContext) -> None:
        super().__init__(config, mp_context)
        hook.install()
        self.translated: set[str] = set()
        dbtlog.install()
        self.connections.batch_of = partial(edges.batch_of, self)
        self.connections.with_sources = self._with_sources
        self.connections.event_time_of = self._event_time_of
        self._sources: tuple[Any, dict[Name, Any]] = (None, {})
        self._lock = threading.Lock()
        self._models: StreamingModels | None = None
        if dbtflags.will_need_spark():
            self.connections.environment.start_early()

    def _event_time_of(self, relation: str) -> str | None:
        """The column with the event time of a model, seed or source, by its name in SQL."""
        from dbt.adapters.sparkstream.streaming.nodes import node_named, own_event_time, read_event_time

        read = node_named(self.get_macro_resolver(), relation)
        return own_event_time(read) or read_event_time(self.connections.node)

    def _with_sources(self, sql: str) -> str:
        """A statement with views in place of the sources that aren't tables, such as topics."""
        sources = getattr(self.get_macro_resolver(), "sources", None)
        if not sources:
            return sql
        from dbt.adapters.sparkstream.streaming.sources.in_batch import with_views, without_tables

        known, without = self._sources
        if known is not sources:
            without = without_tables(sources.values())
            self._sources = sources, without
        if not without:
            return sql
        with self._streaming.as_dbt_errors():
            return with_views(sql, without, self.connections.environment)

    @available.parse(lambda *args, **kwargs: "")
    def window_sql(
        self, sql: str, dialect: str | None = None, arrival: str | None = None, optimize: bool | None = None
    ) -> str:
        """Translates SQL with windows to Spark SQL, for the macro of the same name.

        Args:
            sql: a query or a part of one that can stand on its own.
            dialect: its dialect; Spark SQL with window functions if None.
            arrival: the column that numbers rows in order of arrival; None for the column in the node's config.
            optimize: True to let the optimiser rewrite it; None for the option of the model or of the target.

        Raises:
            CompilationError: it can't be translated; with the place and what to write.
        """
        return self.connections.written(sql, dialect or "spark", "the SQL in window_sql", arrival, optimize)

    @available.parse(lambda *args, **kwargs: None)
    def refuse_argument(self, macro: str, argument: str, known: list[str]) -> None:
        """Refuses an argument that a macro doesn't have, for `sparkstream_check_arguments`.

        Raises:
            CompilationError: always, with the argument's place and the name that was probably meant.
        """
        with self.connections.as_dbt_errors(f"the call of {macro}"):
            raise arguments.unknown_argument(macro, argument, known)

    @available
    def check_columns(self, macro: str, relation: str, names: list[tuple[str, str]]) -> None:
        """Refuses columns that a relation doesn't have, for `sparkstream_check_columns`; a missing relation passes.

        Args:
            macro: the macro that is called.
            relation: its name in SQL.
            names: the macro's arguments and the columns that they name.

        Raises:
            CompilationError: a column is missing; with the name's place and the name that was probably meant.
        """
        columns = list(self.connections.schema_of(relation))
        with self.connections.as_dbt_errors(f"the call of {macro}"):
            arguments.check_columns(macro, relation, names, columns)

    @available
    def batch_rows(self, model: str, sql: str, relation: Any, start: datetime, end: datetime) -> str:
        """State of the batch that a microbatch model is about to run: `some`, `none` or `gone` (see `empty.SOME`).

        Args:
            model: the model's id.
            sql: the batch's query.
            relation: the model's table.
            start: when the batch begins, in dbt's UTC.
            end: when it ends.
        """
        manifest: Any = self.get_macro_resolver()
        node = manifest.nodes[model]
        edges = (time.replace(tzinfo=None) for time in (start, end))
        time = unquoted(str(node.config.event_time)).casefold()
        columns = {name.casefold() for name in self.connections.schema_of(relation.render())}
        return self._empty_batches.of(node, sql, relation.render() if time in columns else None, *edges)

    @cached_property
    def _empty_batches(self) -> empty.EmptyBatches:
        return empty.EmptyBatches(self.connections.rows_of)

    @available
    @staticmethod
    def for_changes() -> str:
        """Hint for messages of macros: the file formats that a model needs for its rows to be changed."""
        return FOR_CHANGES

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """The columns of a table, as `SparkStreamColumn`s: dbt-spark makes `SparkColumn`s, whatever `Column` is.

        With --empty and in a microbatch a relation is written as a query, which DESCRIBE doesn't take.
        """
        columns = super().get_columns_in_relation(relation.replace(limit=None, event_time_filter=None))
        return [SparkStreamColumn(**vars(column)) for column in columns]

    @available
    def comments(self, relation: BaseRelation) -> catalog.Comments:
        """The comments of a relation and of its columns, for `persist_docs`."""
        whole = relation.replace(limit=None, event_time_filter=None)
        return catalog.Comments.read(
            self.execute_macro(GET_COLUMNS_IN_RELATION_RAW_MACRO_NAME, kwargs={"relation": whole})
        )

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        """The catalog's rows for a relation, one for each column, with the comments."""
        comments = catalog.Comments(None, {})
        with suppress(DbtRuntimeError):  # dropped meanwhile
            comments = self.comments(relation)
        for column in super()._get_columns_for_catalog(relation):
            comment = comments.columns.get(column["column_name"])
            yield {
                **column,
                "table_database": relation.database,
                "table_comment": comments.relation,
                "column_comment": comment,
            }

    def drop_relation(self, relation: Any) -> None:
        """Drops a relation; with a streaming model's table, its views of open windows, too."""
        if relation.schema is not None:  # a temporary view is in none
            found = [
                self.get_relation(relation.database, relation.schema, f"{relation.identifier}{suffix}")
                for suffix in (NOW, OPEN, ROWS)
            ]
            # Without the table of their rows, views of these names belong to no streaming model.
            if found[-1] is not None:
                for beside in filter(None, found):
                    super().drop_relation(beside)
        self.connections.dropping(relation)
        super().drop_relation(relation)

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        """The catalog's entry for one relation; None if the relation was dropped."""
        from dbt.task.docs.generate import Catalog  # only dbt-core asks for this

        # The relation in dbt's cache may be older than its columns.
        path = {"database": relation.database, "schema": relation.schema, "identifier": relation.identifier}
        fresh = self.Relation.create(**path, type=relation.type)
        found = Catalog(list(self._get_columns_for_catalog(fresh)))
        return next(iter(found.values()), None)

    def debug_query(self) -> None:
        """Checks Spark and the profile; `dbt debug` calls it with an open connection.

        Raises:
            DbtRuntimeError: something is missing; with what to do.
        """

        def spark_version() -> str:
            _, answer = self.execute("select version()", fetch=True)
            return str(answer.rows[0][0]).split()[0]

        diagnosis.check(self.connections.environment, spark_version)

    @classmethod
    def quote(cls, identifier: str) -> str:
        """A name in backticks, those within it doubled, as dbt-spark's method doesn't. dbt calls it with None, too."""
        return backticked(str(identifier))

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """The type of a seed's column of numbers: dbt-spark has BIGINT for greater whole numbers and for NaN, too."""
        kind: str = super().convert_number_type(agate_table, col_idx)
        numbers = [number for number in agate_table.columns[col_idx] if number is not None]
        if kind != "bigint" or all(n.is_finite() and -(2**63) <= n < 2**63 for n in numbers):
            return kind
        return "decimal(38,0)" if all(n.is_finite() and abs(n) < 10**38 for n in numbers) else "double"

    @available
    def named(self, name: str) -> str:
        """SQL for a column of a config, for macros: in backticks if it needs them; an expression stays as it is."""
        return named(name)

    @property
    def default_python_submission_method(self) -> str:
        """Submission method of a Python model without that config: it runs on the same Spark as SQL."""
        return self.connections.environment.python or super().default_python_submission_method

    def submit_python_job(self, parsed_model: dict[str, Any], compiled_code: str) -> Any:
        """Runs a Python model, which may write any table."""
        with self.connections.descriptions.changing():
            return super().submit_python_job(parsed_model, compiled_code)

    @property
    def python_submission_helpers(self) -> dict[str, Any]:
        """`config(submission_method=...)` -> class or function that makes the helper that runs a Python model."""
        here = {method: self._python_models.helper(method) for method in (SESSION, CONNECT)}
        return {**super().python_submission_helpers, **here}

    @cached_property
    def _python_models(self) -> PythonModels:
        return PythonModels(self.connections.environment)

    def valid_incremental_strategies(self) -> list[str]:
        """dbt's built-in strategies for which this package or dbt-spark has a macro."""
        return ["append", "insert_overwrite", "merge", "microbatch", "delete+insert"]

    def finish_overwrite(self, node: Any) -> None:
        """Moves in the complete staged partitions of a killed run of an incremental model.

        Called before dbt compiles a model that it is about to run, as its SQL may read the last rows of its table.
        """
        config = node.config
        if config.get("materialized") != "incremental" or dbtflags.which() not in ("run", "build", "retry"):
            return
        complete = self.get_relation(node.database, node.schema, node.alias + PARTITIONS)
        table = self.get_relation(node.database, node.schema, node.alias) if complete else None
        if complete is None or table is None or not table.is_table or dbtflags.is_full_refresh():
            return
        names = config.get("partition_by") or []
        columns = config.get("window_columns") or ["window_start", "window_end"]
        arguments = {
            "relation": table,
            "complete": complete,
            "partition": [named(name) for name in ([names] if isinstance(names, str) else names)],
            "end": named(columns[-1]),
        }
        self.execute_macro("sparkstream_finish_overwrite", kwargs=arguments)

    @available.parse(lambda *args, **kwargs: "")
    def stream(
        self, model: Mapping[str, Any], relation: Any, watermark: str | None = None, event_time: str | None = None
    ) -> str:
        """Item of FROM for a relation that a streaming model reads as a stream, for the macro `stream`.

        Args:
            model: the model that reads it.
            relation: the relation.
            watermark: how much later than others its rows may come, such as `'10 minutes'`; else the model's.
            event_time: the column with the time of the event; else the relation's or the model's.

        Raises:
            CompilationError: the model can't read streams, or the arguments are wrong.
        """
        return self._streaming.stream(model, relation, watermark, event_time)

    @available.parse(lambda *args, **kwargs: {})
    def run_stream(self, model: Mapping[str, Any], sql: str, relation: Any, **options: Any) -> dict[str, Any]:
        """Runs a streaming model, for its materialization.

        Args:
            model: the model.
            sql: its query.
            relation: its table.
            options: `rebuild`, `run_id`.

        Returns:
            `message` and `rows` for the result, `sql` that was run, and whether it was `interrupted`.

        Raises:
            DbtRuntimeError: the model can't run, or fails.
        """
        with self.connections.descriptions.changing():
            return self._streaming.run(model, sql, relation, **options)

    @property
    def _streaming(self) -> StreamingModels:
        with self._lock:
            if self._models is None:
                from dbt.adapters.sparkstream.streaming.adapter import StreamingModels

                self._models = StreamingModels(self)
        return self._models

    def streams(self, node: Any) -> bool:
        """True if the SQL of a node runs on streams: of a streaming model, but not in `dbt show` or an explanation."""
        return getattr(node.config, "materialized", None) == MATERIALIZATION and self._streaming.streams(node)

    def stream_plan(self, node: Any) -> StreamPlan:
        """Plan of the stream of a compiled streaming model."""
        with self.working_on(node):
            return self._streaming.planned(node, node.compiled_code)

    def compiled_stream(self, node: Any, sql: str) -> str:
        """Query of a streaming model; the description of its plan in `dbt compile` and `dbt docs generate`."""
        return self._streaming.compiled(node, sql)

    def cancel_open_connections(self) -> Any:
        """Cancels streams, Python models and statements; dbt calls it on Ctrl-C."""
        if self._models is not None:
            self._models.cancel()
        self._python_models.cancel()
        return super().cancel_open_connections()

    @contextmanager
    def connection_named(
        self, name: str, query_header_context: Any = None, *args: Any, **kwargs: Any
    ) -> Iterator[None]:
        """Gives dbt its connection for a node, and names the node in Spark's errors."""
        with (
            self.connections.naming(query_header_context),
            super().connection_named(name, query_header_context, *args, **kwargs),
        ):
            yield

    @contextmanager
    def working_on(self, node: Any) -> Iterator[None]:
        """Makes a node this thread's own: errors name it, and its options apply."""
        outer = self.connections.node
        self.connections.node = node
        try:
            yield
        finally:
            self.connections.node = outer

    def pre_model_hook(self, config: Mapping[str, Any]) -> Any:
        """Checks a node that dbt is about to run, and prepares it; returns the thread's node until then."""
        outer = self.connections.node
        node = getattr(config, "model", None)
        if node is not None:
            if node.resource_type == "snapshot":
                from dbt.adapters.sparkstream import snapshots  # parses, as few runs have to

                snapshots.prepare(node)
            hook.check(node, self.translated)
        self.connections.node = node
        return outer

    @available.parse_none
    def valid_snapshot_target(self, relation: BaseRelation, column_names: dict[str, str] | None = None) -> None:
        """Checks that a table is a snapshot, by its columns."""
        names = {key: unquoted(name) for key, name in column_names.items()} if column_names else None
        super().valid_snapshot_target(relation, names)

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        """Restores the thread's node after a run; `context` is the node that `pre_model_hook` returned."""
        self.connections.node = context
