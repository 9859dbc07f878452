"""Jars on the class path of a server, as far as that needs no Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.server import ServerConfig, ServerError, jars

AT = ("--port", "10997", "--connect-port", "10998")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["server", *map(str, arguments)])


def settled(value: str) -> dict[str, str]:
    return dict(ServerConfig(conf={"spark.jars": value}).conf)


def test_paths_are_those_of_the_folder_that_the_command_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b c.jar").touch()
    (tmp_path / "a.jar").touch()
    monkeypatch.chdir(tmp_path)
    conf = settled("b c.jar, ./a.jar")
    assert conf == {"spark.jars": f"{tmp_path}/b c.jar,{tmp_path}/a.jar"}
    monkeypatch.chdir("/")
    assert jars.files(conf) == [f"{tmp_path}/b c.jar", f"{tmp_path}/a.jar"]


@pytest.mark.parametrize("before", ["", "file:", "file://", "local:"])
def test_a_pattern_stands_for_what_it_finds(tmp_path: Path, before: str) -> None:
    for name in ("b.jar", "a.jar", "c.txt"):
        (tmp_path / name).touch()
    assert jars.files(settled(f"{before}{tmp_path}/*.jar")) == [f"{tmp_path}/a.jar", f"{tmp_path}/b.jar"]


def test_no_jars() -> None:
    assert jars.files(ServerConfig().conf) == []
    assert jars.files(settled("")) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("/nowhere/x.jar", "/nowhere/x.jar isn't there"),
        ("/nowhere/*.jar", r"/nowhere/\*.jar isn't there"),
        ("/usr/..", "/ isn't there"),
        ("https://example.com/x.jar", "is not a file on this machine\n  download it"),
        ("file://elsewhere/x.jar", "is not a file on this machine"),
    ],
)
def test_what_is_no_jar_of_this_machine(value: str, message: str) -> None:
    with pytest.raises(ServerError, match=message):
        jars.files(settled(value))


def test_a_colon_would_end_the_path(tmp_path: Path) -> None:
    (tmp_path / "a:b.jar").touch()
    with pytest.raises(ServerError, match="class path takes no ':'"):
        jars.files(settled(str(tmp_path / "a:b.jar")))


@pytest.mark.parametrize("command", ["start", "restart"])
def test_nothing_is_started_or_stopped_where_a_jar_is_missing(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "server.lock").touch()
    state: dict[str, Any] = {
        "phase": "running",
        "pid": 4_000_000,
        "birth": "another boot/1",
        "token": "t",
        "port": 10997,
        "connect_port": 10998,
        "master": "local[1]",
        "memory": "1g",
        "started": "2025-01-01T00:00:00+00:00",
        "spark_version": "4.2.0",
        "java_version": "17",
        "python": "python3",
    }
    (folder / "server.json").write_text(json.dumps(state))
    said = run(command, "--dir", folder, *AT, "--jars", "/nowhere/a.jar", "--jars", "/nowhere/b.jar")
    assert said.exit_code == 1
    assert "spark.jars: /nowhere/a.jar isn't there" in said.output
    assert json.loads((folder / "server.json").read_text()) == state


def test_the_option_and_its_setting(tmp_path: Path) -> None:
    said = run("start", "--dir", tmp_path / "server", "--jars", "a.jar", "--conf", "spark.jars=b.jar")
    assert said.exit_code == 1
    assert "--jars and the setting spark.jars say the same" in said.output


def test_jars_that_spark_is_to_fetch(tmp_path: Path) -> None:
    said = run("start", "--dir", tmp_path / "server", *AT, "--conf", "spark.jars.packages=io.delta:delta-spark:4")
    assert said.exit_code == 1
    assert "loses the classes of jars that Spark has fetched" in said.output
    assert "--jars 'FOLDER/*.jar'" in said.output
    assert not (tmp_path / "server" / "server.json").exists()
    assert jars.files({"spark.jars.packages": "io.delta:delta-spark:4"}, thrift=False) == []
