"""Sources that are no tables and no files: Spark's own by name, and classes in Python by where they are."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.functional.adapter.project import Project
from tests.functional.streaming.feed import EventRow, Feed
from tests.lib.support import seldom

HELPER = """\
def numbered(line):
    number, seconds, key, value = line.split(",")
    return int(number), int(seconds), key, int(value)
"""

SOURCE = """\
import datetime
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition, SimpleDataSourceStreamReader
from lines_helper import numbered

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # Spark has it from 4.2 on
    SupportsTriggerAvailableNow = object

SCHEMA = "id bigint, ts timestamp, k string, v bigint"


def lines_of(path, since, until):
    with open(path) as file:
        for line in file.read().splitlines()[since:until]:
            number, seconds, key, value = numbered(line)
            yield number, datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc), key, value


class Part(InputPartition):
    def __init__(self, since, until):
        self.since, self.until = since, until


class Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, path):
        self.path, self.until = path, None

    def initialOffset(self):
        return {"logOffset": 0}  # as Spark's log of files has it

    def prepareForTriggerAvailableNow(self):
        self.until = self.latestOffset()

    def latestOffset(self, start=None, limit=None):
        with open(self.path) as file:
            return self.until or {"logOffset": len(file.read().splitlines())}

    def partitions(self, start, end):
        middle = (start["logOffset"] + end["logOffset"]) // 2
        return [Part(start["logOffset"], middle), Part(middle, end["logOffset"])]

    def read(self, part):
        return lines_of(self.path, part.since, part.until)


class Simple(SimpleDataSourceStreamReader):
    def __init__(self, path):
        self.path = path

    def initialOffset(self):
        return {"line": 0}

    def read(self, start):
        rows = list(lines_of(self.path, start["line"], None))
        return iter(rows), {"line": start["line"] + len(rows)}

    def readBetweenOffsets(self, start, end):
        return lines_of(self.path, start["line"], end["line"])

    def commit(self, end):
        pass


class Lines(DataSource):
    def schema(self):
        return SCHEMA

    def streamReader(self, schema):
        return Reader(self.options["path"])


class SimpleLines(Lines):
    streamReader = DataSource.streamReader

    def simpleStreamReader(self, schema):
        return Simple(self.options["path"])


class Batch(DataSource):
    def schema(self):
        return SCHEMA

    def reader(self, schema):
        raise NotImplementedError


