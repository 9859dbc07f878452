from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lib.support import quick_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(embedded: SparkSession) -> SparkSession:
    """A session of the process' Spark for tiny queries; who uses it sets its time zone and drops its own views."""
    return quick_session(embedded)
