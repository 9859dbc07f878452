"""TIME columns in a dbt project: a seed, models with a contract, tests, `dbt show`, Python, and an imported script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt.adapters.sparkstream.flinkscript import Project as Imported
from dbt.adapters.sparkstream.flinkscript import read
from dbt.adapters.sparkstream.messages.diagnosis import version
from tests.functional.adapter.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTING = "spark.sql.timeType.enabled"
FILES = {
    "seeds/shifts.csv": "id,starts\n1,10:20:30\n2,23:30:00\n3,\n",
    "seeds/seeds.yml": "seeds: [{name: shifts, config: {column_types: {starts: time(0)}}}]\n",
    "models/ends.sql": (
        "{{ config(materialized='table', sql_dialect='flink') }}\n"
        "SELECT id, starts, starts + INTERVAL '8' HOUR AS ends,\n"
        "  CAST(starts AS TIME(3)) AS exact, ARRAY[starts] AS listed\n"
        "FROM {{ ref('shifts') }}\n"
    ),
    "models/later.sql": (
        "{{ config(materialized='view', sql_dialect='flink') }}\n"
        "SELECT FLOOR(ends TO HOUR) AS h, COUNT(*) AS n FROM {{ ref('ends') }} WHERE starts > TIME '08:00:00'\n"
        "GROUP BY FLOOR(ends TO HOUR)\n"
    ),
    "models/models.yml": """\
models:
  - name: ends
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: bigint}
      - {name: starts, data_type: time(0), data_tests: [unique]}
      - {name: ends, data_type: time(0)}
      - {name: exact, data_type: time(3)}
      - {name: listed, data_type: array<time(0)>}
""",
    "models/again.py": (
        "def model(dbt, session):\n    dbt.config(materialized='table')\n"
        "    return dbt.ref('ends').select('id', 'ends')\n"
    ),
}
SCRIPT = """\
CREATE TABLE shifts (id INT, starts TIME(0), ends AS starts + INTERVAL '8' HOUR)
WITH ('connector' = 'filesystem', 'path' = 'file://{folder}', 'format' = 'csv');
CREATE TABLE totals (h TIME(0), n BIGINT, latest STRING) WITH ('connector' = 'print');
INSERT INTO totals SELECT FLOOR(ends TO HOUR), COUNT(*), MAX(CAST(ends AS STRING))
FROM shifts WHERE starts > TIME '08:00:00' GROUP BY FLOOR(ends TO HOUR);
"""
"""Flink 2.3.0 gave the rows of `test_a_script` for it."""


@pytest.fixture(autouse=True)
def _needs_the_type(embedded: SparkSession) -> None:
    if version(embedded.version) < (4, 3):
        pytest.skip("Spark casts times to TIME from 4.3 on")


@pytest.fixture
def without_the_setting(embedded: SparkSession) -> Iterator[None]:
    embedded.conf.set(SETTING, "false")
    yield
    embedded.conf.set(SETTING, "true")


def test_a_project(make_project: Callable[..., Project]) -> None:
    project = make_project(FILES)
    project.dbt("build")
    assert project.rows("select id, ends from {}.again") == [(1, time(18, 20, 30)), (2, time(7, 30)), (3, None)]
    assert project.rows("select h, n from {}.later") == [(time(7), 1), (time(18), 1)]
    results = project.dbt("show", "--select", "ends", "--output", "json").results
    shown = next(result for result in results if result.node.name == "ends" and result.agate_table is not None)
    rows = sorted(shown.agate_table.rows, key=lambda row: int(row["id"]))
    assert [str(value) for value in rows[1].values()][:4] == ["2", "23:30:00", "07:30:00", "23:30:00"]
    types = {row[0]: row[1] for row in project.rows("describe {}.ends")}
    assert types == {
        "id": "bigint", "starts": "time(0)", "ends": "time(0)", "exact": "time(3)", "listed": "array<time(0)>"
    }  # fmt: skip


def test_a_script(make_project: Callable[..., Project], tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text("1,10:20:30\n2,23:30:00\n")
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT.replace("{folder}", str(tmp_path / "rows")))
    files = dict(Imported(read(script.read_text()), script).files)
    del files["profiles.yml"]
    project = make_project(files)
    project.dbt("build", "--profile", "shop")
    assert project.rows("select * from {}.totals") == [(time(7), 1, "07:30:00"), (time(18), 1, "18:20:30")]


@pytest.mark.usefixtures("without_the_setting")
def test_without_the_setting(make_project: Callable[..., Project]) -> None:
    sql = "{{ config(sql_dialect='flink') }}\nSELECT CAST('10:20:30' AS TIME) AS t\n"
    message = make_project({"models/noon.sql": sql}).failure("run")
    assert "The data type TIME is not supported" in message
    assert f"write {SETTING}: true to server_side_parameters" in message
