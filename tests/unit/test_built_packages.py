"""packages.yml of a project that `sparkstream build` has written: without the package of this project."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dbt.adapters.sparkstream.export.properties import packages

UTILS = {"package": "dbt-labs/dbt_utils", "version": [">=1.1.0", "<2.0.0"]}
OURS = {"git": "https://example.org/team/dbt-sparkstream.git", "revision": "0.2.0"}


def written(folder: Path, content: object) -> object:
    """The content of packages.yml in the written project, `built` beside the folder `shop`; None without the file."""
    text = packages(yaml.safe_dump(content), folder / "shop", folder / "built")
    return None if text is None else yaml.safe_load(text)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"packages": [UTILS, OURS]}, {"packages": [UTILS]}),
        ({"packages": [OURS]}, None),
        ({"packages": [{"package": "team/sparkstream", "version": "0.2.0"}]}, None),
        ({"packages": [OURS], "projects": [{"name": "core"}]}, {"projects": [{"name": "core"}]}),
        ({"packages": [{"local": "/work/macros"}, OURS]}, {"packages": [{"local": "/work/macros"}]}),
        (
            {"packages": [{"local": "macros"}, {"local": "../macros"}]},
            {"packages": [{"local": "../shop/macros"}, {"local": "../macros"}]},
        ),
    ],
    ids=["others stay", "nothing is left", "from a registry", "other keys stay", "an absolute path", "relative paths"],
)
def test_what_is_left(tmp_path: Path, content: object, expected: object) -> None:
    assert written(tmp_path, content) == expected


def test_a_local_package_goes_by_the_name_of_its_project(tmp_path: Path) -> None:
    for name in ("sparkstream", "macros"):
        folder = tmp_path / "shop" / name
        folder.mkdir(parents=True)
        (folder / "dbt_project.yml").write_text(f"name: {name}\n")
    listed = [{"local": "sparkstream"}, {"local": "macros"}]
    assert written(tmp_path, {"packages": listed}) == {"packages": [{"local": "../shop/macros"}]}


def test_a_file_without_the_package_stays_as_it_is(tmp_path: Path) -> None:
    text = "# ours\npackages:\n  - package: dbt-labs/dbt_utils  # windows\n    version: 1.3.0\n"
    assert packages(text, tmp_path / "shop", tmp_path / "built") == text
