"""Runs a query to its last row; gives the seconds that it took, or the rows."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.windows.flink import Flink
from benchmarks.windows.queries import COMET, COMET_ON, DUCKDB, FLINK, POLARS, TREE, Query

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

_DEFAULTS = dict.fromkeys([*TREE, *COMET_ON], "false")
_TIMES = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS", "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS"}
"""How CSV has times: as SQL writes them."""


class Engines:
    """The engines of this machine: a Spark in this process, DuckDB and Polars where installed, Flink where named.

    Args:
        cores: how many tasks run at a time.
        memory: of a JVM, such as `4g`.
        flink: a Python with apache-flink.
        comet: Comet's jar; Spark has it then, and runs ours alone in it.
    """

    def __init__(self, cores: int, memory: str, flink: str | None = None, comet: Path | None = None) -> None:
        from dbt.adapters.sparkstream.spark.session import spark_session

        self.folder = Path(tempfile.mkdtemp(prefix="windows"))
        settings = {
            "spark.master": f"local[{cores}]",
            "spark.driver.memory": memory,
            "spark.sql.shuffle.partitions": str(cores),
            "spark.sql.ansi.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
        }
        self._comet = comet
        jars = {"spark.jars": str(comet)} if comet else {}
        self.spark = spark_session({**settings, **jars}, self.folder, "comet" if comet else None)
        self._flink = Flink(flink, cores, memory) if flink else None
        self._files = 0
        self._duckdb: Any = None
        if importlib.util.find_spec("duckdb"):
            import duckdb

            self._duckdb = duckdb.connect(config={"threads": cores})
            self._duckdb.execute("SET TimeZone = 'UTC'")
        self._polars: Any = None
        self._frames: dict[str, Any] = {}
        if importlib.util.find_spec("polars"):
            os.environ.setdefault("POLARS_MAX_THREADS", str(cores))  # it is read while Polars is imported
            import polars

            self._polars = polars

    def read(self, tables: Mapping[str, Path], *, text: bool = False) -> None:
        """Makes names be the tables in folders.

        Args:
            text: True if all engines read CSV, as Flink does; else they read parquet, and Flink has no table. Polars
                reads parquet alone.
        """
        for name, path in tables.items():
            rows = self.spark.read.parquet(str(path))
            if text:
                columns = dict(rows.dtypes)
                folder = path.with_name(f"{path.name}_csv")
                if not folder.exists():
                    rows.write.options(**_TIMES).csv(str(folder))
                rows = self.spark.read.schema(rows.schema).options(**_TIMES).csv(str(folder))
                if self._flink:
                    self._flink.read(name, folder, columns)
            rows.createOrReplaceTempView(name)
            if self._polars:
                self._frames[name] = self._polars.scan_parquet(str(path / "*.parquet"))
            if self._duckdb:
                read = f"read_parquet('{path}/*.parquet')"
                if text:
                    typed = {column: type_.removesuffix("_ntz") for column, type_ in columns.items()}
                    read = f"read_csv('{folder}/*.csv', header = false, columns = {typed})"
                self._duckdb.execute(f"CREATE OR REPLACE VIEW {name} AS FROM {read}")

    def has(self, engine: str) -> bool:
        """Whether an engine is there."""
        there = {DUCKDB: self._duckdb, POLARS: self._polars, FLINK: self._flink, COMET: self._comet}
        return there.get(engine, self.spark) is not None

    def versions(self) -> dict[str, str]:
        """The version of each engine that is there."""
        found = {"Spark": str(self.spark.version)}
        for engine, module in ((DUCKDB, self._duckdb and sys.modules["duckdb"]), (POLARS, self._polars)):
            if module:
                found[engine] = str(module.__version__)
        if self._comet:
            found["Comet"] = self._comet.stem.rpartition("-")[2]
        return {**found, FLINK: self._flink.version} if self._flink else found

    def seconds(self, engine: str, query: Query, conf: Mapping[str, str]) -> float:
        """How long a query takes. Spark and Flink throw its rows away, DuckDB and Polars keep them in memory."""
        if engine == FLINK and self._flink:
            return self._flink.seconds(str(query))
        start = time.perf_counter()
        if engine == DUCKDB:
            self._duckdb.execute(f"CREATE OR REPLACE TEMP TABLE result AS {query}")
        elif callable(query):
            query(self._frames).collect()
        else:
            self._in_spark(query, conf).write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start

    def rows(self, engine: str, query: Query, conf: Mapping[str, str]) -> pyarrow.Table:
        """The rows of a query. Flink's are texts, as CSV has them."""
        if engine == FLINK and self._flink:
            self._files += 1
            return self._flink.rows(str(query), self.folder / f"flink{self._files}")
        if engine == DUCKDB:
            return self._duckdb.sql(query).to_arrow_table()
        return query(self._frames).collect().to_arrow() if callable(query) else self._in_spark(query, conf).toArrow()

    def _in_spark(self, sql: str, conf: Mapping[str, str]) -> DataFrame:
        for key, value in {**_DEFAULTS, **conf}.items():
            self.spark.conf.set(key, value)
        return self.spark.sql(sql)

    def peak_memory(self, query: Query, conf: Mapping[str, str]) -> int:
        """Bytes of execution memory that the stages of a query in Spark took at most."""
        context = self.spark.sparkContext._jsc.sc()
        store = context.statusStore()
        before = self._stages(store)
        self.seconds("", query, conf)
        context.listenerBus().waitUntilEmpty()  # what tasks took is noted behind their end
        return max((memory for stage, memory in self._stages(store).items() if stage not in before), default=0)

    @staticmethod
    def _stages(store: Any) -> dict[int, int]:
        found = store.stageList(None, False, False, getattr(store, "stageList$default$4")(), None)
        return {found.apply(i).stageId(): found.apply(i).peakExecutionMemory() for i in range(found.size())}
