"""Spark settings that keep a local Spark inside one folder and off the network."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.sparkstream.secrecy.redaction import redacted

LOOPBACK = "127.0.0.1"

LOCAL = (LOOPBACK, "localhost", "::1")
"""Names of this machine in a profile."""

AUTHENTICATE = "spark.authenticate"
"""Setting with which Spark's own ports demand a secret. With a local master Spark makes one up."""

LOCAL_DIR = "spark.local.dir"
"""Setting of the folder of rows between two stages, which Spark writes for everybody to read."""

DEFAULT_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"

JAVA_OPTIONS = ("spark.driver.extraJavaOptions", DEFAULT_JAVA_OPTIONS)
"""The settings whose values are on Java's command line."""

SUBSTITUTE = "spark.sql.variable.substitute"
"""Setting with which Spark replaces `${env:HOME}` in statements, also in their string literals and comments."""

_COMPILES_LATE = (
    "-XX:Tier4InvocationThreshold=200000 -XX:Tier4MinInvocationThreshold=20000 "
    "-XX:Tier4CompileThreshold=600000 -XX:Tier4BackEdgeThreshold=1600000"
)
"""Options with which Java compiles a method for the second time after 40 times as many calls as by default.

Compiling so is a third of Java's work in a run of small models. What a query of millions of rows calls is over these
numbers at once, and doesn't wait in a queue behind the rest: such queries are no slower.
"""

METASTORE_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"

METASTORE_POOL = "spark.hadoop.datanucleus.connectionPoolingType"
"""Setting of Hive's pool of connections to its metastore.

A cancelled query interrupts its thread, and so does a stream that is stopped. Where that is within Derby, Derby closes
the connection, Hive's rollback of it fails, and Hive never gives it back to a pool. After ten such connections
everybody waits for the pool without limit, in Spark's lock of the catalog. `NONE` opens a connection for each
transaction.
"""


def embedded_session_conf(folder: Path) -> dict[str, str]:
    """Settings of a Spark session in this process that keeps its data under `folder`.

    They are defaults for a local master: what a user sets goes on top. They must be there before the first
    SparkSession of the process is made, because some of them are options of its Java process.

    Args:
        folder: the session's own folder; made when the session starts. Only one process at a time can use it
            (a limit of Derby, which holds the metastore).

    Raises:
        ValueError: Derby can't have its files at this path.
    """
    folder = folder.absolute()
    return {
        **local_conf(folder, cores=os.cpu_count() or 1),
        "spark.driver.extraJavaOptions": java_property("derby.stream.error.file", folder / "derby.log"),
        DEFAULT_JAVA_OPTIONS: _COMPILES_LATE,
        AUTHENTICATE: "true",
        # Spark joins the changes of a stream's state, and removes old ones, every minute. A dbt process may end before
        # that: the state would get two files more with each run, and be put together from all of them.
        "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
        # The terminal belongs to dbt.
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }


def local_conf(folder: Path, cores: int | None) -> dict[str, str]:
    """Spark settings that an embedded session and the local server have in common.

    Args:
        folder: absolute path that warehouse, metastore and Hive's temporary files go under.
        cores: number of tasks that run at a time; None if it isn't known.

    Raises:
        ValueError: Derby can't have its files at this path.
    """
    if ";" in str(folder):
        raise ValueError(f"Derby takes no ';' in a path; choose another folder than {folder}")
    # As many as can run at a time: the default of 200 makes small queries slow.
    partitions = {} if cores is None else {"spark.sql.shuffle.partitions": str(max(2, cores))}
    return {
        **partitions,
        "spark.ui.enabled": "false",
        SUBSTITUTE: "false",
        # TIME, which Spark 4.3 has behind this setting: Flink's SQL has such columns.
        "spark.sql.timeType.enabled": "true",
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        LOCAL_DIR: str(folder / "tmp"),
        METASTORE_URL: f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true",
        METASTORE_POOL: "NONE",
        # Seen once, after Ctrl-C on a busy machine: Derby couldn't say which partitions a filter leaves, and two models
        # failed. Spark then lists all partitions, and filters them itself.
        "spark.sql.hive.metastorePartitionPruningFallbackOnException": "true",
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
        # Hive tries ten times what its metastore refuses, every 2 seconds by default: 20 seconds for a view with a
        # column comment of over 256 characters, before Spark writes it another way.
        "spark.hadoop.hive.hmshandler.retry.interval": "50ms",
        # Hive leaves folders in the machine's /tmp unless told otherwise.
        "spark.hadoop.hive.exec.scratchdir": str(folder / "tmp" / "hive"),
        "spark.hadoop.hive.exec.local.scratchdir": str(folder / "tmp"),
        "spark.hadoop.hive.downloaded.resources.dir": str(folder / "tmp" / "${hive.session.id}_resources"),
    }


def read_properties(path: Path) -> dict[str, str]:
    """The settings in a file such as spark-defaults.conf: on each line a name and a value, or a comment.

    Raises:
        OSError: it can't be read.
        UnicodeDecodeError: it is no UTF-8 text.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(r"\s*([^\s#=:][^\s=:]*)(?:\s*[=:]\s*|\s+)(.*?)\s*", line) for line in lines)
    return {line[1]: line[2] for line in found if line}


def java_properties(settings: Mapping[str, str]) -> str:
    """Settings as a file of Java's properties, which `spark-defaults.conf` is one of."""

    def escaped(text: str) -> str:
        text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        return re.sub(r"^ ", r"\\ ", text)

    names = {name: re.sub(r"[ =:#!]", r"\\\g<0>", escaped(name.strip())) for name in settings}
    return "".join(f"{names[name]}={escaped(value)}\n" for name, value in settings.items())


def secret_java_options(settings: Mapping[str, str]) -> str | None:
    """Message about an option of Java that holds a secret, with what to write; None if no option does."""
    for name in JAVA_OPTIONS:
        options = settings.get(name, "")
        if redacted(options) != options:
            return (
                f"{name} holds a secret, and everybody on this machine sees Java's arguments\n"
                "  write the option to a file that only you can read, and '@/path/of/the/file' in its place"
            )
    return None


def java_property(name: str, value: Path) -> str:
    """A `-D` option of Java, quoted the way Spark reads a list of Java options."""
    return java_option(f"-D{name}={value}")


def java_option(option: str) -> str:
    """An option of Java, quoted the way Spark reads a list of Java options."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
