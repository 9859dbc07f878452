"""What several suites share: the one Spark session of a pytest process."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.java import prepare_session_environment
from dbt.adapters.sparkstream.session_conf import embedded_session_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_running: list[tuple[SparkSession, Path]] = []


def start_spark() -> SparkSession:
    """The Spark of this process, started when first asked for; `stop_spark` ends it.

    It behaves as under dbt-spark (ANSI off), in UTC. Queries here are tiny, so it interprets them: compiling one
    takes longer than running it.
    """
    from pyspark.sql import SparkSession

    if not _running:
        prepare_session_environment()
        folder = Path(tempfile.mkdtemp(prefix="sparkstream-tests-"))
        builder = SparkSession.builder.master("local[2]").appName("sparkstream tests")
        for key, value in {
            **embedded_session_conf(folder),
            "spark.driver.memory": "2g",
            "spark.log.level": "OFF",
            "spark.sql.ansi.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
        }.items():
            builder = builder.config(key, value)
        _running.append((builder.getOrCreate(), folder))
    return _running[0][0]


def stop_spark() -> None:
    """Stops what `start_spark` started, and removes its folder."""
    while _running:
        spark, folder = _running.pop()
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """The Spark of this process, for a session-scoped fixture."""
    try:
        yield start_spark()
    finally:
        stop_spark()
