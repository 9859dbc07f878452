"""Models, seeds and snapshots in Iceberg: what dbt builds in it, run after run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.adapter.project import Project
from tests.functional.adapter.test_incremental import ROWS, STEPS, replaced
from tests.parts.delta.test_tables import python_models
from tests.parts.documented import check_statements


def model(query: str, **config: Any) -> str:
    """A model's text, in Iceberg unless its configs say otherwise."""
    given = ", ".join(f"{name}={value!r}" for name, value in {"file_format": "iceberg", **config}.items())
    return f"{{{{ config({given}) }}}}\n{query}"


def incremental(query: str, strategy: str, **config: Any) -> str:
    return model(query, materialized="incremental", incremental_strategy=strategy, **config)


def history(project: Project, table: str) -> list[str]:
    """The operations of a table's snapshots, the oldest first."""
    found = project._spark.sql(f"select operation from {project.schema}.{table}.snapshots order by committed_at")
    return [str(row[0]) for row in found.collect()]


def is_iceberg(project: Project, table: str) -> bool:
    rows = project.rows(f"describe extended {{}}.{table}")
    return ("Provider", "iceberg") in [(row[0], row[1]) for row in rows]


def left(project: Project) -> list[str]:
    """Tables that were made on the way and are still there; views of the session aside."""
    return [row[1] for row in project.rows("show tables in {} like '*__dbt_*'") if not row[2]]


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
    assert is_iceberg(project, "colors")
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
    assert not is_iceberg(project, "turned")
    assert not left(project)
    project.dbt("docs", "generate")


NEW = """select * from values
{% if is_incremental() %}(2, 'b', 'new'), (2, 'b', 'newer'), (3, 'c', 'new'), (cast(null as int), 'c', 'new')
{% else %}(1, 'a', 'old'), (2, 'b', 'old'), (2, 'c', 'old'), (cast(null as int), 'b', 'old')
{% endif %} as t (id, p, v)"""
OLD_1, OLD_2B, OLD_2C, OLD_N = (1, "a", "old"), (2, "b", "old"), (2, "c", "old"), (None, "b", "old")
CAME = [(2, "b", "new"), (2, "b", "newer"), (3, "c", "new"), (None, "c", "new")]

STRATEGIES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "append": (incremental(NEW, "append"), [OLD_1, OLD_2B, OLD_2C, OLD_N, *CAME]),
    "overwrite_partitions": (incremental(NEW, "insert_overwrite", partition_by="p"), [OLD_1, *CAME]),
    "overwrite_all": (incremental(NEW, "insert_overwrite"), CAME),
    "delete_insert": (incremental(NEW, "delete+insert", unique_key="id"), [OLD_1, *CAME]),
    "merge": (
        incremental(
            NEW.replace("(2, 'b', 'newer'), ", ""), "merge", unique_key=["id", "p"], merge_exclude_columns=["p", "id"]
        ),
        [OLD_1, OLD_2C, (2, "b", "new"), (3, "c", "new"), (None, "c", "new"), OLD_N],
    ),
}


def test_incremental_strategies(make_project: Callable[..., Project]) -> None:
    project = make_project({f"models/{name}.sql": text for name, (text, _) in STRATEGIES.items()})
    project.dbt("run")
    before = sorted([OLD_1, OLD_2B, OLD_2C, OLD_N], key=str)
    for name in STRATEGIES:
        assert sorted(project.rows(f"select id, p, v from {{}}.{name}"), key=str) == before, name
    project.dbt("run")
    for name, (_, expected) in STRATEGIES.items():
        assert sorted(project.rows(f"select id, p, v from {{}}.{name}"), key=str) == sorted(expected, key=str), name
        assert len(history(project, name)) == 2, name
    project.dbt("run", "--full-refresh")
    for name in STRATEGIES:
        assert sorted(project.rows(f"select id, p, v from {{}}.{name}"), key=str) == before, name
    # What a statement says of partitions is no setting for those after it.
    assert str(project._spark.conf.get("spark.sql.sources.partitionOverwriteMode")).lower() == "static"


def test_window_replace(make_project: Callable[..., Project]) -> None:
    names = ("tumbling", "visits")
    files = STEPS["one day"]
    for name in names:
        text = replaced(name)
        in_iceberg = text[f"models/{name}.sql"].replace("partition_by='day'", "file_format='iceberg'")
        files = files | text | {f"models/{name}.sql": in_iceberg}
    project = make_project(files)
    for step in ("one day", "over midnight", "a new day", "it began the day before"):
        project.write(STEPS[step])
        project.dbt("run", *([] if step == "one day" else ["--select", "arriving", *names]))
        for name in names:
            whole = project.rows(f"select * from {{}}.{name}_whole")
            assert project.rows(f"select * from {{}}.{name}") == whole, (step, name)
    assert not left(project)


def test_microbatch(make_project: Callable[..., Project]) -> None:
    query = (
        "select window_start, window_end, window_time, count(*) as n_rows, cast(window_time as date) as day\n"
        "from {{ hop(ref('bids'), 'ts', '5 minutes', '1 hour') }} group by window_start, window_end, window_time"
    )
    batched = incremental(
        query, "microbatch", batch_size="day", begin="2024-01-01", partition_by="day", event_time="window_time"
    )
    project = make_project(
        {
            "models/bids.sql": "{{ config(event_time='ts') }}\n" + ROWS,
            "models/hops.sql": batched,
            "models/whole.sql": query,
        }
    )
    run = ("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-05")
    project.dbt(*run)
    assert project.rows("select * from {}.hops") == project.rows("select * from {}.whole")
    project.dbt(*run)
    assert project.rows("select * from {}.hops") == project.rows("select * from {}.whole")


def test_snapshots(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            "models/users.sql": "select 1 as id, 'a' as name union all select 2, 'b'",
            "snapshots/s.yml": "snapshots:\n  - {name: users_then, relation: ref('users'), config: {"
            "file_format: iceberg, strategy: check, unique_key: id, check_cols: all, hard_deletes: invalidate}}\n",
        }
    )
    project.dbt("build")
    project.write({"models/users.sql": "select 1 as id, 'A' as name union all select 3, 'c'"})
    project.dbt("build")
    project.dbt("build")
    found = project.rows("select id, name, dbt_valid_to is null from {}.users_then")
    assert sorted(found) == [(1, "A", True), (1, "a", False), (2, "b", False), (3, "c", True)]


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


def test_python_models(make_project: Callable[..., Project]) -> None:
    project = make_project(python_models("iceberg"))
    for appended in ([], [5]):
        project.dbt("run")
        assert [row[0] for row in project.rows("select price from {}.whole")] == [2, 3, 4, 5]
        assert [row[0] for row in project.rows("select price from {}.grown")] == sorted([2, 3, 4, 5, *appended])


def test_no_statement_is_sent_in_vain(make_project: Callable[..., Project]) -> None:
    check_statements(make_project, "iceberg")
