"""Spark settings that keep a local Spark inside one folder and off the network."""

from __future__ import annotations

import os
from pathlib import Path

LOOPBACK = "127.0.0.1"


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
        # The terminal belongs to dbt.
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }


def local_conf(folder: Path, cores: int) -> dict[str, str]:
    """What an embedded session and the local server have in common.

    Args:
        folder: absolute path that warehouse, metastore and Hive's temporary files go under.
        cores: how many tasks run at a time.

    Raises:
        ValueError: Derby can't have its files at this path.
    """
    if ";" in str(folder):
        raise ValueError(f"Derby takes no ';' in a path; choose another folder than {folder}")
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        # As many as can run at a time: the default of 200 makes small queries slow.
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true"
        ),
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
        # Hive leaves folders in the machine's /tmp unless told otherwise.
        "spark.hadoop.hive.exec.scratchdir": str(folder / "tmp" / "hive"),
        "spark.hadoop.hive.exec.local.scratchdir": str(folder / "tmp"),
        "spark.hadoop.hive.downloaded.resources.dir": str(folder / "tmp" / "${hive.session.id}_resources"),
    }


def java_property(name: str, value: Path) -> str:
    """A `-D` option of Java, quoted the way Spark reads a list of Java options."""
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"-D{name}={escaped}"'
