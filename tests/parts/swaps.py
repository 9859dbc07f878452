"""Tables with a log of what was done that are rebuilt in staging: the same tests for each format."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker import sink
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.killing import killed
from tests.functional.streaming.test_rebuilt import NEW, OLD, OTHER, add, aside, generation, kept, rows, run
from tests.lib.support import quick_session

REPLACES = "CREATE OR REPLACE TABLE {table}\n"
BEGINNINGS = ("SET TBLPROPERTIES ('sparkstream.aside", "CREATE TABLE {table}__rebuilt ")
ENDINGS = (
    "DROP TABLE IF EXISTS {table}__late",
    "DROP TABLE IF EXISTS {table}__rebuilt",
    "SET TBLPROPERTIES ('sparkstream.rebuilt_whole' = ''",
)
"""Of a swap, by what is in their statements; the last one says that what the old table had beside it is gone."""


def found(feed: Feed) -> list[tuple[Any, ...]]:
    """The rows of the table, by their numbers."""
    return sorted(feed.table())


def dies(feed: Feed, step: str) -> Callable[[str], bool]:
    """Whether a statement is a step of making a table anew."""
    what, replaces = (text.format(table=f"{feed.schema}.model") for text in (step, REPLACES))
    begins = step in BEGINNINGS
    swaps: list[bool] = []

    def is_step(statement: str) -> bool:
        if statement.startswith(replaces):
            swaps.append(True)
        return what in statement and (begins or bool(swaps))

    return is_step


def check_kills(
    feed: Feed,
    monkeypatch: pytest.MonkeyPatch,
    steps: Sequence[str],
    versions: Callable[[], Sequence[tuple[int, bool]]],
    **options: Any,
) -> None:
    """Kills runs at each statement of making a table anew. The next run is one with the same query, or the old one.

    Args:
        feed: the tables.
        steps: the statements.
        versions: gives the versions of the table, as VERSION AS OF takes them, each with whether it is of a swap; the
            newest last.
        options: configs of the model.
    """
    queries = {1: OLD, 10: NEW, 100: OTHER}
    given = {**options, "max_files_per_trigger": None}
    add(feed, 1, 2)
    run(feed, OLD, **given)
    times, last = 1, 2
    for step, after in [*((step, False) for step in steps), (REPLACES, True)]:
        then = 100 if times == 10 else 10
        before = versions()
        with killed(monkeypatch, feed, dies(feed, step), after=after, aside="__rebuilt"):
            run(feed, queries[then], **given)
        # The table has the old rows, or the new ones.
        is_swapped = after or step not in (*BEGINNINGS, REPLACES)
        assert found(feed) == rows(then if is_swapped else times, last), step
        assert [swaps for _, swaps in versions()[len(before) :]].count(True) == is_swapped, step
        old = rows(times, last)
        last += 1
        add(feed, last, 1)
        if step == REPLACES and not after:
            # The old table is as it was, with all that is kept of it.
            assert run(feed, queries[times], **given).rows == 1, step
            old = rows(times, last)
            assert (found(feed), aside(feed)) == (old, False), step
            before = versions()
        run(feed, queries[then], **given)
        assert (found(feed), aside(feed)) == (rows(then, last), False), step
        assert len(kept(feed)) == 1, (step, kept(feed))
        earlier = feed.spark.sql(f"SELECT id, v FROM {feed.schema}.model VERSION AS OF {before[-1][0]}").collect()
        assert sorted((row[0], row[1]) for row in earlier) == old, step
        times = then
    assert "nothing new" in run(feed, queries[times], **given).message
    tables = {row[1] for row in feed.spark.sql(f"SHOW TABLES IN {feed.schema}").collect()}
    assert not [name for name in tables if "__rebuilt" in name]


def check_what_was_begun(
    feed: Feed, monkeypatch: pytest.MonkeyPatch, kind: type[sink.Sink], in_place: bool, **options: Any
) -> None:
    """Runs are stopped, fail, come with another query, and come at the same moment.

    Args:
        feed: the tables.
        monkeypatch: has a run fail.
        kind: writes the rows.
        in_place: True if a table in a folder of the user's own can be made anew in its place.
        options: configs of the model.
    """
    given = {**options, "partition_by": ("k",), "location_root": feed.folder("root")}
    old, new, other = (f"SELECT id, v * {times} AS v, k FROM bid" for times in (1, 10, 100))
    write = kind.__call__

    def fails(own: sink.Sink, rows: Any, batch: int) -> None:
        if batch > 0:
            raise RuntimeError("killed")
        write(own, rows, batch)

    def has(times: int, last: int) -> None:
        assert feed.table() == [(*row, "a") for row in rows(times, last)]

    add(feed, 1, 3)
    run(feed, old, **given)
    assert run(feed, new, empty=True, **given).rows == 0
    has(1, 3)
    stopped = run(feed, new, stopping=lambda: True, **given)
    assert "__rebuilt is being filled" in stopped.message
    with monkeypatch.context() as patched, pytest.raises(StreamingError, match="killed"):
        patched.setattr(kind, "__call__", fails)
        run(feed, other, **given)
    assert feed.spark.table(f"{feed.schema}.model__rebuilt").count() == 1
    has(1, 3)
    begun = generation(feed, "model__rebuilt")
    refused: list[str] = []

    def stopping() -> bool:
        if not refused:
            with pytest.raises(StreamingError) as error:
                run(feed, new, **given)
            refused.append(str(error.value))
        return False

    outcome = run(feed, other, stopping=stopping, **given)  # goes on with what was begun
    assert "another run of this model is on its way" in refused[0]
    assert outcome.message.startswith("rebuilt, +3 rows")
    has(100, 3)
    assert (generation(feed), aside(feed)) == (begun, False)
    root = Path(feed.folder("root").removeprefix("file:"))
    assert [folder.name for folder in root.glob("model*") if any(folder.rglob("*.parquet"))] == ["model"]
    # Another full refresh begins anew; one in place takes all with it that was begun.
    full = {**given, "on_full_refresh": "swap"}
    assert run(feed, other, rebuild=True, empty=True, **full).rows == 0
    assert run(feed, other, rebuild=True, **full).rows == 3
    has(100, 3)
    if in_place:
        assert run(feed, new, stopping=lambda: True, **given).rows == 0
        run(feed, other, rebuild=True, **given)
        has(100, 3)
        assert not aside(feed)
    # A table of another format has to be made anew in its place.
    feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.run' = '')")
    with pytest.raises(StreamingError, match="run it once with --full-refresh, and without on_query_change='swap'"):
        run(feed, new, **{**given, "file_format": "parquet"})
    has(100, 3)


def check_readers(feed: Feed, **options: Any) -> None:
    """Whoever reads the table finds the old rows or the new ones at all times, and a model left running goes on."""
    add(feed, 1, 3)
    run(feed, OLD, **options)
    session, ends = quick_session(feed.spark), threading.Event()
    seen: list[list[tuple[Any, ...]]] = []
    added: list[bool] = []

    def read() -> None:
        while not ends.is_set():
            found = sorted(tuple(row) for row in session.sql(f"SELECT id, v FROM {feed.schema}.model").collect())
            if not seen or seen[-1] != found:
                seen.append(found)

    def stopping() -> bool:
        if not added and not aside(feed) and feed.table() == rows(10, 3):
            add(feed, 4, 1)
            added.append(True)
        return bool(added) and feed.table() == rows(10, 4)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        outcome = run(feed, NEW, interval=Interval.parse("1 second"), stopping=stopping, **options)
    finally:
        ends.set()
        reader.join()
    assert outcome.rows == 1
    assert [found for found in (rows(1, 3), rows(10, 3), rows(10, 4)) if found in seen] == seen
    assert seen[0] == rows(1, 3)
