"""A server on YARN: what is looked at before anything is started."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.server import ServerConfig, ServerError, cluster, launch, yarn
from tests.unit.test_cli import run

YARN = ServerConfig(master="yarn")


def settings(folder: Path, **values: str) -> dict[str, str]:
    """The environment of a folder whose file has the settings, with `_` for `.`."""
    properties = "".join(
        f"<property><name>yarn.resourcemanager.{name.replace('_', '.')}</name><value> {value} </value></property>"
        for name, value in values.items()
    )
    (folder / "yarn-site.xml").write_text(f"<?xml version='1.0'?>\n<configuration>{properties}</configuration>")
    return {"HADOOP_CONF_DIR": str(folder)}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"hostname": "one"}, [("one", 8032)]),
        ({"hostname": "one", "address": "${yarn.resourcemanager.hostname}:18032"}, [("one", 18032)]),
        ({"address": "[::1]:8050"}, [("::1", 8050)]),
        ({"address": "one"}, [("one", 8032)]),
        (
            {"ha_rm-ids": "a, b", "hostname_a": "one", "address_b": "two:9000", "hostname": "other"},
            [("one", 8032), ("two", 9000)],
        ),
    ],
)
def test_where_the_manager_is(values: dict[str, str], found: list[tuple[str, int]], tmp_path: Path) -> None:
    assert yarn.managers({}, settings(tmp_path, **values)) == found


def test_settings_of_spark_win(tmp_path: Path) -> None:
    conf = {"spark.hadoop.yarn.resourcemanager.address": "three:1"}
    assert yarn.managers(conf, settings(tmp_path, hostname="one")) == [("three", 1)]


def test_the_second_folder_has_the_file(tmp_path: Path) -> None:
    (tmp_path / "hadoop").mkdir()
    environ = {"YARN_CONF_DIR": settings(tmp_path, hostname="one")["HADOOP_CONF_DIR"]}
    assert yarn.managers({}, {**environ, "HADOOP_CONF_DIR": str(tmp_path / "hadoop")}) == [("one", 8032)]


def test_nothing_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="HADOOP_CONF_DIR is not set\n  it names a folder"):
        yarn.managers({}, {})
    with pytest.raises(ServerError, match=r"there is no yarn-site.xml in .*, which HADOOP_CONF_DIR"):
        yarn.managers({}, {"HADOOP_CONF_DIR": str(tmp_path)})
    with pytest.raises(ServerError, match=r"yarn-site.xml doesn't say where YARN's ResourceManager is"):
        yarn.managers({}, settings(tmp_path, **{"scheduler_address": "one:8030"}))
    (tmp_path / "yarn-site.xml").write_text("<configuration>")
    with pytest.raises(ServerError, match=r"can't read .*yarn-site.xml: no element found"):
        yarn.managers({}, {"HADOOP_CONF_DIR": str(tmp_path)})


def test_it_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", settings(tmp_path, address="127.0.0.1:1")["HADOOP_CONF_DIR"])
    ports = ("--port", "10997", "--connect-port", "10998")
    said = run("server", "start", "--dir", tmp_path / "server", "--master", "yarn", *ports)
    assert said.exit_code == 1
    assert "can't reach YARN's ResourceManager (127.0.0.1:1: Connection refused)\n  is it running" in said.stderr
    assert not (tmp_path / "server" / "server.json").exists()


def test_the_driver_is_where_the_manager_sees_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        values = {"address": f"127.0.0.1:{listening.getsockname()[1]}"}
        monkeypatch.setenv("HADOOP_CONF_DIR", settings(tmp_path, **values)["HADOOP_CONF_DIR"])
        assert cluster.own_address(YARN) == "127.0.0.1"


def test_only_a_server_on_yarn_gets_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")
    monkeypatch.setenv("HADOOP_HOME", "/opt/hadoop")
    spark = launch.find_spark()
    environ, _ = launch.environment(ServerConfig(folder=tmp_path, master="yarn"), spark)
    assert (environ["HADOOP_CONF_DIR"], environ.get("HADOOP_HOME")) == ("/etc/hadoop/conf", None)
    assert "HADOOP_CONF_DIR" not in launch.environment(ServerConfig(folder=tmp_path), spark)[0]


def test_cores_are_those_of_its_executors() -> None:
    assert YARN.on_cluster and YARN.masters == []
    assert YARN.cores == 2
    conf = {"spark.executor.instances": "3", "spark.executor.cores": "4"}
    assert ServerConfig(master="yarn", conf=conf).cores == 12
    assert ServerConfig(master="yarn", conf={**conf, "spark.dynamicAllocation.enabled": "true"}).cores is None
