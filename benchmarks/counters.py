"""Counters of Spark and this process: figures that neighbours on the machine change less than seconds."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Counts:
    """What was done between two moments, or up to one.

    Attributes:
        processor: seconds of processor time of this process and of Java, user and system.
        jobs: jobs of Spark.
        calls: calls of the catalog's metastore.
        partitions: partitions that it gave.
        listed: files that were found in folders.
    """

    processor: float
    jobs: int
    calls: int
    partitions: int
    listed: int

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


class Counters:
    """The counters of a Spark in this process.

    Args:
        spark: its session.
    """

    def __init__(self, spark: Any) -> None:
        java = spark._jvm
        self._pid = int(java.java.lang.ProcessHandle.current().pid())
        self._scheduler = spark._jsc.sc().dagScheduler()
        self._catalog = java.org.apache.spark.metrics.source.HiveCatalogMetrics

    def now(self) -> Counts:
        """All of them."""
        return Counts(
            processor=time.process_time() + processor_seconds(self._pid),
            jobs=int(self._scheduler.numTotalJobs()),
            calls=int(self._catalog.METRIC_HIVE_CLIENT_CALLS().getCount()),
            partitions=int(self._catalog.METRIC_PARTITIONS_FETCHED().getCount()),
            listed=int(self._catalog.METRIC_FILES_DISCOVERED().getCount()),
        )


def processor_seconds(pid: int) -> float:
    """The processor time of a process, user and system."""
    # The name of a process may have spaces, and stands in brackets.
    facts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(facts[11]) + int(facts[12])) / os.sysconf("SC_CLK_TCK")
