"""The keys of a profile, and what `dbt init` asks for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner
from dbt.cli.main import dbtRunner
from dbt_common.dataclass_schema import ValidationError

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.spark.session_conf import SUBSTITUTE
from tests.functional.adapter.project import ROOT

ANSI = "spark.sql.ansi.enabled"
FAST_FRAMES = "spark.sql.window.segmentTree.enabled"


def credentials(**keys: Any) -> SparkStreamCredentials:
    given = {"method": "session", "schema": "shop", **keys}
    SparkStreamCredentials.validate(given)
    return SparkStreamCredentials.from_dict(given)


def test_session_needs_no_host() -> None:
    made = credentials()
    assert made.type == "sparkstream"
    assert made.server_side_parameters == {ANSI: "false", FAST_FRAMES: "true", SUBSTITUTE: "false"}
    assert made.optimize is True
    assert dict(made.connection_info()) == {"method": "session", "schema": "shop", "optimize": True}


def test_ansi_mode_of_the_profile_stays() -> None:
    assert credentials(server_side_parameters={ANSI: "true"}).server_side_parameters[ANSI] == "true"


def test_fast_frames_are_the_users_choice() -> None:
    chosen = credentials(server_side_parameters={FAST_FRAMES: "false"})
    assert chosen.server_side_parameters[FAST_FRAMES] == "false"
    assert FAST_FRAMES not in credentials(optimize=False).server_side_parameters
    assert credentials(method="thrift", host="h").for_thrift().server_side_parameters == {
        f"set:hiveconf:{ANSI}": "false",
        f"set:hiveconf:{FAST_FRAMES}": "true",
        f"set:hiveconf:{SUBSTITUTE}": "false",
    }
    assert FAST_FRAMES not in credentials(method="http", host="h", token="t", cluster="c").server_side_parameters


def test_variables_in_texts_are_replaced_only_for_who_asks() -> None:
    assert credentials(server_side_parameters={SUBSTITUTE: "true"}).server_side_parameters[SUBSTITUTE] == "true"
    assert SUBSTITUTE not in credentials(method="http", host="h", token="t", cluster="c").server_side_parameters


@pytest.mark.parametrize(("key", "seen", "depth"), [({}, "sparkstream", 0), ({"target_type": "spark"}, "spark", 9)])
def test_target_type_in_templates(tmp_path: Path, key: dict[str, str], seen: str, depth: int) -> None:
    """A package sees what the profile says; the adapter and the macros that dbt finds for it stay."""
    output = {"type": "sparkstream", "method": "session", "schema": "shop", **key}
    files = {
        "profiles.yml": yaml.safe_dump({"shop": {"target": "test", "outputs": {"test": output}}}),
        "dbt_project.yml": "name: shop\nprofile: shop\n"
        "models: {shop: {+meta: {depth: \"{{ 9 if target.type in ['spark'] else 0 }}\"}}}\n",
        "macros/who.sql": "{% macro who() %}{{ return(adapter.dispatch('who')()) }}{% endmacro %}"
        "{% macro spark__who() %}spark{% endmacro %}{% macro sparkstream__who() %}own{% endmacro %}",
        "models/m.sql": "{{ config(meta={'seen': target.type, 'is': adapter.type(), 'macro': who()}) }}select 1",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    here = ["--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)]
    done = dbtRunner().invoke(["--no-send-anonymous-usage-stats", "--quiet", "parse", *here])
    assert done.success, done.exception
    manifest: Any = done.result
    assert manifest.nodes["model.shop.m"].config.meta == {
        "seen": seen,
        "depth": depth,
        "is": "sparkstream",
        "macro": "own",
    }


def test_target_type_is_spark_or_the_adapter() -> None:
    with pytest.raises(ValidationError, match="target_type can't be 'postgres'"):
        credentials(target_type="postgres")


def test_own_keys() -> None:
    made = credentials(method="thrift", host="h", connect_url="sc://h:15002", optimize=False)
    assert (made.connect_url, made.optimize) == ("sc://h:15002", False)
    shown = dict(made.connection_info())
    assert (shown["method"], shown["host"], shown["connect_url"]) == ("thrift", "h", "sc://h:15002")


def test_keys_of_dbt_spark_stay() -> None:
    keys = {"method": "thrift", "host": "h", "port": 10001, "poll_interval": 1, "query_timeout": 9, "retry_all": True}
    made = credentials(**keys).to_dict()
    assert {name: made[name] for name in keys} == keys


def test_a_user_without_a_name() -> None:
    """In a container that runs under a number, there may be no name for it."""
    program = """
import os
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
os.setuid(54321)
print(SparkStreamCredentials.from_dict({"method": "thrift", "host": "h", "schema": "s", "auth": "NOSASL"}).user)
"""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    nameless = {k: v for k, v in os.environ.items() if k not in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=nameless, cwd="/")
    assert done.stdout.strip() == "dbt", done.stderr


ANSWERS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "session": (["1", "shop", ""], {"method": "session", "schema": "shop", "threads": 4}),
    "local server": (
        ["2", "", "shop", "8"],
        {"method": "thrift", "host": "127.0.0.1", "port": 10000, "auth": "NOSASL", "schema": "shop", "threads": 8},
    ),
    "LDAP": (
        ["3", "h", "10001", "3", "me", "secret", "1", "shop", "2"],
        {
            "method": "thrift",
            "host": "h",
            "port": 10001,
            "auth": "LDAP",
            "user": "me",
            "password": "secret",
            "schema": "shop",
            "threads": 2,
        },
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_init(name: str) -> None:
    from dbt.task.init import InitTask

    answers, expected = ANSWERS[name]
    template = yaml.safe_load((ROOT / "adapters/dbt/include/sparkstream/profile_template.yml").read_text())
    asked: dict[str, Any] = {}

    @click.command()
    def ask() -> None:
        task = InitTask.__new__(InitTask)
        asked.update(task.generate_target_from_input(template["prompts"], dict(template["fixed"])))

    done = CliRunner().invoke(ask, input="\n".join(answers) + "\n")
    assert done.exit_code == 0, done.output
    assert asked == {"type": "sparkstream", **expected}
    del asked["type"], asked["threads"]
    assert credentials(**asked).schema == "shop"
