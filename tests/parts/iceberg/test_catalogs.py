"""`database` as a catalog of Spark's: names of three parts, in catalogs of Iceberg's with views and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.adapter.project import Project
from tests.parts.parameters import HIVE, LAKE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIDS = "(1, timestamp'2024-01-01 00:01:00'), (2, timestamp'2024-01-01 00:12:00')"
LATER = "(3, timestamp'2024-01-01 00:25:00')"
STREAMING = "materialized='streaming_incremental', watermark='0 seconds'"
PROJECT = """\
name: shop
version: '1.0'
config-version: 2
profile: shop
models: {+file_format: iceberg}
seeds: {+file_format: iceberg}
snapshots: {+file_format: iceberg}
"""
FILES = {
    "dbt_project.yml": PROJECT,
    "seeds/colors.csv": "id,name\n1,red\n2,green\n",
    "models/whole.sql": "{{ config(materialized='table', persist_docs={'relation': true, 'columns': true}) }}\n"
    "select * from {{ ref('colors') }}",
    "models/merged.sql": "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}\n"
    "select * from {{ ref('colors') }}{% if is_incremental() %} where id > 1 union all select 3, 'blue'{% endif %}",
    "models/exchanged.sql": "{{ config(materialized='incremental', incremental_strategy='delete+insert', "
    "unique_key='id') }}\nselect id, '{{ 'new' if is_incremental() else 'old' }}' as v from {{ ref('colors') }}",
    "models/bids.sql": "{{ config(materialized='incremental', incremental_strategy='append') }}\n"
    f"select * from values {{% if is_incremental() %}}{LATER}{{% else %}}{BIDS}{{% endif %}} as t (id, ts)",
    "models/island.sql": "{{ config(materialized='table') }}\nselect window_start, window_end, count(*) as n\n"
    "from tumble({{ ref('bids') }}, ts, '10 minutes') group by window_start, window_end",
    "models/flink.sql": "{{ config(materialized='table', sql_dialect='flink') }}\n"
    "SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {{ ref('bids') }}, DESCRIPTOR(ts), "
    "INTERVAL '10' MINUTES)) GROUP BY window_start, window_end",
    "models/windowed.sql": "{{ config(materialized='incremental', incremental_strategy='window_replace', "
    "lateness='1 minute') }}\nselect window_start, window_end, count(*) as n\n"
    "from {{ tumble(ref('bids'), 'ts', '10 minutes') }} group by window_start, window_end",
    "models/in_python.py": "def model(dbt, session):\n    dbt.config(materialized='table')\n"
    "    return dbt.ref('whole')\n",
    "models/minutes.sql": f"{{{{ config({STREAMING}, event_time='ts', late_rows='keep') }}}}\n"
    "select window_start, window_end, window_time, count(*) as n\n"
    "from {{ tumble(stream(ref('bids')), 'ts', '5 minutes') }} group by window_start, window_end, window_time",
    "models/quarters.sql": f"{{{{ config({STREAMING}, event_time='window_time') }}}}\n"
    "with m as (select window_time as ts, n from {{ stream(ref('minutes')) }})\n"
    "select window_start, window_end, sum(n) as n\nfrom {{ tumble('m', 'ts', '10 minutes') }} "
    "group by window_start, window_end",
    "models/at_home.sql": "{{ config(database='spark_catalog', materialized='view') }}\n"
    "select a.id, b.name from {{ ref('whole') }} as a join {{ source('home', 'names') }} as b on a.id = b.id",
    "snapshots/s.yml": "snapshots:\n  - {name: then, relation: ref('exchanged'), config: {strategy: check, "
    "unique_key: id, check_cols: all}}\n",
    "models/schema.yml": """
sources:
  - {name: home, database: spark_catalog, schema: home, tables: [{name: names}]}
models:
  - name: whole
    description: all colours
    columns:
      - {name: id, description: a number, data_tests: [unique, {relationships: {to: ref('colors'), field: id}}]}
      - {name: name, data_tests: [{accepted_values: {values: [red], config: {severity: warn, store_failures: true}}}]}
  - name: minutes
    data_tests: [no_late_rows]
""",
    "macros/rename.sql": """
{% macro rename(one, other) %}
  {%- set old = load_relation(ref(one)) -%}
  {%- do adapter.rename_relation(old, old.incorporate(path={'identifier': other})) -%}
  {%- do adapter.drop_relation(load_relation(old.incorporate(path={'identifier': other}))) -%}
{% endmacro %}
""",
}


@pytest.fixture(scope="module", autouse=True)
def source(embedded: SparkSession) -> None:
    """A table in Spark's own catalog."""
    embedded.sql("create schema if not exists home")
    embedded.sql("create or replace table home.names using iceberg as select * from values (1, 'one') as t (id, name)")


def names(project: Project) -> dict[str, str]:
    return {node["name"]: node["relation_name"] for node in project.manifest()["nodes"].values()}


