"""The quick start, as its reader goes through it: typed into a shell, with the adapter as a wheel installs it."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dbt
from dbt.adapters.sparkstream.starter import project_files
from tests.docs.blocks import PAGES, ROOT, Block, blocks
from tests.docs.terminal import answer
from tests.lib.support import PATIENCE, sampled

PAGE = "docs/quickstart.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """dbt with the adapter beside dbt-spark's: an editable install is none of those that `dbt init` offers."""
    site = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(site)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    installed = Path(next(path for path in dbt.__path__ if (Path(path) / "cli").is_dir()))
    shutil.copytree(installed, site / "dbt", copy_function=os.symlink)
    [wheel] = site.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    program = site / "bin" / "dbt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from dbt.cli.main import cli; cli()" "$@"\n')
    program.chmod(0o755)
    ours = program.with_name("sparkstream")
    ours.write_text(f'#!/bin/sh\nexec {sys.executable} -m dbt.adapters.sparkstream.cli "$@"\n')
    ours.chmod(0o755)
    program.with_name("python").symlink_to(sys.executable)
    (site / "home").mkdir()
    return {
        **os.environ,
        "PYTHONPATH": str(site),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(site / "home"),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DBT_USE_COLORS": "false",
        "DBT_VERSION_CHECK": "false",
    }


def _lines(block: Block) -> Iterator[str]:
    return (line for line in block.text.splitlines() if line)


def work_of_children() -> float:
    """Seconds of work of the programs that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def number_of_adapter(screen: str) -> str:
    found = re.search(r"\[(\d)\] sparkstream", screen)
    assert found, screen
    return found[1]


@pytest.mark.full
def test_the_page(environment: dict[str, str], tmp_path: Path) -> None:
    folder, screen, begun = tmp_path, "", work_of_children()
    for block in blocks(PAGE):
        if block.mark or block.title:
            continue
        if block.language == "shell":
            # `cd` stays where it leads, as in the reader's shell.
            script = f"set -e\n{block.text}\npwd > {tmp_path}/cwd"
            done = subprocess.run(
                ["sh", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
            assert done.returncode == 0, done.stdout + done.stderr
            folder, screen = Path((tmp_path / "cwd").read_text().strip()), done.stdout
        else:
            assert block.language == "text", block
            assert all(line in screen for line in _lines(block)), screen
    assert folder == tmp_path / "shop"
    # What the page promises, in seconds of work: those of the clock depend on what else the machine has to do.
    assert "in five minutes" in PAGES[PAGE].read_text() and work_of_children() - begun < 300


def test_files_on_the_page_are_those_of_init() -> None:
    shown = {block.title: block.text for block in blocks(PAGE) if block.title}
    assert shown
    assert shown.items() <= project_files("shop").items()


def test_the_questions_of_dbt_init(environment: dict[str, str], tmp_path: Path) -> None:
    [block] = [block for block in blocks(PAGE) if block.language == "console"]
    command, *shown = _lines(block)
    typed = [line.rpartition(": ")[2] for line in shown if re.search(r"(number|dev|time)\)?( \[\d\])?: \w+$", line)]
    words = command.removeprefix("$ ").split()
    code, screen = answer(words, [number_of_adapter, *typed[1:]], tmp_path, environment)
    assert code == 0, screen
    # The order of the adapters is that of the files on the disk.
    shown = [re.sub(r"^\[\d\] (?=spark)", "", line) for line in shown]
    assert not [line for line in shown if line not in screen and line.rpartition(": ")[0] not in screen], screen


# What is chosen -> what the profile holds.
CHOICES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "local server": (["2", "", "shop", ""], {"method": "thrift", "host": "127.0.0.1", "port": 10000, "auth": "NOSASL"}),
    "elsewhere": (
        ["3", "spark.example.com", "", "1", "me", "2", "sc://spark.example.com:15002", "shop", "8"],
        {"method": "thrift", "host": "spark.example.com", "auth": "NONE", "user": "me"},
    ),
}


@pytest.mark.parametrize("choice", sampled(CHOICES, share=2))
def test_init_for_a_server(choice: str, environment: dict[str, str], tmp_path: Path) -> None:
    import yaml

    answers, expected = CHOICES[choice]
    home = tmp_path / "home"
    home.mkdir()
    code, screen = answer(
        ["dbt", "init", "other"], [number_of_adapter, *answers], tmp_path, {**environment, "HOME": str(home)}
    )
    assert code == 0, screen
    output = yaml.safe_load((home / ".dbt/profiles.yml").read_text())["other"]["outputs"]["dev"]
    assert expected.items() <= output.items()
    assert output["type"] == "sparkstream"
