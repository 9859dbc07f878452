"""Runs the page's queries on a Spark of its own, which has the page's tables and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.credentials import ANSI, SEGMENT_TREE
from dbt.adapters.sparkstream.explain.report import Report
from dbt.adapters.sparkstream.explain.subject import section_of
from dbt.adapters.sparkstream.messages.faults import Fault
from dbt.adapters.sparkstream.play.task import PlayError, Table, Task
from dbt.adapters.sparkstream.spark.environments.base import apply_settings
from dbt.adapters.sparkstream.spark.environments.cancelling import CANCELLED, Cancellable, TaggedJobs
from dbt.adapters.sparkstream.spark.environments.cursors import SessionCursor, spark_errors
from dbt.adapters.sparkstream.spark.session import CATALOG
from dbt.adapters.sparkstream.sql import TranslationError, explain
from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal
from dbt.adapters.sparkstream.sql.membership import find

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_ROWS = 200
"""Most rows of a result that are shown."""
MOST_SECONDS = 30.0
"""Most seconds that a query may take."""
DRAWN = 100
"""Most rows of a window's input that are drawn."""
PARAMETERS = {
    CATALOG: "in-memory",
    # As under the adapter.
    ANSI: "false",
    SEGMENT_TREE: "true",
    "spark.sql.session.timeZone": "UTC",
    # A query reads the tables of the page, and no files.
    "spark.sql.runSQLOnFiles": "false",
    "spark.driver.maxResultSize": "64m",
}
"""Settings of the playground's Spark."""
_SCRIPT = '.ScriptTransformation"'
"""Text in the JSON of each plan with TRANSFORM; a text of the query has a backslash before its quote there."""
_CLOSED = {
    **dict.fromkeys(("reflect", "java_method", "try_reflect"), "calls into Java, which the playground doesn't"),
    **dict.fromkeys(
        ("from_xml", "schema_of_xml", "from_protobuf", "to_protobuf", "from_avro", "schema_of_avro", "to_avro"),
        "can open files, which the playground doesn't",
    ),
}
"""Functions that lead out of Spark, some while Spark only analyses a query -> the message about them."""
NOT_A_QUERY = "this is no query\n  write one SELECT: the playground reads the tables of the page, and changes nothing"


@dataclass(frozen=True)
class Result:
    """The rows of a query, as text, and the names and types of its columns.

    Attributes:
        more: True if the query has more rows.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool


@dataclass(frozen=True)
class Outcome:
    """A query explained, and its rows or its error."""

    report: Report
    result: Result | None
    error: str | None = None


class Runner:
    """A Spark that runs queries, one at a time.

    Args:
        home: a folder for Spark's files, which may be removed afterwards.
        seconds: most seconds that a query may take.
    """

    def __init__(self, home: Path, seconds: float = MOST_SECONDS) -> None:
        self._home = home
        self._seconds = seconds
        self._one = threading.Lock()
        self._spark: SparkSession | None = None

    def start(self) -> SparkSession:
        """Starts Spark, or waits until it has started.

        Raises:
            JavaNotFound: there is no Java to run Spark on.
        """
        from dbt.adapters.sparkstream.spark.session import spark_session

        self._spark = spark_session(PARAMETERS, self._home)
        return self._spark

    def stop(self) -> None:
        """Ends Spark, if it has started."""
        if self._spark is not None:
            self._spark.stop()

    def run(self, task: Task) -> Outcome:
        """Runs a query on tables.

        Raises:
            PlayError: a table or the query can't be run; the message says why.
            TranslationError: the query can't be translated; with the place and what to write.
        """
        with self._one:
            session = self.start().newSession()
            apply_settings(session, PARAMETERS)
            _close(session)
            work = TaggedJobs(session)
            with _within(self._seconds, work):
                return _Query(session, work, task).outcome()


def _close(session: SparkSession) -> None:
    """Removes the functions that lead out of Spark from a session, by whatever name a query may call them."""
    registry = session._jsparkSession.sessionState().functionRegistry()
    builtin = registry.listFunction().head()
    for name in _CLOSED:
        registry.dropFunction(builtin.copy(name, builtin.database(), builtin.catalog()))


@contextmanager
def _refused_functions() -> Iterator[None]:
    """Turns Spark's error about a function of `_CLOSED` into a PlayError that says why it is missing."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        named = (error.getMessageParameters() or {}).get("routineName", "")
        name = named.rpartition(".")[2].strip("`").lower()
        if Fault.of(error).condition == "UNRESOLVED_ROUTINE" and name in _CLOSED:
            raise PlayError(f"{name} {_CLOSED[name]}") from error
        raise


@contextmanager
def _within(seconds: float, work: Cancellable) -> Iterator[None]:
    """Cancels work that takes longer than a number of seconds."""
    timer = threading.Timer(seconds, work.cancel)
    timer.start()
    try:
        yield
    except DbtDatabaseError as error:
        if error.msg == CANCELLED:
            raise PlayError(f"it took more than {seconds:g} seconds, and was ended") from error
        raise PlayError(str(error.msg)) from error
    finally:
        timer.cancel()


