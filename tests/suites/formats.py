"""What suites say where tables are in Delta or Iceberg, in place of what `adaptations.py` has for them."""

from __future__ import annotations

from typing import Any

from dbt.tests.adapter.basic import expected_catalog
from sqlglot import transpile

from tests.suites.adaptations import (
    CATALOG,
    CONTRACT_SQL,
    CONTRACT_TEXT,
    QUOTED_COLUMN_SQL,
    references_catalog,
)
from tests.suites.adapting import Adaptation, both, fixture, given, replaced
from tests.suites.discovery import suites

MERGE = given(project_config_update={"models": {"+incremental_strategy": "merge"}})
"""dbt-spark's default is `append`, whatever the format."""


def spark_sql(suite: type) -> dict[str, Any]:
    """A suite whose own statements are PostgreSQL's."""

    def project(self: Any, project: Any) -> Any:
        run = project.run_sql

        def run_as_spark(sql: str, *args: Any, **kwargs: Any) -> Any:
            [spark] = transpile(sql.strip().rstrip(";"), read="postgres", write="spark")
            return run(spark, *args, **kwargs)

        project.run_sql = run_as_spark
        return project

    return {"project": fixture(project, "project")}


def _as_it_is(suite: type) -> dict[str, Any]:
    return {}


def _base_catalog(self: Any, project: Any, profile_user: str) -> Any:
    return expected_catalog.base_expected_catalog(project, role=profile_user, **{**CATALOG, "id_type": "bigint"})


def _references_catalog(self: Any, project: Any, profile_user: str) -> Any:
    return references_catalog(project, profile_user, bigint="bigint")


def _base_catalog_without_stats(self: Any, project: Any, profile_user: str) -> Any:
    return _without_stats(_base_catalog(self, project, profile_user))


def _references_catalog_without_stats(self: Any, project: Any, profile_user: str) -> Any:
    return _without_stats(_references_catalog(self, project, profile_user))


def _without_stats(catalog: Any) -> Any:
    for kind in ("nodes", "sources"):
        for node in catalog[kind].values():
            node.pop("stats", None)
    return catalog


def _contract_ddl(file_format: str, sql: str = CONTRACT_SQL) -> Adaptation:
    """A table is replaced in one commit."""
    replaces = f"create or replace table <model_identifier> using {file_format} as"
    return both(CONTRACT_TEXT, given(expected_sql=sql.replace("create table <model_identifier> as", replaces)))


def _of_both(file_format: str) -> dict[str, Adaptation]:
    return {
        "basic.DocsGenerate": replaced("expected_catalog", _base_catalog),
        "basic.DocsGenReferences": replaced("expected_catalog", _references_catalog),
        "constraints.ConstraintQuotedColumn": _contract_ddl(file_format, QUOTED_COLUMN_SQL),
        "constraints.IncrementalConstraintsRuntimeDdlEnforcement": _contract_ddl(file_format),
        "constraints.ModelConstraintsRuntimeEnforcement": _contract_ddl(file_format),
        "constraints.TableConstraintsRuntimeDdlEnforcement": _contract_ddl(file_format),
        "hooks.PrePostModelHooksOnSeeds": _as_it_is,
        "hooks.PrePostModelHooksOnSeedsPlusPrefixed": _as_it_is,
        "hooks.PrePostModelHooksOnSeedsPlusPrefixedWhitespace": _as_it_is,
        "incremental.IncrementalUniqueKey": MERGE,
        "simple_copy.SimpleCopyUppercase": _as_it_is,
        **{name: spark_sql for name in suites() if name.startswith("simple_snapshot.")},
    }


ADAPTATIONS_OF_FORMAT: dict[str, dict[str, Adaptation]] = {
    "parquet": {},
    "delta": {
        **_of_both("delta"),
        # Delta takes a constraint when the rows are there, so a first or full build has them then.
        "constraints.TableConstraintsRollback": both(
            CONTRACT_TEXT,
            given(expected_color="red", expected_error_messages=["DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"]),
        ),
        "constraints.IncrementalConstraintsRollback": both(
            CONTRACT_TEXT, given(expected_error_messages=["DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"])
        ),
        # Delta drops columns of tables whose columns have names of their own.
        "incremental.IncrementalOnSchemaChange": given(
            project_config_update={"models": {"+tblproperties": {"delta.columnMapping.mode": "name"}}}
        ),
    },
    # Iceberg knows the size of each table.
    "iceberg": {
        **_of_both("iceberg"),
        "basic.DocsGenerate": replaced("expected_catalog", _base_catalog_without_stats),
        "basic.DocsGenReferences": replaced("expected_catalog", _references_catalog_without_stats),
    },
}
