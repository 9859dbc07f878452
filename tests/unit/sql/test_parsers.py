"""Parsers that a translation makes: one for the user's text, and one more where a rule of the optimiser may apply."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot.parser import Parser

from dbt.adapters.sparkstream.sql import translate

_BIDS = {"Bid": {"bidtime": "timestamp", "price": "decimal(10,2)"}}
_TRADES = {name: {"id": "int", "k": "string", "price": "double", "ts": "timestamp"} for name in ("t", "u")}
_TUMBLE = (
    "SELECT window_start, CAST(SUM(price) AS DECIMAL(20,2)) AS total "
    "FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end"
)
_UNION = (
    "SELECT id, sum(price) OVER w AS s, top(price, 2) OVER w AS p FROM t WINDOW w AS "
    "(UNION u PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 10s PRECEDING AND CURRENT ROW MAXSIZE 5)"
)


@pytest.mark.parametrize(
    ("sql", "dialect", "schema", "count"),
    [
        (_TUMBLE, "flink", None, 1),  # nobody knows that the time is a TIMESTAMP: no rule applies
        (_TUMBLE, "flink", _BIDS, 2),
        (_UNION, "openmldb", None, 2),
        (_UNION, "openmldb", _TRADES, 2),
        ("select window_start, sum(x) from << tumble(t, ts, '5m') >> group by window_start", "spark", None, 1),
        ("SELECT k, SUM(x) OVER (RANGE INTERVAL '1' MINUTE PRECEDING) AS s FROM t", "sqlstream", None, 2),
    ],
)
def test_parsers(sql: str, dialect: str, schema: Any, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Parser] = []
    plain = Parser.__init__

    def init(self: Parser, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        plain(self, *args, **kwargs)

    monkeypatch.setattr(Parser, "__init__", init)
    translate(sql, dialect, schema=schema)
    assert len(made) == count
