"""Start of the server's Java process: its files, its command and its environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.server import yarn
from dbt.adapters.sparkstream.server.config import ServerConfig
from dbt.adapters.sparkstream.server.failures import ServerError
from dbt.adapters.sparkstream.spark.accelerators import PLUGINS, accelerated, version_of
from dbt.adapters.sparkstream.spark.java import JavaNotFound, prepare_session_environment
from dbt.adapters.sparkstream.spark.session_conf import (
    AUTHENTICATE,
    LOOPBACK,
    java_properties,
    java_property,
    local_conf,
)

THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"

# A setting of ours: what a server answers to "SET spark.sparkstream.server" says which one it is.
TOKEN_SETTING = "spark.sparkstream.server"  # noqa: S105 - a name

PYTHON_SETTING = "spark.pyspark.python"
"""The program that runs Python functions, by the same path on this machine and on the machines of executors."""


class Folder:
    """The server's own folder and what lies in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.conf = path / "conf"
        """Spark's settings, written at each start."""
        self.spark = path / "spark"
        """The installed Spark as the server sees it, made of links at each start."""
        self.tmp = path / "tmp"
        """Temporary files, gone when the server stops."""
        self.log = path / "logs" / "server.log"
        """File with the server's output since its last start."""
        self.state = path / "server.json"
        """State file, which records the server's process."""
        self.lock = path / "server.lock"
        """File that is locked while a server is being started; also the mark of a folder that belongs to a server."""

    def claim(self) -> None:
        """Makes the folder, or checks that it is a server's: its tmp and conf folders get overwritten.

        Raises:
            ServerError: it holds something else, or can't be made.
        """
        try:
            private.make_folder(self.path)
            if not self.lock.exists() and any(self.path.iterdir()):
                raise ServerError(
                    f"{self.path} holds other files; choose an empty or new folder for the server with --dir"
                )
            os.close(private.opened(self.lock, os.O_WRONLY))
            # A project that the folder lies in has no use for it in its repository.
            private.write(self.path / ".gitignore", "*\n")
        except OSError as error:
            raise ServerError(f"can't use {self.path} as the server's folder: {error.strerror}") from error

    def prepare(self, settings: Mapping[str, str], spark: Spark) -> None:
        """Makes everything ready for a start: settings in place, no old temporary files, a fresh log."""
        for folder in (self.tmp, self.spark):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.conf, self.tmp, self.spark, self.log.parent, self.path / "warehouse"):
            private.make_folder(folder)
        for part in ("bin", "jars"):
            (self.spark / part).symlink_to(spark.home / part)
        if self.log.exists():
            self.log.replace(self.log.with_name("server.log.1"))
        # Settings may hold passwords, for storage for example.
        private.write(self.conf / "spark-defaults.conf", java_properties(settings))
        private.write(self.conf / "log4j2.properties", _LOGGING)


@dataclass(frozen=True)
class Spark:
    """The pyspark of this Python, as a server."""

    home: Path
    version: str

    def check(self, config: ServerConfig) -> None:
        """Checks that this Spark has the parts that the server and its native engine need.

        Raises:
            ServerError: a part is missing.
        """
        if config.port is not None and not any(self.home.glob("jars/spark-hive-thriftserver_*.jar")):
            raise ServerError(
                f"the pyspark {self.version} in {self.home} has no Thrift server; install the full package with "
                "pip install pyspark (pyspark-client is not enough)"
            )
        if config.connect_port is not None and not any(self.home.glob("jars/spark-connect_*.jar")):
            raise ServerError(
                f"the pyspark {self.version} in {self.home} has no Spark Connect server; "
                "start without it with --no-connect"
            )
        self.accelerated(config, config.conf)

    def accelerated(self, config: ServerConfig, conf: Mapping[str, str]) -> dict[str, str]:
        """The settings of the server's native engine, on top of others; none for Spark alone.

        Raises:
            ServerError: the native engine can't run; the message says what it lacks.
        """
        if config.accelerator is None:
            return {}
        try:
            return accelerated(conf, self.home)
        except ValueError as error:
            raise ServerError(str(error)) from error


def find_spark() -> Spark:
    """The pyspark that Python would import; it is not imported.

    Raises:
        ServerError: there is none.
    """
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        raise ServerError("pyspark is not installed; install it with pip install pyspark")
    home = Path(package.origin).parent
    return Spark(home, version_of(home))


