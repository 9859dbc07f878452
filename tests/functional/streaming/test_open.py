"""Windows that are seen while they are open: what they hold is what batch gives for the rows so far."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker import open_views
from dbt.adapters.sparkstream.streaming.worker.appends import FolderAppend
from tests.functional.adapter.project import Project
from tests.functional.streaming.feed import EventRow, Feed, ordered
from tests.functional.streaming.test_constructs import BOUNDS, CONSTRUCTS, LAG, SEED, told
from tests.functional.streaming.test_dbt import SOURCES, bids
from tests.lib.support import seldom

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TUMBLE = f"SELECT {BOUNDS}, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') GROUP BY {BOUNDS}, k"
OPEN: dict[str, Any] = {"shows_open": True}

SHOWN = {
    name: CONSTRUCTS[name]
    for name in (
        *("tumble", "filtered", "offset", "hop", "uneven_hop", "cumulate", "hop_of_slices", "extremes_of_slices"),
        *(
            "cumulate_of_slices",
            "sketches_of_slices",
            "named_slices",
            "grouping_sets",
            "rollup",
            "having",
            "two_levels",
            "union",
        ),
        *("top_n", "share_of_window"),
    )
} | {
    "any_aggregate": f"SELECT {BOUNDS}, upper(k) AS u, sort_array(collect_list(id)) AS ids, max_by(v, id) AS latest, "
    "approx_count_distinct(v) AS n, stddev(v) AS d, max(named_struct('v', v, 'id', id)) AS top FROM "
    f"hop((SELECT * FROM bid WHERE v > 0), ts, '10 seconds', '30 seconds') h GROUP BY {BOUNDS}, k",
    "counts_of_slices": f"SELECT {BOUNDS}, k, sum(v) AS s, count(*) AS n FROM "
    f"hop(bid, ts, '1 second', '30 seconds') GROUP BY {BOUNDS}, k",
}
"""Everything that can be seen before it is final."""
FIRST = ("extremes_of_slices", "cumulate_of_slices", "having", "any_aggregate")


def view(feed: Feed, name: str, suffix: str) -> list[tuple[Any, ...]]:
    """The rows of a view of a model, sorted."""
    return ordered(feed.spark.table(f"{feed.schema}.{name}{suffix}").collect())


def check(feed: Feed, name: str, sql: str, watermark: int, late: frozenset[int] = frozenset()) -> None:
    """Compares a model's table and views with batch, after a run."""
    assert view(feed, name, "__open") == feed.batch(sql, f"window_end > timestamp_seconds({watermark})"), name
    closed = [(*row, False) for row in feed.table(name)]
    both = [*closed, *((*row, True) for row in view(feed, name, "__open"))]
    assert view(feed, name, "__now") == ordered(both), name
    if not late:
        assert feed.table(name) == feed.batch(sql, f"window_end <= timestamp_seconds({watermark})"), name


@st.composite
def chunks(draw: st.DrawFn) -> list[list[EventRow]]:
    """Rows of several runs with ties, gaps, disorder and NULLs; some of them are late."""
    latest, number = 1000, 0
    found = []
    for _ in range(draw(st.integers(2, 4))):
        times = draw(st.lists(st.integers(latest - 60, latest + 45), min_size=1, max_size=9))
        latest = max([latest, *times])
        values = st.one_of(st.none(), st.integers(0, 5))
        keys = st.sampled_from(("a", "b", "c", None))
        found.append([(number + i, time, draw(keys), draw(values)) for i, time in enumerate(times)])
        number += len(times)
    return found


def show(embedded: SparkSession, runs: list[list[EventRow]], names: tuple[str, ...], zone: str) -> None:
    feed = Feed(embedded)
    feed.zone = zone
    try:
        latest, late = None, False
        for rows in runs:
            feed.add("bid", rows)
            times = [time for _, time, _, _ in rows]
            late = late or (latest is not None and min(times) < latest - LAG)
            latest = max([latest or 0, *times])
            # A row that every filter passes: Spark filters before it looks at times.
            for table in ("bid", "ask"):
                feed.add(table, [(8, latest, "a", 4), (9, latest, "b", 5)])
            for name in names:
                feed.run(SHOWN[name], name, **OPEN)
                check(feed, name, SHOWN[name], latest - LAG, frozenset([1]) if late else frozenset())
    finally:
        feed.drop()


