"""The suites of `dbt clone`: all but Delta becomes views. The suites make a snapshot too, which needs Delta."""

from __future__ import annotations

from typing import Any

from dbt.tests.util import run_dbt, run_dbt_and_capture

OTHER = ["clone", "--state", "state", "--target", "otherschema"]


def clone_as_views(self: Any, project: Any, unique_schema: str, other_schema: str) -> None:
    project.create_test_schema(other_schema)
    self.run_and_save_state(project.project_root)
    assert len(run_dbt([*OTHER])) == 3
    relations = project.adapter.list_relations(database=project.database, schema=other_schema)
    assert {relation.identifier: relation.type for relation in relations} == {
        "seed": "view",
        "table_model": "view",
        "view_model": "view",
    }
    rows = project.run_sql(f"select * from {other_schema}.table_model order by id", fetch="all")
    assert [tuple(row) for row in rows] == [(1, "Alice"), (2, "Bob")]
    again = run_dbt([*OTHER])
    assert len(again) == 3
    assert all("no-op" in result.message.lower() for result in again)
    assert len(run_dbt([*OTHER, "--full-refresh"])) == 3
    models = run_dbt([*OTHER, "--resource-type", "model"])
    assert len(models) == 2
    assert all("no-op" in result.message.lower() for result in models)


def clone_of_the_same_state(self: Any, project: Any, unique_schema: str, other_schema: str) -> None:
    """The suite's own fails at its snapshot, and looks for the warning then."""
    project.create_test_schema(other_schema)
    self.run_and_save_state(project.project_root)
    _, output = run_dbt_and_capture(["clone", "--defer", "--state", "target"])
    assert "The state and target directories are the same: 'target'" in output


def clone_onto_itself(self: Any, project: Any, unique_schema: str) -> None:
    run_dbt(["seed"])
    run_dbt(["run"])
    self.copy_state(project.project_root)
    _, output = run_dbt_and_capture(["clone", "--state", "state", "--full-refresh", "--log-level", "debug"])
    assert "skipping clone for relation" in output
    assert len(project.run_sql(f"select * from {unique_schema}_seeds.seed", fetch="all")) == 2
