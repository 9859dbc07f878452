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


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    columns = [{"name": name, "description": TEXT} for name in [*NAMES, "p"]]
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
            "seeds/texts.csv": "id,txt\n1,cost ${env:HOME} x\n2,${amount}\n",
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
