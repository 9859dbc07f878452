"""The first steps: a model that appends closed windows, run after run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project

MODEL = """\
{{ config(materialized='streaming_incremental', event_time='bidtime', watermark='1 minute') }}
select window_start, window_end, item, sum(price) as total
from {{ tumble(stream(source('raw', 'bid')), 'bidtime', '10 minutes') }}
group by window_start, window_end, item
"""
SOURCES = """\
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables:
      - name: bid
"""
DAY = "2020-04-15"


@pytest.fixture
def shop(make_project: Callable[..., Project]) -> Project:
    project = make_project({"models/bids.sql": MODEL, "models/sources.yml": SOURCES})
    project.sql("create schema if not exists {}")
    project.sql("create table {}.bid (bidtime timestamp, price double, item string) using parquet")
    return project


def bids(project: Project, *rows: tuple[str, float, str]) -> None:
    values = ", ".join(f"(timestamp'{DAY} {time}', {price}, '{item}')" for time, price, item in rows)
    project.sql(f"insert into {{}}.bid values {values}")


def test_second_run_reads_only_new_rows(shop: Project) -> None:
    bids(shop, ("08:05:00", 4, "A"), ("08:07:00", 2, "B"), ("08:11:00", 2, "B"), ("08:25:00", 9, "C"))
    [first] = shop.dbt("run").results
    print(first.message)
    rows = "select date_format(window_start, 'HH:mm'), item, total from {}.bids"
    assert shop.rows(rows) == [("08:00", "A", 4.0), ("08:00", "B", 2.0), ("08:10", "B", 2.0)]
    bids(shop, ("08:26:00", 1, "C"), ("08:41:00", 5, "A"))
    [second] = shop.dbt("run").results
    print(second.message)
    assert shop.rows(rows)[-1] == ("08:20", "C", 10.0)
    [third] = shop.dbt("run").results
    print(third.message)
    print(shop.rows("select * from {}.sparkstream_runs"))
    assert third.message == "+0 rows, nothing new"
