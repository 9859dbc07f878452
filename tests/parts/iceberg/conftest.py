"""Fixtures of the tests with Iceberg: `make parts` gets its jar, and a Spark that it fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.adapter.project import Project
from tests.lib.support import without_waiting_for_the_disk
from tests.parts.parameters import ICEBERG, catalog_parameters, iceberg_parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def reason_to_skip(folder: Path, version: str) -> str | None:
    """Why Iceberg's jar in a folder doesn't run on a version of Spark; None where it does."""
    jar = next(iter(folder.glob("iceberg-spark-runtime-*.jar")), None)
    if jar is None:
        return "Iceberg's jar isn't here: `make parts` gets it from Maven Central"
    built = re.match(r"iceberg-spark-runtime-([\d.]+)_", jar.name)
    if built is None or not version.startswith(built[1] + "."):
        return (
            f"{jar.name} isn't built for Spark {version}: `make test-parts` runs these tests with a Spark that it fits"
        )
    return None


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes, with Iceberg."""
    import pyspark

    if reason := reason_to_skip(ICEBERG, pyspark.__version__):
        pytest.skip(reason)
    from dbt.adapters.sparkstream.spark.session import spark_session

    with without_waiting_for_the_disk():
        settings = {**iceberg_parameters(), **catalog_parameters(tmp_path_factory.mktemp("lake"))}
        session = spark_session(settings, tmp_path_factory.mktemp("embedded"))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def make_project(embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Project]:
    """Makes dbt projects on a Spark with Iceberg."""
    embedded.conf.unset("spark.sql.session.timeZone")  # another module may have set it

    def make(files: dict[str, str], **target: Any) -> Project:
        given = {"server_side_parameters": iceberg_parameters(), **target}
        return Project(tmp_path_factory.mktemp("shop"), embedded, files, given)

    return make
