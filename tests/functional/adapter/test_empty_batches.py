"""Batches without rows cost nothing, and one that has no rows any more is emptied."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project

DAYS = ("2024-01-03", "2024-01-04", "2024-01-20")
CONFIG = (
    "materialized='incremental', incremental_strategy='microbatch', batch_size='day', begin='2024-01-01',"
    " partition_by='day', event_time='window_start'"
)
MODELS = {
    "counted": "select window_start, count(*) as n, cast(window_start as date) as day\n"
    "from {{ tumble(ref('bids'), 'ts', '6 hours') }} group by window_start",
    # A row for each batch, whatever there is.
    "whole": "select timestamp_ntz'{{ model.batch.event_time_start.date() if model.batch }}' as window_start,"
    " count(*) as n, date'{{ model.batch.event_time_start.date() if model.batch }}' as day from {{ ref('bids') }}",
}


def bids(*days: str) -> dict[str, str]:
    rows = ", ".join(f"(timestamp_ntz'{day} 10:00:00'), (timestamp_ntz'{day} 23:59:59')" for day in days)
    return {"models/bids.sql": f"{{{{ config(event_time='ts') }}}}select ts from values {rows} as t (ts)"}


def written(project: Project) -> int:
    """How many batches have been written since the last question."""
    log = project.folder / "logs" / "dbt.log"
    count = log.read_text().count("insert overwrite table")
    log.unlink()
    return count


@pytest.mark.long
def test_batches_without_rows(make_project: Callable[..., Project]) -> None:
    files = {f"models/{name}.sql": f"{{{{ config({CONFIG}) }}}}\n{query}" for name, query in MODELS.items()}
    project = make_project({**files, **bids(*DAYS)})
    run = ("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-25")
    project.dbt(*run, "--select", "bids", "counted")
    counted = [(day, 1) for day in DAYS for _ in range(2)]
    assert project.rows("select cast(day as string), n from {}.counted") == counted
    assert written(project) == len(DAYS) * 1  # each in one statement; the first batch makes the table

    project.write(bids("2024-01-04", "2024-01-20", "2024-01-22"))
    project.dbt(*run, "--select", "bids", "counted")
    assert project.rows("select distinct cast(day as string) from {}.counted") == [
        ("2024-01-04",),
        ("2024-01-20",),
        ("2024-01-22",),
    ]
    assert written(project) == 3


@pytest.mark.long
def test_a_query_that_gives_rows_for_nothing_runs(make_project: Callable[..., Project]) -> None:
    project = make_project({"models/whole.sql": f"{{{{ config({CONFIG}) }}}}\n{MODELS['whole']}", **bids(*DAYS)})
    project.dbt("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-06")
    found = project.rows("select cast(day as string), n from {}.whole")
    assert found == [(f"2024-01-0{day}", 2 if day in (3, 4) else 0) for day in range(1, 6)]
