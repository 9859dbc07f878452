"""Aggregates along time without dbt: their SQL, and what they say of wrong arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lib.macros import CompilerError, macros


def test_the_first_and_the_last() -> None:
    call = macros("spark").call
    assert call("first_by", "price", "ts") == (
        "min(CASE WHEN price IS NOT NULL AND ts IS NOT NULL THEN struct(ts AS at1, price AS value) END).value"
    )
    assert "struct(ts AS at1, id AS at2, price AS value) END).value" in call("last_by", "price", ["ts", "id"])


def test_names_of_a_candlestick() -> None:
    call = macros("spark").call
    names = [column.rpartition(" AS ")[2] for column in call("ohlc", "px", "ts", prefix="bid_").split(", ")]
    assert [name for name in names if name.startswith("bid_")] == ["bid_open", "bid_high", "bid_low", "bid_close"]
    assert call("ohlc", "px", "ts", volume="qty").endswith("sum(qty) AS volume")
    assert call("merge_ohlc", "minute", volume=True, prefix="bid_").endswith("sum(bid_volume) AS bid_volume")


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "words"),
    [
        ("first_by", ("price",), {}, ["first_by's time is missing", "such as time="]),
        ("last_by", (), {"time": "ts"}, ["last_by's value is missing"]),
        ("ohlc", ("price", "ts) x, (y"), {}, ["ohlc's time is no whole piece of SQL", "closes nothing"]),
        ("ohlc", ("price", "ts"), {"prefix": "a b"}, ["ohlc's prefix is no column name: a bopen"]),
        (
            "time_weighted_average",
            ("v", "ts"),
            {"method": "nearest"},
            ["method can't be nearest", "'locf'", "'linear'"],
        ),
        ("time_weighted_average", ("v", "ts", "e"), {"method": "linear"}, ["until is for method='locf'"]),
        ("rate", ("v", "ts"), {"per": "-1 second"}, ["rate's per"]),
        ("rate", ("v", "ts"), {"per": "1 month"}, ["rate's per"]),
        ("increase", ("v; drop", "ts"), {}, ["increase's value is no whole piece of SQL", "a semicolon"]),
        ("state_duration", ("status", "ts"), {}, ["state_duration's value is missing"]),
    ],
)
def test_mistakes(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(CompilerError) as caught:
        macros("spark").call(name, *args, **kwargs)
    for word in words:
        assert word in str(caught.value)
