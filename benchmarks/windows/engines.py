"""Runs a query to its last row and throws the rows away; gives the seconds that it took."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.windows.queries import DUCKDB

_DEFAULTS = {"spark.sql.window.segmentTree.enabled": "false"}


class Engines:
    """The engines of this machine: an embedded Spark, and DuckDB where it is installed."""

    def __init__(self, cores: int, memory: str) -> None:
        from dbt.adapters.sparkstream.session import spark_session

        self.folder = Path(tempfile.mkdtemp(prefix="windows"))
        settings = {
            "spark.master": f"local[{cores}]",
            "spark.driver.memory": memory,
            "spark.sql.shuffle.partitions": str(cores),
            "spark.sql.ansi.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
        }
        self.spark = spark_session(settings, self.folder)
        self._duckdb: Any = None
        if importlib.util.find_spec("duckdb"):
            import duckdb

            self._duckdb = duckdb.connect(config={"threads": cores})
            self._duckdb.execute("SET TimeZone = 'UTC'")

    def read(self, tables: Mapping[str, Path]) -> None:
        """Makes names be the tables in folders."""
        for name, path in tables.items():
            self.spark.read.parquet(str(path)).createOrReplaceTempView(name)
            if self._duckdb:
                self._duckdb.execute(f"CREATE OR REPLACE VIEW {name} AS FROM read_parquet('{path}/*.parquet')")

    def has(self, engine: str) -> bool:
        """Whether an engine is there."""
        return engine != DUCKDB or self._duckdb is not None

    def seconds(self, engine: str, sql: str, conf: Mapping[str, str]) -> float:
        """How long a query takes."""
        start = time.perf_counter()
        if engine == DUCKDB:
            self._duckdb.execute(f"CREATE OR REPLACE TEMP TABLE result AS {sql}")
        else:
            for key, value in {**_DEFAULTS, **conf}.items():
                self.spark.conf.set(key, value)
            self.spark.sql(sql).write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start

    def peak_memory(self, sql: str, conf: Mapping[str, str]) -> int:
        """Bytes of execution memory that the stages of a query in Spark took at most."""
        context = self.spark.sparkContext._jsc.sc()
        store = context.statusStore()
        before = self._stages(store)
        self.seconds("", sql, conf)
        context.listenerBus().waitUntilEmpty()  # what tasks took is noted behind their end
        return max((memory for stage, memory in self._stages(store).items() if stage not in before), default=0)

    @staticmethod
    def _stages(store: Any) -> dict[int, int]:
        found = store.stageList(None, False, False, getattr(store, "stageList$default$4")(), None)
        return {found.apply(i).stageId(): found.apply(i).peakExecutionMemory() for i in range(found.size())}
