"""Errors point at what their author wrote, in whatever mode it is translated."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlglot.dialects.spark import Spark

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tokens import Tokens
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.passes.batches import BatchRows, CutTable, Microbatch
from dbt.adapters.sparkstream.sql.streaming import plan

CUT = (
    "(select * from db.bid where `ts` >= TIMESTAMP_NTZ'2024-01-02 00:00:00' "
    "and `ts` < TIMESTAMP_NTZ'2024-01-03 00:00:00')"
)
HOPS = {
    "spark": "hop({}, {}, '5 minutes', '1 hour')",
    "flink": "HOP(TABLE {}, DESCRIPTOR({}), INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
}
SCHEMA = {"db.bid": {"ts": "timestamp", "k": "string", "price": "int"}}
BOUNDS = "window_start, window_end"


def _widen(window: Window, time: str, cut: CutTable) -> BatchRows:
    return BatchRows(f"(SELECT * FROM {cut.relation} WHERE {cut.column} >= 'before')", "window_end >= 'start'")


BATCH = Microbatch(datetime(2024, 1, 2), datetime(2024, 1, 3), _widen)


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
    counted = f"SELECT {BOUNDS}, count(*) AS n FROM {hop} GROUP BY {BOUNDS}"
    sql = f"SELECT * FROM ({counted})\nWHERE n = 1 AND CURRENT_DATABASE() > 'a'"
    error = found(sql, "flink", mode)
    assert (error.line, error.column) == (2, 17)
    assert "CURRENT_DATABASE" in error.message


def test_rules_and_frames_of_one_statement() -> None:
    """A rule rewrites the inner query, a frame's pass the outer one, and each finds what the other has written."""
    hop = HOPS["spark"].format("db.bid", "ts")
    inner = f"SELECT {BOUNDS}, count(*) AS n FROM {hop} GROUP BY {BOUNDS}"
    frame = "ROWS_RANGE BETWEEN INTERVAL '3' HOURS PRECEDING AND CURRENT ROW"
    over = f"(PARTITION BY 1 ORDER BY window_start {frame})"
    text = translate(f"SELECT sum(n) OVER {over} AS s FROM ({inner})", schema=SCHEMA)
    assert "ORDER BY unix_millis(window_start) RANGE" in text
    assert translate(inner, schema=SCHEMA).split("FROM (")[1].split("\n")[1].strip() in text
    beside = f"SELECT {BOUNDS}, count(*) AS n, sum(count(*)) OVER {over} AS s FROM {hop} GROUP BY {BOUNDS}"
    outcomes = []
    for optimize in (True, False):
        try:
            outcomes.append(translate(beside, schema=SCHEMA, optimize=optimize))
        except TranslationError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("before", ["", "WITH u AS (SELECT * FROM s),\n v AS (SELECT k AS q FROM names)\n"])
def test_place_behind_the_cut_of_a_stream(before: str) -> None:
    """What runs on closed rows is written anew, without the CTEs that only the stream needs."""
    over = "OVER (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"
    sql = f"{before}SELECT k,\n  top(v) {over} AS t\nFROM {'u' if before else 's'}"
    with pytest.raises(TranslationError, match="top takes 2 arguments") as error:
        plan(sql, streams=["s"], schema={"s": {"ts": "timestamp", "k": "string", "v": "int"}})
    assert (error.value.line, error.value.column) == (before.count("\n") + 2, 3)


def test_where_pieces_of_a_text_come_from() -> None:
    text = "SELECT a, bb FROM t"
    source = Source(text, Tokens(Spark().tokenize(text)))
    source.apply([Edit((7, 8), lambda: "longer"), Edit((18, 19), lambda: f"({source.render((18, 19))})")])
    made = source.traced()
    assert made.text == source.render() == "SELECT longer, bb FROM (t)"
    for piece, origin in {
        "SELECT": (0, 6),
        "onge": (7, 8),
        "bb": (10, 12),
        "bb FROM (": (10, 19),
        "t": (18, 19),
    }.items():
        at = made.text.rindex(piece)
        assert made.place((at, at + len(piece))) == origin
    around = made.within("SELECT * FROM (", ")")
    assert around.place((around.text.index("bb"), around.text.index("bb") + 2)) == (10, 12)
    assert around.place((0, 6)) == (0, len(text))
    assert made.place((len(made.text), len(made.text)))[1] == len(text)
