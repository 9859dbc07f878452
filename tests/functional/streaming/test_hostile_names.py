"""Streams whose columns and folders have names that hold anything: event times, keys, late rows, open windows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.functional.streaming.feed import TYPES, Feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

PARQUET = "x` int) using parquet location '/p' -- "
TIME = f"a.{PARQUET}"
"""A column that SQL may take for a field, and whose name may end what it is in."""
NAMES = ["a`b", "q'u", "b\\s", "${env:HOME}", 'd"q', "my col", "\u202ea", PARQUET, "n\nl", "a.b"]


@pytest.fixture
def feed(embedded: SparkSession) -> Iterator[Feed]:
    feed = Feed(embedded, {})
    yield feed
    feed.drop()


def add(feed: Feed, table: str, *rows: tuple[int, str]) -> None:
    """Adds rows: seconds of the event time, and the text of all other columns."""
    others = len(feed.tables[table]) - 1
    values = ", ".join(f"(timestamp_seconds({t}), {', '.join([repr(k)] * others)})" for t, k in rows)
    feed.spark.sql(f"INSERT INTO {feed.schema}.{table} VALUES {values}")


def test_event_time_and_keys(feed: Feed) -> None:
    feed.tables = {"bid": {TIME: "timestamp", **dict.fromkeys(NAMES, "string")}}
    columns = ", ".join(f"{backticked(name)} {type_}" for name, type_ in feed.tables["bid"].items())
    feed.spark.sql(f"CREATE TABLE {feed.schema}.bid ({columns}) USING parquet")
    grouped = ", ".join(["window_start", "window_end", *map(backticked, NAMES)])
    sql = f"SELECT {grouped}, count(*) AS n, max({backticked(TIME)}) AS {backticked(TIME)} " + (
        f"FROM tumble(bid, {backticked(TIME)}, '20 seconds') GROUP BY {grouped}"
    )
    options: dict[str, Any] = {"event_time": TIME, "keep_late": True, "shows_open": True}
    add(feed, "bid", (1005, "a"), (1006, "a"), (1060, "b"))
    feed.run(sql, **options)
    add(feed, "bid", (1001, "late"), (1062, "b"), (1100, "c"))
    feed.run(sql, **options)
    assert [(row[-2], *row[2:-2]) for row in feed.table()] == [(2, *["a"] * len(NAMES)), (2, *["b"] * len(NAMES))]
    late = feed.spark.table(f"{feed.schema}.model__late")
    assert set(late.columns) > {TIME, *NAMES}
    assert [row[NAMES[0]] for row in late.collect()] == ["late"]
    assert [row[NAMES[0]] for row in feed.spark.table(f"{feed.schema}.model__open").collect()] == ["c"]


READ = ["it's", 'd"q', "a`b", "$HOME", "50% #1 ü", "a'; drop table x --", "\u202ea", "x/../in"]
SPECIAL = ["${env:HOME}", "{{ 1 + 1 }}", "b\\s", "n\nl", "[a]"]
"""Names of folders that hold Hadoop's signs for several, or a line end: such a folder is read, or not found."""


def folders(feed: Feed, path: Path, *names: str) -> str:
    """Makes folders with a file in each, and a source of each: its query."""
    (path / "x").mkdir()
    for number, name in enumerate(names):
        (path / name).mkdir()
        (path / name / "one's {{ x }}.csv").write_text("1,2024-01-01 10:00:00,a,1\n")
        stated = {"format": "csv", "path": str(path / name), "schema": "id bigint, ts timestamp, k string, v bigint"}
        feed.tables = {**feed.tables, f"bid{number}": TYPES}
        feed.readers = {**feed.readers, f"bid{number}": stated}
    return " UNION ALL ".join(f"SELECT id, k, '{number}' AS n FROM bid{number}" for number in range(len(names)))


def untouched(path: Path, *names: str) -> bool:
    return set(path.iterdir()) == {path / "x", *((path / name).resolve() for name in names)}


def test_folders_of_files(feed: Feed, tmp_path: Path) -> None:
    """What a path holds is a path: each folder is read with its name, and nothing else is done."""
    sql = folders(feed, tmp_path, *READ)
    feed.run(sql)
    for name in READ:
        (tmp_path / name / "two.csv").write_text("2,2024-01-01 10:00:00,a,1\n")
    feed.run(sql)
    assert feed.table() == [(id_, "a", str(number)) for id_ in (1, 2) for number in range(len(READ))]
    assert untouched(tmp_path, *READ)


@pytest.mark.parametrize("name", SPECIAL)
def test_folders_with_signs_of_hadoop(feed: Feed, tmp_path: Path, name: str) -> None:
    found = ""
    sql = folders(feed, tmp_path, name)
    try:
        feed.run(sql)
    except StreamingError as error:
        found = str(error)
    assert not any(word in found for word in ("PARSE_SYNTAX_ERROR", "is undefined", str(Path.home()) + "/"))
    assert untouched(tmp_path, name)
