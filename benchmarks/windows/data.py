"""Rows to measure with: events of a number of keys, spread evenly over a span of time."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.nexmark import generator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = 1_600_000_000
"""The first row's time, in seconds since 1970."""
_TYPES = {"int": "bigint", "str": "string", "datetime": "timestamp_ntz"}
AUCTIONS = {
    table: {field.name: _TYPES[str(field.type)] for field in fields(generator.TABLES[table])}
    for table in ("bid", "person", "auction")
}
"""NEXMark's tables -> column -> Spark's type."""


@dataclass(frozen=True)
class Data:
    """A table of events.

    Attributes:
        rows: how many.
        keys: how many keys they have.
        minutes: how long they take, from the first to the last.
        skew: the part of the rows that the first key has, beside its even share.
        type: the type of their times.
    """

    rows: int = 2_000_000
    keys: int = 100
    minutes: int = 1440
    skew: float = 0.0
    type: str = "timestamp"

    @property
    def name(self) -> str:
        """What its folder is called."""
        name = f"rows{self.rows}_keys{self.keys}_minutes{self.minutes}_skew{self.skew:g}".replace(".", "_")
        return f"{name}_{self.table}"

    @property
    def table(self) -> str:
        """The name of the table."""
        return "events_ntz" if self.type == "timestamp_ntz" else "events"

    @property
    def per_slice(self) -> float:
        """Rows that a key has in a minute."""
        return self.rows / self.keys / self.minutes

    def with_rows(self, per_slice: float) -> Data:
        """The same rows in a longer or shorter time, of which a key has so many in a minute; an hour at least."""
        return replace(self, minutes=max(60, int(self.rows / self.keys / per_slice)))

    def tables(self, spark: SparkSession, folder: Path) -> dict[str, Path]:
        """Where the table lies as parquet; written on first use. The same numbers give the same rows."""
        path = folder / self.name
        if not (path / "_SUCCESS").exists():
            even = f"CAST(pmod(hash(id), {self.keys}) AS INT)"
            key = f"IF(pmod(hash(id, 3), 1000) < {self.skew * 1000:g}, 0, {even})" if self.skew else even
            # Whole milliseconds, as Flink's sessions begin and end with them.
            time = f"timestamp_millis({START}000L + CAST(id * ({self.minutes} * 60e3 / {self.rows}) AS BIGINT))"
            spark.sql(f"""
                SELECT
                  CAST({time} AS {self.type}) AS ts,
                  {key} AS k,
                  CAST(pmod(hash(id, 7), 1000) AS INT) AS v,
                  pmod(hash(id, 9), 100000) / 100 AS price
                FROM range(0, {self.rows}, 1, 2)
            """).write.mode("overwrite").parquet(str(path))
        return {self.table: path}


@dataclass(frozen=True)
class Auctions:
    """NEXMark's people, auctions and bids.

    Attributes:
        rows: how many events.
        rate: events a second.
    """

    rows: int = 1_000_000
    rate: float = 50.0
    keys: int = 0

    @property
    def name(self) -> str:
        """What its folder is called."""
        return f"nexmark{self.rows}"

    def tables(self, spark: SparkSession, folder: Path) -> dict[str, Path]:
        """Where the tables lie as parquet; written on first use."""
        path = folder / self.name
        if not path.exists():
            generator.write(path / "csv", self.rows, self.rate)
            for table, typed in AUCTIONS.items():
                names = [f"CAST({name} AS {type_}) AS {name}" for name, type_ in typed.items()]
                raw = spark.read.csv(str(path / "csv" / f"{table}.csv"), header=True)
                raw.selectExpr(*names).repartition(2).sortWithinPartitions("dateTime").write.parquet(str(path / table))
        return {table: path / table for table in AUCTIONS}
