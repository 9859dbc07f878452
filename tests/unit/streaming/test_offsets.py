"""Reading of the checkpoint at the begin of a run."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.spark.checkpoint import NOTHING_YET, Offsets, Recorded

CHECKPOINT = "file:/warehouse/_sparkstream/bids-1/checkpoint"


class Folders:
    """Files of a checkpoint, path below it -> lines. `asked` has what was read of it, in order."""

    def __init__(self, files: dict[str, list[str]]) -> None:
        self.files = {f"{CHECKPOINT}{path}": lines for path, lines in files.items()}
        self.asked: list[str] = []

    def named_lines(self, glob: str) -> list[tuple[str, str]]:
        self.asked.append("all")
        assert glob.startswith(f"{CHECKPOINT}{{")
        numbers = set(re.search(r"/offsets/\{([\d,]+)\}", glob)[1].split(","))  # type: ignore[index]
        return [
            (path, line)
            for path, lines in self.files.items()
            for line in lines
            if not re.search(r"/(offsets|commits)/", path) or path.rpartition("/")[2] in numbers
        ]

    def names(self, folder: str) -> set[str]:
        self.asked.append(folder.removeprefix(CHECKPOINT))
        return {path.rpartition("/")[2] for path in self.files if path.startswith(f"{folder}/")}

    def lines(self, folder: str) -> list[str]:
        self.asked.append(folder.removeprefix(CHECKPOINT))
        return self.files.get(folder, [])


def offsets(watermark: int, until: int) -> list[str]:
    facts = {"batchWatermarkMs": watermark, "batchTimestampMs": 7}
    return ["v1", json.dumps(facts), json.dumps({"logOffset": until})]


def recorded(folders: Folders, last: int) -> Recorded:
    engine: Any = SimpleNamespace(folders=folders)
    return Recorded.of(engine, CHECKPOINT, last)


def checkpoint(begun: int, done: int | None, committed: int) -> Folders:
    """A checkpoint of many micro-batches."""
    files = {f"/offsets/{n}": offsets(n * 1000, n) for n in range(begun + 1)}
    files |= {f"/commits/{n}": ["v1", "{}"] for n in range(committed + 1)}
    if done is not None:
        files["_done/part-00000-abc.txt"] = [f"{done} 0"]
    files["/sources/0/9.compact"] = ["v1", '{"path":"file:///a","timestamp":1,"batchId":3}']
    files["/sources/1/2"] = ["v1", '{"topic":"t"}', '{"path":"file:///b","timestamp":2,"batchId":8}']
    return Folders(files)


@pytest.mark.parametrize(
    ("begun", "done", "committed", "last", "asked"),
    [
        (40, 40, 40, 40, []),
        (41, 40, 40, 40, []),  # interrupted before its rows were in the table
        (41, 41, 40, 40, []),  # interrupted between the two notes
        (45, 44, 44, 40, []),  # killed while it was left running
        (60, 59, 59, 40, ["/offsets", "/commits", "/offsets/59"]),  # the same, after many micro-batches
        (40, None, 40, 40, []),  # with no note of the sink's
        (41, None, 40, 40, []),
        (60, None, 59, 40, ["/offsets", "/commits", "/offsets/59"]),
        (-1, None, -1, 40, ["/offsets"]),  # somebody has removed it
    ],
)
def test_it_is_read_in_one_go(begun: int, done: int | None, committed: int, last: int, asked: list[str]) -> None:
    folders = checkpoint(begun, done, committed)
    found = recorded(folders, last)
    assert (found.begun, found.done) == (begun, committed if done is None else done)
    assert found.offsets == (NOTHING_YET if begun < 0 else Offsets(found.done * 1000, 7, (found.done,)))
    assert folders.asked == ["all", *asked]
    assert found.files.of_sources == [{"file:///a": 1}, {"file:///b": 2}]
    assert found.files.done == ({"file:///a"} if done or committed >= 3 else set())
