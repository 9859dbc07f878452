"""Mistakes in a streaming model's config, and the places that their messages have."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.messages.mistakes import PlacedError, placed, placed_config, placed_stream
from dbt.adapters.sparkstream.streaming.refusals import StreamingError

VIEW = "select * from {{ stream(source('auction', 'bids')) }}"
MODEL = "{{ config(watermark='5 minuts', late_rows='keeep') }}\n" + VIEW


@pytest.mark.parametrize(
    ("template", "message", "place"),
    [
        (MODEL, "watermark: unknown unit of time 'minuts'\n  use minutes", ":1:21"),
        (MODEL, "late_rows can't be 'keeep'\n  write one of drop, keep, update", ":1:43"),
        (VIEW, "stream() stands in a streaming model\n  write config(materialized='streaming_incremental')", ":1:18"),
        (VIEW, "a stream needs a watermark\n  write config(watermark='5 minutes')", ""),
        (MODEL, "a stream needs an event_time\n  write config(event_time='ts')", ":1:4"),
    ],
)
def test_a_place_is_shown_once(tmp_path: Path, template: str, message: str, place: str) -> None:
    """A streaming model's error passes those who place the errors of what dbt compiles."""
    (tmp_path / "m.sql").write_text(template)
    node = SimpleNamespace(raw_code=template, original_file_path="m.sql")
    error = placed_stream(PlacedError(message), node, tmp_path)
    error.__cause__ = StreamingError(message)
    once = str(error.msg)
    assert once.count(f"m.sql{place}") == 1
    assert once.split("\n")[-1] == message.split("\n")[-1]
    assert placed_config(error, node, tmp_path).msg == once
    assert placed(error, node, tmp_path, []).msg == once


def test_a_config_that_a_message_has_in_words(tmp_path: Path) -> None:
    """`incremental` is a value in the same template, and a part of the message too."""
    template = "{{ config(materialized='incremental', incremental_strategy='merge') }}\nselect 1"
    (tmp_path / "m.sql").write_text(template)
    error = DbtRuntimeError("Invalid incremental strategy provided: merge\n  write another")
    node = SimpleNamespace(raw_code=template, original_file_path="m.sql")
    assert "m.sql:1:60\n" in str(placed_config(error, node, tmp_path).msg)
