"""`window_replace` where a clock is turned: after each run the table has the windows of one query over all rows."""

from __future__ import annotations

import random
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.lib.macros import Macros
from tests.lib.support import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTE = 60
# zone and an instant at which its clock is turned: back and forward by an hour, and by half an hour
TURNS = {
    "back": ("America/New_York", 1730613600),
    "forward": ("America/New_York", 1710054000),
    "half_back": ("Australia/Lord_Howe", 1712415600),
    "half_forward": ("Australia/Lord_Howe", 1728142200),
    "none": ("UTC", 1730613600),
}
WINDOWS: dict[str, tuple[Any, ...]] = {
    "tumble": ("15 minutes",),
    "hop": ("15 minutes", "1 hour"),
    "cumulate": ("10 minutes", "2 hours"),
    "session": ("25 minutes",),
}
# A number of seconds as a time, and back; a TIMESTAMP_NTZ may be a time that no clock shows.
TIMES = {
    "TIMESTAMP": ("timestamp_seconds({})", "unix_seconds({})"),
    "TIMESTAMP_NTZ": (
        "TIMESTAMP_NTZ'1970-01-01' + INTERVAL '1' SECOND * {}",
        "({} - TIMESTAMP_NTZ'1970-01-01') DIV INTERVAL '1' SECOND",
    ),
}


class Run(Macros):
    """A run of a model on Spark: the macros ask it for the table that there is."""

    def __init__(self, spark: SparkSession, lateness: int, type_: str) -> None:
        self._spark = spark
        self._time, self._seconds = TIMES[type_]
        config = {"lateness": f"{lateness} minutes", "materialized": "view"}
        super().__init__(
            "spark",
            config=SimpleNamespace(get=lambda name, default=None: config.get(name, default)),
            run_query=lambda sql: SimpleNamespace(rows=[tuple(row) for row in spark.sql(sql).collect()]),
        )
        adapter: Any = self._environment.globals["adapter"]
        adapter.get_columns_in_relation = lambda _: [SimpleNamespace(name=n) for n in ("window_start", "window_end")]

    def windows(self, kind: str, rows: str) -> str:
        window = self.call(kind, rows, "ts", *WINDOWS[kind])
        return f"SELECT window_start, window_end, count(*) AS n FROM {window} GROUP BY window_start, window_end"

    def table(self, windows: str) -> list[tuple[int, int, int]]:
        bounds = ", ".join(self._seconds.format(name) for name in ("window_start", "window_end"))
        return sorted(tuple(row) for row in self._spark.sql(f"SELECT {bounds}, n FROM ({windows})").collect())

    def replaced(self, kind: str, table: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """The table after a run that finds the rows of the view `rows`."""
        values = ", ".join(map(str, table)) or "(0, 0, 0)"
        self._spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW old AS SELECT {self._time.format('a')} AS window_start, "
            f"{self._time.format('b')} AS window_end, n FROM VALUES {values} AS t (a, b, n) WHERE n > 0"
        )
        lengths = self.call("default__sparkstream_lengths", kind, *self._lengths(kind))
        found = self.call("default__sparkstream_open_windows", "old", lengths)
        if found["since"] is None:
            return self.table(self.windows(kind, "rows"))
        rows = f"(SELECT * FROM rows WHERE ts >= {found['rows_from']})"
        fresh = f"SELECT * FROM ({self.windows(kind, rows)}) WHERE window_end >= {found['since']}"
        return self.table(f"{fresh} UNION ALL SELECT * FROM old WHERE coalesce(window_end < {found['since']}, TRUE)")

    @staticmethod
    def _lengths(kind: str) -> list[Any]:
        one, *more = WINDOWS[kind]
        gap, size, step = (one, None, None) if kind == "session" else (None, more[0] if more else one, one)
        return [size, step if kind == "hop" else None, step if kind == "cumulate" else None, None, gap]


@pytest.mark.long
@pytest.mark.parametrize("type_", ["TIMESTAMP", pytest.param("TIMESTAMP_NTZ", marks=pytest.mark.full)])
@pytest.mark.parametrize(("kind", "turn", "lateness"), sampled(product(WINDOWS, TURNS, [0, 35, 200]), share=7))
def test_as_one_query_over_all_rows(embedded: SparkSession, kind: str, turn: str, lateness: int, type_: str) -> None:
    zone, instant = TURNS[turn]
    chance = random.Random(f"{kind} {turn} {lateness}")
    embedded.conf.set("spark.sql.session.timeZone", zone)
    try:
        run, newest = Run(embedded, lateness, type_), instant - 2 * 3600
        table: list[tuple[int, int, int]] = []
        seen: list[int] = []
        for _ in range(5):
            for _ in range(3):
                at = newest + chance.randint(-lateness * MINUTE, 50 * MINUTE)
                seen.append(at)
                newest = max(newest, at)
            values = ", ".join(f"({at})" for at in seen)
            rows = f"SELECT {TIMES[type_][0].format('s')} AS ts FROM VALUES {values} AS t (s)"
            embedded.sql(f"CREATE OR REPLACE TEMPORARY VIEW rows AS {rows}")
            table = run.replaced(kind, table)
            assert table == run.table(run.windows(kind, "rows")), seen
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")
