"""Adaptations for tables in Delta or Iceberg, in place of those that `adaptations.py` has for them."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

from dbt.tests.adapter.basic import expected_catalog
from sqlglot import exp, parse

from tests.suites.adaptations import (
    ADAPTATIONS,
    CATALOG,
    CONTRACT_SQL,
    CONTRACT_TEXT,
    QUOTED_COLUMN_SQL,
    references_catalog,
)
from tests.suites.adapting import Adaptation, both, edited, fixture, given, replaced
from tests.suites.discovery import suites

MERGE = given(project_config_update={"models": {"+incremental_strategy": "merge"}})
"""dbt-spark's default is `append`, whatever the format."""


def spark_sql(suite: type) -> dict[str, Any]:
    """A suite whose own statements are PostgreSQL's."""

    def project(self: Any, project: Any) -> Any:
        run = project.run_sql

        def run_as_spark(sql: str, **kwargs: Any) -> Any:
            text = sql.replace("{database}.", "").replace(f"{project.database}.", "")
            found = None
            for statement in parse(text.format(schema=project.test_schema), read="postgres"):
                if statement is not None:
                    for default in list(statement.find_all(exp.DefaultColumnConstraint)):
                        default.pop()  # a new column is NULL in any case
                    found = run(statement.sql("spark"), **kwargs)
            return found

        project.run_sql = run_as_spark
        return project

    without_database = edited("snapshots", ("{{target.database}}.", ""))(suite) if hasattr(suite, "snapshots") else {}
    return {"project": fixture(project, "project"), **without_database}


def _own_target(self: Any, dbt_profile_target: Any) -> Any:
    """That of the folder's tests: the suite's own is PostgreSQL."""
    return dbt_profile_target


def _as_it_is(suite: type) -> dict[str, Any]:
    return {}


class _Long(str):
    """The type of a whole number, which some of Spark's answers have under another name."""

    def __eq__(self, other: object) -> bool:
        return other in ("long", "bigint")

    def __hash__(self) -> int:
        return hash("long")


def _without_stats(catalog: Any) -> Any:
    """A catalog that says nothing of sizes, which Spark knows of some tables."""
    for kind in ("nodes", "sources"):
        for node in catalog[kind].values():
            node["stats"] = ANY
    return catalog


def _base_catalog(self: Any, project: Any, profile_user: str) -> Any:
    types = {**CATALOG, "id_type": _Long()}
    return _without_stats(expected_catalog.base_expected_catalog(project, role=profile_user, **types))


def _references_catalog(self: Any, project: Any, profile_user: str) -> Any:
    return _without_stats(references_catalog(project, profile_user, bigint=_Long()))


def _contract_ddl(file_format: str, sql: str = CONTRACT_SQL) -> Adaptation:
    """A table is replaced in one commit; the first one in Iceberg replaces none, so that a stream can read it."""
    verb = "create table" if file_format == "iceberg" else "create or replace table"
    makes = f"{verb} <model_identifier> using {file_format} as"
    return both(CONTRACT_TEXT, given(expected_sql=sql.replace("create table <model_identifier> as", makes)))


def _of_both(file_format: str) -> dict[str, Adaptation]:
    return {
        "basic.DocsGenerate": replaced("expected_catalog", _base_catalog),
        "basic.DocsGenReferences": replaced("expected_catalog", _references_catalog),
        "constraints.ConstraintQuotedColumn": _contract_ddl(file_format, QUOTED_COLUMN_SQL),
        "constraints.IncrementalConstraintsRuntimeDdlEnforcement": _contract_ddl(file_format),
        "constraints.ModelConstraintsRuntimeEnforcement": _contract_ddl(file_format),
        "constraints.TableConstraintsRuntimeDdlEnforcement": _contract_ddl(file_format),
        # The suite looks at a text that is cut in the middle, as the parsers of formats say more.
        "dbt_show.ShowDoesNotHandleDoubleLimit": lambda suite: {
            "DATABASE_ERROR_MESSAGE": "[PARSE_SYNTAX_ERROR] Syntax"
        },
        "hooks.PrePostModelHooksOnSeeds": _as_it_is,
        "hooks.PrePostModelHooksOnSeedsPlusPrefixed": _as_it_is,
        "hooks.PrePostModelHooksOnSeedsPlusPrefixedWhitespace": _as_it_is,
        "incremental.IncrementalUniqueKey": MERGE,
        "simple_copy.SimpleCopyUppercase": replaced("dbt_profile_target", _own_target),
        **{name: spark_sql for name in suites() if name.startswith("simple_snapshot.")},
        # The suite writes its project anew in the middle, without the format.
        "simple_snapshot.SnapshotInvalidColumnNames": both(
            spark_sql,
            edited("models", ("strategy: timestamp", f"strategy: timestamp\n      file_format: {file_format}")),
        ),
    }


def adaptation_of(suite: str, file_format: str) -> Adaptation | None:
    """What a suite says instead; None for one that stays as it is."""
    return ADAPTATIONS_OF_FORMAT[file_format].get(suite) or ADAPTATIONS.get(suite)


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
    "iceberg": _of_both("iceberg"),
}
