"""The suites of hooks, whose SQL and expectations are PostgreSQL's."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.suites.adapting import Adaptation, both, edited

FIELDS = (
    "test_state",
    "target_dbname",
    "target_host",
    "target_name",
    "target_schema",
    "target_type",
    "target_user",
    "target_pass",
    "target_threads",
    "run_started_at",
    "invocation_id",
    "thread_id",
)


def _make_table(project: Any, name: str) -> None:
    columns = ", ".join(f"{field} {'int' if field == 'target_threads' else 'string'}" for field in FIELDS)
    project.run_sql(f"drop table if exists {project.test_schema}.{name}")
    project.run_sql(f"create table {project.test_schema}.{name} ({columns})")


def _recorded(project: Any, table: str, state: str) -> list[dict[str, Any]]:
    """What the hooks have written down."""
    query = f"select {', '.join(FIELDS)} from {project.test_schema}.{table} where test_state = '{state}'"
    return [dict(zip(FIELDS, row, strict=True)) for row in project.run_sql(query, fetch="all")]


def _check(self: Any, state: str, project: Any, host: str, count: int = 1) -> None:
    notes = _recorded(project, self.hook_table, state)
    assert len(notes) == count
    for note in notes:
        assert note["target_host"] == (host if project.adapter.config.credentials.method == "thrift" else "")
        assert note["target_name"] == "default"
        assert note["target_schema"] == project.test_schema
        assert note["target_threads"] == 2
        assert note["target_type"] == "sparkstream"
        assert note["target_user"] == note["target_pass"] == ""  # dbt-spark keeps them out of `target`
        assert note["run_started_at"] and note["invocation_id"]
        assert note["thread_id"].startswith(("Thread-", "MainThread"))


def _model_set_up(self: Any, project: Any) -> None:
    _make_table(project, self.hook_table)


def _run_set_up(self: Any, project: Any) -> None:
    _make_table(project, self.hook_table)
    for name in ("schemas", "db_schemas"):
        project.run_sql(f"drop table if exists {project.test_schema}.{name}")
    os.environ["TERM_TEST"] = "TESTING"


def _used_schemas(self: Any, project: Any) -> None:
    """A relation of dbt-spark has no database."""
    schema = project.test_schema
    assert [tuple(row) for row in project.run_sql(f"select * from {schema}.schemas", fetch="all")] == [(schema,)]
    rows = project.run_sql(f"select * from {schema}.db_schemas", fetch="all")
    assert [tuple(row) for row in rows] == [("None", schema)]


def _model_suite(suite: type) -> dict[str, Any]:
    return {
        "hook_table": "on_model_hook",
        "setUp": pytest.fixture(scope="class", autouse=True, name="setUp")(_model_set_up),
        "check_hooks": _check,
    }


# Spark has no VACUUM: another statement on the table in its place.
MODEL_HOOKS: Adaptation = both(_model_suite, edited("project_config_update", ("vacuum ", "refresh table ")))


def _run_suite(suite: type) -> dict[str, Any]:
    return {
        "hook_table": "on_run_hook",
        "setUp": pytest.fixture(scope="function", name="setUp")(_run_set_up),
        "check_hooks": _check,
        "assert_used_schemas": _used_schemas,
    }


RUN_HOOKS: Adaptation = both(_run_suite, edited("project_config_update", (" text", " string")))

# A table in Parquet can't be updated, but a new column can have a value.
SEED_HOOKS: Adaptation = edited(
    "project_config_update",
    ("add column new_col int", "add column new_col int default 1"),
    ("update {{ this }} set new_col = 1", "refresh table {{ this }}"),
)
