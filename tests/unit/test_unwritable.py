"""Folders that Spark can't write to, in words."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.messages.readable import readable

CALL = "An error occurred while calling o213.text.\n: "
TASK = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most "
    "recent failure: Lost task 0.0 in stage 1.0 (TID 1) (localhost executor driver): "
)


@pytest.mark.parametrize(
    ("message", "folder"),
    [
        (
            f"{CALL}{TASK}java.io.IOException: Mkdirs failed to create file:/proc/none/t/_temporary/0/_temporary/a "
            "(exists=false, cwd=file:/work)\n\tat org.apache.hadoop.fs.ChecksumFs.create(ChecksumFs.java:1)",
            "file:/proc/none/t",
        ),
        (
            f"{CALL}org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: file:/tmp/file",
            "file:/tmp/file",
        ),
        ("java.io.FileNotFoundException: /d/.part-0.crc (Permission denied)", "/d/.part-0.crc (permission denied)"),
        (f"{TASK}java.io.FileNotFoundException: /d/x (No space left on device)", "/d/x (no space left on device)"),
    ],
)  # fmt: skip
def test_a_folder_that_cannot_be_written_to(message: str, folder: str) -> None:
    first, *rest = readable(message).splitlines()
    assert first == f"Spark can't write to {folder}"
    assert "checkpoint_location or location_root" in rest[0]


@pytest.mark.parametrize(
    "message",
    [
        "[USER_RAISED_EXCEPTION] java.io.IOException: Mkdirs failed to create /home",
        f"{TASK}java.lang.RuntimeException: it said Mkdirs failed to create /home",
    ],
)
def test_what_others_say_is_no_folder(message: str) -> None:
    assert "can't write" not in readable(message)
