"""Configs of ours that stand in `meta`, as dbt 2 wants it."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.compiling.configs import with_those_of_meta
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.export.properties import properties
from dbt.adapters.sparkstream.export.templates import without_configs
from dbt.adapters.sparkstream.streaming.settings import OURS


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
