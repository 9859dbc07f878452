"""Configuration of a local server."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dbt.adapters.sparkstream.secrecy.names import is_harmless
from dbt.adapters.sparkstream.secrecy.redaction import learn
from dbt.adapters.sparkstream.server import yarn
from dbt.adapters.sparkstream.server.failures import ServerError
from dbt.adapters.sparkstream.server.jars import JARS, absolute
from dbt.adapters.sparkstream.spark.accelerators import check_name
from dbt.adapters.sparkstream.spark.session_conf import secret_java_options

# Settings that have an option of their own, or that would open the server to the network.
_OWN_SETTINGS = {
    "spark.master": "use --master",
    "spark.driver.memory": "use --memory",
    "spark.hadoop.hive.server2.thrift.port": "use --port",
    "spark.connect.grpc.binding.port": "use --connect-port",
    "spark.hadoop.hive.server2.thrift.bind.host": "the server has no passwords, so it listens on this machine only",
    "spark.hadoop.hive.server2.authentication": "the port for SQL takes no passwords; use --token-file for Spark "
    "Connect alone, or Spark's own Thrift server: docs/security.md",
    "spark.connect.grpc.binding.address": "the server has no passwords, so it listens on this machine only",
}

CONNECT_TOKEN = "spark.connect.authenticate.token"  # noqa: S105 - a name
"""Setting with the token that clients of Spark Connect must send."""

_HOST = r"([\w.-]+|\[[0-9A-Fa-f:.]+\]):[1-9]\d{0,4}"


@dataclass(frozen=True)
class ServerConfig:
    """Options of a local server, checked.

    Attributes:
        folder: the server's own folder, for warehouse, metastore, settings and logs; made absolute.
        port: TCP port for SQL (Thrift); None for a server with Spark Connect alone.
        connect_port: TCP port for Spark Connect; None for a server without it.
        master: `local`, `local[N]` or `local[*]`, the master of a standalone cluster, `spark://HOST:PORT`, or `yarn`.
        memory: heap of the server's Java, such as `2g` or `512m`.
        conf: further Spark settings; they win over the server's own. Paths in `spark.jars` are made absolute.
        timeout: seconds that starting may take.
        accelerator: the name of a native engine; None for Spark alone.

    Raises:
        ServerError: an option that can't be right.
    """

    folder: Path = Path(".sparkstream/server")
    port: int | None = 10000
    connect_port: int | None = 15002
    master: str = "local[*]"
    memory: str = "2g"
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 180.0
    accelerator: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(os.path.abspath(Path(self.folder).expanduser())))
        if JARS in self.conf:
            object.__setattr__(self, "conf", {**self.conf, JARS: absolute(self.conf[JARS])})
        if ";" in str(self.folder):
            raise ServerError(f"the metastore takes no ';' in a path; choose another folder than {self.folder}")
        learn(self.conf, is_harmless)
        self._check_master()
        self._check_ports()
        if not re.fullmatch(r"[1-9]\d*[kmgt]b?", self.memory.lower()):
            raise ServerError(f"memory '{self.memory}' is not a size; write a number with a unit, such as 2g or 512m")
        if self.timeout <= 0:
            raise ServerError(f"time-out {self.timeout:g} is not a time; write the seconds that starting may take")
        self._check_settings()
        if self.accelerator is not None:
            try:
                check_name(self.accelerator)
            except ValueError as error:
                raise ServerError(str(error)) from None

    def _check_ports(self) -> None:
        if not self.ports:
            raise ServerError("a server without SQL and without Spark Connect has no use; leave one of the options out")
        if self.port == self.connect_port:
            raise ServerError(f"SQL and Spark Connect can't share port {self.port}; choose another --connect-port")
        for port in [*self.ports, *(port for _, port in self.masters)]:
            if not 1 <= port <= 65535:
                raise ServerError(f"port {port} does not exist; a port is a number from 1 to 65535")

    def _check_master(self) -> None:
        if self.master.startswith("k8s://"):
            raise ServerError(
                "this server can't be the driver of executors in Kubernetes: they have to reach it by a name, and its "
                "ports for clients are open to programs on the same machine only\n"
                "  run Spark's own Thrift server in a pod: docs/cluster.md says how"
            )
        if not re.fullmatch(rf"local(\[(\*|[1-9]\d*)(,\s*\d+)?\])?|spark://{_HOST}(,{_HOST})*|yarn", self.master):
            raise ServerError(
                f"master '{self.master}' is neither local nor a cluster's; write 'local[N]' for N tasks at a time, "
                "'local[*]' for as many as there are cores, 'spark://HOST:7077' for a standalone cluster, or 'yarn'"
            )

    def _check_settings(self) -> None:
        for key in self.conf:
            if not re.fullmatch(r"spark\.[^\s=:]+", key):
                raise ServerError(
                    f"'{key}' is not the name of a Spark setting: they start with 'spark.', "
                    "those of Hive and Hadoop with 'spark.hadoop.'"
                )
            if key in _OWN_SETTINGS:
                raise ServerError(f"'{key}' can't be set here: {_OWN_SETTINGS[key]}")
        if not re.fullmatch(r"[\w.~-]*", self.conf.get(CONNECT_TOKEN, ""), re.ASCII):
            raise ServerError(
                f"{CONNECT_TOKEN} can have letters, digits and - _ . ~ only: Spark writes it into an address as it is, "
                "and no streaming model would run\n"
                "  python -c 'import secrets; print(secrets.token_urlsafe())' makes one"
            )
        if why := secret_java_options(self.conf):
            raise ServerError(why)

    @property
    def ports(self) -> list[int]:
        """The ports that the server listens on."""
        return [port for port in (self.port, self.connect_port) if port is not None]

    @property
    def on_cluster(self) -> bool:
        """True if tasks run in processes of their own, which may be on other machines."""
        return not self.master.startswith("local")

    @property
    def masters(self) -> list[tuple[str, int]]:
        """Host and port of each master of a standalone cluster; none elsewhere."""
        if not self.master.startswith("spark://"):
            return []
        places = (place.rpartition(":") for place in self.master.removeprefix("spark://").split(","))
        return [(host.strip("[]"), int(port)) for host, _, port in places]

    @property
    def cores(self) -> int | None:
        """Number of tasks that run at a time; None if the cluster decides it."""
        if self.master == yarn.MASTER:
            if self.conf.get("spark.dynamicAllocation.enabled", "").lower() == "true":
                return None
            executors = self.conf.get("spark.executor.instances", "2")
            each = self.conf.get("spark.executor.cores", "1")
            return int(executors) * int(each) if executors.isdigit() and each.isdigit() else None
        if self.on_cluster:
            most = self.conf.get("spark.cores.max", "")
            return int(most) if most.isdigit() else None
        threads = re.search(r"\[(\d+)", self.master)
        if threads:
            return int(threads[1])
        return 1 if self.master == "local" else os.cpu_count() or 1
