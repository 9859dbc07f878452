"""LAST JOIN of random tables full of NULLs and ties: Spark's rows are those of the definition, for conditions of every kind.

For a left row, the right rows for which the condition holds, in an equality of both sides also for two NULLs; of these
the last one by ORDER BY, and by arrival where that is equal.
"""

# ruff: noqa: E501

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.golden.runner import Relation, create_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = (
    ("id", "int"),
    ("k", "int"),
    ("g", "string"),
    ("ts", "timestamp"),
    ("n", "bigint"),
    ("v", "int"),
    ("seq", "int"),
)
SCHEMA = {name: dict(COLUMNS) for name in ("l", "r", "q")}


@dataclass(frozen=True)
class Row:
    id: int
    k: int | None
    g: str | None
    ts: int
    n: int
    v: int | None
    seq: int

    def values(self) -> list[Any]:
        return [self.id, self.k, self.g, f"2020-01-01 00:00:{self.ts:02d}", self.n, self.v, self.seq]


Condition = Callable[[Row, Row], bool]


def random_rows(chance: random.Random, first: int, count: int) -> list[Row]:
    return [
        Row(
            first + i,
            chance.choice((None, 1, 1, 2, 3)),
            chance.choice((None, "a", "a", "b", "")),
            chance.randint(0, 9),
            chance.randint(0, 9),
            chance.choice((None, 1, 2, 3, 5)),
            i,
        )
        for i in range(count)
    ]


def known(*values: Any) -> bool:
    return None not in values


def last(left: Row, right: list[Row], order: str, condition: Condition) -> Row | None:
    """The last right row that meets a left one."""
    met = [row for row in right if condition(left, row)]
    name, _, direction = order.partition(" ")
    sign = -1 if direction == "DESC" else 1
    return max(met, key=lambda row: (sign * getattr(row, name), row.seq), default=None)


JOINS: dict[str, tuple[str, Condition]] = {
    "l LAST JOIN r ORDER BY r.ts ON l.k = r.k": ("ts", lambda a, b: a.k == b.k),
    "l LAST JOIN r ORDER BY r.n ON l.k = r.k AND r.g = l.g": ("n", lambda a, b: a.k == b.k and a.g == b.g),
    "l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND r.ts <= l.ts": ("ts", lambda a, b: a.k == b.k and b.ts <= a.ts),
    "l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND l.ts > r.ts": ("ts", lambda a, b: a.k == b.k and b.ts < a.ts),
    "l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND l.ts < r.ts": ("ts", lambda a, b: a.k == b.k and a.ts < b.ts),
    "l LAST JOIN r ORDER BY r.n ON l.k = r.k AND r.v > 1": ("n", lambda a, b: a.k == b.k and (b.v or 0) > 1),
    "l LAST JOIN r ORDER BY r.n ON l.k = r.k AND l.v > 1": ("n", lambda a, b: a.k == b.k and (a.v or 0) > 1),
    "l LAST JOIN r ORDER BY r.n ON l.k + 1 = r.k": ("n", lambda a, b: (None if a.k is None else a.k + 1) == b.k),
    "l LAST JOIN r ORDER BY r.n ON l.k = r.k AND l.v + r.v > 4": ("n", lambda a, b: a.k == b.k and known(a.v, b.v) and (a.v or 0) + (b.v or 0) > 4),
    "l LAST JOIN r ORDER BY r.n ON l.k = r.k AND l.g <> r.g": ("n", lambda a, b: a.k == b.k and known(a.g, b.g) and a.g != b.g),
    "l LAST JOIN r ORDER BY r.seq ON l.k = r.k OR l.g = r.g": ("seq", lambda a, b: (known(a.k) and a.k == b.k) or (known(a.g) and a.g == b.g)),
    "l LAST JOIN r ORDER BY r.n ON l.k = r.k AND l.n >= r.n AND r.v IS NOT NULL": ("n", lambda a, b: a.k == b.k and a.n >= b.n and known(b.v)),
    "l LAST JOIN r ORDER BY r.ts DESC ON l.k = r.k AND r.ts >= l.ts": ("ts DESC", lambda a, b: a.k == b.k and b.ts >= a.ts),
    "l LAST JOIN r ORDER BY r.n DESC ON l.k = r.k AND l.n >= r.n": ("n DESC", lambda a, b: a.k == b.k and a.n >= b.n),
    "l LAST JOIN r ORDER BY r.n DESC ON l.k = r.k": ("n DESC", lambda a, b: a.k == b.k),
    "l LAST JOIN (SELECT id, k, n, v * 2 AS w, v FROM r) AS r ORDER BY r.n ON l.k = r.k AND r.w > 3": ("n", lambda a, b: a.k == b.k and (b.v or 0) * 2 > 3),
    "(SELECT id, k, v + 1 AS y FROM l) AS l LAST JOIN r ORDER BY r.n ON l.k = r.k AND l.y > r.v": ("n", lambda a, b: a.k == b.k and known(a.v, b.v) and (a.v or 0) + 1 > (b.v or 0)),
}  # fmt: skip
"""What stands in FROM -> the order of the right rows, and the condition."""


@pytest.mark.long
@pytest.mark.parametrize("typed", [True, False], ids=["types", "no-types"])
def test_rows_are_those_of_the_definition(spark: SparkSession, typed: bool) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    chance = random.Random(1)
    left, right, third = (random_rows(chance, first, count) for first, count in ((0, 12), (100, 15), (200, 10)))
    for name, rows in {"l": left, "r": right, "q": third}.items():
        create_view(spark, name, Relation(COLUMNS, [row.values() for row in rows]), str.upper)

    def found(sql: str) -> list[str]:
        text = translate(sql, "openmldb", schema=SCHEMA if typed else None, arrival="seq")
        return sorted(str(tuple(row)) for row in spark.sql(text).collect())

    for joined, (order, condition) in JOINS.items():
        matches = [(row.id, last(row, right, order, condition)) for row in left]
        want = sorted(str((number, match.id, match.v) if match else (number, None, None)) for number, match in matches)
        assert found(f"SELECT l.id, r.id AS rid, r.v FROM {joined}") == want, joined

    by_key = JOINS["l LAST JOIN r ORDER BY r.ts ON l.k = r.k"][1]
    chained = []
    for row in left:
        one = last(row, right, "n", by_key)
        g = one.g if one else None
        other = last(row, third, "n", lambda a, b, g=g: g == b.g and a.ts >= b.ts)  # type: ignore[misc]
        chained.append(str((row.id, one.id if one else None, other.id if other else None)))
    assert found(
        "SELECT l.id, r.id AS rid, q.id AS qid FROM l LAST JOIN r ORDER BY r.n ON l.k = r.k "
        "LAST JOIN q ORDER BY q.n ON r.g = q.g AND l.ts >= q.ts"
    ) == sorted(chained)

    pairs = [(row, last(row, right, "n", by_key)) for row in left]
    windowed = []
    for row in left:
        frame = [
            match
            for other, match in pairs
            if other.g == row.g and row.ts - 3 <= other.ts and (other.ts, other.seq) <= (row.ts, row.seq)
        ]
        values = [match.v for match in frame if match and match.v is not None]
        windowed.append(str((row.id, sum(values) if values else None, len(frame))))
    assert found(
        "SELECT l.id, sum(r.v) OVER w AS s, count(*) OVER w AS c FROM l LAST JOIN r ORDER BY r.n ON l.k = r.k "
        "WINDOW w AS (PARTITION BY l.g ORDER BY l.ts ROWS_RANGE BETWEEN 3s PRECEDING AND CURRENT ROW)"
    ) == sorted(windowed)
