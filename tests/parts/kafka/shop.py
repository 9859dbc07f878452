"""A dbt project whose models read topics of Kafka."""

from __future__ import annotations

from typing import Any

import yaml

from tests.parts.kafka.broker import Broker

SCHEMA = "id bigint, at timestamp, item string, price bigint"

BIDS = """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='10 minutes', late_rows='keep') }}
select window_start, window_end, item, count(*) as n, sum(price) as total
from {{ tumble(stream(source('kafka', 'bid')), 'at', '10 minutes') }}
group by window_start, window_end, item
"""
ROWS = """\
{{ config(materialized='streaming_incremental') }}
select * from {{ stream(source('kafka', 'bid')) }}
"""


def sources(broker: Broker, topics: str, options: dict[str, Any] | None = None, **stream: Any) -> str:
    """The text of a file with the source `kafka.bid`.

    Args:
        broker: the broker.
        topics: what to subscribe to.
        options: more options.
        stream: what `meta: stream:` says beside them.
    """
    given = {
        "format": "kafka",
        "options": {
            "kafka.bootstrap.servers": broker.servers,
            "subscribe": topics,
            "startingOffsets": "earliest",
            **(options or {}),
        },
        **({"value_format": "json", "schema": SCHEMA} if "value_format" not in stream else {}),
        **stream,
    }
    given = {name: value for name, value in given.items() if value is not None}
    tables = [{"name": "bid", "config": {"meta": {"stream": given}}}]
    return yaml.safe_dump({"sources": [{"name": "kafka", "tables": tables}]}, sort_keys=False)


def bid(number: int, at: str, item: str = "a", price: int = 1) -> dict[str, Any]:
    """The value of a record; its time is on the 15th of April 2020."""
    return {"id": number, "at": f"2020-04-15T{at}:00Z", "item": item, "price": price}
