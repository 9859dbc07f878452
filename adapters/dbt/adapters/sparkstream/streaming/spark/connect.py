"""Streams over Spark Connect, where they differ."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dbt.adapters.sparkstream.messages.faults import OF_JAVA, Fault
from dbt.adapters.sparkstream.messages.readable import NO_WORKER, readable
from dbt.adapters.sparkstream.spark.connect import is_connect
from dbt.adapters.sparkstream.streaming.refusals import StreamingError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

T = TypeVar("T")

ATTEMPTS = 4
"""How often a streaming query is started before its Python process is given up."""

_LATE = re.compile(rf"(?:\[STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE\] [^\n]{{0,300}}?|{OF_JAVA}){NO_WORKER}")
_starting = threading.Lock()


def expression(rows: DataFrame, sql: str) -> Column:
    """A column by its SQL, for rows of a session over Spark Connect or of a Spark in this process.

    `pyspark.sql.functions` makes columns of one sort for the whole process, and dbt has no Spark in it with Connect.
    """
    if is_connect(rows.sparkSession):
        from pyspark.sql.connect import functions as connect_functions

        return connect_functions.expr(sql)
    from pyspark.sql import functions

    return functions.expr(sql)


def started(start: Callable[[], T]) -> T:
    """Starts a streaming query whose sink is a Python process on the server.

    The server gives that process ten seconds to import pyspark and report, which no setting changes and a busy machine
    may not keep. Nothing of the query has begun then, so it is started again. One starts after the other, as several at
    once make each other late.

    Args:
        start: starts it.

    Raises:
        StreamingError: the process has not reported in time, every time.
    """
    from pyspark.errors import PySparkException

    with _starting:
        for _ in range(ATTEMPTS):
            try:
                return start()
            except PySparkException as error:
                if not _LATE.match(Fault.of(error).message):
                    raise
                late = error
    raise StreamingError(readable(f"{NO_WORKER}, {ATTEMPTS} times")) from late
