"""Fixtures of the streaming tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.functional.streaming.feed import Feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture
def feed(embedded: SparkSession) -> Iterator[Feed]:
    feed = Feed(embedded)
    yield feed
    feed.drop()
