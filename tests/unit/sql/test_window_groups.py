"""Groups that hold rows of several windows: the rows are what was asked for, and a warning says so."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationWarning, translate

CUMULATE = "cumulate(bid, bidtime, '2 minutes', '10 minutes')"


def warnings(sql: str, dialect: str = "spark") -> list[TranslationWarning]:
    found: list[TranslationWarning] = []
    translate(sql, dialect, warn=found.append)
    return found


@pytest.mark.parametrize(
    "query",
    [
        f"select window_start, count(*) from {CUMULATE} group by window_start",
        f"select window_start, item, count(*) from {CUMULATE} group by 1, 2",
        f"select c.window_start as s from {CUMULATE} as c where price > 1 group by item, c.WINDOW_START",
        f"select * from (select window_start, max(price) from << {CUMULATE} >> group by window_start)",
    ],
)
def test_the_start_alone(query: str) -> None:
    [warning] = warnings(query)
    assert "begin together" in warning.message
    assert warning.hint == "write GROUP BY window_start, window_end"
    start = warning.column - 1
    assert warning.source_line[start : start + warning.width].lower() in ("window_start", "c.window_start", "1")


@pytest.mark.parametrize(
    "query",
    [
        f"select window_start, count(*) from {CUMULATE} group by window_start, window_end",
        f"select window_start, window_end, count(*) from {CUMULATE} group by 1, 2",
        f"select window_start, count(*) from {CUMULATE} group by window_start, window_time",
        f"select window_start from {CUMULATE} group by grouping sets ((window_start, window_end), (window_start))",
        f"select item, count(*) from {CUMULATE} group by item",
        f"select * from {CUMULATE}",
        "select window_start, count(*) from hop(bid, bidtime, '5 minutes', '10 minutes') group by window_start",
        "select window_start, count(*) from tumble(bid, bidtime, '5 minutes') group by window_start",
    ],
)
def test_others(query: str) -> None:
    assert warnings(query) == []
