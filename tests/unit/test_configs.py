"""Configs of ours that stand in `meta`, as dbt 2 wants it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dbt.adapters.sparkstream.compiling.configs import with_those_of_meta
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.export.properties import properties
from dbt.adapters.sparkstream.export.templates import without_configs
from dbt.adapters.sparkstream.streaming.settings import OURS

ROOT = Path(__file__).parents[2]


def test_meta_has_configs_of_ours() -> None:
    meta = {"sql_dialect": "flink", "watermark": "10 seconds", "owner": "me", "materialized": "table"}
    found = with_those_of_meta({"meta": meta, "watermark": "5 seconds"})
    assert found == {"meta": meta, "watermark": "5 seconds", "sql_dialect": "flink"}
    assert with_those_of_meta({"meta": None}) == {"meta": None}


def test_dbt_reads_configs_through_the_profile() -> None:
    assert SparkStreamCredentials.translate_aliases({"meta": {"optimize": False}})["optimize"] is False
    # The YAML of a whole file, in which `meta` can be anybody's.
    assert SparkStreamCredentials.translate_aliases({"meta": {"optimize": False}}, recurse=True).keys() == {"meta"}


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("{{ config(meta={'sql_dialect': 'flink'}) }}\nselect 1", "\nselect 1"),
        (
            "{{ config(meta={'sql_dialect': 'flink', 'owner': f(1, 2)}, x=1) }}",
            "{{ config(meta={'owner': f(1, 2)}, x=1) }}",
        ),
        ("{{ config(x=1, meta={'owner': {'sink': 1}}) }}", "{{ config(x=1, meta={'owner': {'sink': 1}}) }}"),
        ("{{ config(meta=var('m')) }}", "{{ config(meta=var('m')) }}"),
    ],
)
def test_a_written_project_has_none_of_them(written: str, left: str) -> None:
    assert without_configs(written, OURS) == left


def test_nor_has_its_yaml() -> None:
    text = "models:\n- name: m\n  config:\n    meta:\n      sql_dialect: flink\n      owner: me\n"
    assert "sql_dialect" not in properties(text, frozenset(), frozenset())
    assert "owner: me" in properties(text, frozenset(), frozenset())


@pytest.mark.parametrize("key", ["test-paths", "analysis-paths", "snapshot-paths"])
def test_folders_of_the_package_that_users_do_not_get(key: str) -> None:
    """To dbt 2, an empty list is none, and the package would have the tests of this repository."""
    folders = yaml.safe_load((ROOT / "dbt_project.yml").read_text())[key]
    assert folders and not any((ROOT / folder).exists() for folder in folders)


@pytest.mark.parametrize("folder", ["models", "integration_tests"])
def test_configs_of_ours_are_in_meta(folder: str) -> None:
    """dbt 2 refuses what it doesn't know, and warns of it in a package."""
    names = "|".join(sorted(OURS))
    for path in (ROOT / folder).rglob("*.sql"):
        for config in re.findall(r"config\((.*?)\)", path.read_text(encoding="utf-8"), re.DOTALL):
            assert not re.search(rf"\b(?:{names})\s*=", config), path
    for path in (ROOT / folder).rglob("*.yml"):
        assert not re.search(rf"^\s*\+?(?:{names}):", path.read_text(encoding="utf-8"), re.MULTILINE), path


def test_a_call_block_is_no_argument() -> None:
    """dbt 2 has what a block holds in `kwargs`, as `caller`."""
    for path in (ROOT / "macros").rglob("*.sql"):
        if "caller()" in (text := path.read_text(encoding="utf-8")):
            assert "kwargs | reject('equalto', 'caller')" in text, path
