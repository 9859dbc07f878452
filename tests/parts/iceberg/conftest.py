"""A Spark with Iceberg: `make parts` gets its jar, and a Spark that it fits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parts.parameters import catalog_parameters, iceberg_parameters, reason_to_skip


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """With two catalogs more."""
    if reason := reason_to_skip("iceberg"):
        pytest.skip(reason)
    return {"server_side_parameters": {**iceberg_parameters(), **catalog_parameters(tmp_path_factory.mktemp("lake"))}}
