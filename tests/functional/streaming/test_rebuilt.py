"""A table that is rebuilt in staging: readers have the old rows until the new one takes its place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming import ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker.appends import Append
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.killing import killed
from tests.functional.streaming.test_once import location
from tests.lib.support import quick_session, seldom

OLD = "SELECT id, v FROM bid"
NEW = "SELECT id, v * 10 AS v FROM bid"
OTHER = "SELECT id, v * 100 AS v FROM bid"
STEPS = (
    "SET TBLPROPERTIES ('sparkstream.run",
    "DROP TABLE {table}",
    "RENAME",
    "SET TBLPROPERTIES ('sparkstream.rebuilt_whole' = ''",
)
"""Of a swap, by what is in their statements; the last one says that what the old table had beside it is gone."""
BEGINNINGS = ("SET TBLPROPERTIES ('sparkstream.aside", "CREATE TABLE {table}__rebuilt")


def add(feed: Feed, first: int, count: int) -> None:
    for number in range(first, first + count):
        feed.add("bid", [(number, 1000 + number, "a", number)])


def run(feed: Feed, sql: str, **options: Any) -> Any:
    return feed.run(sql, **{"max_files_per_trigger": 1, "on_query_change": "swap", **options})


def rows(times: int, last: int) -> list[tuple[int, int]]:
    return [(number, number * times) for number in range(1, last + 1)]


def aside(feed: Feed) -> bool:
    return feed.spark.catalog.tableExists(f"{feed.schema}.model__rebuilt")


def generation(feed: Feed, table: str = "model") -> str:
    """Tells a table from others of its name."""
    [(_, text)] = feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.{table} ('sparkstream.table')").collect()
    return str(text)


@pytest.fixture
def half(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a model that fails in the second micro-batch of its table aside; gives the generation of that."""
    write = Append.__call__

    def dies(own: Append, rows: DataFrame, batch: int) -> None:
        if batch > 0:
            raise RuntimeError("killed")
        write(own, rows, batch)

    def fill(sql: str, **options: Any) -> str:
        with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
            patched.setattr(Append, "__call__", dies)
            run(feed, sql, **options)
        assert feed.spark.table(f"{feed.schema}.model__rebuilt").count() == 1
        return generation(feed, "model__rebuilt")

    return fill


def kept(feed: Feed) -> list[Path]:
    """The folders of checkpoints that hold something."""
    state = Path(str(feed.folder("_sparkstream")).removeprefix("file:"))
    return [folder for folder in state.glob("model*") if list(folder.iterdir())]


def with_files(feed: Feed) -> list[Path]:
    """The folders of tables that hold something."""
    state = Path(str(feed.folder("")).removeprefix("file:"))
    return [folder for folder in state.glob("model*") if list(folder.rglob("*.parquet"))]


def dies(feed: Feed, step: str) -> Callable[[str], bool]:
    """Whether a statement is a step of making a table anew."""
    what = step.format(table=f"{feed.schema}.model")
    swaps: list[bool] = []

    def is_step(statement: str) -> bool:
        if "sparkstream.rebuilt_whole" in statement:
            swaps.append(True)
        return what in statement and bool(swaps or "aside" in what or "CREATE" in what)

    return is_step


@pytest.mark.full
@pytest.mark.parametrize("compacts", [1, None])
def test_what_was_begun_aside(feed: Feed, half: Callable[..., str], compacts: int | None) -> None:
    add(feed, 1, 3)
    run(feed, OLD, compact_every=compacts)
    stopped = run(feed, NEW, compact_every=compacts, stopping=lambda: True)
    assert (stopped.message.startswith(f"{feed.schema}.model__rebuilt is being filled"), aside(feed)) == (True, True)
    assert feed.table() == rows(1, 3)
    begun = half(OTHER, compact_every=compacts)
    assert feed.table() == rows(1, 3)
    # The next run goes on with it.
    run(feed, OTHER, compact_every=compacts)
    assert (feed.table(), aside(feed), generation(feed)) == (rows(100, 3), False, begun)
    recorded = feed.spark.table(f"{feed.schema}.sparkstream_runs").orderBy("started_at").select("relation", "aside")
    found = [tuple(row) for row in recorded.collect()]
    assert {relation for relation, _ in found} == {f"{feed.schema}.model"}
    assert [is_aside for _, is_aside in found][:3] == [False] * 3
    assert all(is_aside for _, is_aside in found[3:])
    add(feed, 4, 1)
    assert run(feed, OTHER, compact_every=compacts).rows == 1
    assert feed.table() == rows(100, 4)
    # It is thrown away by a run with the old query, where nothing may be swapped in, and when the table is made anew in
    # its place.
    for options in ({}, {"on_query_change": "fail"}, {"rebuild": True}):
        half(NEW, compact_every=compacts)
        run(feed, OTHER, compact_every=compacts, **options)
        assert (feed.table(), aside(feed), len(kept(feed))) == (rows(100, 4), False, 1)
    assert len(with_files(feed)) == (2 if compacts else 1)  # what a compaction has left stays for an hour


