"""Another query than the table was made for: told in words, or going on with the rows that come from now on."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from tests.functional.streaming.feed import Feed

TOTALS = """\
select window_start, window_end, k, sum(v) s
from tumble(bid, ts, '20 seconds')
group by window_start, window_end, k"""
ROWS = "select id, v from bid where v > 1"


def refused(feed: Feed, sql: str, **options: Any) -> str:
    before = feed.table()
    with pytest.raises(StreamingError) as error:
        feed.run(sql, **options)
    assert feed.table() == before
    return str(error.value)


def test_a_formatted_query_goes_on_and_changes_are_told(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "a", 1)])
    feed.run(TOTALS)
    formatted = """\
SELECT WINDOW_START, window_end, `k`, SUM(v) AS S -- the total
FROM TUMBLE(bid, ts, '20 seconds')
GROUP BY (window_start), window_end, K
"""
    assert feed.run(formatted).rows == 0
    feed.add("bid", [(3, 1100, "a", 5)])
    assert feed.run(formatted).rows == 1
    told = refused(feed, TOTALS.replace("'20", "'10"), watermark=Interval.parse("1 minute"))
    assert f"the watermark of {feed.schema}.bid: 10 seconds before, 1 minute now" in told
    assert "from tumble(bid, ts, '20 seconds')` before, `from tumble(bid, ts, '10 seconds')` now" in told
    assert "half done" in told
    told = refused(feed, TOTALS.replace("'20", "'10"), on_query_change="continue")
    assert "can't go on with it: the new query keeps rows or windows" in told
    assert "the old query has kept rows or windows" in refused(feed, ROWS, on_query_change="continue")


def test_a_query_without_state_goes_on(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1), (2, 1060, "b", 2)])
    feed.run(ROWS)
    assert feed.table() == [(2, 2)]
    told = refused(feed, ROWS.replace("> 1", "> 0"))
    assert "the query: `select id, v from bid where v > 1` before, `select id, v from bid where v > 0` now" in told
    assert "on_query_change='continue'" in told
    feed.add("bid", [(3, 1100, "c", 1)])
    more = "select k || '!' as k, id, v, ts as at from bid where v > 0"
    assert feed.run(more, on_query_change="continue").rows == 1
    assert [row[:3] for row in feed.table()] == [(2, 2, None), (3, 1, "c!")]
    feed.add("bid", [(4, 1101, "d", 1)])
    assert feed.run(more).rows == 1  # the new query is the table's now
    assert "the table has a column k" in refused(feed, ROWS, on_query_change="continue")
    assert "the column v is bigint in the table, and int" in refused(
        feed, more.replace("v, ts", "cast(v as int) as v, ts"), on_query_change="continue"
    )
    assert "it reads another source" in refused(feed, more.replace("from bid", "from ask"), on_query_change="continue")
    assert "several streams" in refused(
        feed, f"{more} union all {more.replace('from bid', 'from ask')}", on_query_change="continue"
    )


@pytest.mark.long
def test_a_table_of_an_earlier_version(feed: Feed) -> None:
    """Its fingerprint minds the case of keywords; nothing beside its checkpoint says what it was made for."""
    feed.add("bid", [(1, 1005, "a", 2)])
    feed.run(ROWS)
    [was] = feed.spark.sql(f"SHOW TBLPROPERTIES {feed.schema}.model ('sparkstream.query')").collect()
    source = source_of("bid", f"{feed.schema}.bid", event_time="ts", watermark=Interval.parse("10 seconds"))
    columns = (("id", "bigint"), ("v", "bigint"))
    definition = Definition(ROWS, "spark", (source,), columns, flush=False, zone="UTC")
    old = definition.fingerprint_of_0_2
    assert was[1] == definition.fingerprint != old
    feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.query' = '{old}')")
    assert "have changed" in refused(feed, ROWS.upper().replace("BID", "bid"))
    feed.add("bid", [(2, 1006, "a", 3)])
    assert feed.run(ROWS).rows == 1
    assert feed.run(ROWS.upper().replace("BID", "bid")).rows == 0
