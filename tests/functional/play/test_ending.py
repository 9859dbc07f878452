"""The folder of the playground, when its command is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.lib.support import PATIENCE, seldom, wait_for


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
@pytest.mark.parametrize(
    ("request_to_end", "started"),
    [(signal.SIGTERM, False), (signal.SIGINT, True), *seldom([(signal.SIGTERM, True), (signal.SIGINT, False)])],
)
def test_nothing_is_left(tmp_path: Path, request_to_end: signal.Signals, started: bool) -> None:
    """Java is being started at first, and has Spark in it when the folder of its blocks is there."""
    command = [sys.executable, "-m", "dbt.adapters.sparkstream.cli", "play", "--no-open"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, SIGINT is ignored, and by their children too.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as playground:
        assert playground.stdout is not None
        assert "The playground is at" in playground.stdout.readline()
        [folder] = tmp_path.glob("sparkstream-play-*")
        if started:
            wait_for(lambda: list(folder.rglob("blockmgr-*")))
        playground.send_signal(request_to_end)
        try:
            playground.wait(timeout=PATIENCE)
        finally:
            playground.kill()
    wait_for(lambda: not list(tmp_path.glob("sparkstream-play-*")))
