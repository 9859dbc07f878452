"""Late rows that correct closed windows: the table is what batch gives for all rows that came in time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming import ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.tables import plain_files
from dbt.adapters.sparkstream.streaming.worker import corrections, sink
from dbt.adapters.sparkstream.streaming.worker.appends import FileAppend
from tests.functional.streaming.feed import TABLES, EventRow, Feed
from tests.functional.streaming.test_constructs import BOUNDS, LAG, SEED, told
from tests.functional.streaming.test_open import SHOWN, view
from tests.lib.support import seldom

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TUMBLE = f"SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k"
FEW = f"SELECT {BOUNDS}, count(*) AS n FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS} HAVING count(*) < 3"
LATENESS = 60
UPDATE: dict[str, Any] = {"keep_late": True, "lateness": Interval.parse("60 seconds")}


def closed(watermark: int) -> str:
    return f"window_end <= timestamp_seconds({watermark})"


def check(feed: Feed, name: str, sql: str, latest: int) -> None:
    """Compares a model's table with batch, after a run in which no row was later than the limit."""
    assert feed.table(name) == feed.batch(sql, closed(latest - LAG)), name


@pytest.mark.long
def test_a_late_row_corrects_its_window(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1006, "b", 2), (3, 1045, "a", 1)])
    feed.run(TUMBLE, **UPDATE)
    check(feed, "model", TUMBLE, 1045)
    # Late, and for a window that nothing has been in; in time; and for the window that is open.
    feed.add("bid", [(4, 1007, "a", 10), (5, 1001, "c", 3), (6, 989, "a", 5), (7, 1050, "a", 1)])
    message = feed.run(TUMBLE, **UPDATE).message
    assert "late" not in message and "watermark 1970-01-01 00:17:20" in message, message
    check(feed, "model", TUMBLE, 1050)
    before = feed.table()
    assert "nothing new" in feed.run(TUMBLE, **UPDATE).message
    # The window that a late row made is corrected in turn.
    feed.add("bid", [(8, 988, "b", 1)])
    feed.run(TUMBLE, **UPDATE)
    assert feed.table() != before
    check(feed, "model", TUMBLE, 1050)
    # Later than the limit: it is kept aside.
    feed.add("bid", [(9, 1200, "a", 1)])
    feed.run(TUMBLE, **UPDATE)
    before = feed.table()
    feed.add("bid", [(10, 1009, "a", 1000)])
    assert "1 late row" in feed.run(TUMBLE, **UPDATE).message
    assert feed.table() == before
    [late] = feed.table("model__late")
    assert late[0] == 10


def test_windows_close_as_early_where_runs_may_flush(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1045, "a", 1)])
    feed.run(TUMBLE, **UPDATE, flush=False)
    assert feed.table()
    check(feed, "model", TUMBLE, 1045)


@pytest.mark.full
def test_rows_may_leave_a_corrected_window(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1045, "b", 2)])
    feed.run(FEW, **UPDATE)
    assert len(feed.table()) == 1
    feed.add("bid", [(3, 1006, "a", 1), (4, 1007, "a", 1)])
    feed.run(FEW, **UPDATE)
    assert feed.table() == []
    feed.add("bid", [(5, 1065, "b", 2)])
    feed.run(FEW, **UPDATE)
    check(feed, "model", FEW, 1065)


