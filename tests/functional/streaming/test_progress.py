"""Progress of a run in a terminal: the real command in a real (pseudo) terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.functional.adapter.project import PARAMETERS
from tests.lib.terminal import Terminal

MODEL = """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='10 seconds', max_files_per_trigger=1) }}
select window_start, window_end, count(*) as n
from {{ tumble(stream(source('files', 'events')), 'at', '1 minute') }} group by window_start, window_end
"""
SOURCES = """\
sources:
  - name: files
    tables:
      - name: events
        config: {meta: {stream: {format: json, path: EVENTS, schema: 'id bigint, at timestamp'}}}
"""


@pytest.mark.slow
def test_a_run_in_a_terminal(tmp_path: Path) -> None:
    output = {"type": "sparkstream", "method": "session", "schema": "shop", "server_side_parameters": PARAMETERS}
    files = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n",
        "profiles.yml": yaml.safe_dump({"shop": {"target": "test", "outputs": {"test": output}}}),
        "models/counts.sql": MODEL,
        "models/sources.yml": SOURCES.replace("EVENTS", str(tmp_path / "events")),
    }
    for number in range(5):
        rows = [{"id": i, "at": f"2020-04-15T08:{number:02}:{i:02}Z"} for i in range(20)]
        files[f"events/{number}.json"] = "\n".join(map(json.dumps, rows))
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    terminal = Terminal()
    here = ["--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)]
    dbt = subprocess.run(
        [str(Path(sys.executable).parent / "dbt"), "--no-use-colors", "run", *here],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=terminal.slave,
        stderr=terminal.slave,
        timeout=400,
        check=False,
    )
    lines = [line.rstrip() for line in terminal.lines()]
    assert dbt.returncode == 0, lines
    assert "counts: " in terminal.seen
    assert " rows in " in terminal.seen
    assert not [line for line in lines if "counts: " in line or " rows in " in line], "the progress line is left over"
    [ok] = [line for line in lines if " OK created " in line]
    assert ok[2:3] == ":"
    assert "1 of 1 OK created sql streaming_incremental model shop.counts" in ok
    log = (tmp_path / "logs" / "dbt.log").read_text()
    assert "counts: micro-batch 0: 20 rows (" in log
    assert "open windows, " in log
