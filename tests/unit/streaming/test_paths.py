"""Files within a folder, however both are written."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.streaming.spark.folders import is_relative, path_of, within


@pytest.mark.parametrize(
    ("place", "name", "expected"),
    [
        ("/data/in", "file:///data/in/a.csv", True),
        ("/data/in/", "file:///data/in/day=1/a.csv", True),
        ("/data/in", "file:///data/incoming/a.csv", False),
        ("/data/./x/../in", "file:///data/in/a.csv", True),
        ("/data/in/a.csv", "file:///data/in/a.csv", True),
        ("/data/in", "hdfs://namenode:9000/data/in/a.csv", True),
        ("file:/data/in", "file:///data/in/a%20b%3F.csv", True),
        ("file:///data/in", "hdfs://namenode:9000/data/in/a.csv", False),
        ("s3a://shop/in", "s3a://shop/in/a.csv", True),
        ("s3a://shop/in", "s3a://other/in/a.csv", False),
        ("/data/*/in", "file:///data/eu/in/a.csv", True),
        ("/data/*/in", "file:///data/eu/west/in/a.csv", False),
        ("/data/{eu,us}/in", "file:///data/us/in/a.csv", True),
        ("/data/{eu,us}/in", "file:///data/asia/in/a.csv", False),
        ("/data/in/[ab]?.csv", "file:///data/in/a1.csv", True),
        ("/data/in/[^ab]?.csv", "file:///data/in/a1.csv", False),
        ("/data/in/\\*", "file:///data/in/*/a.csv", True),
        ("/data/in/\\*", "file:///data/in/x/a.csv", False),
        ("/data/a.b+c", "file:///data/a.b+c/d", True),
        ("/data/a.b+c", "file:///data/axb+c/d", False),
    ],
)
def test_files_within_a_folder(place: str, name: str, expected: bool) -> None:
    assert within(place)(path_of(name)) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("incoming", True), ("../in:coming", True), ("/incoming", False), ("s3a://shop/in", False), ("file:/in", False)],
)
def test_paths_that_are_relative(path: str, expected: bool) -> None:
    assert is_relative(path) is expected
