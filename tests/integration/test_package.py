"""The package in other people's projects: on plain dbt-spark, and with its gallery left off."""

from __future__ import annotations

import pytest

from tests.functional.adapter.test_generic_tests import TESTS, model_files
from tests.golden.runner import covering
from tests.integration.gallery import examples
from tests.integration.targets import ROOT, DbtProject, Target, problems, write
from tests.lib.support import ON_THE_SESSION, seldom

pytestmark = pytest.mark.long

PROJECT = "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n"


def _user(target: Target, tmp_path_factory: pytest.TempPathFactory, type_: str, more: dict[str, str]) -> DbtProject:
    folder = tmp_path_factory.mktemp("user")
    write(folder, {"dbt_project.yml": PROJECT, "packages.yml": f"packages: [{{local: '{ROOT}'}}]\n", **more})
    project = DbtProject(folder, target, schema=f"user_{type_}_{target.name}", type_=type_)
    project.dbt("deps")
    return project


@ON_THE_SESSION
@pytest.mark.parametrize("type_", ["spark", *seldom(["sparkstream"])])
def test_users_get_no_models(target: Target, tmp_path_factory: pytest.TempPathFactory, type_: str) -> None:
    project = _user(target, tmp_path_factory, type_, {"models/mine.sql": "select 1 as x"})
    assert project.dbt("list", "--resource-types", "model", "seed", "test") == ["shop.mine"]
    switched_on = project.dbt("list", "--resource-types", "seed", "--vars", "sparkstream_examples: true")
    assert any(name.endswith(".flink_bid") for name in switched_on)


@ON_THE_SESSION
@pytest.mark.parametrize("which", ["some", pytest.param("all", marks=pytest.mark.full)])
def test_macros_on_plain_dbt_spark(target: Target, tmp_path_factory: pytest.TempPathFactory, which: str) -> None:
    """The gallery's macros, in Jinja alone, return the pages' tables."""
    chosen = [example for example in examples() if "macro" in example.doors]
    if which == "some":
        quick = covering(example.case for example in chosen)
        chosen = [example for example in chosen if example.case in quick]
    models = [f"+{example.model('macro')}" for example in chosen]
    tables = [f"{example.name}__expected" for example in chosen]
    examples_on = ["--vars", "sparkstream_examples: true"]
    # The seeds come from our adapter: dbt-spark's session method writes NULL as an empty text.
    project = _user(target, tmp_path_factory, "sparkstream", {})
    project.dbt("seed", "--select", *models, *tables, *examples_on)
    project = DbtProject(project.folder, target, schema=project.schema, type_="spark")
    selected = ["--select", *models, *tables, "--exclude-resource-type", "seed"]
    done = project.invoke("build", *selected, *examples_on, "--indirect-selection", "cautious")
    assert done.success, problems(done)
    tested = [result for result in done.result.results if result.node.resource_type == "test"]
    assert len(tested) == len(chosen)


FRAME = "frame='rows_range', start='5 minutes', partition_by='k', order_by='ts'"
NEED_THE_ADAPTER = {
    "window_sql": "{% call sparkstream.window_sql(dialect='flink') %}select 1{% endcall %}",
    "stream": "select * from {{ sparkstream.stream(ref('rows')) }}",
    "streaming_incremental": "{{ config(materialized='streaming_incremental') }}\nselect * from {{ ref('rows') }}",
    "frame": "select *, {{ sparkstream.over('count(*)', " + FRAME + ") }} as n from {{ ref('rows') }}",
    "window_replace": "{{ config(materialized='incremental', incremental_strategy='window_replace') }}\n"
    "select * from {{ sparkstream.tumble(ref('rows'), 'ts', '1 hour') }}",
}


@ON_THE_SESSION
def test_what_needs_the_adapter_says_so(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    models = {"rows": "select 1 as k, timestamp'2024-01-01 00:00:00' as ts", **NEED_THE_ADAPTER}
    files = {f"models/{name}.sql": text for name, text in models.items()}
    project = _user(target, tmp_path_factory, "spark", files)
    results = {result.node.name: result for result in project.invoke("run").result.results}
    assert results.pop("rows").status == "success"
    assert results.keys() == NEED_THE_ADAPTER.keys()
    for name, result in results.items():
        assert result.status == "error"
        assert "needs the adapter dbt-sparkstream" in result.message, name
        assert "pip install dbt-sparkstream" in result.message, name
    assert not project.invoke("run-operation", "sparkstream.request", "--args", "{model: rows, rows: []}").success
    assert "request needs the adapter dbt-sparkstream" in (project.folder / "logs" / "dbt.log").read_text()


@ON_THE_SESSION
def test_matches_rows_finds_differences(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = (
        "select * from values (1, 'x', cast(1 as decimal(10, 2))), (1, 'x', 1), (2, null, null) as t (id, name, amount)"
    )
    same = "select * from values (2, null, null), (1, 'x', 1), (1, 'x', 1.0000) as t (ID, name, amount)"
    once = "select distinct * from values (1, 'x', 1), (2, null, null) as t (id, name, amount)"
    other = "select * from values (1, 'x', 1), (1, 'x', 1), (2, null, 0) as t (id, name, amount)"
    fewer = "select 1 as id, 'x' as name"
    tests = "\n".join(
        f"      - sparkstream.matches_rows: {{name: {name}, arguments: {{expected: ref('{name}_rows')}}}}"
        for name in ("same", "once", "other", "fewer")
    )
    project = _user(
        target,
        tmp_path_factory,
        "spark",
        {
            "models/rows.sql": rows,
            "models/same_rows.sql": same,
            "models/once_rows.sql": once,
            "models/other_rows.sql": other,
            "models/fewer_rows.sql": fewer,
            "models/rows.yml": f"models:\n  - name: rows\n    data_tests:\n{tests}\n",
        },
    )
    results = {result.node.name: result for result in project.invoke("build").result.results}
    assert results["same"].status == "pass"
    assert (results["once"].status, results["once"].failures) == ("fail", 1)
    assert (results["other"].status, results["other"].failures) == ("fail", 2)
    assert "lacks amount" in results["fewer"].message


@ON_THE_SESSION
def test_window_tests_on_plain_dbt_spark(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those on one model, as a sample: all of them run on the embedded Spark elsewhere."""
    tests = {name: case for name, case in TESTS.items() if case[0] == "tumbling"}
    project = _user(target, tmp_path_factory, "spark", model_files(tests, "sparkstream."))
    project.dbt("run", "--select", "+tumbling")
    results = project.invoke("test", "--select", "tumbling").result.results
    found = {result.node.name: (str(result.status), result.failures) for result in results}
    assert found == {name: ("fail" if case[3] else "pass", case[3]) for name, case in tests.items()}
