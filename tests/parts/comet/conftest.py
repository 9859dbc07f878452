"""A Spark that runs plans in Comet: `make parts` gets its jar, and a Spark that it fits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.find_spark_home import _find_spark_home

from dbt.adapters.sparkstream.spark.accelerators import accelerated
from tests.functional.adapter.project import PARAMETERS, ROOT
from tests.lib.support import quick_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMET = {
    **PARAMETERS,
    "spark.jars": f"{ROOT}/parts/jars/comet/*.jar",
    # The tests' rows are in no files, and Comet takes others only where it is told to.
    "spark.comet.exec.localTableScan.enabled": "true",
    "spark.comet.sparkToColumnar.enabled": "true",
}


@pytest.fixture(scope="session")
def profile() -> dict[str, Any]:
    try:
        accelerated(COMET, Path(_find_spark_home()))
    except ValueError as why:
        pytest.skip(
            f"{why}\n`make parts` gets the jar, and `make test-parts` runs these tests with a Spark that it fits"
        )
    return {"server_side_parameters": COMET, "accelerator": "comet"}


@pytest.fixture(scope="session")
def spark(embedded: SparkSession) -> SparkSession:
    """A session of its own for tiny queries."""
    return quick_session(embedded)
