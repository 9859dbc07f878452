"""Queries that Flink refuses when it plans them: each is a TranslationError."""

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
def test_refused(case: dict[str, str]) -> None:
    with pytest.raises(TranslationError) as raised:
        translate(case["sql"], "flink", schema=_TABLES, warn=lambda _: None)
    assert "fault of its own" not in str(raised.value)
