"""Batches without rows: what is asked of Spark, how often, and what is made of the answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.batches.empty import GONE, NONE, SOME, EmptyBatches


def node(size: str = "day") -> Any:
    return SimpleNamespace(unique_id="model.shop.m", config=SimpleNamespace(batch_size=size, event_time="`day`"))


def sql(start: datetime, end: datetime, more: str = "") -> str:
    edges = f"ts >= TIMESTAMP_NTZ'{start}'{more} and ts < TIMESTAMP_NTZ'{end}'"
    return f"select k, count(*) as n from (select * from db.bid where {edges}) group by k"


class Spark:
    """Answers with the hours or days of two tables."""

    def __init__(self, bid: list[str], table: list[str]) -> None:
        self.rows = {"db.bid": bid, "db.m": table}
        self.asked: list[str] = []

    def __call__(self, statement: str) -> list[list[str | None]]:
        self.asked.append(statement)
        [name] = (name for name in self.rows if f"FROM {name} " in f"{statement} ")
        rows: list[list[str | None]] = [[one] for one in self.rows[name]]
        return [[None], *rows]


def statuses(spark: Spark, days: int, size: str = "day", more: str = "") -> list[str]:
    empty, step = EmptyBatches(spark), timedelta(hours=1) if size == "hour" else timedelta(days=1)
    starts = [datetime(2024, 1, 1) + step * i for i in range(days)]
    return [empty.of(node(size), sql(s, s + step, more), "db.m", s, s + step) for s in starts]


def test_each_table_is_asked_once() -> None:
    spark = Spark(["2024-01-02", "2024-01-05"], ["2024-01-03", "2024-01-02"])
    assert statuses(spark, 6) == [NONE, SOME, GONE, NONE, SOME, NONE]
    assert spark.asked == [
        "SELECT DISTINCT substring(CAST(CAST(ts AS TIMESTAMP_NTZ) AS STRING), 1, 10) FROM db.bid"
        " WHERE ts >= TIMESTAMP_NTZ'2023-12-31 00:00:00'",
        "SELECT DISTINCT substring(CAST(CAST(`day` AS TIMESTAMP_NTZ) AS STRING), 1, 10) FROM db.m"
        " WHERE `day` >= TIMESTAMP_NTZ'2023-12-31 00:00:00'",
    ]


def test_rows_before_the_batch_count_where_it_reads_them() -> None:
    spark = Spark(["2024-01-02"], [])
    assert statuses(spark, 4, more=" - INTERVAL '1' HOUR") == [NONE, SOME, SOME, NONE]


def test_hours_have_a_margin_as_clocks_are_turned() -> None:
    spark = Spark(["2024-01-01 10"], [])
    found = statuses(spark, 24, "hour")
    assert found[10] == SOME
    assert [hour for hour, status in enumerate(found) if status == SOME] == list(range(7, 14))
    assert len(spark.asked) == 2


def test_an_earlier_batch_asks_again() -> None:
    spark, day = Spark(["2024-01-02"], []), timedelta(days=1)
    empty = EmptyBatches(spark)
    for start in (datetime(2024, 1, 9), datetime(2024, 1, 2), datetime(2024, 1, 5)):
        expected = SOME if start == datetime(2024, 1, 2) else NONE
        assert empty.of(node(), sql(start, start + day), "db.m", start, start + day) == expected
    assert len(spark.asked) == 4


def test_what_isnt_known_runs() -> None:
    spark, start, end = Spark([], []), datetime(2024, 1, 1), datetime(2024, 1, 2)
    assert EmptyBatches(spark).of(node(), sql(start, end), None, start, end) == SOME
    assert EmptyBatches(spark).of(node(), "select count(*) as n from db.bid", "db.m", start, end) == SOME
    assert not spark.asked

    def failing(statement: str) -> Any:
        raise DbtDatabaseError("no time")

    assert EmptyBatches(failing).of(node(), sql(start, end), "db.m", start, end) == SOME


@pytest.mark.parametrize("odd", ["+10000-01-01", "", "-0001-01-0"])
def test_times_beyond_pythons(odd: str) -> None:
    assert statuses(Spark([odd, "2024-01-01"], []), 2) == [SOME, NONE]
