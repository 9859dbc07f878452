"""Runs dbt's suites on the targets of the integration tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters
from dbt.tests.fixtures.project import *  # noqa: F403

from tests.integration.targets import Target
from tests.suites.adaptations import profile_output


@pytest.fixture(scope="module", autouse=True)
def _no_adapters_of_earlier_tests() -> None:
    """dbt keeps the adapter of the last command in a process, and its fixtures take that for theirs."""
    reset_adapters()


@pytest.fixture(scope="class")  # type: ignore[no-redef]
def dbt_profile_target(target: Target) -> dict[str, Any]:
    """dbt's fixtures write a profile of this."""
    return profile_output(target)


@pytest.fixture(scope="class")  # type: ignore[no-redef]
def logs_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where dbt logs; dbt's own fixture says: in this repository."""
    folder = str(tmp_path_factory.mktemp("logs"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_LOG_PATH", folder)
        yield folder


@pytest.fixture(scope="module")  # type: ignore[no-redef]
def test_data_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where a suite makes a folder for files of its own; dbt's own fixture says: beside the tests."""
    return str(tmp_path_factory.mktemp("suite") / "data")


IN_CI = "basic."


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """CI runs dbt's basic suites, each on one target in turn; `make test` runs half of those on the embedded Spark."""
    tests = [item for item in items if isinstance(item, pytest.Function) and hasattr(item.cls, "suite")]
    suites = sorted({item.cls.suite for item in tests})
    for item in tests:
        place = suites.index(item.cls.suite)
        turn = ("session", "thrift")[place % 2]
        if not item.cls.suite.startswith(IN_CI) or turn not in item.name:
            item.add_marker(pytest.mark.full)
        elif place % 4 == 2:
            item.add_marker(pytest.mark.long)
