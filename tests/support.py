"""What several suites share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def quick_session(spark: SparkSession) -> SparkSession:
    """A session of its own, with temporary views and settings of its own, for thousands of tiny queries.

    It behaves as under the adapter (ANSI off, fast frames), in UTC. Queries are interpreted, as compiling one takes
    longer than running it.
    """
    session = spark.newSession()
    for key, value in {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.window.segmentTree.enabled": "true",
        "spark.sql.window.segmentTree.minPartitionRows": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }.items():
        session.conf.set(key, value)
    return session
