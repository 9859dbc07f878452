"""Tasks that the page may give to the playground."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.play import task
from dbt.adapters.sparkstream.play.page import examples
from dbt.adapters.sparkstream.play.task import PlayError, Task

TABLE = {"name": "bids", "columns": [["ts", "timestamp_ntz"], ["v", "int"]], "rows": [["2024-03-01 10:00", None]]}


def asked(**changes: Any) -> dict[str, Any]:
    return {"sql": "select * from bids", "dialect": "spark", "tables": [TABLE], **changes}


def test_a_query_and_its_tables() -> None:
    read = Task.read(asked(arrival=""))
    assert (read.sql, read.dialect, read.arrival) == ("select * from bids", "spark", None)
    [table] = read.tables
    assert (table.columns, table.rows) == ((("ts", "timestamp_ntz"), ("v", "int")), (("2024-03-01 10:00", None),))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "no JSON object"),
        (asked(sql=" "), "there is no SQL"),
        (asked(sql="x" * (task.MOST_SQL + 1)), "20,001 characters, and 20,000 is the most"),
        (asked(dialect="oracle"), "the dialect is not one of spark"),
        (asked(arrival=1), "arrival is a column's name"),
        (asked(tables=None), "tables is no list"),
        (asked(tables=[TABLE] * 9), "there are 9 tables, and 8 is the most"),
        (asked(tables=[TABLE, {**TABLE, "name": "BIDS"}]), "two tables are called"),
        (asked(tables=[{**TABLE, "name": ""}]), "a table has no name"),
        (asked(tables=[{**TABLE, "columns": [["ts"]]}]), "bids: a column is no pair of a name and a type"),
        (asked(tables=[{**TABLE, "columns": []}]), "bids has 0 columns; a table has 1 to 40"),
        (asked(tables=[{**TABLE, "columns": [["", "int"], ["v", "int"]]}]), "bids: a column has no name"),
        (asked(tables=[{**TABLE, "columns": [["ts", " "], ["v", "int"]]}]), "bids: column ts has no type"),
        (asked(tables=[{**TABLE, "rows": [["1"]]}]), "bids: a row hasn't a text or null for each column"),
        (asked(tables=[{**TABLE, "rows": [["1", 2]]}]), "bids: a row hasn't a text or null for each column"),
        (asked(tables=[{**TABLE, "rows": [["1", "2"]] * 501}]), "bids has 501 rows, and 500 is the most"),
    ],
)
def test_what_is_refused(data: Any, words: str) -> None:
    with pytest.raises(PlayError) as error:
        Task.read(data)
    assert words in str(error.value)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["case"])
def test_examples_can_be_asked_for(example: dict[str, Any]) -> None:
    read = Task.read({name: example[name] for name in ("sql", "dialect", "tables")})
    assert read.tables
    assert example["title"]
