"""Views of the windows that are open after a micro-batch. Runs in the process of the sink.

`<model>__open` has these windows, and `<model>__now` the closed ones, too. Both are views of one snapshot: the open
windows after a micro-batch lie in a partition of their own in `<model>__open_rows`, and of the model's table `__now`
reads the micro-batches up to this one. So no window is in it twice, also while a micro-batch is being written, and
after a kill. A view changes in one step (ALTER VIEW; CREATE OR REPLACE VIEW drops it before).
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

OPEN, NOW, ROWS = "__open", "__now", "__open_rows"
"""Suffixes of the views, and of the table with the rows of open windows."""

IS_OPEN = "is_open"
"""Column of `<model>__now` that is true for rows of open windows."""

SNAPSHOT = "__snapshot"
"""The partition of the open windows after a micro-batch: its number, the time in seconds, and the attempt."""

STAYS = 600
"""Seconds that an earlier snapshot stays for queries that still read it."""


@dataclass
class OpenViews:
    """The views of a model's open windows, with names as SQL has them.

    Attributes:
        columns: the columns of the model's table, without the number of the micro-batch.
        number: the column of the model's table that has that number.
        windows: SQL for the open windows, for the view `closed`; over views that the kept state has made.
        query: SQL for rows as the model's table has them.
    """

    table: str
    open: str
    now: str
    rows: str
    columns: list[str]
    number: str
    closed: str
    windows: str
    query: str

    def show(self, spark: SparkSession, batch: int) -> None:
        """Has the views show the windows that are open after a micro-batch, whose closed ones are in the table."""
        spark.sql(self.windows).createOrReplaceTempView(self.closed)
        snapshot = f"{batch}_{int(time.time())}_{uuid.uuid4().hex[:12]}"
        rows = spark.sql(self.query).selectExpr(*self.columns, f"'{snapshot}' AS {SNAPSHOT}")
        rows.createOrReplaceTempView("__open_rows_to_write")
        spark.sql(f"INSERT INTO {self.rows} SELECT * FROM __open_rows_to_write")
        self.define(spark.sql, batch, snapshot)
        self._forget(spark, batch)

    def define(self, run: Callable[[str], object], batch: int = -1, snapshot: str = "") -> None:
        """Makes the views of a snapshot; without a snapshot, makes missing views, with no rows."""
        names = ", ".join(self.columns)
        rows = f"FROM {self.rows} WHERE {SNAPSHOT} = '{snapshot}'"
        closed = f"SELECT {names}, FALSE AS {IS_OPEN} FROM {self.table} WHERE {self.number} <= {batch}"
        views = {
            self.open: f"SELECT {names} {rows}",
            self.now: f"{closed} UNION ALL SELECT {names}, TRUE AS {IS_OPEN} {rows}",
        }
        for view, query in views.items():
            run(f"CREATE VIEW IF NOT EXISTS {view} AS {query}")
            if snapshot:
                run(f"ALTER VIEW {view} AS {query}")

    def _forget(self, spark: SparkSession, batch: int) -> None:
        """Drops snapshots older than `STAYS`, but for the last two micro-batches'."""
        now, old = time.time(), []
        for (partition,) in spark.sql(f"SHOW PARTITIONS {self.rows}").collect():
            snapshot = partition.partition("=")[2]
            number, written, _ = snapshot.split("_")
            if int(number) < batch - 1 and int(written) < now - STAYS:
                old.append(f"PARTITION ({SNAPSHOT} = '{snapshot}')")
        if old:
            spark.sql(f"ALTER TABLE {self.rows} DROP IF EXISTS {', '.join(old)}")