class _Query:
    """One query on a session of its own."""

    def __init__(self, session: SparkSession, work: Cancellable, task: Task) -> None:
        self._session = session
        self._work = work
        self._task = task

    def outcome(self) -> Outcome:
        task = self._task
        schema = {table.name: self._view(table) for table in task.tables}
        explanation = explain(task.sql, task.dialect, schema=schema, arrival=task.arrival)
        report = Report("playground", task.sql, task.dialect, explanation, "the rows of the page")
        try:
            result = self._result(explanation.sql)
        except DbtDatabaseError as error:
            if error.msg == CANCELLED:
                raise
            return Outcome(report, None, str(error.msg))
        except PlayError as error:
            return Outcome(report, None, str(error))
        try:
            uses = find(task.sql, task.dialect, schema=schema, arrival=task.arrival)
        except TranslationError:
            uses = []  # Spark SQL that sqlglot doesn't read, with nothing of ours in it
        sections = tuple(section_of(use, self._ask, DRAWN) for use in uses)
        return Outcome(Report(report.name, task.sql, task.dialect, explanation, report.origin, sections), result)

    def _ask(self, sql: str) -> Sequence[Sequence[Any]]:
        cursor = SessionCursor(self._session, self._work)
        cursor.execute(sql)
        return cursor.fetchall()

    def _view(self, table: Table) -> dict[str, str]:
        """Makes a temporary view of a table.

        Returns:
            Column -> type.

        Raises:
            PlayError: a type is unknown, or a value isn't of its column's type.
        """
        types = [_type(table.name, column, type_) for column, type_ in table.columns]
        names = [f"c{i}" for i in range(len(types))]
        rows = table.rows or ((None,) * len(types),)
        values = ", ".join(
            f"({i}, {', '.join('CAST(NULL AS STRING)' if v is None else string_literal(v) for v in row)})"
            for i, row in enumerate(rows, 1)
        )
        source = f"VALUES {values} AS v(n, {', '.join(names)})"
        pairs = list(zip(names, types, strict=True))
        wrong = ", ".join(f"{c} IS NOT NULL AND try_cast({c} AS {t}) IS NULL" for c, t in pairs)
        for number, *faults in self._ask(f"SELECT n, {wrong} FROM {source} ORDER BY n"):
            for (column, _), type_, value, fault in zip(
                table.columns, types, table.rows[number - 1] if table.rows else (), faults, strict=False
            ):
                if fault:
                    raise PlayError(f"{table.name}, row {number}: {value} is no {type_}, which {column} is")
        typed = ", ".join(
            f"CAST({c} AS {t}) AS {quoted(column)}" for (c, t), (column, _) in zip(pairs, table.columns, strict=True)
        )
        with self._work.running(), spark_errors():
            frame = self._session.sql(f"SELECT {typed} FROM {source}{'' if table.rows else ' WHERE FALSE'}")
            frame.createOrReplaceTempView(quoted(table.name))
        return {column: type_ for (column, _), type_ in zip(table.columns, types, strict=True)}

    def _result(self, sql: str) -> Result:
        """The rows of a query.

        Raises:
            PlayError: the SQL is no query, or does more than read.
            DbtDatabaseError: Spark refuses it, or it fails.
        """
        from pyspark.sql.functions import col

        with self._work.running(), spark_errors():
            self._check_parsed(sql)
            with _refused_functions():
                frame = self._session.sql(sql)
            plan = frame._jdf.queryExecution().analyzed().toJSON()
            if _SCRIPT in plan:
                raise PlayError("TRANSFORM starts a program, which the playground doesn't")
            types = [field.dataType.simpleString() for field in frame.schema.fields]
            numbers = [f"_{i}" for i in range(len(types))]
            # Column names may be there twice.
            texts = frame.toDF(*numbers).select(*(col(n).cast("string") for n in numbers))
            rows = [tuple(row) for row in texts.limit(MOST_ROWS + 1).collect()]
        names = zip(frame.columns, types, strict=True)
        return Result(tuple(names), tuple(rows[:MOST_ROWS]), len(rows) > MOST_ROWS)

    def _check_parsed(self, sql: str) -> None:
        """Raises PlayError for a statement that is no query: Spark parses it alone, but not in parentheses."""
        from pyspark.errors import ParseException

        parser = self._session._jsparkSession.sessionState().sqlParser()
        parser.parsePlan(sql)
        try:
            parser.parsePlan(f"SELECT * FROM (\n{sql.rstrip().rstrip(';')}\n)")
        except ParseException:
            raise PlayError(NOT_A_QUERY) from None


def _type(table: str, column: str, text: str) -> str:
    """A type of Spark, as Spark writes it.

    Raises:
        PlayError: it is no type of single values.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.types import AtomicType, DataType

    try:
        found = DataType.fromDDL(text)
    except (PySparkException, ValueError):
        found = None
    if not isinstance(found, AtomicType):
        raise PlayError(
            f"{table}: {text} is no type for column {column}\n"
            "  write one of Spark's, such as timestamp, string, int, double, decimal(10,2)"
        )
    return found.simpleString()
