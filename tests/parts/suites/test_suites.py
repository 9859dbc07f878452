"""dbt-tests-adapter: each suite of dbt, with tables in the format that the Spark here has jars for."""

from __future__ import annotations

import pytest

from tests.parts.suites.conftest import FORMAT
from tests.suites.making import suite_classes

if FORMAT:
    globals().update(suite_classes(FORMAT))
else:
    pytest.skip("neither Delta's jars nor Iceberg's fit the Spark here", allow_module_level=True)
