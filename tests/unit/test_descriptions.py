"""Questions to Spark for the columns of tables, and how long an answer counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.sparkstream.spark.descriptions import KEPT_SECONDS, TABLE_MARK, Descriptions

TABLES = {"a": {"x": "int"}, "b": {"y": "string", "z": "date"}}


class Spark:
    """Answers DESCRIBE QUERY from TABLES, and counts."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.now = 0.0
        self.meanwhile: Callable[[], None] = lambda: None
        self.descriptions = Descriptions(self.rows_of, lambda: self.now)

    def rows_of(self, sql: str) -> Sequence[tuple[str, str]]:
        self.asked.append(sql)
        self.meanwhile()
        names = [part.split(" AS ")[0] for part in sql.split(" FROM ")[1].split(" CROSS JOIN ")]
        if missing := [name for name in names if name not in TABLES]:
            raise DbtDatabaseError(f"{missing[0]} isn't there")
        return [row for name in names for row in ((TABLE_MARK, "int"), *TABLES[name].items())]


@pytest.fixture
def spark() -> Spark:
    return Spark()


def test_a_table_is_described_once(spark: Spark) -> None:
    assert spark.descriptions.of(["a"]) == {"a": TABLES["a"]}
    assert spark.descriptions.of(["a", "b"]) == TABLES
    assert spark.descriptions.of(["b"]) == {"b": TABLES["b"]}
    assert len(spark.asked) == 2
    assert " FROM b AS t0" in spark.asked[1]


def test_a_table_that_is_not_there_is_asked_for_again(spark: Spark) -> None:
    assert spark.descriptions.of(["a", "missing"]) == {"a": TABLES["a"]}
    assert spark.descriptions.of(["missing"]) == {}
    assert [sql.count(" AS t") for sql in spark.asked] == [2, 1, 1, 1]


def test_what_is_given_out_may_be_changed(spark: Spark) -> None:
    spark.descriptions.of(["a"])["a"]["more"] = "int"
    assert spark.descriptions.of(["a"]) == {"a": TABLES["a"]}


@pytest.mark.parametrize(
    ("statement", "times"),
    [
        ("select 1", 1),
        ('/* {"app": "dbt"} */\n  SELECT 1', 1),
        ("DESCRIBE EXTENDED a", 1),
        ("show tables in x", 1),
        ("/* dbt */ /* more */ explain select 1", 1),
        ("create or replace view a as select 1", 2),
        ("/* dbt */ insert into a select 1", 2),
        ("with x as (select 1) insert into a select * from x", 2),
        ("use other", 2),
        ("alter table a add column y int", 2),
        ("/* one /* in */ another */ select 1", 1),
        ("/* one /* in */ select 1 */ drop table a", 2),
        ("-- select\ndrop table a", 2),
        ("", 2),
    ],
)
def test_only_reading_leaves_tables_as_they_are(spark: Spark, statement: str, times: int) -> None:
    spark.descriptions.of(["a"])
    spark.descriptions.sent(statement)
    spark.descriptions.of(["a"])
    assert len(spark.asked) == times


def test_a_description_is_not_kept_if_a_table_changed_while_it_was_made(spark: Spark) -> None:
    spark.meanwhile = spark.descriptions.forget
    spark.descriptions.of(["a"])
    spark.meanwhile = lambda: None
    spark.descriptions.of(["a"])
    spark.descriptions.of(["a"])
    assert len(spark.asked) == 2


def test_a_description_counts_for_seconds_only(spark: Spark) -> None:
    spark.descriptions.of(["a"])
    spark.now = KEPT_SECONDS - 0.1
    spark.descriptions.of(["a"])
    assert len(spark.asked) == 1
    spark.now = KEPT_SECONDS
    spark.descriptions.of(["a"])
    assert len(spark.asked) == 2
