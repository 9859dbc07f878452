"""The files in deploy/, as far as they can be looked at without what they are for."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from dbt.adapters.sparkstream.__version__ import __version__
from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
MANIFESTS = sorted((DEPLOY / "kubernetes").iterdir())


def tool(name: str) -> str:
    """A program beside this Python, or the system's."""
    own = Path(sys.executable).with_name(name)
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def manifests() -> list[dict[str, Any]]:
    return [part for path in MANIFESTS for part in yaml.safe_load_all(path.read_text())]


def pod(manifest: dict[str, Any]) -> dict[str, Any] | None:
    """The pod that a manifest has made."""
    spec = manifest.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    found: dict[str, Any] | None = spec.get("template", {}).get("spec")
    return found


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    analyze = tool("systemd-analyze")
    command = tmp_path / ".venv" / "bin" / "sparkstream"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/srv/shop", str(tmp_path)))
    (tmp_path / "sparkstream-stream@.service").rename(tmp_path / "sparkstream-stream@bids.service")
    names = [str(path) for path in sorted(tmp_path.glob("sparkstream-*"))]
    assert len(names) == len(UNITS)
    done = subprocess.run(
        [analyze, "verify", "--man=no", *names], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    own = [line for line in done.stderr.splitlines() if "sparkstream" in line or str(tmp_path) in line]
    assert own == []


def commands() -> list[list[str]]:
    """What the files start, without the path to it."""
    found = [
        shlex.split(line.removeprefix("ExecStart=").replace("%i", "bids"))
        for unit in UNITS
        for line in unit.read_text().splitlines()
        if line.startswith("ExecStart=")
    ]
    for manifest in manifests():
        for container in (pod(manifest) or {}).get("containers", []):
            found.append([*container.get("command", ["dbt"]), *map(str, container.get("args", []))])
    found += [
        shlex.split(text) for text in re.findall(r'bash_command="([^"]+)"', (DEPLOY / "airflow/shop.py").read_text())
    ]
    return [[Path(name).name, *rest] for name, *rest in found]


def test_there_are_commands() -> None:
    assert {name for name, *_ in commands()} == {"sparkstream", "dbt"}
    assert len(commands()) == 7


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands_have_options_that_there_are(command: list[str]) -> None:
    name, *arguments = command
    if name == "dbt":
        from dbt.cli.main import cli

        done = CliRunner().invoke(cli, [*arguments, "--help"])
    else:
        done = CliRunner().invoke(main, [*arguments, "--help"])
    # `--help` comes after all other options were read.
    assert done.exit_code == 0, done.output
    assert "Usage" in done.output
    for option in [argument for argument in arguments if argument.startswith("--")]:
        assert option in done.output


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_takes_the_manifests(path: Path) -> None:
    done = subprocess.run([tool("kubernetes-validate"), "--strict", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_manifests_fit_each_other() -> None:
    [profile] = [m for m in manifests() if m["kind"] == "ConfigMap"]
    for manifest in manifests():
        for volume in (pod(manifest) or {}).get("volumes", []):
            assert volume["configMap"]["name"] == profile["metadata"]["name"]
    output = yaml.safe_load(profile["data"]["profiles.yml"])["shop"]["outputs"]["cluster"]
    assert output.pop("type") == "sparkstream"
    secrets = re.findall(r"env_var\('(\w+)'\)", str(output))
    given = [e["name"] for m in manifests() for c in (pod(m) or {}).get("containers", []) for e in c["env"]]
    assert set(secrets) == set(given)
    output.pop("threads")
    data = SparkStreamCredentials.translate_aliases({"database": None, **output})
    SparkStreamCredentials.validate(data)
    assert SparkStreamCredentials.from_dict(data).connect_url == "sc://spark-thrift:15002"


def test_the_dockerfile(tmp_path: Path) -> None:
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert f"ARG VERSION={__version__}\n" in text
    done = subprocess.run(
        [tool("hadolint"), str(DEPLOY / "docker" / "Dockerfile")], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", ["airflow/shop.py", "dagster/shop.py"])
def test_python_is_python(name: str) -> None:
    ast.parse((DEPLOY / name).read_text())