@pytest.mark.parametrize("catalog", [LAKE, HIVE])
def test_all_of_a_project_is_in_a_catalog(make_project: Callable[..., Project], catalog: str) -> None:
    project = make_project(FILES, database=catalog)
    place = f"{catalog}.{project.schema}"

    def rows(query: str) -> list[tuple[Any, ...]]:
        return project.rows(query.replace("{}", place))

    for _ in range(2):
        project.dbt("build")
    found = names(project)
    assert found["at_home"] == f"spark_catalog.{project.schema}.at_home"
    assert {name for name, relation in found.items() if relation == f"{place}.{name}"} >= {
        *("colors", "whole", "merged", "exchanged", "island", "windowed", "in_python", "minutes", "quarters", "then")
    }
    assert rows("select * from {}.whole") == rows("select * from {}.in_python") == [(1, "red"), (2, "green")]
    assert rows("select * from {}.merged") == [(1, "red"), (2, "green"), (3, "blue")]
    assert rows("select id, v from {}.exchanged") == [(1, "new"), (2, "new")]
    assert rows("select id, v, dbt_valid_to is null from {}.then") == [
        (1, "new", True), (1, "old", False), (2, "new", True), (2, "old", False),
    ]  # fmt: skip
    assert rows("select minute(window_start), n from {}.island") == [(0, 1), (10, 1), (20, 1)]
    for same in ("windowed", "flink"):
        assert rows(f"select minute(window_start), n from {{}}.{same}") == [(0, 1), (10, 1), (20, 1)]
    assert rows("select minute(window_start), n from {}.minutes") == [(0, 1), (10, 1)]
    assert rows("select minute(window_start), n from {}.quarters") == [(0, 1)]
    assert rows("select sum(rows_appended) from {}.sparkstream_runs where relation like '%minutes'") == [(2,)]
    assert project.rows("select * from spark_catalog.{}.at_home") == [(1, "one")]
    left = [row for row in project.rows(f"show tables in {place}") if "__dbt_" in row[1] and not row[2]]
    assert left == []

    project.dbt("docs", "generate")
    shown = json.loads((project.folder / "target" / "catalog.json").read_text())
    whole = shown["nodes"]["model.shop.whole"]
    assert (whole["metadata"]["database"], whole["metadata"]["comment"]) == (catalog, "all colours")
    assert [column["comment"] for column in whole["columns"].values()] == ["a number", None]
    assert shown["nodes"].keys() >= {f"model.shop.{name}" for name in ("at_home", "quarters", "in_python")}
    assert shown["sources"].keys() == {"source.shop.home.names"}

    project.dbt("run", "--full-refresh", "--select", "minutes", "quarters", "merged")
    assert rows("select * from {}.merged") == [(1, "red"), (2, "green")]
    assert rows("select minute(window_start), n from {}.minutes") == [(0, 1), (10, 1)]
    if catalog == HIVE:
        project.dbt("run-operation", "rename", "--args", "{one: whole, other: renamed}")
        assert [row for row in rows("show tables in {}") if row[1] in ("whole", "renamed")] == []


def test_views_where_a_catalog_has_them(make_project: Callable[..., Project]) -> None:
    files = {
        "models/t.sql": "{{ config(materialized='table', file_format='iceberg') }} select 1 as id",
        "models/v.sql": "select * from {{ ref('t') }}",
        "models/turning.sql": "select 1 as id",
        "macros/drop_all.sql": "{% macro drop_all() %}{% do adapter.drop_schema(ref('t')) %}{% endmacro %}",
    }
    project = make_project(files, database=HIVE)
    project.dbt("run")
    project.write({"models/turning.sql": files["models/t.sql"], "models/t.sql": "select 2 as id"})
    project.dbt("run")
    place = f"{HIVE}.{project.schema}"
    assert project.rows(f"select * from {place}.v") == [(2,)]
    assert [row[1] for row in project.rows(f"show views in {place}") if row[0]] == ["t", "v"]
    assert [row[1] for row in project.rows(f"show tables in {place}") if row[0]] == ["turning"]
    project.dbt("docs", "generate")
    project.dbt("run-operation", "drop_all")
    assert (project.schema,) not in project.rows(f"show schemas in {HIVE}")
    project = make_project(files, database=LAKE)
    assert "this catalog has no views: write materialized='table'" in project.failure("run", "--select", "v", "t")
    assert project.rows(f"select * from {LAKE}.{{}}.t") == [(1,)]
    project.dbt("run-operation", "drop_all")
    assert (project.schema,) not in project.rows(f"show schemas in {LAKE}")


@pytest.mark.parametrize("command", ["run", "compile"])
def test_a_catalog_that_spark_does_not_know(make_project: Callable[..., Project], command: str) -> None:
    files = {"models/t.sql": "{{ config(materialized='table', file_format='iceberg') }} select 1 as id"}
    told = make_project(files, database="lak").failure(command)
    assert "spark.sql.catalog." in told and "`database`" in told


@pytest.mark.parametrize("config", ["", ", file_format='parquet'"])
def test_a_format_has_to_be_said(make_project: Callable[..., Project], config: str) -> None:
    files = {
        f"models/{kind}.sql": f"{{{{ config(materialized='{kind}', incremental_strategy='append'{config}) }}}}\n"
        "select 1 as id"
        for kind in ("table", "incremental")
    }
    project = make_project({**files, "seeds/colors.csv": "id\n1\n"}, database=LAKE)
    told = project.failure("build")
    assert told.count("file_format='iceberg'") == 3, told
    assert told.count("nothing says its format") == (1 if config else 3), told  # the seed has none
