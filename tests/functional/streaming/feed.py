"""A streaming model without dbt around it, and tables that it reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming.model import Model, StreamConfig
from dbt.adapters.sparkstream.streaming.nodes import planned, streamed
from dbt.adapters.sparkstream.streaming.operations.backfill import Backfill, Range
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.reports.watch import Outcome
from dbt.adapters.sparkstream.streaming.run import Run
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.worker.appends import Append
from tests.lib.support import quick_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TYPES = {"id": "bigint", "ts": "timestamp", "k": "string", "v": "bigint"}
COLUMNS = "id BIGINT, ts TIMESTAMP, k STRING, v BIGINT"
TABLES: dict[str, Mapping[str, str]] = {"bid": TYPES, "ask": TYPES}
EventRow = tuple[int, int, str | None, int | None]
"""id, seconds since the epoch, key, value."""

_numbers = itertools.count()


class Feed:
    """Tables in a schema of their own, and models that stream from them by their names.

    Args:
        tables: table -> column -> Spark type.
        dialect: what the models are written in.
    """

    def __init__(
        self, spark: SparkSession, tables: Mapping[str, Mapping[str, str]] = TABLES, dialect: str = "spark"
    ) -> None:
        self.spark = quick_session(spark)
        self.schema = f"feed_{next(_numbers)}"
        self.tables = tables
        self.dialect = dialect
        self.zone = "UTC"
        self.optimize = True
        self.readers: dict[str, dict[str, Any]] = {}
        self.paths: dict[str, str] = {}
        self.checksums: dict[str, str] = {}
        self.project: Path | None = None
        self.prepare: Callable[[SparkSession], object] = lambda session: None
        self.spark.sql(f"CREATE SCHEMA {self.schema}")
        for table, columns in tables.items():
            listed = ", ".join(f"`{name}` {type_}" for name, type_ in columns.items())
            self.spark.sql(f"CREATE TABLE {self.schema}.{table} ({listed}) USING parquet")

    def drop(self) -> None:
        self.spark.sql(f"DROP SCHEMA {self.schema} CASCADE")

    def add(self, table: str, rows: Sequence[EventRow]) -> None:
        """Adds rows to a table, as one file."""
        if rows:
            values = ", ".join(f"({i}, timestamp_seconds({t}), {literal(k)}, {literal(v)})" for i, t, k, v in rows)
            self.spark.sql(f"INSERT INTO {self.schema}.{table} SELECT /*+ COALESCE(1) */ * FROM VALUES {values}")

    def run(
        self,
        sql: str,
        name: str = "model",
        rebuild: bool = False,
        empty: bool = False,
        warn: Callable[[str], None] = lambda text: None,
        stopping: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> Outcome:
        """Runs a model once.

        Args:
            sql: its query, with the tables in it.
            name: its table.
            rebuild: True if its table is made anew.
            empty: True if it is made only.
            warn: gets its warnings.
            stopping: True if it is to end after its micro-batch.
            options: configs.
        """
        model, engine, plan = self._model(sql, name, warn, options)
        run = Run(model, plan(model.config, self.optimize), engine, warn=warn, stopping=stopping)

        def drop() -> None:
            self.spark.sql(f"DROP TABLE {self.schema}.{name}")

        return run(drop, rebuild=rebuild, empty=empty)

    def backfill(self, sql: str, since: int, until: int, removes: bool = False, **options: Any) -> str:
        """Replaces a range of time in a model's table.

        Args:
            sql: its query, with the tables in it.
            since: the begin of the range, in seconds since the epoch.
            until: its end.
            removes: True if rows go where the sources have none any more.
            options: configs.
        """
        model, engine, plan = self._model(sql, "model", lambda text: None, options)
        batch = plan(replace(model.config, lateness=None, shows_open=False), False)
        clock = ZoneInfo(self.zone)
        edges = [datetime.fromtimestamp(second, clock).replace(tzinfo=None) for second in (since, until)]
        return Backfill(model, plan(model.config, self.optimize), engine, batch=batch)(Range(*edges), removes=removes)

    def _model(
        self, sql: str, name: str, warn: Callable[[str], None], options: Mapping[str, Any]
    ) -> tuple[Model, Engine, Callable[[StreamConfig, bool], StreamPlan]]:
        """A model, a session, and what makes the plan of the model's query, by its configs and whether to optimize."""
        config = StreamConfig(**{"event_time": "ts", "watermark": Interval.parse("10 seconds"), **options})
        sources = {
            table: source_of(
                view=table,
                relation=f"{self.schema}.{table}",
                reader=self.readers.get(table, {}),
                checksum=self.checksums.get(table),
                path=self.paths.get(table),
                project=self.project,
            )
            for table in self.tables
        }
        schema = {table: streamed(sources[table], config, columns) for table, columns in self.tables.items()}
        model = Model(
            unique_id=f"model.test.{name}",
            identifier=name,
            relation=f"{self.schema}.{name}",
            runs=f"{self.schema}.sparkstream_runs",
            sql=sql,
            dialect=self.dialect,
            config=config,
            sources=tuple(sources.values()),
        )
        session = quick_session(self.spark)
        session.conf.set("spark.sql.session.timeZone", self.zone)
        self.prepare(session)
        engine = Engine(session)

        def plan(config: StreamConfig, optimize: bool) -> StreamPlan:
            return planned(
                sql,
                self.dialect,
                sources,
                schema,
                config,
                utc=engine.is_utc(),
                optimize=optimize,
                warn=lambda warning: warn(str(warning)),
            )

        return model, engine, plan

    def run_killed(self, monkeypatch: pytest.MonkeyPatch, when: str, sql: str, **options: Any) -> None:
        """Runs a model that is killed in its first micro-batch.

        Args:
            monkeypatch: has the sink fail.
            when: `before` the rows are in the table, or `after`.
            sql: its query.
            options: configs.
        """
        write = Append.__call__

        def dies(own: Append, rows: DataFrame, batch: int) -> None:
            if when == "after":
                write(own, rows, batch)
            raise RuntimeError("killed")

        with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
            patched.setattr(Append, "__call__", dies)
            self.run(sql, **options)

    def state(self, name: str = "model", what: str = "state_rows") -> int:
        """The state that a model's last micro-batch has left."""
        runs = self.spark.table(f"{self.schema}.sparkstream_runs").where(f"relation = '{self.schema}.{name}'")
        [last] = runs.orderBy("batch", ascending=False).select(what).head(1)
        return int(last[0])

    def folder(self, name: str) -> str:
        """A folder that goes with the tables."""
        database = self.spark.catalog.getDatabase(self.schema)
        return f"{database.locationUri}/{name}"

    def table(self, name: str = "model") -> list[tuple[Any, ...]]:
        """The rows of a model's table, without the number of the micro-batch, sorted."""
        self.spark.sql(f"REFRESH TABLE {self.schema}.{name}")  # as dbt does it after each run
        rows = self.spark.read.table(f"{self.schema}.{name}").drop("micro_batch").collect()
        return ordered(rows)

    def batch(self, sql: str, where: str = "TRUE") -> list[tuple[Any, ...]]:
        """The rows that the same query gives in batch, sorted."""
        self.spark.sql(f"USE {self.schema}")
        self.spark.conf.set("spark.sql.session.timeZone", self.zone)
        rows = translate(sql, self.dialect, schema={name: dict(columns) for name, columns in self.tables.items()})
        return ordered(self.spark.sql(f"SELECT * FROM ({rows}) WHERE {where}").collect())


def literal(value: str | int | None) -> str:
    return "NULL" if value is None else repr(value)


def ordered(rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows), key=lambda row: [(value is not None, str(value)) for value in row])
