"""A Spark with Delta: `make parts` gets its jars, and a Spark that they fit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parts.parameters import delta_parameters, reason_to_skip


@pytest.fixture(scope="session")
def profile() -> dict[str, Any]:
    if reason := reason_to_skip("delta"):
        pytest.skip(reason)
    return {"server_side_parameters": delta_parameters()}
