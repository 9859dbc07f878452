"""Sources with rows that a model hasn't read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Offsets, ReadFiles, Recorded
from dbt.adapters.sparkstream.streaming.spark.folders import Stored

BIDS = {"/bid/a": 1, "/bid/b": 2}
ASKS = {"/ask/a": 1}
STORED = {"/bid": BIDS, "/ask": ASKS, "/none": {}}


def source(view: str, format_: str = "parquet") -> StreamSource:
    return source_of(view=view, relation=f"shop.{view}", reader={"format": format_, "path": f"/{view.strip('_')}"})


@pytest.mark.parametrize(
    ("views", "read", "expected"),
    [
        (["bid"], [BIDS], True),
        (["bid"], [{"/bid/a": 1}], False),
        (["bid"], [{**BIDS, "/bid/b": 1}], False),  # written again since
        (["bid"], [{**BIDS, "/bid/c": 3}], False),  # gone since
        (["bid"], [], False),  # no micro-batch yet
        (["bid", "ask"], [ASKS, BIDS], True),
        (["bid", "ask"], [{}, BIDS], False),
        (["bid"], [BIDS, BIDS], True),  # joined with itself
        (["bid"], [BIDS, {"/bid/a": 1}], False),  # a file came when one of both had looked
        (["bid", "bid_"], [BIDS, {}], False),
        (["bid", "none"], [BIDS, {}], True),  # without files
        (["bid", "bid_", "none"], [BIDS, {}, {}], False),
    ],
)
def test_all_files_are_read(views: list[str], read: list[dict[str, int]], expected: bool) -> None:
    stored = {
        folder: {f"file://{path}": Stored(time, 1, f"file://{path}") for path, time in its.items()}
        for folder, its in STORED.items()
    }
    engine: Any = SimpleNamespace(folders=SimpleNamespace(stored_files=lambda folder, options: stored[folder]))
    files = [{f"file://{path}": time for path, time in its.items()} for its in read]
    recorded = Recorded(0, 0, Offsets(0, 0, tuple(0 if its else None for its in read)), ReadFiles(files))
    sources = Sources(engine, StreamConfig())
    assert sources.are_as_read([source(view) for view in views], recorded) is expected
    assert not sources.are_as_read([source("bid"), source("topic", "kafka")], recorded)
