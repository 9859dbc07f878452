"""The example of aircraft over Paris gives what its page says."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.functional.adapter.project import Project

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "aircraft"
PAGE = (ROOT / "examples" / "aircraft" / "README.md").read_text()
MODELS = {path.name: path.read_text() for path in (EXAMPLE / "models").iterdir()}


def test_sql_on_the_page_is_in_a_model() -> None:
    blocks = re.findall(r"```(?:sql|yaml)\n(.*?)\n```", PAGE, re.DOTALL)
    assert len(blocks) == 5
    assert [block for block in blocks if not any(block in model for model in MODELS.values())] == []


def test_every_model_is_on_the_page_and_has_words() -> None:
    names = sorted(name.removesuffix(".sql") for name in MODELS if name.endswith(".sql"))
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == names
    assert sorted(model["name"] for model in yaml.safe_load(MODELS["schema.yml"])["models"]) == names


@pytest.mark.full
def test_the_page(make_project: Callable[..., Project], tmp_path: Path) -> None:
    data = tmp_path / "data" / "pings.json"
    try:
        runpy.run_path(str(EXAMPLE / "prepare.py"))["lay"](data)
    except SystemExit as error:
        pytest.skip(str(error))
    project = make_project({f"models/{name}": text for name, text in MODELS.items()})
    project.dbt("build", "--vars", f"{{data: {data.parent}}}")
    [figures] = project.rows(
        "select (select count(*) from {}.pings), (select count(distinct icao24) from {}.pings),"
        " (select count_if(altitude is null) from {}.pings), (select count(*) from {}.flights),"
        " (select count(*) from {}.heights), (select count_if(is_filled) from {}.heights),"
        " (select count(altitude) from {}.heights where is_filled)"
    )
    assert figures == (284_505, 213, 58_955, 238, 23_608, 488, 354)
    assert project.rows("select direction, count(*) from {}.approaches group by all") == [
        ("from the east", 26),
        ("from the west", 53),
    ]
    [[(last,)], [(first,)]] = (
        project.rows(
            f"select date_format({which}(ts), 'HH:mm:ss') from {{}}.approaches where direction = '{direction}'"
        )
        for which, direction in (("max", "from the east"), ("min", "from the west"))
    )
    assert (last[-5:], first[-5:]) == ("15:12", "22:30")
    behind = "select percentile(seconds_behind, 0.5), min(seconds_behind) from {}.spacing where airport = 'Orly'"
    assert project.rows(behind) == [(175.0, 69)]
