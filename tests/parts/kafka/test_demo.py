"""`make demo-kafka`: what it prints, and what it leaves behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.parts.kafka.broker import PARTS
from tests.parts.kafka.conftest import JARS

DEMO = Path(__file__).parents[3] / "examples" / "kafka" / "demo.py"


def processes(folder: Path) -> list[str]:
    """The processes that have a folder in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if str(folder) in command:
            found.append(command)
    return found


@pytest.mark.skipif(not JARS or not any((PARTS / "broker").glob("*.jar")), reason="`make parts` fetches Kafka's jars")
def test_windows_come_and_nothing_stays(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    demo = [sys.executable, str(DEMO), "--seconds", "6"]
    done = subprocess.run(demo, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    windows = re.findall(r"topic delays   (2013-01-01T\d\d):00  (\w{3}) +(\d+) flights", done.stdout)
    assert len(windows) >= 3
    assert len(set(windows)) == len(windows)
    # By dep_time in the file: what left Newark from five to six on the first of January.
    assert ("2013-01-01T05", "EWR", "5") in windows
    assert re.search(r"model delays     micro-batch \d+: \d+ rows", done.stdout)
    [(table, topic)] = re.findall(r"windows: (\d+) in the table flights.delays, (\d+) in the topic", done.stdout)
    assert table == topic
    assert int(table) >= len(windows)
    deadline = time.monotonic() + 20
    while processes(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert processes(tmp_path) == []
    assert list(tmp_path.glob("sparkstream-demo-*")) == []


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    copy = tmp_path / "examples" / "kafka" / "demo.py"
    copy.parent.mkdir(parents=True)
    copy.write_text(DEMO.read_text())
    done = subprocess.run([sys.executable, str(copy)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Kafka's jars are not in parts/jars\n  run: make parts" in done.stderr
