"""Start of the Spark inside dbt: while dbt reads the project, and from an archive of classes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import cli

from dbt.adapters.sparkstream.compiling.dbtflags import will_need_spark
from dbt.adapters.sparkstream.spark.classdata import archive_of
from dbt.adapters.sparkstream.spark.java import find_java

DBT = str(Path(sys.executable).parent / "dbt")
FILES = {
    "dbt_project.yml": "name: shop\nprofile: shop\n",
    "profiles.yml": """\
shop:
  target: dev
  outputs:
    dev: {type: sparkstream, method: session, schema: shop, server_side_parameters: {spark.driver.memory: 1g}}
""",
    "models/a.sql": "select 1 as x",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project's folder, and a folder `tmp` for temporary files beside it."""
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    (tmp_path / "tmp").mkdir()
    return tmp_path / "shop"


def run(shop: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DBT, "--no-send-anonymous-usage-stats", "--quiet", *arguments, "--profiles-dir", "."],
        cwd=shop,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(shop.parent / "tmp"), **environ},
    )


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (["run"], True),
        (["build", "--select", "a"], True),
        (["show", "--inline", "select 1"], True),
        (["compile"], True),
        (["compile", "--no-populate-cache"], False),
        (["docs", "generate"], True),
        (["parse"], False),
        (["list"], False),
        (["debug"], False),
    ],
)
def test_commands_that_will_need_spark(
    arguments: list[str], needs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path))  # else dbt wants the folder of the user's own profiles
    names = [argument for argument in arguments if argument in ("docs", "generate")] or arguments[:1]
    command: Any = cli
    context: Any = None
    with ExitStack() as entered:
        for name in [None, *names]:
            command = command if name is None else command.commands[name]
            rest = arguments if name is None else arguments[arguments.index(name) + 1 :]
            context = entered.enter_context(command.make_context(name or "dbt", list(rest), parent=context))
        assert will_need_spark() is needs


def test_a_notebook_needs_none() -> None:
    assert not will_need_spark()


@pytest.mark.long
def test_a_project_that_can_not_be_read_leaves_nothing(shop: Path) -> None:
    (shop / "models/a.sql").write_text("{% if %}")
    done = run(shop, "run")
    assert done.returncode == 2 and "Compilation Error" in done.stdout
    assert done.stderr == ""
    assert list((shop.parent / "tmp").iterdir()) == []


@pytest.mark.long
def test_commands_without_spark_start_none(shop: Path) -> None:
    assert run(shop, "parse").returncode == 0
    assert not (shop / ".sparkstream").exists()


@pytest.mark.long
def test_a_spark_that_does_not_start_is_told_once(shop: Path) -> None:
    profile = FILES["profiles.yml"].replace("1g", "much")
    (shop / "profiles.yml").write_text(profile)
    done = run(shop, "run")
    assert done.returncode == 2
    assert done.stdout.count("Spark does not start") == 1 and "spark.log" in done.stdout


@pytest.mark.slow
def test_java_reads_its_classes_from_the_archive(shop: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(shop.parent)}
    archive = archive_of(find_java(), cache)
    assert archive is not None
    subprocess.run(
        [sys.executable, "-m", "dbt.adapters.sparkstream.spark.classdata"], env={**os.environ, **cache}, check=True
    )
    assert archive.is_made and archive.log.read_text().startswith(f"{archive.spark}\n")
    assert {*archive.folder.iterdir()} == {archive.base, archive.file, archive.log}
    loaded = shop.parent / "loaded.txt"
    profile = FILES["profiles.yml"].replace(
        "1g", f"1g, spark.driver.extraJavaOptions: '-Xlog:class+load:file={loaded}'"
    )
    (shop / "profiles.yml").write_text(profile)
    done = run(shop, "run", **cache)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = loaded.read_text().splitlines()
    found = sum("shared objects file" in line for line in lines)
    assert found > 0.8 * sum(" source: " in line and "Lambda" not in line for line in lines), found
