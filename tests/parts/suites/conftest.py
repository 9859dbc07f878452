"""Runs dbt's suites with tables in Delta or Iceberg, whichever the Spark here has jars for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from dbt.tests.fixtures.project import *  # noqa: F403
from dbt.tests.util import write_file

from tests.integration.targets import SessionTarget
from tests.lib.support import embedded_spark
from tests.parts.parameters import FORMATS, reason_to_skip
from tests.suites.adaptations import profile_output
from tests.suites.conftest import logs_dir, test_data_dir  # noqa: F401

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = next((name for name in FORMATS if reason_to_skip(name) is None), None)


def _parameters(file_format: str) -> dict[str, str]:
    """Those of a format, which is the default for the tables that suites make with statements of their own, too."""
    return {**FORMATS[file_format](), "spark.sql.sources.default": file_format}


@pytest.fixture(scope="session", params=[FORMAT])
def file_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def embedded(file_format: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes, with the format's jars."""
    profile = {"server_side_parameters": _parameters(file_format)}
    with embedded_spark(profile, tmp_path_factory.mktemp("embedded")) as session:
        yield session


@pytest.fixture(scope="class")  # type: ignore[no-redef]
def dbt_profile_target(file_format: str, embedded: SparkSession) -> dict[str, Any]:
    """dbt's fixtures write a profile of this."""
    output = profile_output(SessionTarget(embedded))
    return {**output, "server_side_parameters": {**output["server_side_parameters"], **_parameters(file_format)}}


@pytest.fixture(scope="class")  # type: ignore[no-redef]
def dbt_project_yml(project_root: str, project_config_update: Any, file_format: str) -> dict[str, Any]:
    """The suite's own dbt_project.yml, with the format for all models, seeds and snapshots."""
    update = yaml.safe_load(project_config_update) if isinstance(project_config_update, str) else project_config_update
    config = {"name": "test", "profile": "test", "flags": {"send_anonymous_usage_stats": False}, **(update or {})}
    for kind in ("models", "seeds", "snapshots"):
        config[kind] = {"+file_format": file_format, **config.get(kind, {})}
    write_file(yaml.safe_dump(config), project_root, "dbt_project.yml")
    return config
