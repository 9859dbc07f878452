"""The way of every statement to Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dbt.adapters.contracts.connection import AdapterRequiredConfig, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.events.types import AdapterEventWarning
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import CompilationError, DbtDatabaseError, DbtRuntimeError

from dbt.adapters.sparkstream.compiling import dbtflags
from dbt.adapters.sparkstream.compiling.options import Options
from dbt.adapters.sparkstream.compiling.texts import Texts
from dbt.adapters.sparkstream.compiling.written import Request, Written
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.messages.places import described
from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.spark import left_files
from dbt.adapters.sparkstream.spark.descriptions import Descriptions, changes_tables
from dbt.adapters.sparkstream.spark.environments import Environment, environment_of
from dbt.adapters.sparkstream.spark.environments.base import leave_connect
from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.core.errors import RequestError
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.translate import tables, traced

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.core.traced import Traced
    from dbt.adapters.sparkstream.sql.passes.batches import Microbatch

logger = AdapterLogger("SparkStream")

EPHEMERAL = "__dbt__cte__"
"""Prefix of dbt's names of ephemeral models and of a unit test's inputs, which are no tables."""


class SparkStreamConnectionManager(SparkConnectionManager):
    """dbt-spark's connections, with translation before Spark and readable errors after it."""

    TYPE = "sparkstream"

    def __init__(self, profile: AdapterRequiredConfig, mp_context: SpawnContext) -> None:
        super().__init__(profile, mp_context)
        self._thread = threading.local()
        self.batch_of: Callable[[Any], Microbatch | None] = lambda node: None
        """Returns the batch of a microbatch model that a node's SQL is for, or None; the adapter sets this function."""
        self.with_sources: Callable[[str], str] = lambda sql: sql
        """Returns a statement that reads views, which it makes, for sources that aren't tables; the adapter sets it."""
        self.event_time_of: Callable[[str], str | None] = lambda relation: None
        """Returns the event time of a relation, by its name in SQL, or None; the adapter sets this function."""
        self.descriptions = Descriptions(self.rows_of)
        """The columns of tables; code that changes a table without `add_query` has to report it there."""
        self.texts = Texts()
        """The SQL of nodes, for the places of errors."""
        self._lock = threading.Lock()
        self._environment: Environment | None = None

    @property
    def node(self) -> Any | None:
        """Model, test, snapshot, ... that dbt works on in this thread: statements come from its SQL."""
        return getattr(self._thread, "node", None)

    @node.setter
    def node(self, node: Any | None) -> None:
        self._thread.node = node
        if (mark := getattr(self._thread, "mark", None)) is not None:
            mark.end()
        self._thread.mark = None

    @contextmanager
    def naming(self, node: Any | None) -> Iterator[None]:
        """Names a node in Spark's errors, in this thread, while `node` is None, as in `dbt show`."""
        outer, self._thread.named = getattr(self._thread, "named", None), node
        try:
            yield
        finally:
            self._thread.named = outer

    @contextmanager
    def _placing(self) -> Iterator[None]:
        """Adds the place in the user's file to Spark's error about a statement."""
        comment = self.query_header.comment if self.query_header is not None else None
        header = comment.add("") if comment is not None and not comment.append else ""
        with self.texts.placing(self.node or getattr(self._thread, "named", None), header, self.project):
            yield

    @property
    def _mark(self) -> left_files.Mark:
        """The mark of the run that makes the node's table, in this thread."""
        if self._thread.mark is None:
            node, credentials = cast(Any, self.node), cast(SparkStreamCredentials, self.profile.credentials)
            table = (credentials.method, str(credentials.host), str(node.database), node.schema, node.alias)
            self._thread.mark = left_files.Mark(self.project / ".sparkstream" / "unfinished", *table)
        mark: left_files.Mark = self._thread.mark
        return mark

    @property
    def options(self) -> Options:
        """Options of this thread's node for the translation of its SQL."""
        return Options(self.node, cast(SparkStreamCredentials, self.profile.credentials))

    @property
    def request(self) -> Request | None:
        """The request that is answered in this thread, or None."""
        return getattr(self._thread, "request", None)

    @contextmanager
    def answering(self, request: Request) -> Iterator[None]:
        """Writes a model's SQL for a request, in this thread."""
        self._thread.request = request
        try:
            yield
        finally:
            self._thread.request = None

    @property
    def notes(self) -> list[Written] | None:
        """The record of nodes' SQL in this thread; None if there is none."""
        return getattr(self._thread, "notes", None)

    @contextmanager
    def recording(self) -> Iterator[list[Written]]:
        """Collects the SQL of nodes that is translated in this thread."""
        notes: list[Written] = []
        self._thread.notes = notes
        try:
            yield notes
        finally:
            self._thread.notes = None

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> tuple[Connection, Any]:
        """Sends a statement to Spark, translated where it has to be.

        Raises:
            CompilationError: SQL of a node that can't be translated.
            DbtRuntimeError: SQL of no node that can't be translated.
            SparkError: Spark refuses the statement, or it fails.
        """
        # Drivers cut blanks, from which Spark would count.
        sql = sql.lstrip()
        sql = self.texts.sending(sql, self._traced(sql), bool(kwargs.get("bindings") or any(args[1:2])))
        with self._placing():
            return self._sent_by_node(sql, *args, **kwargs)

    def execute(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        # Rows of a session are computed when they are fetched.
        with self._placing():
            return super().execute(sql, *args, **kwargs)

    def _sent_by_node(self, sql: str, *args: Any, **kwargs: Any) -> tuple[Connection, Any]:
        """Sends a statement to Spark; if files of a killed run are in the table's folder, removes them and resends."""
        mark = self._mark if left_files.makes_tables(self.node) and changes_tables(sql) else None
        if mark is None:
            return self._sent(sql, *args, **kwargs)
        mark.put()
        try:
            return self._sent(sql, *args, **kwargs)
        except SparkError as error:
            folder = left_files.occupied(error.fault)
            begun = mark.left or bool(folder and mark.dropped and left_files.is_at(folder, mark.dropped))
            if folder is None or not left_files.is_left(folder, self.node, begun, self._schema_folder):
                mark.stays = mark.left or not error.fault.condition
                raise
        except BaseException:
            mark.stays = True
            raise
        logger.debug(f"removes what a run that was ended has left in {folder}")
        for statement in left_files.clearing(folder, self.node):
            self._sent(statement, auto_begin=False)
        return self._sent(sql, *args, **kwargs)

    def dropping(self, relation: Any) -> None:
        """Marks the node's table before it is dropped, as its files may stay in their folder.

        They stay in a folder that `location_root` names, and where `spark_catalog` is Iceberg's.
        """
        if not left_files.makes_tables(self.node) or not relation.is_table:
            return
        if str(relation.identifier).lower() != cast(Any, self.node).alias.lower():
            return
        mark, root = self._mark, self.options.config("location_root")
        mark.dropped = left_files.location_of(getattr(relation, "information", None) or "")
        if not root:
            return
        mark.put()
        mark.left = mark.left or left_files.is_at(
            self._location(f"TABLE EXTENDED {relation}"), f"{root.rstrip('/')}/{relation.identifier}"
        )

    def _schema_folder(self) -> str:
        """The folder of the node's schema, as the catalog has it."""
        return self._location(f"SCHEMA {quoted(cast(Any, self.node).schema)}")

    def _location(self, of: str) -> str:
        return next((str(row[1]) for row in self.rows_of(f"DESCRIBE {of}") if row[0] == "Location"), "")

    def _sent(self, sql: str, *args: Any, **kwargs: Any) -> tuple[Connection, Any]:
        """Sends a statement to Spark untranslated, but with views in place of sources that aren't tables."""
        sql = self.with_sources(sql)
        try:
            return super().add_query(sql, *args, **kwargs)
        finally:
            self.descriptions.sent(sql)

    def rows_of(self, sql: str) -> Sequence[Sequence[Any]]:
        """The rows of a statement of the adapter's own."""
        try:
            _, cursor = self._sent(self._add_query_comment(sql), auto_begin=False)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
        except SparkError as error:
            error.show(None, in_node=False)
            raise
        return rows

    def written(
        self, sql: str, dialect: str, text: str, arrival: str | None = None, optimize: bool | None = None
    ) -> str:
        """Spark SQL for SQL in a node's file; for a single row while a request for the node is answered.

        Args: as `translated`.

        Raises:
            CompilationError: the SQL can't be translated, or is of an incremental model that would add its windows
                again in every run.
        """
        options = self.options
        optimize = options.optimizes if optimize is None else optimize
        skewed = options.skewed and optimize
        arrival = arrival or options.arrival
        if self.notes is not None:
            self.notes.append(Written(sql, dialect, arrival, optimize, skewed))
        with self.as_dbt_errors(text, sql):
            options.check_strategy(sql, dialect)
        request: Request | None = self.request
        if request is None or request.written or getattr(self.node, "unique_id", None) != request.model:
            return self.texts.note(sql, self._traced(sql, dialect, text, arrival, optimize, skewed))
        options.check_dialect(dialect)
        request.written = True
        from dbt.adapters.sparkstream.sql.requests import request_sql

        with self.as_dbt_errors(text, sql):
            return request_sql(sql, dialect, request.row, schema=self._schema, arrival=arrival)

    def translated(
        self,
        sql: str,
        dialect: str = "spark",
        text: str = "the statement",
        arrival: str | None = None,
        optimize: bool | None = None,
    ) -> str:
        """A statement as Spark SQL; the same object if there is nothing to translate.

        Args:
            sql: the statement.
            dialect: the statement's dialect.
            text: its name in an error without a place in the user's file.
            arrival: the column that numbers rows in order of arrival; None for the column in the node's config.
            optimize: True to allow a rewrite to faster SQL; None for the option of the node or of the target.

        Raises:
            CompilationError: SQL of a node that can't be translated, or an unknown dialect.
            DbtRuntimeError: SQL of no node that can't be translated.
        """
        return self.texts.note(sql, self._traced(sql, dialect, text, arrival, optimize))

    def _traced(
        self,
        sql: str,
        dialect: str = "spark",
        text: str = "the statement",
        arrival: str | None = None,
        optimize: bool | None = None,
        skewed: bool = False,
    ) -> Traced | None:
        """As `translated`, with the place in the statement of each piece; None if nothing is translated.

        Args:
            skewed: True if one key has most of the rows; only for a node's own SQL, which is translated once.
        """
        options = self.options
        if dialect != "spark":
            options.check_dialect(dialect)

        with self.as_dbt_errors(text, sql):
            return traced(
                sql,
                dialect,
                optimize=options.optimizes if optimize is None else optimize,
                skewed=skewed,
                arrival=arrival or options.arrival,
                schema=self._schema,
                warn=lambda warning: self.warn(warning, text, sql),
                batch=self.batch_of(self.node),
                event_time_of=self.event_time_of,
            )

    def warn(self, warning: TranslationWarning, text: str, sql: str = "") -> None:
        """Emits a warning of the translator as dbt's; `text` is the name of SQL that is no node's."""
        message = described(warning, self.node, self.project, text, self.texts.rendered(sql))
        warn_or_error(AdapterEventWarning(name=logger.name, base_msg=message), node=self.node)

    @contextmanager
    def as_dbt_errors(self, text: str, sql: str = "") -> Iterator[None]:
        """Turns errors that have a place in SQL into dbt's errors, within the limits of the node.

        Args:
            text: name of the SQL in an error, if it is no node's.
        """
        try:
            with self.options.limits():
                yield
        except TranslationError as error:
            message = described(error, self.node, self.project, text, self.texts.rendered(sql))
            raise (CompilationError(message, self.node) if self.node else DbtRuntimeError(message)) from error
        except RequestError as error:
            raise DbtRuntimeError(str(error)) from error

    def shows_utc(self) -> bool:
        """True if the time zone of Spark's session is UTC; False without a connection."""
        from dbt.adapters.sparkstream.sql.passes.windows.lower import UTC

        if self.get_if_exists() is None:
            return False
        return self.rows_of("SELECT current_timezone()")[0][0] in UTC

    def _schema(self, names: list[str]) -> dict[str, dict[str, str]]:
        """The columns of tables that Spark knows: table -> column -> type."""
        names = [name for name in names if not name.strip("`").startswith(EPHEMERAL)]
        if not names or self.get_if_exists() is None:
            return {}
        return self.descriptions.of(names)

    def schema_for(self, sql: str, dialect: str) -> dict[str, dict[str, str]]:
        """The columns of the tables whose columns matter to the windows of a statement."""
        names = tables(sql, dialect)
        return self._schema(names) if names else {}

    def schema_of(self, relation: str) -> dict[str, str]:
        """The columns of a relation, with their Spark types; empty if the relation doesn't exist."""
        return self._schema([relation]).get(relation, {})

    @property
    def project(self) -> Path:
        """The folder of the dbt project."""
        root = getattr(self.profile, "project_root", None)
        return Path(root) if root else dbtflags.project()

    @property
    def environment(self) -> Environment:
        """The Spark that the profile leads to."""
        with self._lock:
            if self._environment is None:
                credentials = cast(SparkStreamCredentials, self.profile.credentials)
                self._environment = environment_of(credentials, self.project)
            return self._environment

    def open(self, connection: Connection) -> Connection:  # type: ignore[override]
        """Opens a connection.

        Raises:
            FailedToConnectError: no connection can be opened.
        """
        if connection.state == ConnectionState.OPEN:
            return connection
        return self.environment.open(connection, super().open)

    def cleanup_all(self) -> None:
        """Closes all connections, when no thread of dbt's runs any more."""
        super().cleanup_all()
        leave_connect()

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Turns a driver's exception into dbt's error, with a message for people."""
        try:
            yield
        except SparkError:
            raise
        except DbtDatabaseError as error:  # of a driver that has no fields
            raise SparkError(error.msg) from error
        except DbtRuntimeError:
            raise
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise SparkError(error) from error
