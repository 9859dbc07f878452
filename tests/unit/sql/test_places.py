"""Errors point at what their author wrote, in whatever mode it is translated."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.passes.batches import Batch, Cut, Rows

CUT = "(select * from db.bid where `ts` >= '2024-01-02 00:00:00+00:00' and `ts` < '2024-01-03 00:00:00+00:00')"
HOPS = {
    "spark": "hop({}, {}, '5 minutes', '1 hour')",
    "flink": "HOP(TABLE {}, DESCRIPTOR({}), INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
}
SCHEMA = {"db.bid": {"ts": "timestamp", "k": "string", "price": "int"}}
BOUNDS = "window_start, window_end"


def _widen(window: Window, time: str, cut: Cut) -> Rows:
    return Rows(f"(SELECT * FROM {cut.relation} WHERE {cut.column} >= 'before')", "window_end >= 'start'")


BATCH = Batch(datetime(2024, 1, 2), datetime(2024, 1, 3), _widen)


def found(sql: str, dialect: str, mode: str) -> TranslationError:
    """The error of a statement in a mode."""
    batch = BATCH if mode == "microbatch" else None
    with pytest.raises(TranslationError) as error:
        translate(
            sql,
            dialect,
            optimize=mode != "plain",
            mode="stream" if mode == "stream" else "batch",
            schema=SCHEMA,
            batch=batch,
            warn=lambda _: None,
        )
    return error.value


@pytest.mark.parametrize("mode", ["optimised", "plain", "stream", "microbatch"])
@pytest.mark.parametrize("dialect", ["spark", "flink"])
@pytest.mark.parametrize(
    ("time", "rest", "at"),
    [
        ("paid", f"GROUP BY {BOUNDS}", "paid"),
        ("k", f"GROUP BY {BOUNDS}", "k"),
        ("ts", f"GROUP BY {BOUNDS} )", ")"),
    ],
)
def test_place(mode: str, dialect: str, time: str, rest: str, at: str) -> None:
    relation = CUT if mode == "microbatch" else "db.bid"
    lines = [
        f"SELECT {BOUNDS},",
        "  count(*) AS n, avg(price) AS a",
        f"FROM {HOPS[dialect].format(relation, time)}",
        f"  {rest}",
    ]
    error = found("\n".join(lines), dialect, mode)
    line = 4 if at == ")" else 3
    column = lines[line - 1].rindex(at, 0, lines[2].index("5") if line == 3 else None) + 1
    assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize("mode", ["optimised", "plain", "microbatch"])
def test_place_beside_a_rule(mode: str) -> None:
    """The rule rewrites one query, and the fault is in another."""
    relation = CUT if mode == "microbatch" else "db.bid"
    hop = HOPS["flink"].format(relation, "ts")
    sql = f"SELECT * FROM (SELECT {BOUNDS}, count(*) AS n FROM {hop} GROUP BY {BOUNDS})\nWHERE n = 1 AND NO_SUCH(n) > 1"
    error = found(sql, "flink", mode)
    assert (error.line, error.column) == (2, 17)
    assert "NO_SUCH" in error.message


def test_rules_and_frames_of_one_statement() -> None:
    """A rule rewrites the inner query, a frame's pass the outer one, and each finds what the other has written."""
    hop = HOPS["spark"].format("db.bid", "ts")
    inner = f"SELECT {BOUNDS}, count(*) AS n FROM {hop} GROUP BY {BOUNDS}"
    frame = "ROWS_RANGE BETWEEN INTERVAL '3' HOURS PRECEDING AND CURRENT ROW"
    over = f"(PARTITION BY 1 ORDER BY window_start {frame})"
    text = translate(f"SELECT sum(n) OVER {over} AS s FROM ({inner})", schema=SCHEMA)
    assert "/* ROWS_RANGE from" in text
    assert translate(inner, schema=SCHEMA).split("FROM (")[1].split("\n")[1].strip() in text
    beside = f"SELECT {BOUNDS}, count(*) AS n, sum(count(*)) OVER {over} AS s FROM {hop} GROUP BY {BOUNDS}"
    outcomes = []
    for optimize in (True, False):
        try:
            outcomes.append(translate(beside, schema=SCHEMA, optimize=optimize))
        except TranslationError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
