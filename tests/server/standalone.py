"""A standalone cluster of Spark on this machine: a master, and workers that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.sparkstream.server.launch import find_spark
from dbt.adapters.sparkstream.spark.java import prepare_session_environment
from tests.lib.support import free_port, wait_for

# What fits into a worker of a gigabyte.
EXECUTORS = {"spark.executor.memory": "640m", "spark.executor.cores": "1"}


class Standalone:
    """Processes of a cluster.

    Args:
        folder: their logs and what executors leave; new.
        host: the master's address.
        within: a command that runs the master's command, which comes behind it.
    """

    def __init__(self, folder: Path, host: str = "127.0.0.1", within: Sequence[str] = ()) -> None:
        self._folder = folder
        self._host = host
        self._port = free_port()
        self._workers: list[subprocess.Popen[bytes]] = []
        folder.mkdir(parents=True)
        self._master = self._start("master", "master.Master", "--port", str(self._port), host=host, within=within)

    @property
    def master(self) -> str:
        """Its address."""
        return f"spark://{self._host}:{self._port}"

    def log(self, name: str) -> str:
        """What `master`, `worker-0`, ... has said."""
        return (self._folder / f"{name}.log").read_text()

    def wait(self, sign: str, name: str = "master", times: int = 1) -> None:
        """Waits until a process has said something so often."""
        wait_for(lambda: self.log(name).count(sign) >= times, lambda: self.log(name))

    def add_worker(self, within: Sequence[str] = (), host: str = "127.0.0.1") -> None:
        """Starts a worker with a core and a gigabyte.

        Args:
            within: a command that runs the worker's command, which comes behind it.
            host: its address.
        """
        number = len(self._workers)
        options = ("--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / f"work-{number}"))
        self.wait("I have been elected leader")
        worker = self._start(f"worker-{number}", "worker.Worker", *options, self.master, host=host, within=within)
        self._workers.append(worker)
        self.wait("Successfully registered with master", f"worker-{number}")

    def worker_of(self, folder: str) -> str:
        """The worker, such as `work-0`, whose executor works in a folder."""
        return Path(folder).relative_to(self._folder).parts[0]

    def kill_worker(self, number: int) -> None:
        """Ends a worker and its executors at once, as when its machine loses power."""
        kill(self._workers[number])

    def kill_master(self) -> None:
        """Ends the master at once."""
        kill(self._master)

    def close(self) -> None:
        """Ends all that is left."""
        for process in (*self._workers, self._master):
            kill(process)

    def _start(
        self, name: str, kind: str, *options: str, host: str, within: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        return start(
            self._folder / f"{name}.log",
            f"org.apache.spark.deploy.{kind}",
            *("--host", host, "--webui-port", "0", *options),
            environ={"SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": host},
            within=within,
        )


def start(
    log: Path, *command: str, environ: Mapping[str, str] | None = None, within: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """Starts a class of Spark's in a process of its own, the first of a group.

    Args:
        log: what it says; it runs in the log's folder.
        command: the class and its options.
        environ: variables beside this process's.
        within: a command that runs the process's command, which comes behind it.
    """
    spark = find_spark()
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    prepare_session_environment(variables)
    variables |= {"SPARK_HOME": str(spark.home), "SPARK_LOCAL_IP": "127.0.0.1", **(environ or {})}
    with open(log, "wb") as output:
        return subprocess.Popen(
            [*within, str(spark.home / "bin" / "spark-class"), *command],
            cwd=log.parent,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all of its group at once."""
    # A worker's executors are in its group. A process that was waited for has given its number back.
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[Standalone]:
    """A cluster with so many workers of a core and a gigabyte each."""
    cluster = Standalone(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.close()
