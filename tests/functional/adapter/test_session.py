"""`method: session`: where its data goes, its cursor, its errors."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.spark.environments.cancelling import TaggedJobs
from dbt.adapters.sparkstream.spark.environments.cursors import SessionHandle, SessionWrapper
from dbt.adapters.sparkstream.spark.session import (
    PLACES,
    claimed,
    session_defaults,
    spark_session,
)
from tests.functional.adapter.project import PARAMETERS, Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAREHOUSE = "spark.sql.warehouse.dir"
ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder on a machine where nobody has configured Spark."""
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestWhereTablesLie:
    def test_in_the_project(self, alone: Path) -> None:
        settings = session_defaults({}, alone)
        assert settings[WAREHOUSE] == str(alone / ".sparkstream/session/warehouse")
        assert str(alone / ".sparkstream/session/metastore_db") in settings[PLACES[-1]]

    @pytest.mark.parametrize("name", PLACES)
    def test_where_the_profile_says(self, alone: Path, name: str) -> None:
        settings = session_defaults({name: "elsewhere"}, alone)
        assert settings and not any(str(alone) in value for value in settings.values())

    def test_where_they_are(self, alone: Path) -> None:
        """dbt-spark's tables: Spark made `metastore_db` in the folder that dbt was started in."""
        (alone / "metastore_db").mkdir()
        assert not any(str(alone) in value for value in session_defaults({}, alone).values())

    def test_where_hive_says(self, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (alone / "conf").mkdir()
        (alone / "conf/hive-site.xml").write_text("<configuration/>")
        monkeypatch.setenv("SPARK_CONF_DIR", str(alone / "conf"))
        assert not any(str(alone) in value for value in session_defaults({}, alone).values())

    def test_where_spark_says(self, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (alone / "conf").mkdir()
        (alone / "conf/spark-defaults.conf").write_text(f"# ours\n{WAREHOUSE}   /data\nspark.ui.enabled=true\n")
        monkeypatch.setenv("SPARK_HOME", str(alone))
        settings = session_defaults({}, alone)
        assert not any(str(alone) in value for value in settings.values())
        assert "spark.ui.enabled" not in settings

    def test_on_a_cluster_nothing_is_set(self, alone: Path) -> None:
        assert session_defaults({"spark.master": "yarn"}, alone) == {}


def test_the_profile_goes_first(alone: Path) -> None:
    assert "spark.sql.shuffle.partitions" not in session_defaults({"spark.sql.shuffle.partitions": "7"}, alone)


@pytest.fixture
def wrapper(embedded: SparkSession) -> SessionWrapper:
    return SessionWrapper(SessionHandle(embedded, TaggedJobs(embedded)))


def test_rows_come_one_after_the_other(wrapper: SessionWrapper) -> None:
    cursor = wrapper.cursor()
    assert isinstance(cursor, SessionWrapper)
    cursor.execute("select id from range(7) order by id")
    assert [row[0] for row in cursor.fetchmany(2)] == [0, 1]
    row = cursor.fetchone()
    assert row is not None and row[0] == 2
    assert [row[0] for row in cursor.fetchmany(2)] == [3, 4]
    rest = cursor.fetchall()
    assert rest is not None and [row[0] for row in rest] == [5, 6]
    assert cursor.fetchone() is None
    assert cursor.fetchmany(3) == []


def test_times_are_in_the_zone_of_the_session(wrapper: SessionWrapper, embedded: SparkSession) -> None:
    """Also those with the same name as another column, and before anybody had zones."""
    embedded.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        cursor = wrapper.cursor()
        cursor.execute("select timestamp'2021-07-01 12:00:00' as t, 1 as x, timestamp'0001-01-01 00:00:00' as t")
        assert [name for name, *_ in cursor.description] == ["t", "x", "t"]
        rows = cursor.fetchall()
        assert rows is not None
        assert tuple(rows[0]) == (datetime(2021, 7, 1, 12), 1, datetime(1, 1, 1))
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("select * from nosuch", "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nosuch` cannot be found"),
        ("selec 1", "[PARSE_SYNTAX_ERROR] Syntax error at or near 'selec'"),
        ("select raise_error('no way')", "[USER_RAISED_EXCEPTION] no way"),
        ("create table t (a int) using nosuch", "nosuch"),
    ],
)
def test_errors_are_readable(
    wrapper: SessionWrapper, capfd: pytest.CaptureFixture[str], statement: str, message: str
) -> None:
    cursor = wrapper.cursor()
    with pytest.raises(DbtDatabaseError) as error:
        cursor.execute(statement)
        cursor.fetchall()
    text = str(error.value)
    assert message in text
    assert "\tat " not in text and "JVM stacktrace" not in text and "UnresolvedRelation" not in text
    assert capfd.readouterr().err == ""


