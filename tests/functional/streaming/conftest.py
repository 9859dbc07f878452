"""Fixtures of the streaming tests."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.functional.streaming.feed import Feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_NUMBERS = itertools.count()


@pytest.fixture
def feed(embedded: SparkSession) -> Iterator[Feed]:
    feed = Feed(embedded, f"feed_{next(_NUMBERS)}")
    yield feed
    feed.drop()
