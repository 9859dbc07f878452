"""Flink's answers and refusals, through dbt on both targets: each recorded case is a model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.golden.runner import Case, load
from tests.integration.compare import difference
from tests.integration.golden_project import files, model_name, sample
from tests.integration.targets import DbtProject, Target, write
from tests.lib.support import ON_THE_SESSION

pytestmark = pytest.mark.full

CASES = load("flink_documented.json") + load("flink_cases.json")
ANSWERED = [case for case in CASES if case.expected]
REFUSED = [case for case in CASES if case.error]
ZONES = sorted({case.zone for case in ANSWERED})

# Few cases that have every construct go through each door, on one target, as the doors are behind when a statement gets
# to Spark. `make test-all` has all cases go through window_sql; tests/golden gives all to the translator itself.
SOME = {door: sample(ANSWERED, door) for door in ("window_sql", "config", "island", "macro")}


def through(target: str, which: str) -> dict[str, list[Case]]:
    """Door -> the cases that go through it on a target: `some` of them, or `all`."""
    if which == "all":
        return {"window_sql": ANSWERED}
    return SOME if target == "session" else {"window_sql": SOME["window_sql"]}


PROJECT = "name: cases\nversion: '1.0'\nconfig-version: 2\nprofile: cases\n"


def _project(folder: Path, target: Target, texts: dict[str, str], schema: str, zone: str = "UTC") -> DbtProject:
    write(folder, {"dbt_project.yml": PROJECT, **texts})
    return DbtProject(folder, target, schema=schema, zone=zone)


@pytest.fixture(
    scope="module",
    params=[(zone, which) for which in ("some", "all") for zone in ZONES],
    ids="-".join,
)
def answers(request: pytest.FixtureRequest, target: Target, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Model -> how its rows differ from Flink's; the cases of a time zone are built in one run."""
    zone, which = request.param
    doors = through(target.name, which)
    chosen = {door: [case for case in cases if case.zone == zone] for door, cases in doors.items()}
    schema = f"golden_{target.name}_{which}_{zone.lower().replace('/', '_')}"
    project = _project(tmp_path_factory.mktemp("golden"), target, files(chosen), schema, zone)
    failed = {
        result.node.name: str(result.message)
        for result in project.invoke("build").result.results
        if result.status != "success"
    }
    found: dict[str, str] = {}
    for door, case in ((door, case) for door, cases in chosen.items() for case in cases):
        name = model_name(case, door)
        if name in failed:
            found[name] = failed[name]
        elif case.expected:
            found[name] = difference(case.expected, target.ask(f"SELECT * FROM {schema}.{name}", zone))
    assert len(found) == sum(map(len, chosen.values()))
    return found


def test_rows_are_flinks(answers: dict[str, str]) -> None:
    faults = [f"{name}: {fault}" for name, fault in answers.items() if fault]
    assert not faults, f"{len(faults)} of {len(answers)} differ\n" + "\n".join(faults)


# -- refusals -------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def refusals(target: Target, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Model -> what dbt says of a statement that Flink refuses."""
    texts = files({"window_sql": REFUSED, "config": REFUSED})
    project = _project(tmp_path_factory.mktemp("refused"), target, texts, f"refused_{target.name}")
    return {result.node.name: result for result in project.invoke("build").result.results}


@ON_THE_SESSION
@pytest.mark.parametrize("door", ["window_sql", "config"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in REFUSED])
def test_refused_with_its_place(refusals: dict[str, Any], case: Case, door: str) -> None:
    name = model_name(case, door)
    result = refusals[name]
    assert result.status == "error"
    if "Database Error" in result.message:  # of Spark, whose places are in tests/functional/places
        assert f"(models/cases/{name}.sql)" in result.message
        return
    assert "Compilation Error" in result.message
    # In the user's file, or where what is wrong holds a ref(), in the rendered SQL.
    place = re.search(rf"models/cases/{name}\.sql(?::(\d+):(\d+)|, line (\d+), column (\d+) of the)", result.message)
    assert place, result.message
    if place[1]:
        line = result.node.raw_code.splitlines()[int(place[1]) - 1]
        assert line[int(place[2]) - 1 :].strip(), result.message
