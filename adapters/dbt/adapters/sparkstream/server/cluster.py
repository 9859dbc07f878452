"""Checks of a server's cluster: can it be reached, has it executors, and do they share this machine's storage."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from dbt.adapters.sparkstream.server import yarn
from dbt.adapters.sparkstream.server.config import ServerConfig
from dbt.adapters.sparkstream.server.failures import ServerError
from dbt.adapters.sparkstream.server.launch import PYTHON_SETTING
from dbt.adapters.sparkstream.server.state import ServerState
from dbt.adapters.sparkstream.spark.session_conf import LOOPBACK

_PATIENCE = 10.0
"""Seconds for a master's machine to answer at all."""

_ROWS = 1000
"""Rows of a check; Spark shares them out to all cores that the executors have."""

_PAUSE, _PAUSES = 2.0, 5
"""Seconds between two looks at the executors that have come, and how many looks: they don't come all at once."""

_HOST = "try_reflect('java.net.InetAddress', 'getLocalHost')"
"""In SQL, the machine that a row is made on, as `name/address`."""

_EXECUTOR = f"concat_ws(' ', {_HOST}, try_reflect('java.lang.System', 'getProperty', 'user.dir'))"
"""In SQL, the executor that makes a row: each works in a folder of its own."""

_Ask = Callable[[str], "list[tuple[Any, ...]]"]


def own_address(config: ServerConfig) -> str:
    """The address of this machine on the way to the cluster's master or ResourceManager, or loopback without a cluster.

    Raises:
        ServerError: no master is there.
    """
    if not config.on_cluster:
        return LOOPBACK
    faults = []
    for place in yarn.managers(config.conf) if config.master == yarn.MASTER else config.masters:
        try:
            with socket.create_connection(place, _PATIENCE) as connection:
                return str(connection.getsockname()[0])
        except OSError as error:
            faults.append(f"{place[0]}:{place[1]}: {error.strerror or error}")
    if config.master == yarn.MASTER:
        raise ServerError(
            f"can't reach YARN's ResourceManager ({'; '.join(faults)})\n"
            "  is it running, and may this machine reach it? Its address is in the yarn-site.xml that HADOOP_CONF_DIR "
            "or YARN_CONF_DIR leads to"
        )
    raise ServerError(
        f"can't reach Spark's master at {config.master} ({'; '.join(faults)})\n"
        "  is it running, and may this machine reach it? Its page shows its address, spark://HOST:PORT"
    )


def slow_start(state: ServerState) -> str:
    """Hint for the error of a slow start: YARN may have no room yet. Empty for any master but YARN."""
    if state.master != yarn.MASTER:
        return ""
    return (
        "YARN may have no room for the application's own process, which takes 512m and 384m more unless "
        "spark.yarn.am.memory is set: its last word in the log is ACCEPTED then;\n  "
    )


