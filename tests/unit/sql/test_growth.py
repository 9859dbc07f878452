"""The translator's work grows as a statement does, and a statement may be nested a thousand deep."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.lib.support import calls

ROWS = {
    "spark": "tumble(t, ts, '5 minutes')",
    "flink": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
    "openmldb": "t",
    "sqlstream": "t",
}
FRAMES = {
    "spark": "(PARTITION BY k{0} ORDER BY ts ROWS_RANGE BETWEEN {1}s PRECEDING AND CURRENT ROW)",
    "flink": "(PARTITION BY k{0} ORDER BY ts ROWS BETWEEN {1} PRECEDING AND CURRENT ROW)",
    "openmldb": "(PARTITION BY k{0} ORDER BY ts ROWS_RANGE BETWEEN {1}s PRECEDING AND CURRENT ROW)",
    "sqlstream": "(PARTITION BY k{0} ORDER BY ts RANGE INTERVAL '{1}' SECOND PRECEDING)",
}
Statement = Callable[[str, int], str]


def select(dialect: str, items: str, rest: str = "") -> str:
    return f"SELECT {items} FROM {ROWS[dialect]} {rest}"


def where(joint: str, condition: str) -> Statement:
    return lambda dialect, n: select(dialect, "*", f"WHERE {joint.join(condition.format(i) for i in range(n))}")


def listed(item: str, clause: str = "") -> Statement:
    """A SELECT list of so many items; and the columns in a clause, if there is one."""

    def statement(dialect: str, n: int) -> str:
        items, columns = (", ".join(each.format(i) for i in range(n)) for each in (item, "c{0}"))
        return select(dialect, items, f"{clause} {columns}" if clause else "")

    return statement


def frame(dialect: str, i: int) -> str:
    return FRAMES[dialect].format(i, i + 1)


def windows(dialect: str, n: int) -> str:
    return f"SELECT {', '.join(f'sum(c{i}) OVER {frame(dialect, i)} AS s{i}' for i in range(n))} FROM t"


def named_windows(dialect: str, n: int) -> str:
    calls = ", ".join(f"sum(c{i}) OVER w{i} AS s{i}" for i in range(n))
    return f"SELECT {calls} FROM t WINDOW {', '.join(f'w{i} AS {frame(dialect, i)}' for i in range(n))}"


def joins(dialect: str, n: int) -> str:
    alias = "AS a" if dialect in ("spark", "flink") else "a"
    return select(dialect, "*", " ".join([alias, *(f"JOIN t{i} ON t{i}.k = a.k" for i in range(n))]))


def ctes(dialect: str, n: int) -> str:
    later = "".join(f", a{i} AS (SELECT * FROM a{i - 1})" for i in range(1, n))
    return f"WITH a0 AS ({select(dialect, '*')}){later} SELECT * FROM a{n - 1}"


def nested(opening: str, middle: str, closing: str) -> Statement:
    return lambda dialect, n: select(dialect, f"{opening * n}{middle}{closing * n} AS x")


def chained(joint: str) -> Statement:
    return lambda dialect, n: select(dialect, joint.join(f"c{i}" for i in range(n)) + " AS x")


LONG: dict[str, Statement] = {
    "conditions": where(" AND ", "c{0} > {0}"),
    "alternatives": where(" OR ", "c{0} = {0}"),
    "lists": where(" AND ", "c{0} IN (1, 2)"),
    "subqueries": where(" AND ", "EXISTS (SELECT 1 FROM u{0} WHERE u{0}.k = t.k)"),
    "windows": windows,
    "named windows": named_windows,
    "joins": joins,
    "columns": listed("c{0} + {0} AS d{0}"),
    "keys": listed("c{0}", "GROUP BY"),
    "order": listed("c{0}", "ORDER BY"),
    "unions": lambda dialect, n: " UNION ALL ".join(select(dialect, f"c{i}") for i in range(n)),
    "CTEs": ctes,
    "operands": chained(" + "),
    "pieces of a text": chained(" || "),
    "branches": lambda dialect, n: select(
        dialect, f"CASE {' '.join(f'WHEN c{i} > {i} THEN {i}' for i in range(n))} END AS x"
    ),
    "constants": lambda dialect, n: select(dialect, "*", f"WHERE k IN ({', '.join(map(str, range(n)))})"),
    "sets of keys": lambda dialect, n: select(
        dialect, "count(*) AS n", f"GROUP BY GROUPING SETS ({', '.join(f'(c{i})' for i in range(n))})"
    ),
    "casts": listed("CAST(c{0} AS INT) AS d{0}"),
    "aggregates": listed("sum(c{0}) AS s{0}"),
    "scalar subqueries": listed("(SELECT max(k) FROM u{0}) AS m{0}"),
    "rows": lambda dialect, n: f"SELECT * FROM (VALUES {', '.join(f'({i}, {i} + 1)' for i in range(n))}) v(a, b)",
}
"""What is in a statement -> a statement in a dialect with so many of it."""

DEEP: dict[str, Statement] = {
    "operands": chained(" + "),
    "pieces of a text": chained(" || "),
    "unions": LONG["unions"],
    "CTEs": ctes,
    "parentheses": nested("(", "k", ")"),
    "sums in parentheses": nested("(", "k", " + 1)"),
    "calls": nested("ABS(", "k", ")"),
    "casts": nested("CAST(", "k", " AS INT)"),
    "arrays": nested("ARRAY[", "k", "]"),
    "cases": nested("CASE WHEN a THEN ", "1", " END"),
    "negations": nested("NOT ", "a", ""),
    "subqueries": lambda dialect, n: "SELECT * FROM (" * n + select(dialect, "*") + ") s" * n,
}


def schema(n: int) -> dict[str, dict[str, str]]:
    columns = {"ts": "timestamp", "k": "int", **{f"{name}{i}": "int" for name in "ck" for i in range(n)}}
    return dict.fromkeys(("t", "a"), columns)


def work(sql: str, dialect: str, known: dict[str, dict[str, str]] | None) -> int:
    """How many functions a translation calls."""
    return calls(lambda: translate(sql, dialect, schema=known, warn=lambda _: None))


@pytest.mark.parametrize("dialect", ROWS)
@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("typed", [False, True], ids=["", "typed"])
def test_four_times_as_much_text_takes_four_times_the_work(kind: str, dialect: str, typed: bool) -> None:
    if typed and kind in ("unions", "CTEs", "pieces of a text"):
        pytest.skip("each of its queries has all columns of the table, which grow with them; or they are no texts")
    n = 20
    few, many = (work(LONG[kind](dialect, m), dialect, schema(m) if typed else None) for m in (n, 4 * n))
    assert many < 5 * few


@pytest.mark.parametrize("dialect", ROWS)
@pytest.mark.parametrize("kind", ["casts", "arrays"])
def test_pieces_within_each_other_take_as_much_work_as_they_are_many(kind: str, dialect: str) -> None:
    _, few, many = (work(DEEP[kind](dialect, n), dialect, None) for n in (500, 500, 1000))  # the first fills caches
    assert many < 2.2 * few


@pytest.mark.parametrize("dialect", ROWS)
@pytest.mark.parametrize("kind", DEEP)
def test_a_thousand_within_each_other(kind: str, dialect: str) -> None:
    limit = sys.getrecursionlimit()
    assert "c999" in translate(DEEP[kind](dialect, 1_000), dialect) or kind not in ("operands", "unions")
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("kind", ["operands", "parentheses"])
def test_tens_of_thousands_within_each_other(kind: str) -> None:
    with pytest.raises(TranslationError, match="nested too deeply") as raised:
        translate(DEEP[kind]("flink", 40_000), "flink")
    assert raised.value.line == 1 and raised.value.column > 20_000


def test_deep_statements_of_several_threads() -> None:
    """Those that need the larger stack and those that don't, side by side."""
    texts: list[str] = []
    limit = sys.getrecursionlimit()
    work = [lambda n=n: texts.append(translate(DEEP["calls"]("flink", n), "flink")) for n in (900, 2, 700, 3, 800)]
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == len(work) and sys.getrecursionlimit() == limit
