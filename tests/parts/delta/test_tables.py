"""Models, seeds and snapshots in Delta: what dbt builds in it, run after run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.literals import backticked
from tests.functional.adapter.project import Project
from tests.parts import formats
from tests.parts.formats import CAME, OLD_1, OLD_2C, OLD_N, STRATEGIES, Builds, left, provider

model = partial(formats.model, file_format="delta")
incremental = partial(formats.incremental, file_format="delta")


def history(project: Project, table: str) -> list[str]:
    """What was done to a table, as Delta's log names it, the oldest first."""
    found = project._spark.sql(f"describe history {project.schema}.{table}").orderBy("version")
    return [str(row["operation"]) for row in found.collect()]


class TestDelta(Builds):
    file_format = "delta"
    history = staticmethod(history)
    replaces = "CREATE OR REPLACE TABLE AS SELECT"
    writes = "WRITE"
    strategies = {
        **STRATEGIES,
        "delete_insert_keys": ("delete+insert", {"unique_key": ["id", "p"]}, [OLD_1, OLD_2C, OLD_N, *CAME]),
        "delete_insert_some": (
            "delete+insert",
            {"unique_key": "id", "incremental_predicates": ["DBT_INTERNAL_DEST.p = 'b'"]},
            [OLD_1, OLD_2C, *CAME],
        ),
        "replace_where": ("replace_where", {"incremental_predicates": ["p > 'a'", "p < 'd'"]}, [OLD_1, *CAME]),
    }


def test_a_table_is_replaced_in_one_commit(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            "seeds/colors.csv": "id,name\n1,red\n2,green\n",
            "seeds/none.csv": "id,name\n",
            "models/all_colors.sql": model("select * from {{ ref('colors') }}", materialized="table"),
            "models/named.sql": model(
                "select id as `the id`, name from {{ ref('colors') }}",
                materialized="table",
                partition_by="name",
                tblproperties={"delta.columnMapping.mode": "name"},
                persist_docs={"relation": True, "columns": True},
            ),
            "models/docs.yml": "models: [{name: named, description: it's Delta, columns: "
            '[{name: the id, quote: true, description: the "id"}]}]\n',
            "models/turned.sql": "{{ config(materialized='table') }} select 1 as id",
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"
            "seeds: {+file_format: delta}\n",
        }
    )
    project.dbt("build")
    assert provider(project, "colors") == provider(project, "none") == "delta"
    project.write(
        {
            "seeds/colors.csv": "id,name,more\n3,blue,x\n",
            "models/turned.sql": model("select 2 as id", materialized="table"),
        }
    )
    project.dbt("build")
    assert project.rows("select * from {}.colors") == project.rows("select * from {}.all_colors") == [(3, "blue", "x")]
    assert project.rows("select * from {}.turned") == [(2,)]
    for table in ("colors", "all_colors", "named"):
        # A reader sees the rows before it or those after it, and the rows before it can be had by their version.
        # Comments on columns are commits of their own.
        builds = [operation for operation in history(project, table) if "COLUMN" not in operation]
        assert builds == ["CREATE OR REPLACE TABLE AS SELECT"] * 2, table
        assert len(project.rows(f"select * from {{}}.{table} version as of 0")) == 2
    described = {row[0]: row for row in project.rows("describe extended {}.named")}
    assert described["the id"][2] == 'the "id"'
    assert described["Comment"][1] == "it's Delta"
    project.write({"models/turned.sql": "{{ config(materialized='table') }} select 3 as id"})
    project.dbt("run", "--select", "turned")
    assert project.rows("select * from {}.turned") == [(3,)]
    assert provider(project, "turned") == "parquet"
    assert not left(project)


# Not those with a backtick: Delta's own MERGE, and its partitions, read such a name as two, and fail.
HOSTILE = ["q'u", "b\\s", "${env:HOME}", 'd"q', "my col", "\u202ea", "x int) using parquet location '/p' --"]
MAPPED = {"delta.columnMapping.mode": "name"}