class Check(threading.Thread):
    """Thread that checks whether a server's cluster can do dbt's work; a thread, as queries to it may never end.

    Args:
        state: the server.
        warehouse: folder of the tables.

    Attributes:
        has_executors: True if a task has run.
        warnings: faults that leave SQL usable.
    """

    def __init__(self, state: ServerState, warehouse: str) -> None:
        super().__init__(name="sparkstream-cluster", daemon=True)
        self._state = state
        self._warehouse = warehouse
        self._failure: Exception | None = None
        self.has_executors = False
        self.warnings: tuple[str, ...] = ()

    def run(self) -> None:
        try:
            with _asking(self._state) as ask:
                ask(f"SELECT count(*) FROM range({_ROWS})")
                self.has_executors = True
                self._wait_for_more(ask)
                self._check_storage(ask)
            if self._state.connect_port is not None:
                self.warnings = tuple(_python_faults(self._state))
        except Exception as error:
            self._failure = error

    def result(self) -> tuple[str, ...]:
        """The warnings.

        Raises:
            ServerError: dbt can't work on the cluster.
        """
        if self._failure is None:
            return self.warnings
        if isinstance(self._failure, ServerError):
            raise self._failure
        raise ServerError(f"the cluster {self._state.master} failed a first query: {_reason(self._failure)}")

    def too_late(self, seconds: float) -> str:
        """Error message for a check that didn't end within `seconds`."""
        if self.has_executors:
            return f"the cluster {self._state.master} didn't write and read a small table within {seconds:g} seconds"
        memory = self._state.conf.get("spark.executor.memory", "1g")
        if self._state.master == yarn.MASTER:
            return (
                f"YARN gave no executor within {seconds:g} seconds\n"
                f"  each needs {memory} of memory and 384m more, or a tenth where that is more, beside the "
                "application's own process (spark.yarn.am.memory);\n"
                "  the ResourceManager's page shows what its nodes and this queue (spark.yarn.queue) have, and logs of "
                "containers\n"
                "  take less with --conf spark.executor.memory=512m; executors must reach this machine "
                "(spark.driver.host)"
            )
        return (
            f"the cluster {self._state.master} gave no executor within {seconds:g} seconds\n"
            f"  it needs a worker with a free core and {memory} of memory, and some more; the master's page shows what "
            "its workers have,\n"
            "  and who holds it: an application takes all cores, unless it has --conf spark.cores.max=N\n"
            "  take less with --conf spark.executor.memory=512m; executors must reach this machine (spark.driver.host)"
        )

    def _wait_for_more(self, ask: _Ask) -> None:
        """Waits until no more executors come: the first may be the only one that fits."""
        seen = -1
        for _ in range(_PAUSES):
            [(found,)] = ask(
                f"SELECT count(DISTINCT executor) FROM (SELECT {_EXECUTOR} AS executor FROM range({_ROWS}))"
            )
            if found == seen:
                return
            seen = found
            time.sleep(_PAUSE)

    def _check_storage(self, ask: _Ask) -> None:
        """Has all executors write a table, and all read it.

        Where the warehouse folder isn't shared, each machine writes to its own disk. Spark then lists this machine's
        disk alone, misses the rows that other machines wrote, and says nothing.
        """
        table = f"default.sparkstream_check_{self._state.token}"
        try:
            ask(f"CREATE TABLE {table} USING parquet AS SELECT id, {_HOST} AS host FROM range({_ROWS})")
            rows = {str(host): int(count) for host, count in ask(f"SELECT host, count(*) FROM {table} GROUP BY host")}
        except Exception as error:
            raise ServerError(
                f"the cluster can't write and read a table in {self._warehouse}: {_reason(error)}\n{_SHARED}"
            ) from error
        finally:
            with contextlib.suppress(Exception):
                ask(f"DROP TABLE IF EXISTS {table}")
        if sum(rows.values()) != _ROWS:
            all_hosts = ask(f"SELECT DISTINCT host FROM (SELECT {_HOST} AS host FROM range({_ROWS}))")
            missing = sorted({str(host) for (host,) in all_hosts} - set(rows))
            where = f" on {', '.join(missing)}" if missing else ""
            raise ServerError(
                f"{_ROWS - sum(rows.values())} of {_ROWS} rows that executors{where} wrote to {self._warehouse} "
                f"can't be seen from this machine: it is not the same storage for all\n{_SHARED}"
            )


_SHARED = (
    "  the warehouse, which also holds the checkpoints of streams, must be a folder that this machine and all\n"
    "  executors have under the same path and may write to, or a store that all of them reach:\n"
    "  --conf spark.sql.warehouse.dir=/mnt/shared/warehouse (or hdfs://..., s3a://...)"
)


@contextmanager
def _asking(state: ServerState) -> Iterator[_Ask]:
    """Function that runs a statement in a session on the server and returns its rows."""
    if state.port is not None:
        from pyhive import hive

        connection = hive.connect(LOOPBACK, state.port, auth="NOSASL", username="sparkstream")
        with closing(connection), closing(connection.cursor()) as cursor:

            def ask(statement: str) -> list[tuple[Any, ...]]:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []

            yield ask
    else:
        with _connected(state) as session:
            yield lambda statement: [tuple(row) for row in session.sql(statement).collect()]


@contextmanager
def _connected(state: ServerState) -> Iterator[Any]:
    from dbt.adapters.sparkstream.spark import connect

    assert state.connect_address is not None
    session = connect.opened(state.connect_address, lambda session: session.version)
    try:
        yield session
    finally:
        session.stop()


def _python_faults(state: ServerState) -> Iterator[str]:
    """Warning that executors can't run the functions of Python models, which SQL doesn't need; nothing if they can."""
    try:
        from pyspark.sql.connect.functions import udf
        from pyspark.sql.types import StringType

        with _connected(state) as session:
            version: Any = udf(lambda _: sys.version, StringType())
            session.range(_ROWS).select(version("id")).distinct().collect()
    except ImportError:
        return  # no client of Spark Connect, so no Python models
    except Exception as error:
        version_here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        yield (
            f"executors can't run functions of this Python {version_here}: {_reason(error)}\n"
            f"  they start {state.python}, which has to be there on every machine, with the same minor version as the\n"
            f"  Python of dbt; another one: --conf {PYTHON_SETTING}=PATH\n"
            "  SQL works without it; streaming models need it on this machine alone"
        )


def _reason(error: Exception) -> str:
    """The lines of Spark's message that say what is wrong."""
    from dbt.adapters.sparkstream.messages.readable import readable

    lines = [line.strip() for line in readable(error).splitlines() if line.strip()]
    causes = [line for line in lines[1:] if line.startswith(("Caused by:", "pyspark.errors"))]
    return "\n  ".join(line[:400] for line in [*lines[:1], *causes[-1:]])
