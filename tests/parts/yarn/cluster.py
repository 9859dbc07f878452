"""A YARN on this machine: a ResourceManager, and NodeManagers that can be killed with all that they have started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from dbt.adapters.sparkstream.spark.java import find_java
from tests.lib.support import free_port

JARS = Path(__file__).parents[3] / "parts" / "jars" / "yarn"

_MANAGERS = "org.apache.hadoop.yarn.server"
_NODE_MEMORY = 1664
"""Megabytes of a node: an executor of 640m with its overhead, and the application's own process."""

SETTINGS = {
    # An executor takes 1024 MB with Spark's overhead, and the application's own process 640.
    "spark.executor.memory": "640m",
    "spark.executor.instances": "2",
    "spark.executor.cores": "1",
    "spark.yarn.am.memory": "256m",
}


class Yarn:
    """Processes of a cluster, each with a folder of its own.

    Args:
        folder: their settings, logs, and what containers leave; new.
    """

    master = "yarn"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._nodes: list[subprocess.Popen[bytes]] = []
        ports = {name: f"127.0.0.1:{free_port()}" for name in ("", "scheduler.", "resource-tracker.", "admin.")}
        self._common = {
            **{f"yarn.resourcemanager.{name}address": port for name, port in ports.items()},
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{free_port()}",
            "yarn.resourcemanager.bind-host": "127.0.0.1",
            # Else it takes ten minutes until a node that says nothing is given up.
            "yarn.nm.liveness-monitor.expiry-interval-ms": "10000",
            "yarn.nodemanager.heartbeat.interval-ms": "500",
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "500",
            "yarn.scheduler.minimum-allocation-mb": "128",
            "yarn.scheduler.maximum-allocation-mb": "4096",
            "yarn.scheduler.capacity.root.queues": "default",
            "yarn.scheduler.capacity.root.default.capacity": "100",
            "yarn.scheduler.capacity.maximum-am-resource-percent": "1",
        }
        self.conf = self._settings("conf", {})
        self._manager = self._start("manager", "resourcemanager.ResourceManager", self.conf)
        self._wait("Transitioned to active state", "manager")

    def log(self, name: str) -> str:
        """What `manager`, `node-0`, ... has said."""
        return (self._folder / f"{name}.log").read_text()

    def _wait(self, sign: str, name: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while sign not in self.log(name):
            assert time.monotonic() < deadline, self.log(name)[-5000:]
            time.sleep(0.2)

    def add_worker(self) -> None:
        """Starts a node that has room for one executor, and for the process that an application has itself."""
        name = f"work-{len(self._nodes)}"
        own = {
            "yarn.nodemanager.address": "127.0.0.1:0",
            "yarn.nodemanager.localizer.address": f"127.0.0.1:{free_port()}",
            "yarn.nodemanager.webapp.address": f"127.0.0.1:{free_port()}",
            "yarn.nodemanager.local-dirs": str(self._folder / name / "local"),
            "yarn.nodemanager.log-dirs": str(self._folder / name / "logs"),
            "yarn.nodemanager.resource.memory-mb": str(_NODE_MEMORY),
            "yarn.nodemanager.resource.cpu-vcores": "4",
            "yarn.nodemanager.vmem-check-enabled": "false",
            # It takes no containers where disks are fuller.
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.5",
        }
        conf = self._settings(f"conf-{name}", own)
        self._nodes.append(self._start(name, "nodemanager.NodeManager", conf))
        self._wait("Registered with ResourceManager", name)

    def worker_of(self, folder: str) -> str:
        """The node, such as `work-0`, of the container that works in a folder."""
        return Path(folder).relative_to(self._folder).parts[0]

    def kill_worker(self, number: int) -> None:
        """Ends a node and its containers at once, as when its machine loses power."""
        node = self._nodes[number]
        if node.poll() is None:
            # Containers have groups of their own. First the node, or else it says that they have failed.
            started = descendants(node.pid)
            for process in (node.pid, *started):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            node.wait()

    def close(self) -> None:
        """Ends all that is left."""
        for number in range(len(self._nodes)):
            self.kill_worker(number)
        self._manager.kill()
        self._manager.wait()

    def _settings(self, name: str, own: dict[str, str]) -> Path:
        """Writes the files of a folder of settings."""
        conf = self._folder / name
        conf.mkdir(parents=True)
        files = {
            "core-site": {"hadoop.tmp.dir": str(self._folder / "tmp")},
            "yarn-site": {key: value for key, value in self._common.items() if ".capacity." not in key} | own,
            "capacity-scheduler": {key: value for key, value in self._common.items() if ".capacity." in key},
        }
        for file, settings in files.items():
            properties = "".join(
                f"<property><name>{key}</name><value>{escape(value)}</value></property>\n"
                for key, value in settings.items()
            )
            (conf / f"{file}.xml").write_text(f"<configuration>\n{properties}</configuration>\n")
        (conf / "log4j.properties").write_text(
            "log4j.rootLogger=INFO,c\nlog4j.appender.c=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.c.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.c.layout.ConversionPattern=%d %p %c{1}: %m%n\n"
        )
        return conf

    def _start(self, name: str, kind: str, conf: Path) -> subprocess.Popen[bytes]:
        java = find_java().executable.resolve()
        options = ("-Xmx192m", "--add-opens=java.base/java.lang=ALL-UNNAMED")
        with open(self._folder / f"{name}.log", "wb") as output:
            return subprocess.Popen(
                [str(java), *options, "-cp", f"{conf}:{JARS}/*", f"{_MANAGERS}.{kind}"],
                cwd=self._folder,
                env={**os.environ, "JAVA_HOME": str(java.parents[1])},  # containers take their Java from it
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and that those have started."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found = [pid]
    for parent in found:
        found += [child for child, its_parent in pairs if its_parent == parent]
    return found[1:]


@contextmanager
def yarn(folder: Path, workers: int = 2) -> Iterator[Yarn]:
    """A cluster with so many nodes."""
    cluster = Yarn(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.close()
