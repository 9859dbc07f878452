"""Fixtures of the tests of all parts; each folder has its own `embedded`, a Spark with the part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.functional.streaming.feed import Feed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def feed(embedded: SparkSession) -> Iterator[Feed]:
    feed = Feed(embedded)
    yield feed
    feed.drop()
