"""dbt-tests-adapter: each suite of dbt on each target, with tables in Parquet."""

from __future__ import annotations

from tests.suites.making import test_classes

globals().update(test_classes("parquet"))
