"""`sparkstream batches`: which batches of a microbatch model are missing or stale, and what runs them."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from tests.functional.adapter.project import Project

SOURCES = """\
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables:
      - name: bid
        config: {event_time: at}
      - name: item
"""

BIDS = """\
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='window_start', batch_size='day',
          begin='2024-01-01', partition_by='day') }}
select window_start, window_end, count(*) as n, cast(window_start as date) as day
from {{ tumble(source('raw', 'bid'), 'at', '1 hour') }}
where price > 0 and (select count(*) from {{ source('raw', 'item') }}) >= 0
group by window_start, window_end
"""


def batches(shop: Project, *arguments: str) -> Any:
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    return CliRunner().invoke(main, ["batches", *arguments, *here])


def told(shop: Project, *arguments: str) -> list[dict[str, Any]]:
    done = batches(shop, "bids", "--format", "json", "--until", "2024-01-07", *arguments)
    assert done.exit_code in (0, 3), done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.exit_code == 3) == any(batch["status"] in ("missing", "stale") for batch in found)
    return found


def statuses(shop: Project, *arguments: str) -> list[str]:
    return [batch["status"] for batch in told(shop, *arguments)]


def bid(shop: Project, *rows: str) -> None:
    """Adds rows: a day of January with an hour, and a price."""
    values = ", ".join(f"(timestamp'2024-01-{row.split()[0]}:00:00', {row.split()[1]})" for row in rows)
    shop.sql(f"insert into {{}}.bid select * from values {values} as v (at, price)")


@pytest.mark.long
def test_batches(make_project: Callable[..., Project]) -> None:
    shop = make_project({"models/bids.sql": BIDS, "models/schema.yml": SOURCES, "models/plain.sql": "select 1 as x"})
    shop.sql("create schema if not exists {}")
    shop.sql("create table {}.bid (at timestamp, price int) using parquet")
    shop.sql("create table {}.item (x int) using parquet")
    bid(shop, "01T08 5", "02T09 5", "02T10 5", "04T00 5", "05T23 0")
    assert statuses(shop) == ["missing", "missing", "empty", "missing", "missing", "empty"]
    shop.dbt("run", "--select", "bids", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-03")
    found = told(shop)
    assert [batch["status"] for batch in found] == ["done", "done", "empty", "missing", "missing", "empty"]
    assert [(batch["rows"], batch["input_rows"]) for batch in found[:4]] == [(1, 1), (2, 2), (0, 0), (0, 1)]
    assert found[1]["written_at"] > found[1]["inputs_written_at"] and found[1]["start"] == "2024-01-02T00:00:00"
    # The query gives no row for the fifth day.
    assert statuses(shop, "--check") == ["done", "done", "empty", "missing", "empty", "empty"]
    time.sleep(1.1)
    bid(shop, "02T23 7")
    done = batches(shop, "bids", "--until", "2024-01-07", "--check")
    assert done.exit_code == 3, done.output
    lines = done.stdout.splitlines()
    assert lines[2].split() == ["2024-01-02", "2024-01-03", "stale", "1", "2", "3", "bid"]
    assert "note: item has no event_time: each batch reads all of it, whatever has changed" in lines
    commands = [line.strip() for line in lines if line.startswith("  dbt run")]
    assert [line.split(" --project-dir")[0] for line in commands] == [
        "dbt run --select bids --event-time-start 2024-01-02 --event-time-end 2024-01-03",
        "dbt run --select bids --event-time-start 2024-01-04 --event-time-end 2024-01-05",
    ]
    for command in commands:
        shop.dbt(*shlex.split(command.split(" --project-dir")[0])[1:])
    assert statuses(shop, "--check") == ["done", "done", "empty", "done", "empty", "empty"]
    # With margins, a row at 23:00 changes the next day's batch, too.
    time.sleep(1.1)
    bid(shop, "01T23 7")
    assert statuses(shop, "--check") == ["stale", "done", "empty", "done", "empty", "empty"]
    assert statuses(shop, "--check", "--before", "2 hours")[:2] == ["stale", "stale"]
    assert statuses(shop, "--since", "2024-01-02T12:00", "--until", "2024-01-03") == ["done"]
    # What can't be told.
    assert "plain has no batches" in batches(shop, "plain").output
    assert "did you mean bids?" in batches(shop, "bidz").output
    assert "before: 'soon' is not an interval" in batches(shop, "bids", "--before", "soon").output
    assert "until is no time: soon" in batches(shop, "bids", "--until", "soon").output
    assert batches(shop, "bids", "--until", "soon").exit_code == 1
    # A view says nothing of files.
    shop.sql("alter table {}.bid rename to {}.bids_before")
    shop.sql("create view {}.bid as select * from {}.bids_before")
    done = batches(shop, "bids", "--until", "2024-01-07", "--check")
    assert done.exit_code == 0 and "note: bid doesn't say when its rows were written" in done.stdout, done.output


FIELDS = """\
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='`a``t`', batch_size='day',
          begin='2024-01-01', partition_by='day') }}
select e.at as `a``t`, cast(e.at as date) as day from {{ source('raw', 'bid') }}
"""


def test_event_time_in_a_struct(make_project: Callable[..., Project]) -> None:
    source = {
        "name": "raw",
        "schema": "{{ target.schema }}",
        "tables": [{"name": "bid", "config": {"event_time": "e.at"}}],
    }
    shop = make_project({"models/bids.sql": FIELDS, "models/schema.yml": json.dumps({"sources": [source]})})
    shop.sql("create schema if not exists {}")
    shop.sql("create table {}.bid using parquet as select named_struct('at', timestamp'2024-01-02 10:00:00') as e")
    assert statuses(shop, "--until", "2024-01-04") == ["empty", "missing", "empty"]
    shop.dbt("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-03")
    assert statuses(shop, "--until", "2024-01-04") == ["empty", "done", "empty"]
    assert len(shop.rows("select * from {}.bids")) == 1
    # A batch whose rows are gone is emptied, whatever its time is called.
    shop.sql("insert overwrite {}.bid select named_struct('at', timestamp'2024-01-03 10:00:00')")
    shop.dbt("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04")
    assert shop.rows("select cast(day as string) from {}.bids") == [("2024-01-03",)]
