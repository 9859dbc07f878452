"""Late rows that correct windows of a table with a log of what was done: the same test for each format."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.worker import sink
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_corrections import FEW, TUMBLE, UPDATE, check


def correct(feed: Feed, file_format: str, kind: type[sink.Sink], monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrects windows, with micro-batches that are interrupted before and after their rows are in the table."""
    options: dict[str, Any] = {**UPDATE, "file_format": file_format}
    few = {"name": "few", **options}
    feed.add("bid", [(1, 1005, "a", 1), (2, 1045, "a", 1), (3, 1046, "b", 1)])
    feed.run(TUMBLE, **options)
    feed.run(FEW, **few)
    # They correct a window, make one that was empty, and leave one with too many rows for HAVING.
    feed.add("bid", [(4, 1006, "a", 7), (5, 985, "b", 1), (6, 1007, "a", 2), (7, 1070, "b", 2)])
    own = kind._correct

    def before(self: Any, *arguments: Any) -> None:
        raise RuntimeError("killed")

    def after(self: Any, *arguments: Any) -> None:
        own(self, *arguments)
        raise RuntimeError("killed")

    for interrupted in (before, after):
        with monkeypatch.context() as patched:
            patched.setattr(kind, "_correct", interrupted)
            for sql, given in ((TUMBLE, options), (FEW, few)):
                with pytest.raises(StreamingError, match="killed"):
                    feed.run(sql, **given)
    feed.run(TUMBLE, **options)
    feed.run(FEW, **few)
    check(feed, "model", TUMBLE, 1070)
    check(feed, "few", FEW, 1070)
    assert "nothing new" in feed.run(TUMBLE, **options).message
    feed.add("bid", [(8, 1008, "c", 1)])
    feed.run(TUMBLE, **options)
    check(feed, "model", TUMBLE, 1070)
