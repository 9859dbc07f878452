"""A Spark that runs plans in Comet: `make parts` gets its jar, and a Spark that it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.adapter.project import PARAMETERS, ROOT, Project
from tests.lib.support import quick_session, without_waiting_for_the_disk

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
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes with `accelerator: comet`."""
    from dbt.adapters.sparkstream.spark.session import spark_session

    try:
        with without_waiting_for_the_disk():
            session = spark_session(COMET, tmp_path_factory.mktemp("embedded"), "comet")
    except ValueError as why:
        pytest.skip(
            f"{why}\n`make parts` gets the jar, and `make test-parts` runs these tests with a Spark that it fits"
        )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark(embedded: SparkSession) -> SparkSession:
    """A session of its own for tiny queries."""
    return quick_session(embedded)


@pytest.fixture(scope="module")
def make_project(embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Project]:
    """Makes dbt projects on a Spark with Comet."""
    embedded.conf.unset("spark.sql.session.timeZone")  # another module may have set it

    def make(files: dict[str, str], **target: Any) -> Project:
        given = {"server_side_parameters": COMET, "accelerator": "comet", **target}
        return Project(tmp_path_factory.mktemp("shop"), embedded, files, given)

    return make
