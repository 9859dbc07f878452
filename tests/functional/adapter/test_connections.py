"""The connection to a server, as far as it can be seen without one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from dbt.adapters.spark.connections import PyhiveConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError
from pyhive.exc import OperationalError
from TCLIService.ttypes import TGetOperationStatusResp, TOperationState

from dbt.adapters.sparkstream.credentials import Method, SparkStreamCredentials
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.spark.environments.cancelling import CANCELLED
from dbt.adapters.sparkstream.spark.environments.thrift_wrapper import FIRST_WAIT, ThriftWrapper
from tests.functional.adapter.project import Project


class ShortStatement:
    """A cursor whose statement has ended when it is asked for the fifth time."""

    def execute(self, *args: Any, **kwargs: Any) -> None:
        self._states = iter([*[TOperationState.RUNNING_STATE] * 4, TOperationState.FINISHED_STATE])

    def poll(self) -> TGetOperationStatusResp:
        return TGetOperationStatusResp(operationState=next(self._states))


class Waits(threading.Event):
    """Nothing is cancelled: how long each wait for that would have been."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout)
        return False


def test_short_statements_do_not_wait_long() -> None:
    credentials = SparkStreamCredentials(method=Method.THRIFT, host="127.0.0.1", schema="shop")
    wrapper = ThriftWrapper(PyhiveConnectionWrapper(None, poll_interval=60), credentials)
    wrapper._cursor = ShortStatement()
    wrapper._cancelled = waits = Waits()
    wrapper.execute("select 1")
    assert waits.seconds == [FIRST_WAIT * factor for factor in (1, 2, 4, 8)]


@pytest.mark.parametrize("state", [TOperationState.CANCELED_STATE, TOperationState.ERROR_STATE])
def test_a_cancelled_statement_says_so(state: int) -> None:
    """A server that cancels a statement fails it now and then: it interrupts it before it writes the state."""

    class Cancelled:
        def execute(self, *args: Any, **kwargs: Any) -> None:
            wrapper.cancel()

        def cancel(self) -> None:
            self.told = True

        def poll(self) -> TGetOperationStatusResp:
            if not hasattr(self, "told"):
                return TGetOperationStatusResp(operationState=TOperationState.RUNNING_STATE)
            return TGetOperationStatusResp(operationState=state, errorMessage="java.lang.InterruptedException")

    credentials = SparkStreamCredentials(method=Method.THRIFT, host="127.0.0.1", schema="shop")
    wrapper = ThriftWrapper(PyhiveConnectionWrapper(None, poll_interval=60), credentials)
    wrapper._cursor = Cancelled()
    with pytest.raises(DbtDatabaseError) as raised:
        wrapper.execute("select 1")
    assert raised.value.msg == CANCELLED


def test_a_session_that_is_not_closed_fails_nothing() -> None:
    """What Spark 4.3's server now and then says when a session is closed, after all of its statements have ended."""

    class Handle:
        def close(self) -> None:
            raise OperationalError("java.lang.NoClassDefFoundError: org/apache/hadoop/hive/llap/security/LlapSigner")

    credentials = SparkStreamCredentials(method=Method.THRIFT, host="127.0.0.1", schema="shop")
    ThriftWrapper(PyhiveConnectionWrapper(Handle()), credentials).close()


def test_no_server(make_project: Callable[..., Project]) -> None:
    project = make_project({"models/a.sql": "select 1 as x"}, method="thrift", host="127.0.0.1", port=1, auth="NOSASL")
    failure = project.failure("run")
    assert "failed to connect: Could not connect to any of [('127.0.0.1', 1)]" in failure
    assert "is the server running? start one with: sparkstream server start" in failure


# What the Thrift server and pyspark say -> what is left of it.
MESSAGES = {
    """\
org.apache.hive.service.cli.HiveSQLException: Error running query: [TABLE_OR_VIEW_NOT_FOUND] \
org.apache.spark.sql.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] \
The table or view `t` cannot be found. SQLSTATE: 42P01; line 1 pos 14;
'Project [*]
+- 'UnresolvedRelation [t], [], false

\tat org.apache.spark.sql.hive.thriftserver.HiveThriftServerErrors$.runningQueryError(HiveThriftServerErrors.scala:46)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: org.apache.spark.sql.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] The table or view `t` cannot be found.
\t... 16 more
""": "[TABLE_OR_VIEW_NOT_FOUND] The table or view `t` cannot be found. SQLSTATE: 42P01; line 1 pos 14"
    "\n  for a model, seed or snapshot of the project write {{ ref('name') }}",
    """\
Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times: java.lang.RuntimeException: read failed
\tat a.B$C.d(B.scala:1)

Driver stacktrace:
\tat a.B.e(B.java:2)
Caused by: java.lang.RuntimeException: read failed
""": "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times: java.lang.RuntimeException: read failed",
    """\
[FAILED_READ_FILE] Error while reading file x.parquet.
\tat a.B.c(B.java:1)
Caused by: java.io.IOException: disk on fire
\t... 3 more
""": "[FAILED_READ_FILE] Error while reading file x.parquet.\nCaused by: java.io.IOException: disk on fire",
    "no trace at all; line 2": "no trace at all; line 2",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_readable(message: str) -> None:
    assert readable(message) == MESSAGES[message]
