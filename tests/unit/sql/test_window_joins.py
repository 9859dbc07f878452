"""Joins between windows that can't be done window by window: the rows are right, and a warning says so."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationWarning, translate

LEFT = "(SELECT * FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '5' MINUTES)))"
RIGHT = LEFT.replace("TABLE a", "TABLE b")
START, END = "l.window_start = r.window_start", "l.window_end = r.window_end"
JOINS = {
    "join": f"SELECT l.k FROM {LEFT} l FULL JOIN {RIGHT} r ON ",
    "comma": f"SELECT l.k FROM {LEFT} l, {RIGHT} r WHERE ",
    "in": f"SELECT * FROM {LEFT} l WHERE l.k IN (SELECT r.k FROM {RIGHT} r WHERE ",
    "not exists": f"SELECT * FROM {LEFT} l WHERE NOT EXISTS (SELECT 1 FROM {RIGHT} r WHERE ",
}


def warnings(sql: str, dialect: str = "flink") -> list[TranslationWarning]:
    found: list[TranslationWarning] = []
    translate(sql, dialect, warn=found.append)
    return found


def written(join: str, condition: str) -> str:
    head = JOINS[join]
    return head + condition + (")" if head.count("(") > head.count(")") else "")


@pytest.mark.parametrize("join", JOINS)
def test_a_missing_bound_is_named(join: str) -> None:
    [warning] = warnings(written(join, f"l.k = r.k AND {START}"))
    assert "without an equal window_end:" in warning.message
    assert warning.hint and f"AND {END} where" in warning.hint
    [warning] = warnings(written(join, "l.k = r.k"))
    assert warning.hint and f"AND {START} AND {END} where" in warning.hint


@pytest.mark.parametrize("join", JOINS)
def test_equal_bounds_are_fine(join: str) -> None:
    assert not warnings(written(join, f"{START} AND l.k = r.k AND ({END})"))
    assert not warnings(written(join, f"{START} AND l.k = r.k AND r.window_end IS NOT DISTINCT FROM l.window_end"))


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * FROM {LEFT} l JOIN {RIGHT} r USING (window_start, window_end)",
        f"SELECT * FROM {LEFT} l WHERE (window_start, window_end) IN (SELECT window_start, window_end FROM {RIGHT} r)",
        f"SELECT * FROM {LEFT} l JOIN names n ON l.k = n.k",
    ],
)
def test_other_ways_to_say_so(sql: str) -> None:
    assert not warnings(sql)


def test_renamed_bounds_of_an_aggregate() -> None:
    totals = f"WITH t AS (SELECT k, window_start s, window_end e FROM {LEFT} GROUP BY k, window_start, window_end) "
    assert not warnings(totals + "SELECT * FROM t JOIN t u ON t.s = u.s AND t.e = u.e")
    [warning] = warnings(totals + "SELECT * FROM t\nJOIN t u ON t.s = u.s AND t.k = u.k")
    assert (warning.line, warning.column) == (2, 6)
    assert warning.hint and "t.e = u.e" in warning.hint


def test_by_default_they_are_warnings_of_python() -> None:
    with pytest.warns(TranslationWarning, match="not window by window"):
        translate(written("join", "l.k = r.k"), "flink")


def test_spark_sql_is_left_to_its_author() -> None:
    assert not warnings("SELECT * FROM tumble(a, ts, '5m') l JOIN tumble(b, ts, '5m') r ON l.k = r.k", "spark")