@pytest.mark.long
@pytest.mark.parametrize("when", [*seldom(["before", "after"]), "between"])
def test_an_interrupted_correction_comes_again(feed: Feed, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a partition is written anew, between that and the rows of new windows, or before all of it is recorded."""
    options = {**UPDATE, "shows_open": True}
    feed.add("bid", [(1, 1005, "a", 1), (2, 1045, "a", 1), (3, 1046, "b", 1)])
    feed.run(TUMBLE, **options)
    before = feed.table()
    feed.add("bid", [(4, 1006, "a", 7), (5, 985, "b", 1), (6, 1070, "b", 2)])
    target, method = {
        "before": (corrections.Corrections, "rewrite"),
        "between": (FileAppend, "_append"),
        "after": (sink.Done, "record"),
    }[when]
    own = getattr(target, method)

    def last(self: Any, *arguments: Any) -> Any:
        if 2 in arguments[1:]:
            raise RuntimeError("killed")
        return own(self, *arguments)

    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(target, method, last)
        feed.run(TUMBLE, **options)
    now = [row[:3] for row in view(feed, "model", "__now")]
    assert len(set(now)) == len(now), "no window is there twice"
    if when == "before":
        assert feed.table() == before
    feed.run(TUMBLE, **options)
    check(feed, "model", TUMBLE, 1070)
    assert [row[:-1] for row in view(feed, "model", "__now")] == feed.batch(TUMBLE)
    [[number]] = feed.spark.table(f"{feed.schema}.model").where("s = 8").select("micro_batch").collect()
    assert number < 2, "a corrected window stays in its partition"


@pytest.mark.full
def test_files_from_before_corrections_go(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    def files() -> set[str]:
        place = feed.folder("model").removeprefix("file:")
        return {str(path.relative_to(place).parent) for path in Path(place).rglob("part-*")}

    feed.add("bid", [(1, 1005, "a", 1), (2, 1045, "b", 2)])
    feed.run(TUMBLE, **UPDATE)
    for number in (3, 4):
        feed.add("bid", [(number, 1006, "a", 1)])
        feed.run(TUMBLE, **UPDATE)
    assert len(files()) == 3
    for module in (ledger, plain_files):
        monkeypatch.setattr(module, "GRACE", -1)
    feed.add("bid", [(5, 1065, "b", 2)])
    feed.run(TUMBLE, **UPDATE)
    assert len([name for name in files() if name.endswith("micro_batch=1")]) == 1
    check(feed, "model", TUMBLE, 1065)
    with pytest.raises(StreamingError, match="late rows correct windows of"):
        reading(feed)
    feed.spark.sql(f"ALTER TABLE {feed.schema}.model DROP PARTITION (micro_batch = 1)")
    with pytest.raises(StreamingError, match="something else has written"):
        feed.run(TUMBLE, **UPDATE)


def reading(feed: Feed) -> None:
    """Runs a model that streams from the model's table."""
    feed.tables = {"model": {"window_start": "timestamp", "window_end": "timestamp", "k": "string", "s": "bigint"}}
    try:
        feed.run("SELECT window_end AS e, k FROM model", "reader", event_time="window_end")
    finally:
        feed.tables = TABLES


@st.composite
def chunks(draw: st.DrawFn) -> list[list[EventRow]]:
    """Rows of several runs with ties, gaps, disorder and NULLs, none of them later than the limit."""
    latest, number = 1000, 0
    found = []
    for _ in range(draw(st.integers(2, 5))):
        times = draw(st.lists(st.integers(latest - LATENESS - LAG, latest + 45), min_size=1, max_size=9))
        latest = max([latest, *times])
        values = st.one_of(st.none(), st.integers(0, 5))
        keys = st.sampled_from(("a", "b", "c", None))
        found.append([(number + i, time, draw(keys), draw(values)) for i, time in enumerate(times)])
        number += len(times)
    return found


def corrected(embedded: SparkSession, runs: list[list[EventRow]], names: tuple[str, ...], zone: str) -> None:
    feed = Feed(embedded)
    feed.zone = zone
    try:
        latest = 0
        for rows in runs:
            feed.add("bid", rows)
            latest = max([latest, *(time for _, time, _, _ in rows)])
            # A row that every filter passes: Spark filters before it looks at times.
            for table in ("bid", "ask"):
                feed.add(table, [(8, latest, "a", 4), (9, latest, "b", 5)])
            for name in names:
                feed.run(SHOWN[name], name, **UPDATE)
                check(feed, name, SHOWN[name], latest)
    finally:
        feed.drop()


@pytest.mark.full
@pytest.mark.parametrize(
    ("zone", "names"),
    [
        (
            "UTC",
            ("counts_of_slices", "hop_of_slices", "extremes_of_slices", "cumulate_of_slices", "sketches_of_slices"),
        ),
        ("America/New_York", ("hop",)),
    ],
)
def test_corrected_windows_are_those_of_batch(embedded: SparkSession, zone: str, names: tuple[str, ...]) -> None:
    runs: list[list[EventRow]] = [
        [(1, 1000, "a", 1), (2, 1051, None, 2), (3, 1052, "b", None)],
        [(4, 1024, "a", 3), (5, 1001, "a", 4), (6, 995, None, 5)],
        [(7, 1110, "c", 1), (10, 1050, "c", 5)],
    ]
    corrected(embedded, runs, names, zone)


@pytest.mark.full
@seed(SEED or random.randrange(1, 1_000_000))
@settings(told, max_examples=2, phases=(Phase.generate,))
@given(runs=chunks(), zone=st.sampled_from(("UTC", "America/New_York")))
def test_corrected_windows_are_those_of_batch_for_every_construct(
    embedded: SparkSession, runs: list[list[EventRow]], zone: str
) -> None:
    corrected(embedded, runs, tuple(SHOWN), zone)
