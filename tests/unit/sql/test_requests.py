"""Requests: what becomes of a query for one row, and what is refused."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.sql import TranslationError
from dbt.adapters.sparkstream.sql.core.errors import RequestError
from dbt.adapters.sparkstream.sql.requests import request_sql
from dbt.adapters.sparkstream.sql.requests.rows import row_sql
from tests.unit.sql.pairs import flat

SCHEMA = {"t": {"id": "int", "k": "string", "ts": "timestamp"}, "u": {"id": "int", "k": "string", "ts": "timestamp"}}
ROW = {"id": 7, "k": "it's", "ts": 1500}
RELATION = (
    "(SELECT *, CAST(FALSE AS BOOLEAN) AS __request FROM t UNION ALL SELECT CAST('7' AS INT) AS `id`, CAST('it\\'s' AS STRING) AS `k`, "
    "CAST(timestamp_millis(1500) AS TIMESTAMP) AS `ts`, CAST(TRUE AS BOOLEAN) AS __request)"
)
ROWS = "PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"


def request(sql: str, dialect: str = "openmldb", row: dict[str, Any] = ROW) -> str:
    return flat(request_sql(sql, dialect, row, schema=SCHEMA))


def answer(query: str) -> str:
    return flat(f"SELECT * EXCEPT (__request) FROM ( {query} ) AS __answer WHERE __request")


def test_the_row_joins_the_main_table_and_arrives_last() -> None:
    assert request(f"SELECT id, max(id) OVER w AS y FROM t WINDOW w AS ({ROWS});") == answer(
        f"SELECT id, max(id) OVER w AS y, __request AS __request FROM {RELATION} AS t WHERE ts IS NOT NULL "
        "WINDOW w AS (PARTITION BY k ORDER BY ts, __request, monotonically_increasing_id() ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    )


def test_stars_and_subqueries_pass_the_mark_on() -> None:
    assert request("select *, id + 1 as next from (select q.* from t as q where id > 1) as s", "spark") == answer(
        "select * EXCEPT (__request), id + 1 as next, __request AS __request from "
        f"(select q.* EXCEPT (__request), __request AS __request from {RELATION} as q where id > 1) as s"
    )


def test_columns_are_asked_for_also_where_all_is_sparks() -> None:
    asked: list[str] = []

    def describe(names: list[str]) -> dict[str, dict[str, str]]:
        asked.extend(names)
        return SCHEMA

    text = request_sql(f"SELECT id, max(id) OVER ({ROWS}) AS y FROM t", "spark", ROW, schema=describe)
    assert asked == ["t"] and flat(f"FROM {RELATION} AS t") in flat(text)


def test_columns_that_a_star_leaves_out_stay_out() -> None:
    assert request("select * except (k) from t", "spark") == answer(
        f"select * except (k, __request), __request AS __request from {RELATION} AS t"
    )


def test_tables_that_are_joined_stay_as_they_are() -> None:
    text = request("SELECT a.id, b.id AS other FROM t AS a LAST JOIN t AS b ORDER BY b.ts ON a.k = b.k")
    assert text.count("UNION ALL") == 1 and "a.__request AS __request" in text


def test_union_tables_get_the_mark() -> None:
    text = request(f"SELECT id, max(id) OVER w AS y FROM t WINDOW w AS (UNION u {ROWS})")
    assert flat("FROM (SELECT *, CAST(FALSE AS BOOLEAN) AS __request FROM u)") in text
    assert "ORDER BY __source DESC,__request,__arrival" in text


def test_arrival_comes_after_the_mark() -> None:
    sql = "SELECT max(id) OVER (PARTITION BY k ORDER BY ts, id ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW) AS y FROM t"
    assert "ORDER BY ts,__request,id)" in request(sql, "spark")
    assert "ORDER BY ts,__request,id)" in flat(request_sql(sql.replace("ts, id", "ts"), "spark", ROW, schema=SCHEMA, arrival="id"))


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("SELECT k, count(*) FROM t GROUP BY k", "GROUP BY gives no result", 27),
        ("SELECT DISTINCT k FROM t", "DISTINCT gives no result", 1),
        ("SELECT FROM t JOIN u", "this SELECT has no columns", 1),
        ("SELECT count(id) AS n FROM t", "an aggregate of the whole table", 1),
        ("SELECT id FROM t LIMIT 3", "LIMIT gives no result", 18),
        ("SELECT id FROM t UNION ALL SELECT id FROM u", "a union of queries", 1),
        ("SELECT t.id FROM u RIGHT JOIN t ON t.id = u.id", "a RIGHT JOIN", 31),
    ],
)
def test_queries_that_give_no_result_for_a_row(sql: str, message: str, column: int) -> None:
    with pytest.raises(TranslationError, match=message) as refused:
        request(sql)
    assert (refused.value.line, refused.value.column) == (1, column) and refused.value.hint


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": 7, "k": "a"}, "the row lacks ts"),
        ({**ROW, "key": 1}, "t has no column key"),
        ({**ROW, "id": True}, "id is an int, and true is none"),
        ({**ROW, "ID": 8}, "a column twice"),
        ({**ROW, "id": 7.5}, "id is an int, and 7.5 is none"),
        ({**ROW, "k": 1}, 'k is a string, and 1 is none\n  write "text"'),
        ({**ROW, "ts": "soon"}, "milliseconds since 1970"),
    ],
)
def test_rows_that_do_not_fit(row: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refused:
        request("SELECT id FROM t", row=row)
    assert message in str(refused.value)


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(RequestError, match="columns of nowhere aren't known"):
        request("SELECT id FROM nowhere")


def test_literals_of_every_type() -> None:
    columns = {
        "a": "tinyint", "b": "bigint", "c": "decimal(10,2)", "d": "double", "e": "boolean", "f": "date", "g": "timestamp_ntz",
        "h": "array<int>", "i": "struct<x:int>", "j": "float",
    }
    row = {"a": -128, "b": None, "c": "1.50", "d": 1e300, "e": False, "f": "2024-02-29", "g": "2024-03-01T10:00:00.5", "h": [1, None], "i": {"x": 1}, "j": 2}
    assert row_sql(row, columns, "t") == (
        "SELECT CAST('-128' AS TINYINT) AS `a`, CAST(NULL AS BIGINT) AS `b`, CAST('1.50' AS DECIMAL(10,2)) AS `c`, CAST('1e+300' AS DOUBLE) AS `d`, "
        "CAST('false' AS BOOLEAN) AS `e`, CAST('2024-02-29' AS DATE) AS `f`, CAST('2024-03-01T10:00:00.5' AS TIMESTAMP_NTZ) AS `g`, "
        "from_json('[1, null]', 'array<int>') AS `h`, from_json('{\"x\": 1}', 'struct<x:int>') AS `i`, CAST('2.0' AS FLOAT) AS `j`"
    )
