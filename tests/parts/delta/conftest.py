"""Fixtures of the tests with parts that Spark hasn't itself: `make parts` gets them, `make test-parts` runs these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.adapter.project import PARAMETERS, ROOT, Project
from tests.functional.streaming.feed import Feed
from tests.support import without_waiting_for_the_disk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA = ROOT / "parts" / "jars" / "delta"


def delta_parameters(folder: Path = DELTA) -> dict[str, str]:
    """The `server_side_parameters` of a profile with Delta in `spark_catalog`."""
    return {
        **PARAMETERS,
        "spark.jars": ",".join(map(str, sorted(folder.glob("*.jar")))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Tables here have a handful of files: 50 tasks to read the list of them take longer than all else.
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def reason_to_skip(folder: Path, version: str) -> str | None:
    """Why Delta's jars in a folder don't run on a version of Spark; None where they do."""
    jar = next(iter(folder.glob("delta-spark_*.jar")), None)
    if jar is None:
        return "Delta's jars aren't here: `make parts` gets them from Maven Central"
    built = re.match(r"delta-spark_([\d.]+)_", jar.name)
    if built is None or not version.startswith(built[1] + "."):
        return (
            f"{jar.name} isn't built for Spark {version}: `make test-parts` runs these tests with a Spark that it fits"
        )
    return None


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes, with Delta."""
    import pyspark

    if reason := reason_to_skip(DELTA, pyspark.__version__):
        pytest.skip(reason)
    from dbt.adapters.sparkstream.session import spark_session

    with without_waiting_for_the_disk():
        session = spark_session(delta_parameters(), tmp_path_factory.mktemp("embedded"))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def make_project(embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Project]:
    """Makes dbt projects on a Spark with Delta."""
    embedded.conf.unset("spark.sql.session.timeZone")  # another module may have set it

    def make(files: dict[str, str], **target: Any) -> Project:
        given = {"server_side_parameters": delta_parameters(), **target}
        return Project(tmp_path_factory.mktemp("shop"), embedded, files, given)

    return make


@pytest.fixture
def feed(embedded: SparkSession) -> Iterator[Feed]:
    feed = Feed(embedded)
    yield feed
    feed.drop()
