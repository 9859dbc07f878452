"""Tables and checkpoints in an object store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_once import HOP, TUMBLE

CLOSED = "window_end <= timestamp_seconds(1136)"


def location(feed: Feed, table: str) -> str:
    facts = {row[0]: row[1] for row in feed.spark.sql(f"DESCRIBE TABLE EXTENDED {feed.schema}.{table}").collect()}
    return str(facts["Location"])


def test_models_that_are_tables(make_project: Callable[..., Project]) -> None:
    shop = make_project(
        {
            "seeds/bid.csv": "at,price\n2020-04-15 08:01:00,4\n2020-04-15 08:07:00,2\n2020-04-15 08:21:00,5\n",
            "models/totals.sql": "{{ config(materialized='table') }}\nselect window_start, sum(price) as total "
            "from {{ tumble(ref('bid'), 'at', '10 minutes') }} group by window_start",
            "models/days.sql": "{{ config(materialized='incremental', incremental_strategy='insert_overwrite', "
            "partition_by='day') }}\nselect price, to_date(at) as day from {{ ref('bid') }}",
        }
    )
    for _ in range(2):
        shop.dbt("build")
        assert shop.rows("select total from {}.totals") == [(5,), (6,)]
        assert shop.rows("select count(*), count(distinct day) from {}.days") == [(3, 1)]


@pytest.mark.parametrize("sql", [TUMBLE, HOP], ids=["tumble", "hop_of_slices"])
def test_a_streaming_model_that_is_interrupted(feed: Feed, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its table, its checkpoint and what is kept beside are in the store."""
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(sql, keep_late=True)
    assert location(feed, "model").startswith("s3a://")
    for number, when in enumerate(("before", "after")):
        feed.add("bid", [(3 + number, 1061 + 45 * number, "a", 1), (5 + number, 1101 + 45 * number, "b", 2)])
        feed.run_killed(monkeypatch, when, sql, keep_late=True)
        feed.run(sql, keep_late=True)
    assert feed.table() == feed.batch(sql, CLOSED)
    feed.add("bid", [(9, 1001, "a", 7)])
    assert feed.run(sql, keep_late=True).late > 0
