"""Environment variables that are set for pyspark while threads of dbt look through all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark import SparkContext

from dbt.adapters.sparkstream.spark.environments.base import _CONNECT_MODE, _connect_mode, leave_connect
from dbt.adapters.sparkstream.spark.session import _SUBMIT, _handed_over


def test_no_variable_goes_at_the_start_of_spark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(_SUBMIT, "")
    monkeypatch.delenv(_SUBMIT)
    with _handed_over({}, tmp_path):
        looked_through = iter(os.environ.items())
        next(looked_through)
    assert dict(looked_through)[_SUBMIT] == "pyspark-shell"


def test_arguments_of_the_users_come_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(_SUBMIT, "--verbose pyspark-shell")
    with _handed_over({}, tmp_path):
        assert os.environ[_SUBMIT].endswith(" --verbose pyspark-shell")
    assert os.environ[_SUBMIT] == "--verbose pyspark-shell"


def test_no_variable_goes_at_the_end_of_a_model_over_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    with _connect_mode():
        looked_through = iter(os.environ.items())
        next(looked_through)
    assert dict(looked_through)[_CONNECT_MODE] == "1"
    leave_connect()
    assert _CONNECT_MODE not in os.environ


def test_connect_is_left_at_once_where_a_spark_is_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", object())
    with _connect_mode():
        with _connect_mode():
            pass
        assert _CONNECT_MODE in os.environ  # another thread needs it
    assert _CONNECT_MODE not in os.environ
