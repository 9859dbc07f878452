"""Columns with odd names in contracts, generic tests, `where`, unit tests and batches."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.adapter.project import Project

ODD = "my col", "b-c", "it's", "Größe", "select", "P", "x.y", "a`b"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def column(name: str, *tests: Any, **keys: Any) -> dict[str, Any]:
    return {"name": name, "quote": True, "data_type": "int", "data_tests": list(tests), **keys}


UNIQUE = """\
{% test together(model, combination_of_columns) %}
select {{ combination_of_columns | join(', ') }} from {{ model }}
group by {{ combination_of_columns | join(', ') }} having count(*) > 1
{% endtest %}"""
VALUES = ", ".join(f"{number} as {quoted(name)}" for number, name in enumerate(ODD))
MORE = ", ".join(f"{number + 10} as {quoted(name)}" for number, name in enumerate(ODD))
QUERY = f"select {VALUES}, timestamp'2024-01-01 10:00:00' as {quoted('the time')}\n"
QUERY += f"union all select {MORE}, timestamp'2024-01-02 10:00:00'"
TEXT = "it's `odd` \\ " + "🙂" * 199 + "end"
CONTRACT = [{**column(name), "constraints": [{"type": "not_null"}], "description": TEXT} for name in ODD] + [
    {"name": "the time", "quote": True, "data_type": "timestamp"}
]
WHERE = f"{quoted('my col')} = 0 or {quoted('b-c')} = 1 -- both"


@pytest.fixture(scope="module")
def project(make_project: Callable[..., Project]) -> Project:
    def tests(name: str, number: int) -> list[Any]:
        """One of dbt's tests of a column alone, and one that is given more, in turns."""
        accepted = {"accepted_values": {"arguments": {"values": [number], "quote": False}, "config": {"where": WHERE}}}
        related = {"relationships": {"arguments": {"to": "ref('contracted')", "field": quoted(name)}}}
        return [("not_null", "unique")[number % 2], (accepted, related)[number // 2 % 2]]

    models = [
        {
            "name": "contracted",
            "config": {"contract": {"enforced": True}, "event_time": "`the time`"},
            "columns": CONTRACT,
        },
        {
            "name": "tested",
            "columns": [column(name, *tests(name, number)) for number, name in enumerate(ODD)],
            "data_tests": [{"together": {"arguments": {"combination_of_columns": [*map(quoted, ODD)]}}}],
        },
        {"name": "viewed", "columns": [column(name, description=TEXT) for name in ODD], "description": TEXT},
        {"name": "batches", "columns": CONTRACT, "config": {"contract": {"enforced": True}}},
    ]
    unit = {
        "name": "by_unit",
        "model": "tested",
        "given": [{"input": "ref('contracted')", "rows": [dict.fromkeys(ODD, 3)]}],
        "expect": {"rows": [dict.fromkeys(ODD, 3)]},
    }
    config = (
        "materialized='incremental', incremental_strategy='microbatch', batch_size='day', begin='2024-01-01',"
        " on_schema_change='fail', event_time='the time', partition_by='the time', persist_docs={'columns': true}"
    )
    made = make_project(
        {
            "models/schema.yml": json.dumps({"version": 2, "models": models, "unit_tests": [unit]}, ensure_ascii=False),
            "macros/together.sql": UNIQUE,
            "models/contracted.sql": "{{ config(materialized='table', persist_docs={'columns': true}) }}\n" + QUERY,
            "models/tested.sql": f"select {', '.join(map(quoted, ODD))} from {{{{ ref('contracted') }}}}",
            "models/viewed.sql": "{{ config(persist_docs={'relation': true, 'columns': true}) }}\n"
            + "select * from {{ ref('contracted') }}",
            "models/batches.sql": f"{{{{ config({config}) }}}}\nselect * from {{{{ ref('contracted') }}}}",
        }
    )
    made.results = made.invoke(  # type: ignore[attr-defined]
        *("build", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-03")
    )
    return made


def test_all_is_built(project: Any) -> None:
    assert project.results.exception is None, str(project.results.exception)
    said = {r.node.name: (str(r.status), r.message) for r in project.results.result.results}
    assert {name: found for name, found in said.items() if found[0] not in ("pass", "success")} == {}
    assert len(said) == 4 + 1 + 2 * len(ODD) + 1
    names = ", ".join(map(quoted, ODD))
    assert project.rows(f"select {names} from {{}}.batches") == project.rows(f"select {names} from {{}}.contracted")
    assert len(project.rows("select 1 from {}.batches")) == 2


@pytest.mark.parametrize("model", ["contracted", "viewed", "batches"])
def test_long_comments(project: Any, model: str) -> None:
    found = {row[0]: row[2] for row in project.rows(f"describe table {{}}.{model}")}
    # Hive's metastore takes 255 characters of a column of files, and counts two for an emoji.
    assert {found[name] for name in ODD} == {TEXT if model == "viewed" else TEXT[: 13 + 119] + "..."}


def test_what_breaks_a_contract_is_told(project: Any) -> None:
    project.write(
        {"models/contracted.sql": "{{ config(materialized='table') }}\n" + QUERY.replace("0 as", "'x' as", 1)}
    )
    said = project.failure("run", "--select", "contracted")
    assert "my col" in said and "data type mismatch" in said.lower()
