"""Incremental models on each target; more of them run on the embedded Spark (tests/functional)."""

from __future__ import annotations

import pytest

from tests.functional.adapter import test_incremental as incremental
from tests.integration.targets import DbtProject, Target, write
from tests.lib.support import ON_THE_SERVER

pytestmark = ON_THE_SERVER

PROJECT = "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"


def _project(target: Target, tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]) -> DbtProject:
    folder = write(tmp_path_factory.mktemp("incremental"), {"dbt_project.yml": PROJECT, **files})
    schema = f"incremental_{target.name}"
    target.drop_schema(schema)
    return DbtProject(folder, target, schema=schema)


def test_window_replace(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    names = ("hopping", "visits")
    files = {key: text for name in names for key, text in incremental.replaced(name).items()}
    project = _project(target, tmp_path_factory, files)
    for step in ("late rows", "a new day", "it began the day before"):
        write(project.folder, incremental.STEPS[step])
        # The views that all is compared with stay as they are.
        project.dbt("run", *([] if step == "late rows" else ["--select", "arriving", *names]))
        for name in names:
            whole = target.rows(f"select * from {project.schema}.{name}_whole")
            assert target.rows(f"select * from {project.schema}.{name}") == whole, (step, name)


@pytest.mark.full
def test_microbatch(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    files = incremental.bids() | incremental.batched("hop_by_time") | incremental.written("island_of_sessions")
    project = _project(target, tmp_path_factory, files)
    project.dbt("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04")
    for name in ("hop_by_time", "session_by_start"):
        whole = target.rows(f"select * from {project.schema}.{name}_whole where day <= '2024-01-03'")
        assert target.rows(f"select * from {project.schema}.{name}") == whole, name


def test_strategy_of_the_project(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    files = {**incremental.ONLY_NEW, **incremental.arriving("arrived <= 2")}
    project = _project(target, tmp_path_factory, files)
    project.dbt("run")
    write(project.folder, incremental.arriving("true"))
    project.dbt("run")
    assert target.rows(f"select count(*), count(distinct id) from {project.schema}.log") == [(14, 14)]


PYTHON = """
from pyspark.sql import functions as F

def model(dbt, session):
    dbt.config(materialized="{}", incremental_strategy="append", partition_by="k")
    rows = dbt.ref("numbers").withColumn("k", F.col("id") % 3)
    if dbt.is_incremental:
        rows = rows.where(rows.id > session.table(str(dbt.this)).agg(F.max("id")).collect()[0][0])
    return rows
"""


def test_python_models(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    """On the server they run through its Connect port."""
    files = {
        "models/numbers.sql": "select id from range({{ var('rows', 10) }})",
        "models/whole.py": PYTHON.format("table"),
        "models/growing.py": PYTHON.format("incremental"),
        "models/on_top.sql": "select k, count(*) as n from {{ ref('whole') }} group by k",
        "models/in_pandas.py": "def model(dbt, session):\n    return dbt.ref('on_top').toPandas()\n",
    }
    project = _project(target, tmp_path_factory, files)
    project.dbt("run")
    project.dbt("run", "--vars", "rows: 15")
    for name in ("whole", "growing"):
        counts = target.rows(f"select count(*), count(distinct id), max(id) from {project.schema}.{name}")
        assert counts == [(15, 15, 14)], name
    assert target.rows(f"select * from {project.schema}.in_pandas") == [(0, 5), (1, 5), (2, 5)]
