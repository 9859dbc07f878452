"""Models, seeds and snapshots in Iceberg: what dbt builds in it, run after run."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest

from tests.functional.adapter.project import Project
from tests.parts import formats
from tests.parts.formats import Builds, left, provider

model = partial(formats.model, file_format="iceberg")


def history(project: Project, table: str) -> list[str]:
    """The operations of a table's snapshots, the oldest first."""
    found = project._spark.sql(f"select operation from {project.schema}.{table}.snapshots order by committed_at")
    return [str(row[0]) for row in found.collect()]


class TestIceberg(Builds):
    file_format = "iceberg"
    history = staticmethod(history)
    replaces = "overwrite"
    writes = "overwrite"


def test_a_table_is_replaced_in_one_commit(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            "seeds/colors.csv": "id,name\n1,red\n2,green\n",
            "models/all_colors.sql": model("select * from {{ ref('colors') }}", materialized="table"),
            "models/named.sql": model(
                "select id as `the id`, name from {{ ref('colors') }}",
                materialized="table",
                partition_by="name",
                persist_docs={"relation": True, "columns": True},
            ),
            "models/docs.yml": "models: [{name: named, description: it's Iceberg, columns: "
            '[{name: the id, quote: true, description: the "id"}]}]\n',
            "models/turned.sql": "{{ config(materialized='table') }} select 1 as id",
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            "seeds: {+file_format: iceberg}\n",
        }
    )
    project.dbt("build")
    assert provider(project, "colors") == "iceberg"
    project.write(
        {
            "seeds/colors.csv": "id,name\n3,blue\n",
            "models/turned.sql": model("select 2 as id", materialized="table"),
        }
    )
    project.dbt("build")
    assert project.rows("select * from {}.colors") == project.rows("select * from {}.all_colors") == [(3, "blue")]
    assert project.rows("select * from {}.turned") == [(2,)]
    for table in ("all_colors", "named"):
        assert len(history(project, table)) == 2, table  # a reader sees the rows before it or those after it
    described = {row[0]: row for row in project.rows("describe extended {}.named")}
    assert described["the id"][2] == 'the "id"'
    assert described["Comment"][1] == "it's Iceberg"
    for number in (3, 4, 5):  # in Parquet, whose files stay when such a catalog drops a table
        project.write({"models/turned.sql": f"{{{{ config(materialized='table') }}}} select {number} as id"})
        project.dbt("run", "--select", "turned")
        project.sql("refresh table {}.turned")  # such a catalog doesn't tell a session that a table was replaced
        assert project.rows("select * from {}.turned") == [(number,)]
    assert provider(project, "turned") == "parquet"
    assert not left(project)
    project.dbt("docs", "generate")


@pytest.mark.parametrize("strategy", ["check", "timestamp"])
def test_a_snapshot_of_columns_in_upper_case(make_project: Callable[..., Project], strategy: str) -> None:
    """Also one that the query gets later, and after runs in which nothing has changed."""
    config = "file_format='iceberg', unique_key='ID', target_schema=schema, hard_deletes='new_record', " + (
        "strategy='check', check_cols=['Name', '`My Col`']"
        if strategy == "check"
        else "strategy='timestamp', updated_at='At'"
    )
    config += ", persist_docs={'relation': true, 'columns': true}"
    text = "x" * 600
    docs = "snapshots: [{name: seen, description: TEXT, columns: [{name: Name, description: TEXT}]}]"
    query = "select 1 as ID, 'a' as Name, 3 as `My Col`, timestamp'2024-01-01' as At union all select 2, 'b', 4, "
    query += "timestamp'2024-01-01'"

    def snapshot(query: str) -> dict[str, str]:
        return {"snapshots/seen.sql": f"{{% snapshot seen %}}{{{{ config({config}) }}}}{query}{{% endsnapshot %}}"}

    project = make_project({**snapshot(query), "snapshots/docs.yml": docs.replace("TEXT", text)})
    project.dbt("build")
    project.dbt("build")
    changed = "select 1 as ID, 'A' as Name, 3 as `My Col`, timestamp'2024-01-02' as At, 5 as Extra"
    project.write(snapshot(changed))
    project.dbt("build")
    project.dbt("build")
    found = project.rows("select ID, Name, Extra, dbt_valid_to is null, dbt_is_deleted from {}.seen")
    assert found == [
        *((1, "A", 5, True, "False"), (1, "a", None, False, "False")),
        *((2, "b", None, False, "False"), (2, "b", None, True, "True")),
    ]
    names = [row[0] for row in project._spark.sql(f"describe {project.schema}.seen").collect()]
    assert names[:4] == ["ID", "Name", "My Col", "At"] and "extra" in [name.lower() for name in names]


def test_comments_of_plain_views(make_project: Callable[..., Project]) -> None:
    """In `spark_catalog`, and in Iceberg's catalog on Hive's metastore, which keeps their columns otherwise."""
    text = "C:\\temp\\new it's `x` " + "long " * 199 + "\\"
    config = "{{ config(persist_docs={'relation': true, 'columns': true}%s) }}\nselect 1 as id, 2 as `My Col`"
    columns = [{"name": "ID", "description": text}, {"name": "my col", "description": text}]
    models = [{"name": name, "description": text, "columns": columns} for name in ("plain", "there", "files")]
    project = make_project(
        {
            "models/plain.sql": config % "",
            "models/there.sql": config % ", database='metastore'",
            "models/files.sql": config % ", materialized='table'",
            "models/docs.yml": json.dumps({"models": models}),
        }
    )
    for _ in range(2):
        project.dbt("run")
        for name in ("plain", "there", "files"):
            catalog = "metastore." if name == "there" else ""
            rows = project._spark.sql(f"describe extended {catalog}{project.schema}.{name}").collect()
            found = {row[0]: row[2] for row in rows[:2]}
            assert set(found.values()) == {text[:252] + "..."}, name
            assert {row[1] for row in rows if row[0] == "Comment"} == {text}, name
