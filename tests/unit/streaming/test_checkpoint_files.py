"""Who writes the files of a checkpoint."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.spark.engine import Engine

SETTING = "spark.sql.streaming.checkpointFileManagerClass"
NEW = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
OLD = "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"


@pytest.mark.parametrize(
    ("checkpoint", "url", "given", "there", "expected"),
    [
        ("file:/w/t/checkpoint", None, None, {NEW}, NEW),
        ("file:/w/t/checkpoint", None, None, {OLD}, OLD),  # before Spark 4.1
        ("file:/w/t/checkpoint", None, None, set(), None),
        ("file:/w/t/checkpoint", None, "a.b.Own", {NEW}, "a.b.Own"),
        ("s3a://b/checkpoint", None, None, {NEW}, None),
        ("file:/w/t/checkpoint", "sc://host:15002", None, {NEW}, None),
    ],
)
def test_on_a_disk_files_are_renamed_by_one_call(
    checkpoint: str, url: str | None, given: str | None, there: set[str], expected: str | None
) -> None:
    settings = {} if given is None else {SETTING: given}
    conf = SimpleNamespace(get=settings.get, set=settings.__setitem__)
    utils = SimpleNamespace(classIsLoadable=there.__contains__)
    java = SimpleNamespace(
        org=SimpleNamespace(apache=SimpleNamespace(spark=SimpleNamespace(util=SimpleNamespace(Utils=utils))))
    )
    spark: Any = SimpleNamespace(conf=conf, _jvm=java)
    Engine(spark, url)._write_checkpoints_at_once(checkpoint)
    assert settings.get(SETTING) == expected
