"""The project in integration_tests/, with the gallery: everything of dbt that touches a window, on both targets."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from tests.golden.runner import covering
from tests.integration.gallery import Example, examples, others
from tests.integration.targets import DbtProject, Target, copy_project, problems, write
from tests.lib.support import ON_THE_SERVER, ON_THE_SESSION


@pytest.fixture(scope="module")
def project(target: Target, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    """The project with its packages installed."""
    folder = copy_project("integration_tests", tmp_path_factory.mktemp("project") / "integration_tests")
    write(folder, others(gallery(target.name)))
    project = DbtProject(folder, target, schema=f"it_{target.name}")
    project.dbt("deps")
    return project


def gallery(target: str) -> list[tuple[Example, str]]:
    """Examples of the gallery, each with the door that it is tried through.

    On the server, fewer examples, which have every tag, each through another door than on the embedded Spark.
    """
    quick = {case.id for case in covering(example.case for example in examples())}
    chosen = []
    for i, example in enumerate(examples()):
        if target == "session" or example.case.id in quick:
            turn = i + (target != "session")
            chosen.append((example, example.doors[turn % len(example.doors)]))
    return chosen


@pytest.fixture(scope="module")
def built(project: DbtProject) -> dict[str, Any]:
    """The project after `dbt build`: the result of each node by its unique id."""
    day = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
    selected = ["--select", "package:sparkstream_integration_tests"]
    for example, door in gallery(project.target.name):
        selected += [f"+{example.model(door)}", f"{example.name}__expected"]
    done = project.invoke("build", *selected, "--indirect-selection", "cautious", *day)
    assert done.success, problems(done)
    return {result.node.unique_id: result for result in done.result.results}


@pytest.mark.full
@ON_THE_SESSION
def test_compiles_in_a_fresh_schema(project: DbtProject, tmp_path: Path) -> None:
    """Nothing asks for a table that isn't built: no test, no incremental model, nothing of the gallery."""
    folder = copy_project(str(project.folder), tmp_path / "fresh")
    shutil.copytree(project.folder / "dbt_packages", folder / "dbt_packages", symlinks=True)
    fresh = DbtProject(folder, project.target, schema=f"fresh_{project.target.name}")
    project.target.drop_schema(fresh.schema)
    fresh.dbt("docs", "generate")


def test_build_runs_models_tests_and_unit_tests(built: dict[str, Any]) -> None:
    kinds = [unique_id.split(".")[0] for unique_id in built]
    assert {"model", "seed", "test", "unit_test"} <= set(kinds)
    assert all(result.status in ("success", "pass") for result in built.values())


@pytest.mark.full
def test_all_of_the_gallery(project: DbtProject) -> None:
    """Every example through every door gives the table that its page prints."""
    write(project.folder, others())
    done = project.invoke("build", "--select", "package:sparkstream", "path:models/doors")
    assert done.success, problems(done)
    tested = [result for result in done.result.results if result.node.resource_type == "test"]
    assert len(tested) == sum(len(example.doors) for example in examples())


def test_hooks_are_translated(project: DbtProject, built: dict[str, Any]) -> None:
    rows = project.target.rows(f"select * from {project.schema}.audit where what like 'windows %'")
    assert ("windows of bids_10min_table", 6) in rows
    assert ("windows at the end", 6) in rows


def test_compiled_sql_is_sparks(project: DbtProject, built: dict[str, Any]) -> None:
    compiled = {
        name: result.node.compiled_code
        for name, result in built.items()
        if result.node.resource_type in ("model", "test") and "bids_10min" in name
    }
    assert compiled
    for name, sql in compiled.items():
        assert not re.search(r"<<|\b(tumble|hop|cumulate|session)\s*\(", re.sub(r"/\*.*?\*/", "", sql), re.I), name
    assert "window(" in project.compiled("bids_10min")


def test_operation(project: DbtProject, built: dict[str, Any]) -> None:
    project.dbt("run-operation", "count_windows")
    assert project.target.rows(f"select n from {project.schema}.audit where what = 'windows of an operation'") == [(6,)]


def test_analysis_compiles(project: DbtProject, built: dict[str, Any]) -> None:
    project.dbt("compile", "--select", "busiest_window")
    # Two windows of ten minutes hold five bids; the query takes the first.
    assert project.target.rows(project.compiled("busiest_window"))[0][1] == 5


@pytest.mark.parametrize(
    "query",
    [
        "from {{ tumble(ref('bids'), 'bidtime', '1 day') }}",
        "from << tumble({{ ref('bids') }}, bidtime, '1 day') >>",
        "from tumble(table {{ ref('bids') }}, descriptor(bidtime), interval '1' day)",
    ],
    ids=["macro", "island", "sql"],
)
def test_show_inline(project: DbtProject, built: dict[str, Any], query: str) -> None:
    sql = f"select window_start, count(*) as n {query} group by window_start, window_end order by window_start"
    shown = project.dbt("show", "--limit", "1", "--inline", sql)
    [row] = shown.results[0].agate_table.rows
    assert (str(row[0])[:10], int(row[1])) == ("2024-01-01", 8)


