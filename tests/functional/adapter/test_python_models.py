"""Python models on the Spark of the dbt process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project

NUMBERS = "select id, id % 3 as k from range({{ var('rows', 10) }})"

MODELS = {
    "models/numbers.sql": NUMBERS,
    "models/in_spark.py": """
from pyspark.sql import functions as F

def model(dbt, session):
    dbt.config(materialized="table", partition_by="k")
    doubled = F.udf(lambda n: n * 2, "bigint")
    return dbt.ref("numbers").withColumn("twice", doubled("id")).select("id", "twice", "k")
""",
    "models/in_pandas.py": """
import pandas as pd

def model(dbt, session):
    numbers = dbt.ref("in_spark").toPandas()
    sums = numbers.groupby("k", as_index=False)["twice"].sum()
    assert isinstance(sums, pd.DataFrame)
    return sums
""",
    "models/growing.py": """
def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append", submission_method="session")
    rows = dbt.ref("numbers")
    if dbt.is_incremental:
        latest = session.sql(f"select max(id) from {dbt.this}").collect()[0][0]
        rows = rows.where(rows.id > latest)
    return rows
""",
    # Windows of SQL on top of a Python model.
    "models/windows.sql": """
select window_start, count(*) as n
from {{ tumble("(select *, timestamp_ntz'2024-01-01' + interval 1 minute * id as ts from " ~ ref('in_spark') ~ ")",
               'ts', '5 minutes') }}
group by window_start""",
}


@pytest.mark.long
def test_models(make_project: Callable[..., Project]) -> None:
    project = make_project(MODELS)
    project.dbt("run")
    assert project.rows("select id, twice, k from {}.in_spark where id < 2") == [(0, 0, 0), (1, 2, 1)]
    assert project.rows("select * from {}.in_pandas") == [(0, 36), (1, 24), (2, 30)]
    assert project.rows("select n from {}.windows") == [(5,), (5,)]
    assert "k" in {row[0] for row in project.rows("describe table {}.in_spark") if row[0] == "k"}
    [(text,)] = project.rows("show create table {}.in_spark")
    assert "USING parquet" in text and "PARTITIONED BY (k)" in text
    project.dbt("run", "--vars", "rows: 15")
    assert project.rows("select count(*), count(distinct id), max(id) from {}.growing") == [(15, 15, 14)]


@pytest.mark.parametrize(
    ("code", "messages"),
    [
        (
            "def model(dbt, session):\n    value = 1\n    return helper(value)\n\n"
            "def helper(x):\n    raise ValueError('no way')",
            ["ValueError: no way", "models/broken.py:3 in model", "models/broken.py:6 in helper"],
        ),
        (
            "def model(dbt, session):\n    if True:\n        raise SystemExit('bye')\n    return session.table('x')",
            ["SystemExit: bye", "models/broken.py:3 in model"],
        ),
        ("def model(dbt, session):\n    return session.table('nosuch')", ["cannot be found", "models/broken.py:2"]),
        (
            "def model(dbt, session):\n    return 1",
            ["a model returns a data frame of Spark or pandas", "<class 'int'>"],
        ),
        (
            "def model(dbt, session):\n    dbt.config(submission_method='connect')\n    return 1",
            ["write connect_url: sc://HOST:15002 in the profile"],
        ),
    ],
)
def test_what_went_wrong(make_project: Callable[..., Project], code: str, messages: list[str]) -> None:
    message = make_project({"models/broken.py": code}).failure("run")
    for part in messages:
        assert part in message
    assert "py4j" not in message and "site-packages" not in message
