"""`make` on a machine that lacks something, and on one where all is done."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.lib.support import PATIENCE

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that the Makefile looks at, without an environment."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("adapters", "macros", "examples"):
        ignored = shutil.ignore_patterns("__pycache__", "data", "target", "logs", ".sparkstream", ".user.yml")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "PYTHON")}
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


def python(checkout: Path, script: str) -> str:
    """A program to be PYTHON, which runs the shell script."""
    program = checkout / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"PYTHON={program}"


def test_debian_without_venv_is_told_the_package(checkout: Path) -> None:
    done = make(checkout, "venv", python(checkout, 'case "$2" in *ensurepip*) exit 1;; esac'))
    assert done.returncode == 2
    assert "apt-get install python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_an_old_python_is_told_how_to_name_another(checkout: Path) -> None:
    done = make(checkout, "venv", python(checkout, "exit 1"))
    assert done.returncode == 2
    assert "make PYTHON=python3.12" in done.stderr


def test_a_missing_python_is_told_how_to_name_another(checkout: Path) -> None:
    done = make(checkout, "venv", "PYTHON=no-such-python")
    assert done.returncode == 2
    assert "make PYTHON=python3.12" in done.stderr


class TestDone:
    """Where the environment and the example are there, only what changed is made again."""

    @pytest.fixture
    def built(self, checkout: Path) -> Path:
        flights = checkout / "examples" / "flights"
        for i, path in enumerate(
            [
                checkout / ".venv" / "bin" / "python",
                checkout / ".venv" / ".installed",
                flights / "data" / "flights.csv",
                flights / ".sparkstream" / ".built",
                flights / "target" / "run_results.json",
                flights / ".sparkstream" / "results.txt",
            ]
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            later = time.time() + 10 + i
            os.utime(path, (later, later))
        return checkout

    def plan(self, checkout: Path) -> str:
        """What `make demo` would run."""
        done = make(checkout, "-n", "demo")
        assert done.returncode == 0, done.stderr
        return done.stdout

    @pytest.mark.parametrize(
        "changed, installs, builds, asks",
        [
            (None, False, False, False),
            ("pyproject.toml", True, True, True),
            ("examples/flights/models/delay_today.sql", False, True, True),
            ("examples/flights/tests/spells_are_apart.sql", False, True, True),
            ("examples/flights/profiles.yml", False, True, True),
            ("adapters/dbt/adapters/sparkstream/sql/translate.py", False, True, True),
            # dbt was run by hand, so the tables may be others.
            ("examples/flights/target/run_results.json", False, False, True),
        ],
    )
    def test_again(self, built: Path, changed: str | None, installs: bool, builds: bool, asks: bool) -> None:
        if changed:
            later = time.time() + 60
            os.utime(built / changed, (later, later))
        plan = self.plan(built)
        assert ("pip install" in plan) is installs
        assert ("python build.py" in plan) is builds
        assert ("show_results" in plan) is asks
        assert "prepare.py" not in plan
        assert plan.splitlines()[-1] == "cat examples/flights/.sparkstream/results.txt"

    def test_nothing_has_changed(self, built: Path) -> None:
        results = built / "examples" / "flights" / ".sparkstream" / "results.txt"
        then = results.stat().st_mtime
        results.write_text("departures_hourly: 3 rows\n")
        os.utime(results, (then, then))
        done = make(built, "demo")
        assert (done.returncode, done.stdout) == (0, "departures_hourly: 3 rows\n"), done.stderr
