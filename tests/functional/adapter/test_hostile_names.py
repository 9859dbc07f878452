"""Columns, descriptions and values that hold backticks, quotes, backslashes, variables and line ends."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project

NAMES = ["a`b", "q'u", "b\\s", "${env:HOME}", 'd"q', "my col", "b-c", "x` int) using parquet location '/p' -- "]
TEXT = "C:\\temp\\new ${env:HOME} it's `x` \\"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def select(first: int = 1) -> str:
    columns = ", ".join(f"{first + i} as {quoted(name)}" for i, name in enumerate(NAMES))
    return f"select {columns}, 1 as P, 'cost ${{env:HOME}} x' as txt"


PROPERTIES = "{\"it's\": 'C:\\\\temp\\\\new'}"
CONFIG = "{{ config(persist_docs={'relation': true, 'columns': true}, tblproperties=" + PROPERTIES + ", %s) }}\n"


SEED = {
    "name": "parted_seed",
    "config": {"partition_by": "day", "persist_docs": {"columns": True}},
    "columns": [{"name": "day", "description": TEXT}, {"name": "ITEM", "description": TEXT}],
}
FUNCTION = {
    "name": "plus",
    "arguments": [{"name": "my arg", "data_type": "int"}],
    "returns": {"data_type": "int"},
}
OPTIONS = "{'sep': '|', 'quote': '\"', 'escape': '\\\\'}"
EVENTS = """select cast(ts as timestamp_ntz) as `t s`, k as `${env:HOME}`
from values ('2024-01-01 10:10:00', 'a'), ('2024-01-01 10:20:00', "it's") as t (ts, k)"""
WINDOWS = """{{ config(materialized='incremental', incremental_strategy='window_replace', partition_by='my day',
    window_columns=['be`gan', "en'ded"], lateness='1 hour') }}
select window_start as `be``gan`, window_end as `en'ded`, `${env:HOME}`, count(*) as `b\\s`,
    cast(window_start as date) as `my day`
from {{ session(ref('events'), '`t s`', '1 hour', '`${env:HOME}`') }}
group by window_start, window_end, `${env:HOME}`"""


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    columns = [{"name": name.upper() if name == "my col" else name, "description": TEXT} for name in [*NAMES, "p"]]
    kinds = {
        "parted": "materialized='table', partition_by='P'",
        "viewed": "materialized='view'",
        "appended": "materialized='incremental', incremental_strategy='append'",
        "replaced": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['P']",
    }
    models = [{"name": name, "description": TEXT, "columns": columns} for name in kinds]
    project = make_project(
        {
            **{f"models/{name}.sql": CONFIG % kind + select() for name, kind in kinds.items()},
            "models/schema.yml": json.dumps({"version": 2, "models": models}),
            "models/LOUD.sql": "{{ config(materialized='table') }}\nselect 1 as id",
            "models/of_loud.sql": "{% set found = adapter.get_relation(target.database, target.schema, 'LOUD') %}\n"
            "select '{{ found }}' as name -- {{ ref('LOUD') }}",
            "models/events.sql": EVENTS,
            "models/windows.sql": WINDOWS,
            "seeds/texts.csv": "id,txt\n1,cost ${env:HOME} x\n2,${amount}\n",
            "seeds/parted_seed.csv": "Day,Item,100 %s\n1,2,5\n3,4,6\n",
            "seeds/schema.yml": json.dumps({"seeds": [SEED]}),
            "models/frame.py": "def model(dbt, session):\n"
            '    dbt.config(materialized="table", partition_by="my col")\n'
            '    return session.sql("select 1 as id, 2 as `my col`")\n',
            "functions/plus.sql": "`my arg` + 1",
            "functions/schema.yml": json.dumps({"functions": [FUNCTION]}),
            "models/csv.sql": "{{ config(materialized='table', file_format='csv', options=" + OPTIONS + ") }}\n"
            "select 'a' as a, 'b\"c' as b",
        }
    )
    project.dbt("build")
    project.dbt("run")
    return project


@pytest.mark.parametrize("model", ["parted", "viewed", "appended", "replaced"])
def test_names_and_descriptions_come_back(shop: Project, model: str) -> None:
    found = {row[0]: row[2] for row in shop.rows(f"describe table {{}}.{model}") if not str(row[0]).startswith("#")}
    assert {*NAMES, "txt"} < found.keys()
    assert {found[name] for name in NAMES} == {TEXT}
    details = {row[0]: row[1] for row in shop.rows(f"describe table extended {{}}.{model}")}
    assert details["Comment"] == TEXT
    if model != "viewed":  # dbt-spark gives a view no properties
        assert ("it's", "C:\\temp\\new") in shop.rows(f"show tblproperties {{}}.{model}")


def test_variables_in_texts_stay(shop: Project) -> None:
    assert shop.rows("select distinct txt from {}.parted") == [("cost ${env:HOME} x",)]
    assert shop.rows("select txt from {}.texts") == [("${amount}",), ("cost ${env:HOME} x",)]


def test_names_in_another_case(shop: Project) -> None:
    assert {row[0]: row[2] for row in shop.rows("describe table {}.viewed")}["P"] == TEXT
    assert {(row[0], row[2]) for row in shop.rows("describe table {}.parted_seed")} >= {("Day", TEXT), ("Item", TEXT)}


def test_a_model_in_capitals_is_found_in_the_run_that_makes_it(shop: Project) -> None:
    [(name,)] = shop.rows("select name from {}.of_loud")
    assert name.lower().endswith(".loud")


def test_rows_of_a_seed_in_partitions(shop: Project) -> None:
    """Spark puts the columns of partitions last."""
    assert shop.rows("select Day, Item, `100 %s` from {}.parted_seed") == [(1, 2, 5), (3, 4, 6)]


def test_partitions_of_a_data_frame(shop: Project) -> None:
    assert ("my col=2",) in shop.rows("show partitions {}.frame")


def test_windows_are_replaced(shop: Project) -> None:
    rows = "select cast(`be``gan` as string), `${env:HOME}`, `b\\s` from {}.windows order by 2"
    assert shop.rows(rows) == [("2024-01-01 10:10:00", "a", 1), ("2024-01-01 10:20:00", "it's", 1)]


def test_arguments_of_a_function(shop: Project) -> None:
    assert shop.rows("select {}.plus(2)") == [(3,)]


def test_options_of_files(shop: Project) -> None:
    assert shop.rows("select a, b from {}.csv") == [("a", 'b"c')]
