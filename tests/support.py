"""What several suites share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Java compiles in one step, as the tests end before the second step would pay. Derby doesn't wait for the disk.
QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC",
    "-Dderby.system.durability=test",
)


@contextmanager
def quick_java() -> Iterator[None]:
    """Java that is started here begins quickly; not for tests that kill it, as Derby may lose its last writes."""
    before = os.environ.get("JAVA_TOOL_OPTIONS")
    os.environ["JAVA_TOOL_OPTIONS"] = " ".join([*([before] if before else []), *QUICK_JAVA])
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_TOOL_OPTIONS"]
        else:
            os.environ["JAVA_TOOL_OPTIONS"] = before


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