@pytest.mark.parametrize("key", HOSTILE)
def test_names_that_hold_anything(make_project: Callable[..., Project], key: str) -> None:
    changed = HOSTILE[0 if key != HOSTILE[0] else 1]
    names = [key, changed, *(name for name in HOSTILE if name not in (key, changed))]
    row = ", ".join(f"cast(c{n} as string) as {backticked(name)}" for n, name in enumerate(names))
    rows = "{% if is_incremental() %}(2, 'new'), (3, 'new'){% else %}(1, 'old'), (2, 'old'){% endif %}"
    query = f"select {row} from (select k as c0, {', '.join(f'v as c{n}' for n in range(1, len(names)))} from values "
    query += f"{rows} as t (k, v))"
    kinds: dict[str, dict[str, Any]] = {
        "merged": {"incremental_strategy": "merge", "unique_key": key},
        "some": {"incremental_strategy": "merge", "unique_key": [key], "merge_update_columns": [changed]},
        "others": {"incremental_strategy": "merge", "unique_key": [key], "merge_exclude_columns": [changed]},
        "deleted": {"incremental_strategy": "delete+insert", "unique_key": [key]},
        "appended": {"incremental_strategy": "append"},
        "parted": {"incremental_strategy": "insert_overwrite", "partition_by": [key]},
    }
    given: dict[str, Any] = {"materialized": "incremental", "tblproperties": MAPPED}
    shop = make_project({f"models/{name}.sql": model(query, **given, **kind) for name, kind in kinds.items()})
    shop.dbt("run")
    shop.dbt("run")
    new, old = ["new"] * (len(names) - 1), ["old"] * (len(names) - 1)
    first, third = ("1", *old), ("3", *new)
    select = "select " + ", ".join(map(backticked, names)) + " from {}."
    expected = {
        "merged": [first, ("2", *new), third],
        "some": [first, ("2", "new", *old[1:]), third],
        "others": [first, ("2", "old", *new[1:]), third],
        "deleted": [first, ("2", *new), third],
        "appended": [first, ("2", *new), ("2", *old), third],
        "parted": [first, ("2", *new), third],
    }
    assert {name: shop.rows(select + name) for name in kinds} == expected


def test_strategies_say_what_they_need(make_project: Callable[..., Project]) -> None:
    query = "select 1 as id"
    project = make_project(
        {
            "models/files.sql": incremental(query, "delete+insert", unique_key="id", file_format="parquet"),
            "models/no_key.sql": incremental(query, "delete+insert"),
            "models/no_condition.sql": incremental(query, "replace_where"),
        }
    )
    said = project.failure("run")
    assert "files of parquet can't be changed" in said
    assert "needs a unique_key" in said
    assert "needs incremental_predicates" in said


CONTRACT = """models:
  - name: checked
    config: {contract: {enforced: true}}
    constraints: [{type: check, name: positive, expression: id > 0}]
    columns:
      - {name: id, data_type: int, constraints: [{type: not_null}]}
      - {name: name, data_type: string}
"""


@pytest.mark.parametrize("materialized", ["table", "incremental"])
def test_contracts_are_enforced(make_project: Callable[..., Project], materialized: str) -> None:
    def checked(query: str) -> dict[str, str]:
        return {"models/checked.sql": model(query, materialized=materialized, on_schema_change="append_new_columns")}

    project = make_project({"models/c.yml": CONTRACT, **checked("select 1 as id, 'a' as name")})
    project.dbt("run")
    project.dbt("run")
    assert project.rows("show tblproperties {}.checked ('delta.constraints.positive')")[0][1] == "id > 0"
    with pytest.raises(Exception, match="violated by row"):
        project.sql("insert into {}.checked values (-1, 'b')")
    with pytest.raises(Exception, match="violated by row"):
        project.sql("insert into {}.checked values (null, 'b')")
    project.write(checked("select -1 as id, 'a' as name"))
    assert "(id > 0)" in project.failure("run")
    project.write(checked("select 'x' as id, 'a' as name"))
    if materialized == "incremental":  # dbt-spark compares types when it makes a table; Spark does when rows come
        assert "CAST_INVALID_INPUT" in project.failure("run")
        return
    assert "This model has an enforced contract that failed" in project.failure("run")


def test_column_changes(make_project: Callable[..., Project]) -> None:
    names = {"tblproperties": {"delta.columnMapping.mode": "name"}}
    kinds = {
        "appending": incremental("%s", "append", on_schema_change="append_new_columns"),
        "merging": incremental("%s", "merge", unique_key="id", on_schema_change="append_new_columns"),
        "syncing": incremental("%s", "append", on_schema_change="sync_all_columns", **names),
        "failing": incremental("%s", "append", on_schema_change="fail"),
        "unnamed": incremental("%s", "append", on_schema_change="sync_all_columns"),
    }
    first, second = "select 1 as id, 'a' as old", "select 1 as id, 2.5D as new"
    project = make_project({f"models/{name}.sql": text % first for name, text in kinds.items()})
    project.dbt("run")
    project.write({f"models/{name}.sql": text % second for name, text in kinds.items()})
    results = {result.node.name: result for result in project.invoke("run").result.results}
    assert {name for name, result in results.items() if result.status != "success"} == {"failing", "unnamed", "merging"}
    assert "delta.columnMapping.mode" in results["unnamed"].message
    assert project.rows("select id, old, new from {}.appending") == [(1, None, 2.5), (1, "a", None)]
    assert project.rows("select id, new from {}.syncing") == [(1, None), (1, 2.5)]
    project.write({"models/merging.sql": kinds["merging"] % "select 1 as id, 'b' as old, 2.5D as new"})
    project.dbt("run", "--select", "merging")
    assert project.rows("select id, old, new from {}.merging") == [(1, "b", 2.5)]


