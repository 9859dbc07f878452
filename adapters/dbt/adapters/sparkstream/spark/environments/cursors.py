"""dbt's connection over a Spark session: statements, and their rows as in Python's DB-API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark.session import Connection, Cursor, SessionConnectionWrapper

from dbt.adapters.sparkstream.messages.sparkerror import SparkError
from dbt.adapters.sparkstream.spark.environments.bindings import text_of
from dbt.adapters.sparkstream.spark.environments.cancelling import Cancellable
from dbt.adapters.sparkstream.sql.core.literals import string_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turns an error of Spark into dbt's error, without Java's stack trace."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise SparkError(error) from error


class SessionCursor(Cursor):
    """A statement on a session, and its rows one after the other as in Python's DB-API."""

    def __init__(self, session: SparkSession, work: Cancellable) -> None:
        super().__init__()
        self._session = session
        self._work = work
        self._read = 0

    def execute(self, sql: str, *parameters: Any) -> None:
        """Runs a statement; the rows of a query are computed when they are fetched.

        Raises:
            SparkError: Spark's error.
        """
        self.close()
        with self._work.running(), spark_errors():
            self._df = self._session.sql(sql % parameters if parameters else sql)

    def close(self) -> None:
        super().close()
        self._read = 0

    def fetchall(self) -> list[Row]:
        """The rows not fetched yet."""
        return self._rows_of(lambda df: df.collect())

    def fetchmany(self, size: int) -> list[Row]:
        """The next rows, `size` at most."""
        return self._rows_of(lambda df: df.take(self._read + size))

    def fetchone(self) -> Row | None:
        """The next row, or None after the last."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def _rows_of(self, fetch: Any) -> list[Row]:
        if self._df is None:
            return []
        with self._work.running(), spark_errors():
            rows: list[Row] = fetch(_on_the_wall_clock(self._df))[self._read :]
        self._read += len(rows)
        return rows


def _on_the_wall_clock(df: DataFrame) -> DataFrame:
    """Makes Python show a TIMESTAMP in the session's time zone, as the Thrift server does.

    Spark gives Python the time in the zone of the operating system, whatever `spark.sql.session.timeZone` is.
    """
    from pyspark.sql.types import TimestampType

    times = [i for i, field in enumerate(df.schema.fields) if isinstance(field.dataType, TimestampType)]
    if not times:
        return df
    names = df.columns
    # Column names may be there twice.
    numbered = df.toDF(*(f"_{i}" for i in range(len(names))))
    casts = {f"_{i}": numbered[f"_{i}"].cast("timestamp_ntz") for i in times}
    return numbered.withColumns(casts).toDF(*names)


class SessionHandle(Connection):
    """Connection of dbt over a Spark session.

    Args:
        session: the session.
        work: cancels the work of this connection on the session.
    """

    def __init__(self, session: SparkSession, work: Cancellable) -> None:
        super().__init__()
        self.session = session
        self.work = work

    def cursor(self) -> SessionCursor:
        return SessionCursor(self.session, self.work)


class SessionWrapper(SessionConnectionWrapper):
    """dbt-spark's wrapper, with three more features: limits, cancelling, and values of a seed as they are.

    Args:
        handle: the connection.
        owned: True if the session ends with the connection.
    """

    handle: SessionHandle
    _cursor: SessionCursor | None

    def __init__(self, handle: SessionHandle, *, owned: bool = False) -> None:
        super().__init__(handle)
        self._owned = owned

    @classmethod
    def _fix_binding(cls, value: Any) -> str:
        """A seed's value as SQL; dbt-spark makes the text 'None' of NULL, and leaves quotes in a text as they are."""
        text = text_of(value)
        return "NULL" if text is None else string_literal(text)

    def cancel(self) -> None:
        """Ends the statement that runs in another thread, and lets no other one begin."""
        self.handle.work.cancel()

    def close(self) -> None:
        super().close()
        if self._owned:
            self.handle.session.stop()

    def fetchmany(self, size: int) -> list[Row]:
        assert self._cursor, "Cursor not available"
        return self._cursor.fetchmany(size)

    def fetchone(self) -> Row | None:
        assert self._cursor, "Cursor not available"
        return self._cursor.fetchone()
