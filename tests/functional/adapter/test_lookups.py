"""Questions of the adapter to Spark before it translates a statement, and those that it does without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.functional.adapter.project import Project

TWO_TABLES = """\
select count(*) as n
from << tumble({{ ref('a') }}, ts, '1 day') >> as l
join << tumble({{ ref('b') }}, ts, '1 day') >> as r using (window_start, window_end)
"""


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    project = make_project(
        {
            "models/a.sql": "select timestamp'2020-04-15 08:05:00' as ts, 1 as `odd name`",
            "models/b.sql": "select timestamp_ntz'2020-04-15 08:05:00' as ts, 'x' as v",
            "models/two.sql": TWO_TABLES,
            "models/plain.sql": "select 1 as x  -- tumble(\n",
        }
    )
    project.dbt("run", "--select", "a", "b")
    return project


@contextmanager
def statements(project: Project, *arguments: str) -> Iterator[list[str]]:
    """What dbt sends to Spark, as its log has it."""
    from dbt.cli.main import dbtRunner
    from dbt_common.events.base_types import EventMsg

    sent: list[str] = []

    def note(event: EventMsg) -> None:
        if event.info.name == "SQLQuery":
            sent.append(event.data.sql)

    here = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    done = dbtRunner(callbacks=[note]).invoke(["--quiet", "--no-send-anonymous-usage-stats", *arguments, *here])
    assert done.success, done.exception or done.result
    yield sent


def test_one_question_for_all_tables(shop: Project) -> None:
    with statements(shop, "run", "--select", "two") as sent:
        questions = [sql for sql in sent if "DESCRIBE QUERY" in sql]
        assert len(questions) == 1
        assert f"`{shop.schema}`.`a`" in questions[0] or f"{shop.schema}.a" in questions[0]
        assert "CROSS JOIN" in questions[0]
        assert questions[0].startswith('/* {"app": "dbt"')
    assert shop.rows("select * from {}.two") == [(1,)]
    # The types are known: only a TIMESTAMP is read as wall clock.
    assert shop.compiled("two").count("CAST(ts AS TIMESTAMP_NTZ)") == 1


def test_no_question_without_windows(shop: Project) -> None:
    with statements(shop, "run", "--select", "plain") as sent:
        assert not any("DESCRIBE QUERY" in sql for sql in sent)
        assert any(sql.rstrip().endswith("select 1 as x  -- tumble(") for sql in sent)


def test_a_change_of_a_table_is_seen(shop: Project, embedded: Any) -> None:
    embedded.sql(f"create table {shop.schema}.later (ts string)")
    shop.write({"models/late.sql": f"select window_start from << tumble({shop.schema}.later, ts, '1 day') >>"})
    assert "time column ts is of type string" in shop.failure("compile", "--select", "late")
    embedded.sql(f"drop table {shop.schema}.later")
    embedded.sql(f"create table {shop.schema}.later (ts timestamp)")
    shop.dbt("compile", "--select", "late")
    shop.write({"models/late.sql": "select 1 as x"})


def test_compile_before_build(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {"models/a.sql": "select timestamp'2020-04-15 08:05:00' as ts", "models/b.sql": "select 1 as ts"}
        | {"models/two.sql": TWO_TABLES}
    )
    project.dbt("compile")
    assert project.compiled("two").count("CAST(ts AS TIMESTAMP_NTZ)") == 2
    # One of two tables is there: it is checked.
    project.dbt("run", "--select", "b")
    assert "time column ts is of type int" in project.failure("compile", "--select", "two")


def test_compile_without_a_warehouse(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {"models/a.sql": "select now() as ts", "models/two.sql": TWO_TABLES.replace("'b'", "'a'")},
        method="thrift",
        host="127.0.0.1",
        port=1,
        auth="NOSASL",
    )
    project.dbt("compile", "--no-introspect", "--no-populate-cache")
    assert "/* tumble: windows of 1 day on ts */" in project.compiled("two")


def test_query_comments_stay(make_project: Callable[..., Project]) -> None:
    project = make_project({"models/a.sql": "select now() as ts"})
    project.write({"models/w.sql": "select * from << tumble({{ ref('a') }}, ts, '1 day') >>"})
    with (project.folder / "dbt_project.yml").open("a") as file:
        file.write("query-comment: {comment: 'from the shop: tumble(', append: true}\n")
    with statements(project, "run") as sent:
        [created] = [sql for sql in sent if f"{project.schema}.w" in sql.replace("`", "") and "create" in sql]
        assert created.endswith("/* from the shop: tumble( */")
        assert "<<" not in created


@pytest.mark.long
def test_optimize_of_a_model_and_a_call_goes_before_that_of_the_target(make_project: Callable[..., Project]) -> None:
    hop = "select window_end, count(*) as n from << hop({{ ref('a') }}, ts, '1 hour', '1 day') >> group by window_end"
    files = {
        "models/a.sql": "select timestamp '2024-05-06 07:08:09' as ts",
        "models/default.sql": hop,
        "models/chosen.sql": "{{ config(optimize=true) }}\n" + hop,
        "models/called.sql": "{% call window_sql(optimize=true) %}\n" + hop + "{% endcall %}",
        "models/refused.sql": "{{ config(optimize=true) }}{% call window_sql(optimize=false) %}\n"
        + hop
        + "{% endcall %}",
    }
    project = make_project(files, optimize=False)
    project.dbt("run")
    faster = {name for name in ("default", "chosen", "called", "refused") if "slices" in project.compiled(name)}
    assert faster == {"chosen", "called"}
    rows = {name: project.rows("select * from {}." + name) for name in ("default", "chosen", "called", "refused")}
    assert len(rows["default"]) == 24
    assert all(found == rows["default"] for found in rows.values())


def test_a_skewed_key_is_split_through_all_doors(make_project: Callable[..., Project]) -> None:
    frame = "(partition by k order by ts range between interval '20' minute preceding and current row)"
    over = f"select ts, max(v) over {frame} as m, sum(v) over {frame} as s from {{{{ ref('a') }}}}"
    doors = {
        "own": over,
        "over_macro": "select ts, {{ over('max(v)', 'k', 'ts', 'range', '20 minutes') }} as m from {{ ref('a') }}",
        "called": "{% call window_sql(dialect='flink') %}\n" + over + "{% endcall %}",
    }
    files = {"models/a.sql": "select timestamp_seconds(pow(id, 3)) as ts, id % 2 as k, id as v from range(40)"}
    for name, sql in doors.items():
        files[f"models/{name}.sql"] = sql
        files[f"models/skewed_{name}.sql"] = "{{ config(skewed=true) }}\n" + sql
    files["models/written.sql"] = "{{ config(skewed=true, sql_dialect='flink') }}\n" + over
    project = make_project(files)
    project.dbt("run", "--warn-error")
    for name in doors:
        assert ["__block" in project.compiled(each) for each in (name, f"skewed_{name}")] == [False, True]
        want, got = (project.rows(f"select * from {{}}.{table}") for table in (name, f"skewed_{name}"))
        assert sorted(got) == sorted(want)
    assert "__block" in project.compiled("written")

    project.write({"models/written.sql": "{{ config(skewed=true, optimize=false) }} select 1 as x"})
    assert "skewed is for rules of the optimizer, which is off here" in project.failure("run", "-s", "written")
    project.write({"models/written.sql": "{{ config(skewed='yes') }} select 1 as x"})
    assert "skewed is true or false, and not 'yes'" in project.failure("run", "-s", "written")
    whole = {
        "a frame of no bounds": "select row_number() over (order by ts) as n from {{ ref('a') }}",
        "this session": "select * from {{ session(ref('a'), 'ts', '5 minutes', partition_by='k') }}",
    }
    for what, sql in whole.items():
        project.write({"models/written.sql": "{{ config(skewed=true) }} " + sql})
        assert f"skewed does nothing for {what}" in project.failure("run", "--warn-error", "-s", "written")