@pytest.mark.long
@pytest.mark.parametrize("step", [STEPS[2], *seldom((*STEPS[:2], STEPS[3], *BEGINNINGS))])
@pytest.mark.parametrize("after", [*seldom([False]), True], ids=["before", "after"])
def test_a_swap_that_is_killed(feed: Feed, monkeypatch: pytest.MonkeyPatch, step: str, after: bool) -> None:
    """At each statement; then the run is given again, or one with the old query is."""
    add(feed, 1, 2)
    run(feed, OLD)
    last = 2
    for then, times in ((NEW, 10), (OTHER, 100)):
        with killed(monkeypatch, feed, dies(feed, step), after=after, aside="__rebuilt"):
            run(feed, then)
        table = feed.spark.catalog.tableExists(f"{feed.schema}.model")
        assert table == ("DROP" not in step or not after) if "RENAME" not in step else table == after
        if then == OTHER and step in (STEPS[0], *BEGINNINGS):
            # The old table is as it was, with all that is kept of it.
            assert (run(feed, NEW).rows, feed.table()) == (0, rows(10, last))
        last += 1
        add(feed, last, 1)
        run(feed, then)
        assert (feed.table(), aside(feed), len(kept(feed))) == (rows(times, last), False, 1)
        assert run(feed, then).rows == 0


@pytest.mark.full
def test_readers_have_old_rows_or_new_ones_all_the_time(feed: Feed) -> None:
    add(feed, 1, 3)
    run(feed, OLD)
    session, ends = quick_session(feed.spark), threading.Event()
    seen: list[list[tuple[Any, ...]]] = []
    name = f"{feed.schema}.model"

    def read() -> None:
        while not ends.is_set():
            try:
                found = sorted(tuple(row) for row in session.table(name).select("id", "v").collect())
            except AnalysisException as error:  # between two statements there is no such table
                assert "TABLE_OR_VIEW_NOT_FOUND" in str(error)
                continue
            if not seen or seen[-1] != found:
                seen.append(found)

    late = session.table(name).select("id", "v")  # planned before the swap
    planned = late.inputFiles()
    refused: list[str] = []

    def stopping() -> bool:
        if not refused and aside(feed):
            with pytest.raises(StreamingError) as error:
                run(feed, NEW)
            refused.append(str(error.value))
        return False

    reader = threading.Thread(target=read)
    reader.start()
    try:
        outcome = run(feed, NEW, stopping=stopping)
    finally:
        ends.set()
        reader.join()
    assert "another run of this model is on its way" in refused[0]
    assert outcome.message.startswith("rebuilt, +3 rows")
    assert seen[0] == rows(1, 3)
    assert seen[1:] in ([], [rows(10, 3)])
    assert len(planned) == 3
    assert sorted(tuple(row) for row in session.read.parquet(*planned).select("id", "v").collect()) == rows(1, 3)
    assert feed.table() == rows(10, 3)