def test_threads_share_the_session(embedded: SparkSession) -> None:
    found: list[SparkSession] = []
    threads = [threading.Thread(target=lambda: found.append(spark_session(PARAMETERS, Path.cwd()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(session is found[0] for session in found) and len(found) == 4
    assert found[0].sparkContext is embedded.sparkContext


def test_a_folder_has_one_spark_at_a_time(tmp_path: Path) -> None:
    holder = (
        "import fcntl, os, sys, time\n"
        "file = open(sys.argv[1], 'a+'); fcntl.flock(file, fcntl.LOCK_EX)\n"
        "file.write(str(os.getpid())); file.flush(); print('held', flush=True); time.sleep(3600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(RuntimeError) as error, claimed(tmp_path, patience=0.2):
            pass
        assert f"process {process.pid} runs Spark in {tmp_path}" in str(error.value)
        process.kill()
        process.wait()
        with claimed(tmp_path, patience=5) as (handle,):
            assert (tmp_path / "lock").read_text() == str(os.getpid())
            with (tmp_path / "lock").open() as other, pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.fstat(handle)


@pytest.mark.slow
def test_a_process_of_its_own(tmp_path: Path) -> None:
    """What a user sees: the data and the log in the project, a clean terminal, from any folder; then once more."""
    project = Project.__new__(Project)
    project.folder = tmp_path / "shop"
    project.write(
        {
            "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n",
            "profiles.yml": """\
shop:
  target: dev
  outputs:
    dev: {type: sparkstream, method: session, schema: shop, server_side_parameters: {spark.driver.memory: 1g}}
""",
            "models/a.sql": "select 1 as x",
        }
    )
    here = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    dbt = [str(Path(sys.executable).parent / "dbt"), "--no-send-anonymous-usage-stats", "--quiet"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*dbt, *arguments, *here], cwd=elsewhere, capture_output=True, text=True)

    built = run("build")
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    shown = run("show", "--inline-direct", "select x from shop.a", "--output", "json")
    assert shown.returncode == 0 and shown.stderr == ""
    data = project.folder / ".sparkstream/session"
    assert {"metastore_db", "warehouse", "spark.log"} <= {path.name for path in data.iterdir()}
    assert list(elsewhere.iterdir()) == [] or [p.name for p in elsewhere.iterdir()] == ["logs"]


def test_seed_values(make_project: Callable[..., Project]) -> None:
    project = make_project({"seeds/s.csv": 'a,b\n1,it\'s\n2,\n3,"a ""b"" %s \\n"\n'})
    project.dbt("seed")
    assert project.rows("select * from {}.s") == [(1, "it's"), (2, None), (3, 'a "b" %s \\n')]


def test_numbers_and_times_of_a_seed(make_project: Callable[..., Project]) -> None:
    rows = "9007199254740993,12345678901234567890,NaN,1e5,2024-01-01T10:00:00.123456\n"
    rows += '-1,,-inf,"1,000",2024-01-01T10:00:00+02:00\n'
    project = make_project({"seeds/s.csv": f"a,b,c,d,e\n{rows}"}, server_side_parameters={**PARAMETERS, ZONE: "UTC"})
    project.dbt("seed")
    assert project.rows("select a, b, cast(c as string), d, cast(e as string) from {}.s") == [
        (-1, None, "-Infinity", 1000, "2024-01-01 08:00:00"),
        (9007199254740993, Decimal("12345678901234567890"), "NaN", 100000, "2024-01-01 10:00:00.123456"),
    ]


SLOW = """{% macro get_incremental_slow_sql(arg_dict) %}
  {%- do run_query("select reflect('java.lang.Thread', 'sleep', 1500L)") -%}
  insert into {{ arg_dict['target_relation'] }} select * from {{ arg_dict['temp_relation'] }}
{% endmacro %}"""


def test_models_of_one_name_in_two_schemas(make_project: Callable[..., Project]) -> None:
    """All threads have one session, so the temporary view of one model must not be the other's."""
    config = "{{ config(materialized='incremental', incremental_strategy='slow', schema='%s', alias='same') }}\n"
    models = {f"models/in_{name}.sql": config % name + f"select '{name}' as x" for name in "ab"}
    project = make_project({"macros/slow.sql": SLOW, **models})
    project.dbt("run")
    project.dbt("run")
    assert [project.rows(f"select x from {{}}_{name}.same") for name in "ab"] == [[("a",)] * 2, [("b",)] * 2]
