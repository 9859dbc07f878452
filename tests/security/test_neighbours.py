"""Other users of the machine: what they can enter, plant or speak to."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.export.project import LIST, _clear
from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.server import process
from dbt.adapters.sparkstream.server.failures import ServerError
from dbt.adapters.sparkstream.server.launch import Folder
from dbt.adapters.sparkstream.server.state import read_state
from tests.lib.support import PATIENCE

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
OTHER = 65534


@pytest.fixture(autouse=True)
def _open_umask() -> object:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folders_and_files_whatever_the_umask(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    private.make_folder(folder)
    private.write(folder / "f", "x")
    assert (mode(folder), mode(folder / "f")) == (0o700, 0o600)
    assert mode(folder.parent) == 0o700
    folder.chmod(0o755)
    (folder / "f").chmod(0o666)
    private.make_folder(folder)
    private.write(folder / "f", "y")
    assert (mode(folder), mode(folder / "f"), (folder / "f").read_text()) == (0o700, 0o600, "y")


def test_links_are_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "server.lock").touch()
    (folder / ".gitignore").symlink_to(victim)
    with pytest.raises(ServerError, match="can't use"):
        Folder(folder).claim()
    assert victim.read_text() == "mine"
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(private.NotOurs, match="is a link"):
        private.make_folder(tmp_path / "link")


@as_root
def test_folders_of_another_user(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, OTHER, OTHER)
    with pytest.raises(private.NotOurs, match="another user's"):
        private.make_folder(folder)
    with pytest.raises(ServerError, match="another user's"):
        Folder(folder).claim()


@as_root
@pytest.mark.parametrize("name", ["session", "server/logs"])
def test_a_folder_within_one_of_another_user(tmp_path: Path, name: str) -> None:
    """A project whose `.sparkstream` somebody else has made: Python's error names no cause."""
    os.seteuid(OTHER)
    try:
        with pytest.raises(PermissionError, match="another user's; run as that user"):
            private.make_folder(tmp_path / name)
    finally:
        os.seteuid(0)


@as_root
@pytest.mark.parametrize("planted", ["owner", "mode", "link"])
def test_a_planted_state(tmp_path: Path, planted: str) -> None:
    path = tmp_path / "server.json"
    path.write_text("{}")
    if planted == "owner":
        os.chown(path, OTHER, OTHER)
    elif planted == "mode":
        path.chmod(0o666)
    else:
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ServerError, match="can't be trusted"):
        read_state(path)


def test_a_process_that_is_no_spark_is_left_alone() -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert process.is_alive(other.pid, process.birth(other.pid) or "")
        assert not process.is_spark(other.pid)
    finally:
        other.communicate(b"\n")


SESSION = """
import json, sys
from pathlib import Path
from dbt.adapters.sparkstream.spark.session import spark_session
spark = spark_session({"spark.driver.memory": "600m"}, Path(sys.argv[1]))
rows = spark.sql("select id % 7 as k, count(*) as n from range(100000) group by 1").count()
conf = spark.sparkContext.getConf()
manager = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().keySet().mkString(",")
print(json.dumps([rows, int(conf.get("spark.driver.port")), int(manager.rpartition(":")[2])]), flush=True)
input()
"""


def answer(port: int) -> bytes:
    """The answer of Spark's port to a call, in its own protocol, from somebody without the secret."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        message = b"who are you?"
        header = struct.pack(">Bqi", 3, 1, len(message))
        client.sendall(struct.pack(">q", 8 + len(header) + len(message)) + header + message)
        try:
            return client.recv(4096)
        except ConnectionError:
            return b""


@pytest.mark.spark
def test_a_session_keeps_its_rows_and_ports_to_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SESSION, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as running:
        assert running.stdout is not None
        said = next((line for line in iter(running.stdout.readline, b"") if line.startswith(b"[")), b"[]")
        rows, *ports = json.loads(said)
        home = tmp_path / ".sparkstream" / "session"
        assert rows == 7
        assert mode(home) == 0o700
        assert list((home / "tmp").glob("blockmgr-*"))
        for port in ports:
            assert b"SaslMessage" in answer(port), answer(port)
        running.communicate(b"\n")


@pytest.mark.parametrize("name", ["../notes", "models/../../notes", "linked/notes", "/{}/notes", ".."])
def test_a_list_of_built_files_removes_none_elsewhere(name: str, tmp_path: Path) -> None:
    into, notes, own = tmp_path / "built", tmp_path / "notes", tmp_path / "built" / "own.sql"
    into.mkdir()
    (into / "linked").symlink_to(tmp_path)
    notes.write_text("mine")
    own.write_text("select 1")
    listed = ["own.sql", name.format(tmp_path)]
    (into / LIST).write_text(json.dumps({"files": listed}))
    with pytest.raises(DbtRuntimeError, match="which lies elsewhere"):
        _clear(into)
    assert notes.exists()
    assert own.exists()
    (into / LIST).write_text(json.dumps({"files": listed[:1]}))
    _clear(into)
    assert not own.exists()
