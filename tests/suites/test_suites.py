"""dbt-tests-adapter: each suite of dbt on each target, with tables in Parquet."""

from __future__ import annotations

from tests.suites.making import suite_classes

globals().update(suite_classes("parquet"))
