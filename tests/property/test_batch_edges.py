"""Batches of an hour where a clock goes back: together they have the windows of one query over all rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.macros import Macros

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONE = "America/New_York"
FIRST, LAST = datetime(2024, 11, 2, 22), datetime(2024, 11, 3, 5)
ROWS = "explode(sequence(1730595660, 1730624400, 900))"
WINDOWS: dict[str, tuple[Any, ...]] = {"hop": ("30 minutes", "1 hour"), "cumulate": ("20 minutes", "2 hours")}
BOUNDS = "unix_seconds(window_start), unix_seconds(window_end)"


class Relation:
    """A ref of a microbatch model, in a batch."""

    identifier = "rows"

    def __init__(self, start: datetime) -> None:
        self.event_time_filter = SimpleNamespace(field_name="ts", start=start, end=start + timedelta(hours=1))

    def render(self) -> str:
        return "rows"


def lengths(found: Macros, kind: str) -> dict[str, Any]:
    one, size = WINDOWS[kind]
    slide, step = (one, None) if kind == "hop" else (None, one)
    result: dict[str, Any] = found.call("default__sparkstream_lengths", kind, size, slide, step, None, None)
    return result


@pytest.mark.long
@pytest.mark.parametrize("time", ["window_start", "window_end"])
@pytest.mark.parametrize("kind", WINDOWS)
def test_batches_are_one_query(embedded: SparkSession, kind: str, time: str) -> None:
    found = Macros("spark", modules=SimpleNamespace(datetime=__import__("datetime")))
    embedded.conf.set("spark.sql.session.timeZone", ZONE)
    try:
        embedded.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW rows AS SELECT timestamp_seconds(s) AS ts FROM (SELECT {ROWS} AS s)"
        )

        def windows(rows: str, where: str) -> set[tuple[int, ...]]:
            window = found.call(kind, rows, "ts", *WINDOWS[kind])
            query = f"SELECT {BOUNDS}, count(*) FROM {window} WHERE {where} GROUP BY window_start, window_end"
            return {tuple(row) for row in embedded.sql(query).collect()}

        batches: set[tuple[int, ...]] = set()
        at = FIRST
        while at < LAST:
            increment = found.call("default__sparkstream_batch", kind, Relation(at), "ts", lengths(found, kind), time)
            batches |= windows(increment["relation"], increment["windows"])
            at += timedelta(hours=1)
        edges = f"{time} >= TIMESTAMP_NTZ'{FIRST}' AND {time} < TIMESTAMP_NTZ'{LAST}'"
        assert batches == windows("rows", edges)
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")