NUMBER = 5
"""

TOTALS = (
    "SELECT window_start, window_end, k, sum(v) AS s FROM tumble(bid, ts, '20 seconds') "
    "GROUP BY window_start, window_end, k"
)


class Lines:
    """A file of lines, read by a data source of a project; and a table with the same rows."""

    def __init__(self, feed: Feed, folder: Path, source: str) -> None:
        # Python knows a module by its name as long as it runs, and all these tests run in one.
        self.module = f"{source}_source".lower()
        (folder / f"{self.module}.py").write_text(SOURCE.replace("lines_helper", f"{self.module}_helper"))
        (folder / f"{self.module}_helper.py").write_text(HELPER)
        self._feed = feed
        self._file = folder / "lines.csv"
        self._file.touch()
        feed.project = folder
        feed.readers["bid"] = {"data_source": f"{self.module}:{source}", "path": str(self._file)}

    def add(self, *rows: EventRow) -> None:
        self._feed.add("bid", rows)
        with self._file.open("a") as file:
            file.writelines(f"{','.join(map(str, row))}\n" for row in rows)


def test_classes_that_read_no_stream(feed: Feed, tmp_path: Path) -> None:
    module = Lines(feed, tmp_path, "Batch").module
    (tmp_path / "needs_something.py").write_text("import nothing_of_this_name")
    (tmp_path / "broken_source.py").write_text("1 / 0")
    for place, *words in (
        ("no_such_module:Lines", "there is no module no_such_module", "folder of dbt_project.yml"),
        (f"{module}:Line", f"{module} has no Line", "did you mean Lines?"),
        (f"{module}:NUMBER", "is no data source of Spark", "pyspark.sql.datasource.DataSource"),
        (f"{module}:Batch", "reads no stream", "streamReader"),
        ("needs_something:X", "needs_something needs a module that isn't there", "nothing_of_this_name"),
        ("broken_source:X", "can't be imported", "ZeroDivisionError"),
    ):
        feed.readers["bid"] = {"data_source": place}
        with pytest.raises(StreamingError) as error:
            feed.run(TOTALS)
        for word in words:
            assert word in str(error.value)


@pytest.mark.long
@pytest.mark.parametrize("source", seldom(["Lines", "SimpleLines"]))
def test_each_row_of_a_data_source_counts_once(
    feed: Feed, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over runs, and when a run is killed before a micro-batch is in the table, or after that."""
    says_when = find_spec("pyspark.sql.streaming.datasource") is not None
    lines = Lines(feed, tmp_path, source)
    lines.add((1, 1005, "a", 1), (2, 1060, "a", 2), (3, 1004, "b", 3))
    feed.run(TOTALS)
    for number, when in enumerate(("before", "after")):
        lines.add((4 + number, 1101 + 40 * number, "b", 4), (6 + number, 1102 + 40 * number, "a", 5))
        feed.run_killed(monkeypatch, when, TOTALS)
        lines.add((8 + number, 1103 + 40 * number, "a", 6))
        feed.run(TOTALS)
    assert feed.run(TOTALS).rows == 0
    late = (10, 1000, "a", 7)
    with (tmp_path / "lines.csv").open("a") as file:
        file.write(f"{','.join(map(str, late))}\n")
    assert feed.run(TOTALS, keep_late=True).late == 1
    # A run has one micro-batch of a source that says nothing of `available_now`: the next one closes its windows.
    lines.add((98, 100_000, "z", 0))
    first = feed.run(TOTALS).rows
    lines.add((99, 100_001, "z", 0))
    second = feed.run(TOTALS).rows
    assert (first > 0, second > 0) == ((True, False) if says_when and source == "Lines" else (False, True))
    assert feed.table() == feed.batch(TOTALS, "window_end < timestamp_seconds(90000)")


@pytest.mark.long
def test_a_project_with_a_data_source_and_a_rate(make_project: Callable[..., Project]) -> None:
    sources = """\
sources:
  - name: raw
    tables:
      - name: lines
        config:
          event_time: ts
          meta: {stream: {data_source: "shop_source:Lines", path: FILE}}
      - name: ticks
        config:
          event_time: timestamp
          meta: {stream: {format: rate, options: {rowsPerSecond: 20}}}
"""
    config = "{{ config(materialized='streaming_incremental', watermark='0 seconds') }}\n"
    shop = make_project({"shop_source.py": SOURCE, "lines_helper.py": HELPER})
    shop.write(
        {
            "models/sources.yml": sources.replace("FILE", str(shop.folder / "lines.csv")),
            "models/lines.sql": config + "select id, k, v from {{ stream(source('raw', 'lines')) }}",
            "models/ticks.sql": config + "select value from {{ stream(source('raw', 'ticks')) }}",
            "lines.csv": "1,1005,a,1\n2,1006,b,2\n",
        }
    )
    shop.dbt("run")
    shop.write({"lines.csv": "1,1005,a,1\n2,1006,b,2\n3,1007,c,3\n"})
    shop.dbt("run")
    assert shop.rows("select id, k, v from {}.lines") == [(1, "a", 1), (2, "b", 2), (3, "c", 3)]
    shop.dbt("run", "--select", "ticks")
    # Spark's rate counts the seconds since the first run: no number is missing, and none comes twice.
    [(rows, different, last)] = shop.rows("select count(*), count(distinct value), max(value) from {}.ticks")
    assert rows == different == last + 1
