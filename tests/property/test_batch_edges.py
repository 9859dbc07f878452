"""Batches of an hour where a clock is turned: together they have the windows of one query over all rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from tests.lib.macros import Macros
from tests.lib.support import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The zone and the first hour on its clock; it is turned in the hours from then on.
TURNS = {
    "back in New York": ("America/New_York", datetime(2024, 11, 2, 22)),
    "forward in New York": ("America/New_York", datetime(2025, 3, 8, 22)),
    "forward in Berlin": ("Europe/Berlin", datetime(2025, 3, 29, 23)),
    "forward by half an hour": ("Australia/Lord_Howe", datetime(2025, 10, 4, 22)),
    "forward at midnight": ("America/Havana", datetime(2025, 3, 8, 21)),
}
HOURS = 7
# A row every quarter of an hour, a minute after it; more rows than the batches have on both sides.
ROWS = (
    "SELECT timestamp_seconds(s) AS ts FROM (SELECT explode(sequence(start - 21540, start + 46800, 900)) AS s"
    " FROM (SELECT unix_seconds(CAST(TIMESTAMP_NTZ'{first}' AS TIMESTAMP)) AS start))"
)
WINDOWS: dict[str, tuple[Any, ...]] = {
    "tumble": ("30 minutes", None, "10 minutes"),
    "hop": ("30 minutes", "1 hour", None),
    "cumulate": ("20 minutes", "2 hours", None),
}
NO_LENGTHS = dict.fromkeys(("size", "slide", "step", "offset", "gap"))
BOUNDS = "unix_seconds(window_start), unix_seconds(window_end)"


class Relation:
    """A ref of a microbatch model, in a batch."""

    identifier = "rows"

    def __init__(self, start: datetime) -> None:
        self.event_time_filter = SimpleNamespace(field_name="ts", start=start, end=start + timedelta(hours=1))

    def render(self) -> str:
        return "rows"


def arguments(kind: str) -> dict[str, Any]:
    one, other, offset = WINDOWS[kind]
    names = {"tumble": ("size", ""), "hop": ("slide", "size"), "cumulate": ("step", "size")}[kind]
    return {name: value for name, value in zip((*names, "offset"), (one, other, offset), strict=True) if value}


@pytest.mark.long
@pytest.mark.parametrize(("turn", "kind", "time"), sampled(product(TURNS, WINDOWS, WINDOW_COLUMNS), share=7))
def test_batches_are_one_query(embedded: SparkSession, turn: str, kind: str, time: str) -> None:
    zone, first = TURNS[turn]
    last = first + timedelta(hours=HOURS)
    found = Macros("spark", modules=SimpleNamespace(datetime=__import__("datetime")))
    given = arguments(kind)
    lengths = found.call("default__sparkstream_lengths", kind, **NO_LENGTHS | given)
    embedded.conf.set("spark.sql.session.timeZone", zone)
    try:
        embedded.sql(f"CREATE OR REPLACE TEMPORARY VIEW rows AS {ROWS.format(first=first)}")

        def windows(rows: str, where: str) -> list[tuple[int, ...]]:
            window = found.call(kind, rows, "ts", **given)
            query = f"SELECT {BOUNDS}, count(*) FROM {window} WHERE {where} GROUP BY window_start, window_end"
            return [tuple(row) for row in embedded.sql(query).collect()]

        batches: list[tuple[int, ...]] = []
        at = first
        while at < last:
            increment = found.call("default__sparkstream_batch", kind, Relation(at), "ts", lengths, time)
            batches += windows(increment["relation"], increment["windows"])
            at += timedelta(hours=1)
        edges = f"{time} >= TIMESTAMP_NTZ'{first}' AND {time} < TIMESTAMP_NTZ'{last}'"
        assert sorted(batches) == sorted(windows("rows", edges))
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")