def settings(config: ServerConfig, token: str, spark: Spark, address: str = LOOPBACK) -> dict[str, str]:
    """The Spark settings of a server: its own, and the user's on top.

    Args:
        config: its options.
        token: tells it from other servers.
        spark: the Spark, which a native engine has to fit.
        address: of this machine, where executors on others reach it.

    Raises:
        ServerError: the native engine can't run; the message says what it lacks.
    """
    folder = Folder(config.folder)
    own = {
        **local_conf(folder.path, config.cores),
        "spark.app.name": "sparkstream",
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.master": config.master,
        "spark.driver.memory": config.memory,
        # Or else a session goes on with the list of files that a table had before another session wrote to it.
        "spark.sql.filesourceTableRelationCacheSize": "0",
        TOKEN_SETTING: token,
    }
    if config.master.startswith("local"):
        own[AUTHENTICATE] = "true"
    if config.on_cluster:
        # The first query, which tries the cluster, waits half a minute for as many cores or executors as are asked for.
        own["spark.scheduler.minRegisteredResourcesRatio"] = "1.0"
    if config.port is not None:
        own |= {
            "spark.hadoop.hive.server2.thrift.port": str(config.port),
            "spark.hadoop.hive.server2.thrift.bind.host": LOOPBACK,
            "spark.hadoop.hive.server2.authentication": "NOSASL",
        }
    else:
        own["spark.sql.catalogImplementation"] = "hive"  # as the Thrift server has it
    if config.port is not None and config.connect_port is not None:
        own[PLUGINS] = CONNECT_PLUGIN
    if config.connect_port is not None:
        own |= {
            "spark.connect.grpc.binding.address": LOOPBACK,
            "spark.connect.grpc.binding.port": str(config.connect_port),
        }
    java_options = [
        java_property("java.io.tmpdir", folder.tmp),
        java_property("derby.stream.error.file", folder.log.with_name("derby.log")),
        # Or else Java has a file in the machine's /tmp.
        "-XX:-UsePerfData",
    ]
    own["spark.driver.extraJavaOptions"] = " ".join(java_options)
    merged = {**own, **config.conf}
    # Lists: the server needs its own entries, whatever the user adds.
    for key, separator in ((PLUGINS, ","), ("spark.driver.extraJavaOptions", " ")):
        if key in own and key in config.conf:
            merged[key] = own[key] + separator + config.conf[key]
    return {**merged, **spark.accelerated(config, merged)}


def environment(config: ServerConfig, spark: Spark, address: str = LOOPBACK) -> tuple[dict[str, str], str]:
    """The environment for the server's process, and the version of the Java that it leads to.

    Raises:
        ServerError: there is no usable Java.
    """
    # Settings for another Spark, or another Hadoop, must not get into this one.
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SPARK_", "PYSPARK_", "HADOOP_", "HIVE_", "YARN_"))
        or (config.master == yarn.MASTER and name in yarn.VARIABLES)
    }
    try:
        java = prepare_session_environment(environ)
    except JavaNotFound as error:
        raise ServerError(str(error)) from error
    folder = Folder(config.folder)
    # Spark Connect takes the Python of functions from the environment only.
    python = config.conf.get(PYTHON_SETTING) or os.environ.get("PYSPARK_PYTHON")
    environ |= {
        # Spark has its Python processes import SPARK_HOME/python/lib/pyspark.zip, which Python compiles again in each
        # process: 3 of 4 seconds of work before a streaming query starts, and Spark waits for ten. Without it, they
        # import the installed pyspark. Another Python may have none.
        "SPARK_HOME": str(spark.home if python else folder.spark),
        "SPARK_CONF_DIR": str(folder.conf),
        "SPARK_LOCAL_IP": address,
        "PYSPARK_PYTHON": python or sys.executable,
    }
    return environ, java.version


def spawn(config: ServerConfig, spark: Spark, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts the server's process, on its own: it outlives this one and gets none of its terminal's signals.

    Spark's script builds Java's command line and then turns into Java, so the process is the server itself.
    """
    folder = Folder(config.folder)
    with open(private.opened(folder.log), "wb") as log:
        return subprocess.Popen(
            [
                str(spark.home / "bin" / "spark-class"),
                "org.apache.spark.deploy.SparkSubmit",
                "--class",
                CONNECT_SERVER if config.port is None else THRIFT_SERVER,
                "spark-internal",
            ],
            cwd=folder.path,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_OUT
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex
# One warning for each statement, which say nothing.
logger.scheduler.name = org.apache.spark.scheduler.DAGScheduler
logger.scheduler.level = error
# A failed statement for the second time: SparkExecuteStatementOperation has said it.
logger.thrift.name = org.apache.hive.service.cli.thrift.ThriftCLIService
logger.thrift.level = error
# What Hive says of a new metastore.
logger.metastore.name = org.apache.hadoop.hive.metastore.ObjectStore
logger.metastore.level = error
# Of each table in Delta and the like, that Hive itself can't read it.
logger.catalog.name = org.apache.spark.sql.hive.HiveExternalCatalog
logger.catalog.level = error
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
# On a cluster: which executors come and go, and why.
logger.cluster.name = org.apache.spark.deploy.client
logger.cluster.level = info
# And whether YARN has room for the application, once a minute as long as it hasn't.
logger.yarn.name = org.apache.spark.deploy.yarn.Client
logger.yarn.level = info
"""
