"""Content of the distributions: the macros, once, and nothing of other packages."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.starter import project_files
from tests.functional.adapter.project import ROOT
from tests.lib.support import PATIENCE

TEMPLATES = ROOT / "adapters/dbt/adapters/sparkstream/explain/templates"
MACROS = {path.relative_to(ROOT).as_posix() for path in (ROOT / "macros").rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder], cwd=ROOT, check=True)
    [source] = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        # Python before 3.11.4, such as Debian 12's, has no filters, and since 3.14 this one is the default.
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder / "source", **safely)
    [unpacked] = (folder / "source").iterdir()
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=unpacked, check=True)
    return folder


def test_wheel(distributions: Path) -> None:
    [wheel] = distributions.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"dbt/include/sparkstream/{name}" for name in MACROS} <= names
    assert {"dbt/include/sparkstream/dbt_project.yml", "dbt/adapters/sparkstream/py.typed"} <= names
    assert "dbt/include/sparkstream/profile_template.yml" in names  # what `dbt init` asks
    assert {f"dbt/adapters/sparkstream/explain/templates/{path.name}" for path in TEMPLATES.iterdir()} <= names
    starter = {f"dbt/adapters/sparkstream/starter/project/{path}" for path in project_files("shop")}
    assert len(starter) > 8 and starter <= names  # also the files whose names begin with a dot
    foreign = {"dbt/__init__.py", "dbt/adapters/__init__.py", "dbt/include/__init__.py"}
    assert not foreign & names
    assert all(
        name.startswith(("dbt/adapters/sparkstream/", "dbt/include/sparkstream/", "dbt_sparkstream-")) for name in names
    )


def test_source_distribution_is_a_package_for_dbt(distributions: Path) -> None:
    [source] = (distributions / "source").iterdir()
    assert {path.relative_to(source).as_posix() for path in (source / "macros").rglob("*") if path.is_file()} == MACROS
    assert (source / "dbt_project.yml").is_file()
    assert {path.name for path in source.iterdir() if path.is_dir()} == {"adapters", "macros", "models"}
    assert not [path for path in source.rglob("*") if path.name == "__pycache__" or path.name.startswith("test_")]


def test_one_version(distributions: Path) -> None:
    """It stands in `__version__.py`; dbt and people want it elsewhere, too."""
    from dbt.adapters.sparkstream.__version__ import version

    [wheel], [source] = distributions.glob("*.whl"), distributions.glob("*.tar.gz")
    assert wheel.name.startswith(f"dbt_sparkstream-{version}-")
    assert source.name == f"dbt_sparkstream-{version}.tar.gz"
    assert yaml.safe_load((ROOT / "dbt_project.yml").read_text())["version"] == version
    assert (ROOT / "CHANGELOG.md").read_text().split("## ")[1].split()[0] == version


@pytest.mark.long
def test_installed_wheel(distributions: Path, tmp_path: Path) -> None:
    """dbt finds the macros of an installed wheel."""
    [wheel] = distributions.glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    shop = tmp_path / "shop"
    (shop / "models").mkdir(parents=True)
    (shop / "dbt_project.yml").write_text("name: shop\nversion: '1.0'\nprofile: shop\n")
    (shop / "profiles.yml").write_text(
        "shop: {target: dev, outputs: {dev: {type: sparkstream, method: session, schema: shop}}}"
    )
    (shop / "models/a.sql").write_text("select * from {{ tumble('(select now() as ts)', 'ts', '1 day') }}")
    program = f"""
from dbt.adapters.sparkstream import Plugin
assert Plugin.include_path.startswith({str(site)!r}), Plugin.include_path
from dbt.cli.main import dbtRunner
flags = ["--quiet", "--no-send-anonymous-usage-stats"]
done = dbtRunner().invoke([*flags, "compile", "--no-introspect", "--no-populate-cache"])
assert done.success, done.exception
print(done.result.results[0].node.compiled_code)
"""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=shop, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert "/* tumble: windows of 1 day on ts */" in done.stdout
