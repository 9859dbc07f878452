"""Queries that Flink refuses when it plans them, with the verdict of Spark on each: Spark is the judge.

A case's `verdict`, for its translation without the checks that copied Flink's refusals, run on Spark 4.2:

    spark-refuses      Spark refuses it, when it analyses the query or when it runs it
    spark-answers      Spark takes it, and nobody's text means anything else by it
    answers-otherwise  Spark would answer, and its rows would mislead; `reason` says why
    refused-here       the translator can't read it, or it uses a construct of ours in a wrong way
"""

from __future__ import annotations

import json

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.golden.runner import DATA, flink_type

_FILE = json.loads((DATA / "flink_checks.json").read_text(encoding="utf-8"))
_QUERIES = json.loads((DATA / "flink_queries.json").read_text(encoding="utf-8"))
_TABLES = {
    **_FILE["tables"],
    **{name: {c: flink_type(t).lower() for c, t in table["columns"]} for name, table in _QUERIES["tables"].items()},
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["sql"]) for case in (*_FILE["refused"], *_QUERIES["refused"])]
)
def test_verdict(case: dict[str, str]) -> None:
    try:
        translate(case["sql"], "flink", schema=_TABLES, warn=lambda _: None)
    except TranslationError as error:
        assert "fault of its own" not in str(error)
        assert case["verdict"] != "spark-answers"
    else:
        assert case["verdict"] in ("spark-answers", "spark-refuses")
    assert ("reason" in case) is (case["verdict"] == "answers-otherwise")