@pytest.mark.full
@pytest.mark.parametrize(("zone", "names"), [("America/New_York", ("tumble", "hop_of_slices")), ("UTC", FIRST)])
def test_open_windows_are_those_of_batch(embedded: SparkSession, zone: str, names: tuple[str, ...]) -> None:
    runs: list[list[EventRow]] = [
        [(1, 1000, "a", 1), (2, 1031, None, 2), (3, 1032, "b", None)],
        [(4, 1024, "a", 3), (5, 1001, "a", 4), (6, 1035, None, 5)],
        [(7, 1120, "c", 1), (10, 1111, "c", 1)],
    ]
    show(embedded, runs, names, zone)


@pytest.mark.full
@seed(SEED or random.randrange(1, 1_000_000))
@settings(told, max_examples=2, phases=(Phase.generate,))
@given(runs=chunks(), zone=st.sampled_from(("UTC", "America/New_York")))
def test_open_windows_are_those_of_batch_for_every_construct(
    embedded: SparkSession, runs: list[list[EventRow]], zone: str
) -> None:
    show(embedded, runs, tuple(SHOWN), zone)


def test_a_window_is_seen_from_its_first_row_until_it_closes(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    assert "+0 rows" in feed.run(TUMBLE, **OPEN).message
    check(feed, "model", TUMBLE, 995)
    assert len(view(feed, "model", "__open")) == 1
    feed.add("bid", [(2, 1006, "a", 2), (3, 1007, "b", 2), (4, 1031, "a", 1)])
    assert "+2 rows" in feed.run(TUMBLE, **OPEN).message
    check(feed, "model", TUMBLE, 1021)
    assert [row[-1] for row in view(feed, "model", "__now")] == [False, False, True]
    before = view(feed, "model", "__now")
    assert "nothing new" in feed.run(TUMBLE, **OPEN).message
    assert view(feed, "model", "__now") == before
    # One more row for the open window, and a late one.
    feed.add("bid", [(5, 1032, "a", 1), (6, 1001, "a", 7)])
    assert "1 late row" in feed.run(TUMBLE, **OPEN).message
    check(feed, "model", TUMBLE, 1022, frozenset([6]))


@pytest.mark.full
def test_a_rebuild_and_a_flush(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1031, "a", 2)])
    feed.run(TUMBLE, flush=False, **OPEN)
    assert len(view(feed, "model", "__open")) == 1
    feed.run(TUMBLE, flush=True, **OPEN)
    assert view(feed, "model", "__open") == []
    assert [row[-1] for row in view(feed, "model", "__now")] == [False, False]
    with pytest.raises(StreamingError, match="have changed"):
        feed.run(TUMBLE, flush=False)
    feed.run(TUMBLE, rebuild=True, flush=False)
    left = [row[1] for row in feed.spark.sql(f"SHOW TABLES IN {feed.schema}").collect()]
    assert not [name for name in left if "__open" in name or "__now" in name]
    feed.run(TUMBLE, rebuild=True, flush=False, **OPEN)
    check(feed, "model", TUMBLE, 1021)


