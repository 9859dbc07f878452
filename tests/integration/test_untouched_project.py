"""A project made for dbt-spark: nothing in it changes but `type: spark`, and it gives the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.targets import DbtProject, Target, copy_project, problems

TABLES = ("raw_orders", "stg_orders", "stg_payments", "orders", "customers", "daily_orders", "order_log")


def _run(target: Target, type_: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that dbt makes of the project: what it says of each node, the SQL, the rows, the docs."""
    folder = copy_project("tests/integration/jaffle_shop", tmp_path_factory.mktemp(type_) / "jaffle_shop")
    # The same schema for both, so that the SQL is the same.
    project = DbtProject(folder, target, schema=f"shop_{target.name}", type_=type_)
    target.drop_schema(project.schema)
    project.dbt("seed")
    found: dict[str, Any] = {}
    for run in ("first", "second"):  # the second is the incremental one
        done = project.invoke("build", "--exclude", "resource_type:seed", "resource_type:snapshot")
        found[run] = {result.node.unique_id: str(result.status) for result in done.result.results}
        assert done.success, problems(done)
        found[f"{run} rows"] = {table: target.rows(f"select * from {project.schema}.{table}") for table in TABLES}
    project.dbt("compile")
    sql = (folder / "target" / "compiled").rglob("*.sql")  # a snapshot has a folder of this name
    found["sql"] = {path.relative_to(folder).as_posix(): path.read_text() for path in sql if path.is_file()}
    catalog = project.dbt("docs", "generate")
    found["docs"] = {
        node: {name: column.type for name, column in table.columns.items()} for node, table in catalog.nodes.items()
    }
    # Snapshots want a table format that a plain Spark has not: the same refusal.
    snapshot = project.invoke("snapshot")
    assert not snapshot.success
    found["snapshot"] = [str(result.status) for result in snapshot.result.results]
    return found


@pytest.mark.full
def test_the_same_as_with_dbt_spark(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    theirs = _run(target, "spark", tmp_path_factory)
    ours = _run(target, "sparkstream", tmp_path_factory)
    for part, expected in theirs.items():
        assert ours[part] == expected, part
    assert len(ours["second rows"]["order_log"]) == 6
    assert ours["first rows"]["daily_orders"] != ours["second rows"]["daily_orders"]