def test_a_predicate_of_delete_insert_is_on_the_table(make_project: Callable[..., Project]) -> None:
    query = "select id, {} as v from range({})"
    strategy = ("delete+insert", {"unique_key": "id", "incremental_predicates": ["id > 0", "DBT_INTERNAL_DEST.id < 9"]})
    rows = incremental(query.format("'old'", 3), strategy[0], **strategy[1])
    project = make_project({"models/kept.sql": rows})
    project.dbt("run")
    project.write({"models/kept.sql": incremental(query.format("'new'", 2), strategy[0], **strategy[1])})
    project.dbt("run")
    assert project.rows("select id, v from {}.kept") == [(0, "new"), (0, "old"), (1, "new"), (2, "old")]


def test_a_snapshot_with_several_keys(make_project: Callable[..., Project]) -> None:
    snapshot = (
        "{% snapshot seen %}{{ config(file_format='delta', unique_key=['k', 'id'], strategy='check', "
        "check_cols=['v'], target_schema=schema) }}select 'a' as k, id, VALUE as v from range(2){% endsnapshot %}"
    )
    project = make_project({"snapshots/seen.sql": snapshot.replace("VALUE", "0")})
    for value in ("0", "1", "2"):
        project.write({"snapshots/seen.sql": snapshot.replace("VALUE", value)})
        project.dbt("snapshot")
    found = project.rows("select * except (dbt_scd_id, dbt_updated_at, dbt_valid_from, dbt_valid_to) from {}.seen")
    assert found == [("a", id_, value) for id_ in range(2) for value in range(3)]


@pytest.mark.parametrize(
    "strategy", ["strategy='check', check_cols=['d\"q', '2nd']", "strategy='timestamp', updated_at='2nd'"]
)
def test_a_snapshot_of_names_with_signs(make_project: Callable[..., Project], strategy: str) -> None:
    """Delta has spaces and braces in names but with column mapping, and its MERGE takes no backtick."""
    snapshot = (
        "{% snapshot seen %}{{ config(file_format='delta', unique_key='q\\'id', target_schema=schema, "
        + strategy
        + ") }}select 1 as `q'id`, 2 as `d\"q`, timestamp '2024-01-0VALUE' as `2nd`{% endsnapshot %}"
    )
    project = make_project({"snapshots/seen.sql": snapshot.replace("VALUE", "1")})
    for value in ("1", "1", "2"):
        project.write({"snapshots/seen.sql": snapshot.replace("VALUE", value)})
        project.dbt("snapshot")
    project.write({"snapshots/seen.sql": snapshot.replace("VALUE", "3").replace(' as `d"q`', ' as `d"q`, 3 as `c"d`')})
    project.dbt("snapshot")
    found = project.rows('select day(`2nd`), `c"d`, dbt_valid_to is null from {}.seen order by 1')
    assert found == [(1, None, False), (2, None, False), (3, 3, True)]


def test_several_constraints_of_a_column(make_project: Callable[..., Project]) -> None:
    checks = "[{type: check, expression: id > 0}, {type: check, expression: id < 9}, {type: not_null}]"
    project = make_project(
        {
            "models/ids.sql": model("select 1 as id", materialized="table"),
            "models/ids.yml": "models: [{name: ids, config: {contract: {enforced: true}}, columns: "
            f"[{{name: id, data_type: int, constraints: {checks}}}]}}]\n",
        }
    )
    for _ in range(2):
        project.dbt("run")
    for id_ in ("0", "9", "null"):
        with pytest.raises(Exception, match="CONSTRAINT"):
            project.sql(f"insert into {{}}.ids values ({id_})")


def test_a_clone_in_place_of_a_clone(make_project: Callable[..., Project]) -> None:
    project = make_project({"models/ids.sql": model("select 1 as id", materialized="table")})
    project.dbt("run")
    state = project.folder / "state"
    state.mkdir()
    (state / "manifest.json").write_text((project.folder / "target" / "manifest.json").read_text())
    profile = (project.folder / "profiles.yml").read_text()
    (project.folder / "profiles.yml").write_text(profile.replace(project.schema, f"{project.schema}_clone"))
    for _ in range(2):
        project.dbt("clone", "--state", str(state), "--full-refresh")
        assert project.rows("select id from {}_clone.ids") == [(1,)]