@pytest.mark.long
@pytest.mark.parametrize("when", [*seldom(["before", "after"]), "between"])
def test_views_are_right_after_a_kill(feed: Feed, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the rows are in the table, between these and the views, or after the views."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1025, "a", 1)])
    feed.run(TUMBLE, **OPEN)
    before = view(feed, "model", "__now")
    feed.add("bid", [(3, 1026, "a", 1), (4, 1061, "b", 2)])

    target: Any
    target, method = {
        "before": (FolderAppend, "_write"),
        "between": (open_views.OpenViews, "show"),
        "after": (open_views.OpenViews, "show"),
    }[when]
    own = getattr(target, method)

    def last(self: Any, first: Any, batch: int, *more: Any) -> None:
        if batch != 3 or when == "after":
            own(self, first, batch, *more)
        if batch == 3:  # it closes windows
            raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(target, method, last)
        feed.run(TUMBLE, **OPEN)
    closed_and_open = view(feed, "model", "__now")
    assert closed_and_open != before, "the micro-batch before has shown its windows"
    assert len({row[:3] for row in closed_and_open}) == len(closed_and_open), "no window is there twice"
    expected = feed.batch(TUMBLE)
    assert [row[:-1] for row in closed_and_open] == expected, "nor is one missing"
    feed.run(TUMBLE, **OPEN)
    check(feed, "model", TUMBLE, 1051)


@pytest.mark.full
def test_a_snapshot_stays_while_it_may_be_read(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    def snapshots() -> int:
        return feed.spark.sql(f"SHOW PARTITIONS {feed.schema}.model__open_rows").count()

    for number in range(3):
        feed.add("bid", [(number, 1000 + 20 * number, "a", 1)])
        feed.run(TUMBLE, **OPEN)
    assert snapshots() == 6
    monkeypatch.setattr(open_views, "STAYS", -1)
    feed.add("bid", [(9, 1100, "a", 1)])
    feed.run(TUMBLE, **OPEN)
    assert snapshots() == 2
    check(feed, "model", TUMBLE, 1090)


def test_what_is_refused(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    with pytest.raises(StreamingError, match="the column is_open is the adapter's own\n  give yours another name"):
        feed.run(TUMBLE.replace("AS s", "AS is_open"), **OPEN)
    feed.spark.sql(f"CREATE VIEW {feed.schema}.model__now AS SELECT 1 AS mine")
    with pytest.raises(StreamingError, match="model__now is there already, and no streaming"):
        feed.run(TUMBLE, **OPEN)
    feed.run(TUMBLE)
    feed.run(TUMBLE, rebuild=True)
    assert view(feed, "model", "__now") == [(1,)]


EARLY = """\
{{ config(materialized='streaming_incremental', event_time='bidtime', watermark='1 minute', emit='open') }}
select window_start, window_end, item, sum(price) as total
from {{ tumble(stream(source('raw', 'bid')), 'bidtime', '10 minutes') }}
group by window_start, window_end, item
"""
SEEN = "select date_format(window_start, 'HH:mm'), item, total, is_open from {}.early__now order by 1, 2"


@pytest.mark.full
def test_early_results_of_a_project(make_project: Callable[..., Project]) -> None:
    shop = make_project({"models/early.sql": EARLY, "models/schema.yml": SOURCES})
    shop.sql("create schema if not exists {}")
    shop.sql("create table {}.bid (bidtime timestamp, price double, item string) using parquet")
    shop.dbt("run", "--empty")
    assert shop.rows(SEEN) == []
    bids(shop, ("08:05:00", 4, "A"), ("08:12:00", 2, "B"))
    shop.dbt("run")
    assert shop.rows(SEEN) == [("08:00", "A", 4.0, False), ("08:10", "B", 2.0, True)]
    bids(shop, ("08:13:00", 3, "B"))
    shop.dbt("run")
    assert shop.rows(SEEN) == [("08:00", "A", 4.0, False), ("08:10", "B", 5.0, True)]
    assert shop.rows("select item, total from {}.early__open") == [("B", 5.0)]
    [compiled] = shop.dbt("compile", "--select", "early").results
    assert "the same query gives the open windows" in compiled.node.compiled_code
    shop.write({"models/early.sql": EARLY.replace("tumble(", "session(")})
    assert "emit='open' doesn't go with SESSION" in shop.failure("compile")
    # The views go with the model's table.
    shop.write({"models/early.sql": "select 1 as item, 2 as total"})
    shop.dbt("run", "--vars", "{}")
    here = {name for _, name, is_temporary in shop.rows("show tables in {}") if not is_temporary}
    assert here == {"bid", "early", "sparkstream_runs"}
