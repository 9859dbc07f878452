"""A range of time in a streaming model's table anew: what a full refresh gives, in one step that readers see."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.functional.streaming.feed import EventRow, Feed
from tests.functional.streaming.killing import killed
from tests.lib.support import quick_session, seldom

BOUNDS = "window_start, window_end"
COUNTS = f"SELECT {BOUNDS}, k, sum(v) AS s, count(*) AS n FROM "
GROUPED = f" GROUP BY {BOUNDS}, k"
ROWS = "SELECT id, ts, v FROM bid WHERE v < 900"
TUMBLE = f"{COUNTS}TUMBLE(bid, ts, INTERVAL '10' SECOND){GROUPED}"
SESSION = f"{COUNTS}SESSION(bid PARTITION BY k, ts, INTERVAL '7' SECOND){GROUPED}"
WINDOWS = {
    "tumble": TUMBLE,
    "hop": f"{COUNTS}HOP(bid, ts, INTERVAL '5' SECOND, INTERVAL '20' SECOND){GROUPED}",
    "sliced hop": f"{COUNTS}HOP(bid, ts, INTERVAL '1' SECOND, INTERVAL '20' SECOND){GROUPED}",
    "cumulate": f"{COUNTS}CUMULATE(bid, ts, INTERVAL '5' SECOND, INTERVAL '20' SECOND){GROUPED}",
    "session": SESSION,
    "top": f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS} ORDER BY s DESC, k) AS r "
    f"FROM ({TUMBLE})) WHERE r <= 1",
    "dedup": f"SELECT {BOUNDS}, id, k, v FROM (SELECT *, row_number() OVER (PARTITION BY {BOUNDS}, k "
    "ORDER BY v DESC, id) AS r FROM TUMBLE(bid, ts, INTERVAL '10' SECOND)) WHERE r = 1",
    "distinct": f"SELECT {BOUNDS}, count(DISTINCT k) AS d, sum(v) AS s FROM TUMBLE(bid, ts, INTERVAL '10' SECOND) "
    f"GROUP BY {BOUNDS}",
    "cascade": f"SELECT {BOUNDS}, max(s) AS best FROM TUMBLE((SELECT window_time AS t, s FROM (SELECT {BOUNDS}, "
    f"window_time, k, sum(v) AS s FROM TUMBLE(bid, ts, INTERVAL '5' SECOND) GROUP BY {BOUNDS}, window_time, k)), t, "
    f"INTERVAL '20' SECOND) GROUP BY {BOUNDS}",
    "unaggregated": f"SELECT {BOUNDS}, id, v FROM TUMBLE(bid, ts, INTERVAL '10' SECOND)",
}
SOME: list[EventRow] = [(i, 1000 + i * 3 % 97, "abc"[i % 3], i) for i in range(60)]
"""Times from 1000 to 1096."""
CLOSING: list[EventRow] = [(900, 1200, "a", 900), (901, 1250, "b", 901)]
WRONG = (1030, 1060)
"""The range whose rows were wrong."""


def is_wrong(row: EventRow) -> bool:
    return WRONG[0] <= row[1] < WRONG[1]


REPAIRED = [(i, 1030 + i * 7 % 30, k, v) if is_wrong((i, t, k, v)) else (i, t, k, v) for i, t, k, v in SOME] + [
    (500, 1031, "a", 100),
    (501, 1059, "c", 200),
]


def rewrite(feed: Feed, rows: list[EventRow], table: str = "bid") -> None:
    """Writes other rows into the one file that a table had first, under its name."""
    [first] = feed.spark.table(f"{feed.schema}.{table}").orderBy("id").select("_metadata.file_path").head(1)
    file = Path(urlsplit(str(first[0])).path)
    feed.add("ask", rows)
    feed.spark.sql(f"REFRESH TABLE {feed.schema}.ask")
    [new] = [Path(urlsplit(name).path) for name in feed.spark.table(f"{feed.schema}.ask").inputFiles()]
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    file.write_bytes(new.read_bytes())
    feed.spark.sql(f"TRUNCATE TABLE {feed.schema}.ask")
    feed.spark.sql(f"REFRESH TABLE {feed.schema}.{table}")


def begun(feed: Feed, sql: str, **options: Any) -> None:
    """A model that has closed its windows up to 1200 and more, then wrong rows are repaired in the source."""
    feed.add("bid", SOME)
    feed.run(sql, **options)
    feed.add("bid", CLOSING)
    feed.run(sql, **options)
    rewrite(feed, REPAIRED)


ACCEPTS: dict[str, Any] = {"on_source_change": "accept"}


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    ["tumble", "session", "sliced hop", "hop", "cumulate", "top", "dedup", "distinct", "cascade", "unaggregated"],
)
def test_windows_are_those_of_a_full_refresh(feed: Feed, name: str) -> None:
    sql = WINDOWS[name]
    begun(feed, sql, **ACCEPTS)
    before = feed.table()
    message = feed.backfill(sql, *WRONG, **ACCEPTS)
    assert " in the place of " in message, message
    # Rows that aren't aggregated are in the table before their window is closed.
    wanted = feed.batch(sql, "TRUE" if name == "unaggregated" else "window_end <= timestamp_seconds(1240)")
    assert feed.table() == wanted
    assert before != wanted
    # Its runs go on: nothing comes twice.
    feed.add("bid", [(902, 1300, "a", 1)])
    feed.run(sql, **ACCEPTS)
    after = feed.table()
    assert len(after) > len(wanted)
    assert feed.backfill(sql, *WRONG, **ACCEPTS)  # once more, on a table that isn't MANAGED any more
    assert feed.table() == after
    feed.run(sql, rebuild=True, **ACCEPTS)
    assert feed.table() == after


@pytest.mark.full
def test_rows_without_windows(feed: Feed) -> None:
    begun(feed, ROWS, **ACCEPTS)
    feed.backfill(ROWS, *WRONG, **ACCEPTS)
    assert feed.table() == feed.batch(ROWS)
    feed.add("bid", [(902, 1040, "a", 7)])
    with pytest.raises(StreamingError, match="the next run would append their rows once more\n  run the model first"):
        feed.backfill(ROWS, *WRONG, **ACCEPTS)
    feed.run(ROWS, **ACCEPTS)
    rewrite(feed, SOME)
    feed.backfill(ROWS, *WRONG, **ACCEPTS)
    assert feed.table() == feed.batch(ROWS)
    runs = feed.spark.table(f"{feed.schema}.sparkstream_runs").where("backfilled IS NOT NULL")
    assert [tuple(r) for r in runs.orderBy("started_at").select("rows_appended", "rows_removed").collect()] == [
        (22, 20),
        (21, 23),
    ]
    # All of them were wrong, and nothing has come instead.
    rewrite(feed, [row for row in SOME if not is_wrong(row)])
    with pytest.raises(StreamingError, match="write --remove"):
        feed.backfill(ROWS, *WRONG[:1], 1039, **ACCEPTS)
    feed.backfill(ROWS, *WRONG[:1], 1039, removes=True, **ACCEPTS)
    assert not [row for row in feed.table() if 1030 <= row[1].timestamp() < 1039]


STEPS = (
    "SET TBLPROPERTIES ('sparkstream.leaves'",
    "CREATE TABLE {table}__backfilled",
    "INSERT INTO {table}__backfilled",
    "ALTER TABLE {table}__backfilled SET",
    "DROP TABLE {table}",
    "RENAME",
)


def dies(feed: Feed, step: str) -> Callable[[str], bool]:
    """Whether a statement is a step of a backfill."""
    what = step.format(table=f"{feed.schema}.model")
    return lambda statement: what in statement and not ("DROP" in what and "IF EXISTS" in statement)


@pytest.mark.long
@pytest.mark.parametrize(
    ("after", "first", "steps"),
    [
        (True, "backfill", STEPS[1::3]),
        *seldom((after, first, STEPS) for after in (True, False) for first in ("backfill", "run")),
    ],
    ids=lambda value: "some" if value == STEPS[1::3] else "all" if value == STEPS else None,
)
def test_a_backfill_that_is_killed(
    feed: Feed, monkeypatch: pytest.MonkeyPatch, after: bool, first: str, steps: tuple[str, ...]
) -> None:
    """At some statements, or at each; then it is given again, or a run is first, in turns."""
    begun(feed, TUMBLE, **ACCEPTS)
    closed = "window_end <= timestamp_seconds({})"
    old, right, latest = feed.table(), feed.batch(TUMBLE, closed.format(1240)), 1250
    for number, step in enumerate(steps):
        with killed(monkeypatch, feed, dies(feed, step), after=after, aside="__backfilled"):
            feed.backfill(TUMBLE, *WRONG, **ACCEPTS)
        if feed.spark.catalog.tableExists(f"{feed.schema}.model"):
            assert feed.table() in (old, right)
        else:
            assert (step, after) in ((STEPS[-2], True), (STEPS[-1], False))
        if (number % 2 == 0) == (first == "run"):
            latest += 50
            feed.add("bid", [(latest, latest, "a", 1)])
            feed.run(TUMBLE, **ACCEPTS)
        feed.backfill(TUMBLE, *WRONG, **ACCEPTS)
        right = feed.batch(TUMBLE, closed.format(latest - 10))
        assert feed.table() == right
        assert not feed.spark.catalog.tableExists(f"{feed.schema}.model__backfilled")
        # Wrong again, for the next step.
        rewrite(feed, SOME)
        feed.backfill(TUMBLE, *WRONG, **ACCEPTS)
        old = feed.table()
        assert old != right
        rewrite(feed, REPAIRED)
    feed.run(TUMBLE, **ACCEPTS)
    folder = Path(urlsplit(feed.folder("")).path)
    assert feed.table() == old
    # The files of the last table stay for an hour; those of killed backfills, and of the MANAGED table, don't.
    kept = [one.name for one in folder.glob("model*") if list(one.rglob("*.parquet"))]
    assert "model" not in kept


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [
        {"on_query_change": "swap"},
        {"late_rows": "update"},
        {"compact_every": 1},
        {"partition_by": ("k",)},
        {"emit": "open"},
    ],
    ids=str,
)
def test_tables_with_more_to_them(feed: Feed, options: dict[str, Any]) -> None:
    given: dict[str, Any] = {**ACCEPTS, **options}
    if given.pop("emit", None):
        given["shows_open"] = True
    if given.pop("late_rows", None):
        given |= {"keep_late": True, "lateness": Interval.parse("100 seconds")}
    begun(feed, TUMBLE, **given)
    feed.backfill(TUMBLE, *WRONG, **given)
    names = "window_start, window_end, k, s, n"

    def table(name: str = "model") -> list[tuple[Any, ...]]:
        rows = feed.spark.sql(f"SELECT {names} FROM {feed.schema}.{name}").collect()
        return sorted(map(tuple, rows))

    wanted = sorted(feed.batch(f"SELECT {names} FROM ({TUMBLE})"))
    closed = [row for row in wanted if row[1].timestamp() <= 1240]
    assert table() == closed
    for number in range(2):
        feed.add("bid", [(950 + number, 1300 + number * 100, "b", 1), (960 + number, 1205, "c", 1)])
        feed.run(TUMBLE, **given)
    rows = "(SELECT * FROM bid)" if "lateness" in given else "(SELECT * FROM bid WHERE id NOT IN (960, 961))"
    wanted = sorted(feed.batch(f"SELECT {names} FROM ({TUMBLE.replace('(bid,', f'({rows},')})"))
    assert table() == [row for row in wanted if row[1].timestamp() <= 1390]
    if "shows_open" in given:
        assert table("model__now") == wanted
    feed.backfill(TUMBLE, 0, 5000, **given)  # has the late rows, too
    wanted = sorted(feed.batch(f"SELECT {names} FROM ({TUMBLE})"))
    until = 1290 if "lateness" in given else 1390
    assert [row for row in table() if row[1].timestamp() <= until] == [r for r in wanted if r[1].timestamp() <= until]
    feed.run(TUMBLE, rebuild=True, **given)
    assert table()[:20] == wanted[:20]


@pytest.mark.full
def test_readers_have_the_old_range_or_the_new_one(feed: Feed) -> None:
    begun(feed, TUMBLE, **ACCEPTS)
    old = feed.table()
    feed.backfill(TUMBLE, *WRONG, **ACCEPTS)  # from now on the table isn't MANAGED
    new = feed.table()
    rewrite(feed, SOME)
    session, ends = quick_session(feed.spark), threading.Event()
    seen: list[list[tuple[Any, ...]]] = []
    failed: list[str] = []

    def read() -> None:
        while not ends.is_set():
            try:
                rows = session.table(f"{feed.schema}.model").drop("micro_batch").collect()
            except AnalysisException as error:  # between two statements there is no such table
                if "TABLE_OR_VIEW_NOT_FOUND" not in str(error):
                    failed.append(str(error))
                continue
            found = sorted((tuple(row) for row in rows), key=str)
            if not seen or seen[-1] != found:
                seen.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        feed.backfill(TUMBLE, *WRONG, **ACCEPTS)
    finally:
        ends.set()
        reader.join()
    assert not failed
    assert feed.table() == old
    assert seen[0] == sorted(new, key=str)
    assert seen[1:] in ([], [sorted(old, key=str)])


def test_what_is_refused(feed: Feed) -> None:
    with pytest.raises(StreamingError, match="there is no table that a run of this model has made"):
        feed.backfill(TUMBLE, 0, 1)
    feed.run(TUMBLE)
    assert feed.backfill(TUMBLE, 0, 1) == "nothing to do: no micro-batch has ended yet"
    with pytest.raises(StreamingError, match="is empty"):
        feed.backfill(TUMBLE, 5, 5)
    with pytest.raises(StreamingError, match="no column of its table has the event time"):
        feed.backfill("SELECT id, v FROM bid", 0, 1)
    feed.add("bid", SOME)
    feed.run(TUMBLE)
    with pytest.raises(StreamingError, match="have changed since the table was made\n  run the model first"):
        feed.backfill(TUMBLE.replace("10", "20"), *WRONG)
    # Windows that aren't closed are the stream's.
    assert "; the stream writes 2 windows of the range itself" in feed.backfill(TUMBLE, 1070, 1100)
    assert "nothing to do: neither the table nor" in feed.backfill(TUMBLE, 1090, 1100)
    assert feed.table() == feed.batch(TUMBLE, "window_end <= timestamp_seconds(1086)")


@pytest.mark.full
def test_sessions_go_whole_or_not_at_all(feed: Feed) -> None:
    """A session that crosses the range is one of the table, one of the rows now, or may be one that is open."""
    first: list[EventRow] = [
        (1, 1000, "a", 1),
        (2, 1005, "a", 1),
        (3, 1010, "a", 1),
        (4, 1016, "a", 1),
        (5, 1010, "b", 1),
    ]
    feed.add("bid", first)
    feed.run(SESSION, **ACCEPTS)
    feed.add("bid", [(6, 1100, "a", 1), (7, 1105, "a", 1), (8, 1110, "a", 1)])
    feed.run(SESSION, **ACCEPTS)
    closed = "window_end <= timestamp_seconds(1100)"
    # In two: the row that held it together is gone. A part of it lies before the range.
    rewrite(feed, [row for row in first if row[0] != 3])
    feed.backfill(SESSION, 1010, 1012, **ACCEPTS)
    assert feed.table() == feed.batch(SESSION, closed)
    rewrite(feed, first)
    feed.backfill(SESSION, 1010, 1011, **ACCEPTS)
    assert (feed.table(), len(feed.table())) == (feed.batch(SESSION, closed), 2)
    for since, until in ((1090, 1099), (1010, 1110)):
        with pytest.raises(StreamingError, match="may go on in one that the stream has open"):
            feed.backfill(SESSION, since, until, **ACCEPTS)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("distinct", {}),
        *((name, {"shows_open": is_open}) for name in ("sliced hop", "top", "tumble") for is_open in (False, True)),
    ],
    ids=str,
)
def test_rows_that_no_run_has_read_yet(feed: Feed, name: str, options: dict[str, Any]) -> None:
    """A backfill has those of windows that are closed; the run that reads them counts them in the others alone."""
    sql = WINDOWS[name]
    feed.add("bid", SOME)
    feed.run(sql, **options)
    feed.add("bid", CLOSING)
    feed.run(sql, **options)
    feed.add("bid", [(910, 1031, "b", 50), (911, 1235, "b", 60), (912, 1260, "b", 70)])
    feed.backfill(sql, 0, 5000, **options)
    assert feed.table() == feed.batch(sql, "window_end <= timestamp_seconds(1240)")
    feed.run(sql, **options)
    assert feed.table() == feed.batch(sql, "window_end <= timestamp_seconds(1250)")
    feed.add("bid", [(913, 1400, "b", 80)])
    feed.run(sql, **options)
    assert feed.table() == feed.batch(sql, "window_end <= timestamp_seconds(1390)")


@pytest.mark.full
def test_the_range_is_on_the_clock_of_the_session(feed: Feed) -> None:
    feed.zone = "America/New_York"
    hours = "SELECT window_start, window_end, k, sum(v) AS s FROM TUMBLE(bid, ts, INTERVAL '1' HOUR) GROUP BY ALL"
    # The clock is turned back on 2020-11-01, and shows 01:00 to 02:00 twice.
    first, hour = 1_604_206_800, 3600  # 01:00 of that day, for the first time, is two hours after
    rows: list[EventRow] = [(i, first + i * 1800, "ab"[i % 2], i) for i in range(16)]
    feed.add("bid", rows)
    feed.run(hours, **ACCEPTS)
    feed.add("bid", [(90, first + 30 * hour, "a", 1)])
    feed.run(hours, **ACCEPTS)
    rewrite(feed, [(i, t, k, (v or 0) * 10) for i, t, k, v in rows])
    old = feed.table()
    since = first + 5 * hour
    feed.backfill(hours, since, since + hour, **ACCEPTS)
    wanted = feed.batch(hours, f"window_end <= timestamp_seconds({first + 29 * hour})")
    changed = [row for row in feed.table() if row not in old]
    assert changed == [row for row in wanted if row[0].timestamp() == since]
    assert len(feed.table()) == len(old)