def test_show_inline_in_another_dialect(project: DbtProject, built: dict[str, Any]) -> None:
    sql = (
        "{% call window_sql(dialect='flink') %}SELECT COUNT(*) AS n FROM TUMBLE(TABLE {{ ref('bids') }}, "
        "DESCRIPTOR(bidtime), INTERVAL '1' DAY) GROUP BY window_start, window_end{% endcall %}"
    )
    shown = project.dbt("show", "--inline", sql)
    assert sorted(int(row[0]) for row in shown.results[0].agate_table.rows) == [3, 8]


@pytest.mark.parametrize(("limit", "rows"), [("2", 2), ("-1", 9)])
def test_show_inline_direct(
    project: DbtProject, built: dict[str, Any], capfd: pytest.CaptureFixture[str], limit: str, rows: int
) -> None:
    query = f"select * from {project.schema}.bid_sessions"
    done = project.invoke("show", "--output", "json", "--limit", limit, "--inline-direct", query, quiet=False)
    assert done.success, done.exception
    assert capfd.readouterr().out.count('"window_start": ') == rows


def test_show_model(project: DbtProject, built: dict[str, Any]) -> None:
    shown = project.dbt("show", "--select", "bid_sessions", "--limit", "20")
    assert len(shown.results[0].agate_table.rows) == 9


@ON_THE_SESSION
def test_snapshot_compiles(project: DbtProject, built: dict[str, Any]) -> None:
    result = project.dbt("compile", "--select", "window_history", "--vars", "{snapshots: true}")
    [snapshot] = [node.node for node in result.results]
    assert "<<" not in snapshot.compiled_code
    assert len(project.target.rows(snapshot.compiled_code)) == 6


@ON_THE_SESSION
def test_snapshot_says_what_it_needs(project: DbtProject, built: dict[str, Any]) -> None:
    folder = project.folder / "snapshots"
    (folder / "in_parquet.sql").write_text(
        "{% snapshot in_parquet %}{{ config(strategy='check', unique_key='window_start', check_cols='all') }}"
        "select * from {{ ref('bid_sessions') }}{% endsnapshot %}"
    )
    done = project.invoke("snapshot", "--select", "in_parquet")
    (folder / "in_parquet.sql").unlink()
    assert not done.success
    assert "Snapshot functionality requires file_format be set to 'delta' or 'iceberg' or 'hudi'" in problems(done)
    assert "pyspark==4.2.*" in problems(done)


@ON_THE_SERVER
def test_incremental_models_go_on(project: DbtProject, built: dict[str, Any]) -> None:
    def windows(model: str) -> list[tuple[Any, ...]]:
        return project.target.rows(f"select window_start, window_end, bids, total from {project.schema}.{model}")

    def all_windows(expected: str, until: str) -> list[tuple[Any, ...]]:
        return project.target.rows(f"select * from {project.schema}.{expected} where window_end <= '{until}'")

    day, end = "2024-01-02 00:00:00", "2024-01-02 08:10:00"
    assert windows("closed_windows") == all_windows("expected_tumble", day)
    assert windows("daily_windows") == all_windows("expected_hop", day)
    assert windows("microbatch_windows") == windows("bids_10min")[:3]
    later = ["--vars", json.dumps({"until": end})]
    project.dbt("run", "--select", "closed_windows", "daily_windows", *later)
    assert windows("closed_windows") == all_windows("expected_tumble", end)
    assert windows("daily_windows") == all_windows("expected_hop", end)
    days = ["--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03"]
    project.dbt("run", "--select", "microbatch_windows", *days)
    assert windows("microbatch_windows") == windows("bids_10min")


@ON_THE_SERVER
def test_docs(project: DbtProject, built: dict[str, Any]) -> None:
    catalog = project.dbt("docs", "generate", "--select", "package:sparkstream_integration_tests")
    table = catalog.nodes["model.sparkstream_integration_tests.bids_10min"]
    assert {name: column.type for name, column in table.columns.items()} == {
        "window_start": "timestamp_ntz",
        "window_end": "timestamp_ntz",
        "bids": "long",
        "total": "decimal(20,2)",
    }


@ON_THE_SERVER
def test_empty(project: DbtProject, built: dict[str, Any]) -> None:
    """`--empty` puts a query without rows where a relation was. It comes last: it empties the tables."""
    project.dbt("run", "--empty", "--exclude", "package:sparkstream", "microbatch_windows")
    for model in ("bids_10min_table", "bids_hop", "bids_so_far", "bid_sessions", "bids_daily", "bids_from_ephemeral"):
        assert project.target.rows(f"select count(*) from {project.schema}.{model}") == [(0,)], model


@pytest.mark.parametrize(
    ("options", "windows"),
    [
        ([], ["2024-01-01 08:00 – 08:10: 3 rows", "2024-01-01 08:10 – 08:20: 4 rows"]),
        (
            ["--unit-test", "a_window_begins_at_its_first_instant"],
            ["2024-05-01 08:00 – 08:10: 2 rows", "2024-05-01 08:10 – 08:20: 1 row"],
        ),
    ],
    ids=["tables", "unit test"],
)
def test_explain_draws_rows(
    project: DbtProject, built: dict[str, Any], tmp_path: Path, options: list[str], windows: list[str]
) -> None:
    page, here = tmp_path / "page.html", ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    done = CliRunner().invoke(main, ["explain", "bids_10min", "--html", str(page), *options, *here])
    assert done.exit_code == 0, done.output
    assert re.findall(r"<title>window (.*?)</title>", page.read_text())[:2] == windows
