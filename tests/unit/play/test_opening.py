"""The playground's page as the browser gets it: its token is on no command line."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli.play import play
from dbt.adapters.sparkstream.play.runner import Runner
from dbt.adapters.sparkstream.play.server import PlayServer
from dbt.adapters.sparkstream.spark import java
from dbt.adapters.sparkstream.spark.java import JavaNotFound
from tests.lib.support import wait_for

BROWSER = """#!/bin/sh
{ ls -ld "$(dirname "$1")"; ls -l "$1"; echo "$@"; cat "$1"; } > %s.new && mv %s.new %s
"""


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(not Path("/proc").exists(), reason="opens a page by xdg-open")
def test_it_opens_by_a_file_for_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, shown = tmp_path / "xdg-open", tmp_path / "shown"
    browser.write_text(BROWSER % ((shown,) * 3))
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(Runner, "start", lambda self: None)
    monkeypatch.setattr(Runner, "stop", lambda self: None)

    def serve(server: PlayServer) -> None:
        wait_for(shown.exists)
        raise KeyboardInterrupt

    monkeypatch.setattr(PlayServer, "serve_forever", serve)
    before = os.umask(0)
    try:
        said = CliRunner().invoke(play, ["--port", "0"]).output
    finally:
        os.umask(before)
    folder, file, opened, page = shown.read_text().splitlines()
    token = said.partition("token=")[2].split()[0]
    assert (folder[:10], file[:10]) == ("drwx------", "-rw-------")
    assert token and token in page
    assert token not in opened and "http" not in opened
    assert not Path(opened).exists()


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java is told so at once, and not at the first query."""

    def find() -> None:
        raise JavaNotFound("no Java 17 or newer found, which Spark needs")

    monkeypatch.setattr(java, "find_java", find)
    done = CliRunner().invoke(play, ["--no-open"])
    assert (done.exit_code, done.output) == (1, "no Java 17 or newer found, which Spark needs\n")
