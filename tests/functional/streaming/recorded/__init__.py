"""Streaming tables with all that lies beside them, as earlier versions have left them.

A project in `/tmp/made020` with the files of `project` and a folder `landing` made them: `dbt run` with the rows of
`a.json`, then with those of `b.json`. An archive has the table's folder, `_sparkstream`, `landing`, and the table's
properties (of Delta, those of `windows__stream`) as JSON; files of checksums are left out.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.sparkstream.sql.core.literals import string_literal

MADE_IN = "/tmp/made020"
WAREHOUSE = ".sparkstream/session/warehouse/shop.db"
SOURCES = """
sources:
  - name: landing
    tables:
      - name: bid
        meta:
          stream: {format: json, path: landing, schema: "id bigint, ts timestamp, v bigint"}
"""
WINDOWS = """
SELECT window_start, window_end, sum(v) AS total
FROM {{ tumble(stream(source('landing', 'bid')), 'ts', '10 minutes') }}
GROUP BY window_start, window_end
"""


def project(file_format: str) -> dict[str, str]:
    """The project's files."""
    config = f"materialized='streaming_incremental', event_time='ts', watermark='1 minute', file_format='{file_format}'"
    return {"models/sources.yml": SOURCES, "models/windows.sql": f"{{{{ config({config}) }}}}\n{WINDOWS}"}


def as_sql(properties: Mapping[str, str]) -> str:
    """Properties of a table, for TBLPROPERTIES."""
    return ", ".join(f"{string_literal(name)} = {string_literal(text)}" for name, text in properties.items())


def unpacked(archive: str, folder: Path) -> dict[str, str]:
    """Puts a recorded table into a folder, as if it had been made there; gives its properties."""
    with tarfile.open(Path(__file__).parent / archive) as tar:
        tar.extractall(folder, filter="data")
    for file in [*folder.glob("_sparkstream/*/table/*"), *folder.glob("_sparkstream/*/checkpoint/sources/*/*")]:
        text = file.read_text().replace(f"{MADE_IN}/{WAREHOUSE}/", f"{folder}/").replace(f"{MADE_IN}/", f"{folder}/")
        file.write_text(text)
        for entry in map(json.loads, re.findall(r"^\{.*\}$", text, re.MULTILINE)):
            nanos = entry["timestamp"] * 1_000_000  # Spark compares the time of a file's last change
            os.utime(entry["path"].removeprefix("file://"), ns=(nanos, nanos))
    return dict(json.loads((folder / "properties.json").read_text()))
