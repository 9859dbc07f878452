"""Folders of files as sources: files that are gone, renamed, moved away, or delivered twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.functional.streaming.feed import Feed

ROWS = "SELECT id, k FROM bid"


class Landing:
    """A folder that files come into, and a model of their rows."""

    def __init__(self, feed: Feed, folder: Path, path: str = "", **reader: Any) -> None:
        self.feed = feed
        self.folder = folder
        self.warnings: list[str] = []
        stated = {"format": "csv", "path": path or str(folder), "schema": "id bigint, ts timestamp, k string, v bigint"}
        feed.readers = {"bid": {**stated, **reader}, "ask": stated}

    def put(self, name: str, *ids: int) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{id_},2024-01-01 10:00:{id_ % 60:02},a,{id_}\n" for id_ in ids))
        return file

    def run(self, **options: Any) -> list[int]:
        """Runs the model and gives the ids in its table."""
        self.warnings.clear()
        self.feed.run(ROWS, warn=self.warnings.append, **options)
        return [row[0] for row in self.feed.table()]

    def refused(self, *words: str, **options: Any) -> None:
        before = self.feed.table()
        with pytest.raises(StreamingError) as error:
            self.run(**options)
        for word in words:
            assert word in str(error.value)
        assert self.feed.table() == before


@pytest.fixture
def landing(feed: Feed, tmp_path: Path) -> Iterator[Landing]:
    yield Landing(feed, tmp_path / "in coming", options={"recursiveFileLookup": "true"})


def test_a_folder_that_is_not_there(landing: Landing) -> None:
    with pytest.raises(StreamingError) as error:
        landing.run()
    first, advice = str(error.value).splitlines()
    assert first.startswith(f"can't stream from {landing.feed.schema}.bid: [PATH_NOT_FOUND]"), first
    assert str(landing.folder) in first
    assert advice == "  make the folder, or write another path in the source's meta"


def test_files_that_are_gone_or_renamed(landing: Landing) -> None:
    one, two = landing.put("one.csv", 1, 2), landing.put("two.csv", 3)
    assert landing.run() == [1, 2, 3]
    two.rename(landing.folder / "zwei.csv")
    landing.refused("lacks files: 1 of the files that were read are gone, such as file://", "two.csv", "archived: true")
    landing.refused("new ones lie beside them", "zwei.csv", "files that were renamed", on_source_change="accept")
    assert landing.run(on_source_change="rebuild") == [1, 2, 3]
    one.unlink()
    landing.refused("one.csv", "on_source_change='rebuild'", "on_source_change='accept'")
    assert landing.run(on_source_change="accept") == [1, 2, 3]
    landing.put("three.csv", 4)
    assert landing.run() == [1, 2, 3, 4]  # what was accepted is no question again
    shutil.move(landing.folder / "zwei.csv", landing.put("other/x.csv", 5).with_name("zwei.csv"))
    landing.refused("new ones lie beside them", "other/zwei.csv", on_source_change="accept")


def test_a_folder_that_is_emptied(feed: Feed, tmp_path: Path) -> None:
    landing, archive = Landing(feed, tmp_path / "in", archived=True), tmp_path / "archive"
    archive.mkdir()

    def empty() -> None:
        for file in landing.folder.iterdir():
            file.rename(archive / file.name)

    landing.put("one.csv", 1, 2)
    landing.put("two.csv", 3)
    assert landing.run() == [1, 2, 3]
    empty()
    landing.put("three.csv", 4)
    assert landing.run() == [1, 2, 3, 4]
    assert landing.warnings == []
    empty()
    shutil.copy(archive / "one.csv", landing.folder / "uno.csv")
    landing.put("four.csv", 5)
    assert landing.run() == [1, 1, 2, 2, 3, 4, 5]
    [warning] = landing.warnings
    assert "1 of 2 new files may be copies" in warning
    assert "uno.csv, which has the lines of file://" in warning
    landing.put("archive/two.csv", 3)  # folders below are read where an option says so
    assert landing.run() == [1, 1, 2, 2, 3, 4, 5]
    landing.put("one.csv", 7)
    landing.refused("1 of its files were written again", "one.csv")


def test_a_copy_in_a_folder_that_keeps_its_files(landing: Landing) -> None:
    one = landing.put("one.csv", 1)
    landing.put("two.csv", 2)
    assert landing.run() == [1, 2]
    shutil.copy(one, landing.folder / "copy.csv")
    landing.put("three.csv", 3)
    assert landing.run() == [1, 1, 2, 3]
    assert "1 of 2 new files may be copies" in landing.warnings[0]
    assert "copy.csv, which has the lines of" in landing.warnings[0]


@pytest.mark.long
def test_names_tell_only_where_they_tell_files_apart(feed: Feed, tmp_path: Path) -> None:
    landing = Landing(feed, tmp_path, path=f"{tmp_path}/*/2024-*", archived=True)
    landing.put("eu/2024-01/rows.csv", 1)
    landing.put("eu/2024-01/more.csv", 2)
    assert landing.run() == [1, 2]
    (tmp_path / "eu/2024-01/rows.csv").unlink()
    landing.put("us/2024-02/rows.csv", 3)
    assert landing.run() == [1, 2, 3]
    assert "us/2024-02/rows.csv, which has the name of file://" in landing.warnings[0]
    landing.put("us/2024-03/rows.csv", 4)
    assert landing.run() == [1, 2, 3, 4]
    assert landing.warnings == []
    feed.readers["bid"] = {**feed.readers["bid"], "archived": False}
    landing.refused("lacks files", "eu/2024-01/rows.csv")


@pytest.mark.parametrize("version", ["0.2.0", "now"])
def test_a_project_that_has_moved(feed: Feed, tmp_path: Path, version: str) -> None:
    """Its relative path leads to another folder, where Spark would read all files again."""
    landing = Landing(feed, tmp_path / "here")
    feed.paths = {"bid": "here", "ask": "here"}
    landing.put("one.csv", 1)
    assert landing.run() == [1]
    if version == "0.2.0":
        was = json.dumps({"bid": json.dumps(["csv", "here"])}).replace("\\", "\\\\")
        feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.sources' = '{was}')")
        landing.put("two.csv", 2)
        assert landing.run() == [1, 2]
        feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.sources' = '{was}')")
    (tmp_path / "here").rename(tmp_path / "there")
    feed.readers["bid"]["path"] = str(tmp_path / "there")
    landing.refused("lies in another folder than before", "on_source_change='rebuild'")
    assert landing.run(on_source_change="rebuild") == ([1, 2] if version == "0.2.0" else [1])