@pytest.mark.full
def test_files_from_before_a_swap_go_after_an_hour(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"compact_every": 2, "partition_by": ("k",), "location_root": feed.folder("root")}
    sql = "SELECT id, k, {} AS v FROM bid"
    add(feed, 1, 4)
    run(feed, sql.format("v"), **options)
    before = location(feed)
    root = Path(str(feed.folder("root")).removeprefix("file:"))
    strange = root / "model" / "of_somebody_else.txt"
    strange.write_text("x")
    assert before == root / "model__compacted"
    run(feed, sql.format("v * 10"), **options)
    assert location(feed).parent == root
    assert [(row[0], row[2]) for row in feed.table()] == [(n, "a") for n in range(1, 5)]
    assert len({row[0] for row in feed.spark.table(f"{feed.schema}.model").select("micro_batch").collect()}) == 4
    run(feed, sql.format("v * 10"), **options)  # compacts what was filled aside
    assert len({row[0] for row in feed.spark.table(f"{feed.schema}.model").select("micro_batch").collect()}) == 1
    assert list(before.rglob("*.parquet"))
    monkeypatch.setattr(ledger, "GRACE", -1.0)  # recorded in whole seconds, maybe of the next one
    run(feed, sql.format("v * 10"), **options)
    assert not list(before.rglob("*.parquet"))
    assert strange.exists()
    assert len([folder for folder in root.glob("model*") if list(folder.rglob("*.parquet"))]) == 2
    assert len(feed.table()) == 4


@pytest.mark.full
def test_full_refreshes_and_changed_sources(feed: Feed, half: Callable[..., str]) -> None:
    options = {"on_full_refresh": "swap", "on_source_change": "swap", "on_query_change": "fail"}
    add(feed, 1, 3)
    assert run(feed, OLD, **options).message.startswith("+3 rows")
    # A run that makes the table only reads nothing, and takes nothing away.
    assert "model__rebuilt made" in run(feed, OLD, rebuild=True, empty=True, **options).message
    assert (feed.table(), aside(feed)) == (rows(1, 3), True)
    begun = half(OLD, rebuild=True, **options)
    assert feed.table() == rows(1, 3)
    # The next run ends what a full refresh has begun; another full refresh begins anew.
    run(feed, OLD, **options)
    assert (feed.table(), generation(feed)) == (rows(1, 3), begun)
    begun = half(OLD, rebuild=True, **options)
    assert run(feed, OLD, rebuild=True, **options).rows == 3
    assert (feed.table(), aside(feed), generation(feed) != begun) == (rows(1, 3), False, True)
    feed.spark.sql(f"INSERT OVERWRITE {feed.schema}.bid SELECT 1, timestamp_seconds(1001), 'a', 7")
    assert run(feed, OLD, empty=True, **options).rows == 0
    assert feed.table() == rows(1, 3)
    assert run(feed, OLD, **options).rows == 1
    assert feed.table() == [(1, 7)]
    # No streaming model has made it.
    feed.spark.sql(f"DROP TABLE {feed.schema}.model")
    feed.spark.sql(f"CREATE TABLE {feed.schema}.model USING parquet LOCATION '{feed.folder('x')}' AS SELECT 5 AS x")
    with pytest.raises(StreamingError, match="no streaming model has made it\n  drop it"):
        run(feed, OLD, rebuild=True, **options)
    assert feed.table() == [(5,)]


@pytest.mark.long
def test_a_model_that_is_left_running_goes_on_with_the_new_table(feed: Feed) -> None:
    add(feed, 1, 2)
    feed.run(OLD)  # MANAGED
    assert feed.table() == rows(1, 2)
    added: list[bool] = []

    def stopping() -> bool:
        if not added and not aside(feed) and feed.table() == rows(10, 2):
            add(feed, 3, 1)
            added.append(True)
        return bool(added) and feed.table() == rows(10, 3)

    outcome = run(feed, NEW, interval=Interval.parse("1 second"), stopping=stopping)
    assert (outcome.rows, feed.table(), aside(feed)) == (1, rows(10, 3), False)


def test_a_table_of_somebody_else_is_left_alone(feed: Feed) -> None:
    add(feed, 1, 1)
    run(feed, OLD)
    feed.spark.sql(f"CREATE TABLE {feed.schema}.model__rebuilt USING parquet AS SELECT 1 AS x")
    with pytest.raises(StreamingError, match="was not made to take the place of"):
        run(feed, NEW)
    assert feed.table() == rows(1, 1)
