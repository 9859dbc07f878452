"""Backfills of tables with a log of what was done: one commit each."""

from __future__ import annotations

from typing import Any

from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_backfill import (
    ACCEPTS,
    REPAIRED,
    ROWS,
    SESSION,
    SOME,
    TUMBLE,
    WRONG,
    begun,
    rewrite,
)


def check_backfills(feed: Feed, **options: Any) -> None:
    """Backfills a model with windows, one with sessions and one with rows, and lets the first one run on.

    Args:
        feed: the tables.
        options: configs of the models.
    """
    given = {**ACCEPTS, **options}
    for name, sql in (("model", SESSION), ("model", ROWS), ("model", TUMBLE)):
        feed.spark.sql(f"DROP TABLE IF EXISTS {feed.schema}.{name}")
        feed.spark.sql(f"TRUNCATE TABLE {feed.schema}.bid")
        begun(feed, sql, **given)
        before = feed.table()
        assert " in the place of " in feed.backfill(sql, *WRONG, **given)
        wanted = feed.batch(sql, "TRUE" if sql == ROWS else "window_end <= timestamp_seconds(1240)")
        assert feed.table() == wanted
        assert before != wanted
    feed.add("bid", [(902, 1300, "a", 1)])
    feed.run(TUMBLE, **given)
    after = feed.batch(TUMBLE, "window_end <= timestamp_seconds(1290)")
    assert feed.table() == after
    rewrite(feed, SOME)
    feed.backfill(TUMBLE, *WRONG, **given)
    rewrite(feed, REPAIRED)
    feed.backfill(TUMBLE, *WRONG, **given)
    assert feed.table() == after
    assert "nothing new" in feed.run(TUMBLE, **given).message
