"""Fixtures that suites share: one embedded Spark, and dbt projects on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.adapter.project import PARAMETERS, Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: starts processes of its own that take long; left out of `make test`")
    config.addinivalue_line("markers", "full: the same as another test, on far more; left out of `make test`")


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes, in a folder of its own, as long as the tests run."""
    from dbt.adapters.sparkstream.session import spark_session

    session = spark_session(PARAMETERS, tmp_path_factory.mktemp("embedded"))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def make_project(embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Project]:
    """Makes dbt projects: `make_project({"models/a.sql": "select 1 as x"}, type="spark", ...)`."""

    def make(files: dict[str, str], **target: Any) -> Project:
        return Project(tmp_path_factory.mktemp("shop"), embedded, files, target)

    return make
