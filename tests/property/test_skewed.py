"""Rows of a key that are split by time: the rows, names and types of queries that split none, on random tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.passes.optimize import timeblocks
from tests.property.test_frame_sums import LENGTHS, SCHEMA, Table, answer, make, tables
from tests.property.test_windows import SECOND, thorough

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALLS = (
    "count(*) OVER w AS n, count(v) FILTER (WHERE v > 0) OVER w AS up, sum(v) OVER w + 1 AS v, sum(b) OVER w AS b,"
    " avg(m) OVER w AS am, max(x) OVER w AS x, min(t) OVER w AS t, sort_array(collect_list(id) OVER w) AS ids,"
    " count_if(CAST(v AS DOUBLE) / 3 > 1) OVER w AS some"
)
"""No sum of DOUBLE: the segment tree of a block adds up in another order."""

MICROSECONDS = "INTERVAL '{1}.{2:06}' SECOND"


@st.composite
def bounded(draw: Callable[..., Any]) -> str:
    """A window whose frame goes from one time to another."""
    order = draw(st.sampled_from(("", "", " DESC", " NULLS LAST", " DESC NULLS FIRST")))
    key = draw(st.sampled_from(("ts", "ts", "wall", "day", "unix_millis(ts)")))
    lengths, written = {
        "day": (st.integers(-2, 2), "INTERVAL '{0}' DAY"),
        "unix_millis(ts)": (st.sampled_from((-86_400_000, -300_000, -999, -1, 0, 1, 300_000)), "{0}"),
    }.get(key, (st.builds(int.__mul__, st.sampled_from((-1, -1, 1)), st.sampled_from(LENGTHS)), MICROSECONDS))

    def text(at: int) -> str:
        length = written.format(abs(at), abs(at) // SECOND, abs(at) % SECOND)
        return "CURRENT ROW" if at == 0 else f"{length} {'PRECEDING' if at < 0 else 'FOLLOWING'}"

    start, end = sorted((draw(lengths), draw(lengths)))
    by = draw(st.sampled_from(("PARTITION BY k ", "PARTITION BY k, v % 2 ", "")))
    return f"{by}ORDER BY {key}{order} RANGE BETWEEN {text(start)} AND {text(end)}"


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so short that rows of a few hours are in many."""
    monkeypatch.setattr(timeblocks, "FRAMES_IN_BLOCK", 2)


@pytest.mark.parametrize("examples", [2, pytest.param(12, marks=pytest.mark.full)])
def test_same_frames(spark: SparkSession, examples: int) -> None:
    @settings(thorough, max_examples=examples)
    @given(tables(), st.lists(bounded(), min_size=8, max_size=8))
    def same(table: Table, windows: list[str]) -> None:
        make(spark, replace(table, windows=tuple(windows)))
        plain = [f"SELECT {i} AS q, id, {CALLS} FROM numbers WINDOW w AS ({w})" for i, w in enumerate(windows)]
        ours = [translate(sql, schema=SCHEMA, skewed=True) for sql in plain]
        assert all("__block" in sql for sql in ours)
        want, got = (answer(spark.sql(" UNION ALL ".join(texts))) for texts in (plain, ours))
        assert got == want

    same()


RANGES = (
    "ROWS_RANGE BETWEEN {} PRECEDING AND CURRENT ROW",
    "ROWS_RANGE BETWEEN {} OPEN PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW",
    "ROWS_RANGE BETWEEN {} PRECEDING AND 1s PRECEDING",
    "ROWS_RANGE BETWEEN {} PRECEDING AND CURRENT ROW MAXSIZE 2",
    "ROWS_RANGE BETWEEN {} PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME",
)
OTHERS = {
    "openmldb": "SELECT id, sum(v) OVER w AS v, avg(v) OVER w AS av, count(m) OVER w AS n FROM numbers WINDOW w AS",
    "openmldb, ordered": "SELECT *, max(v) OVER w AS v, distinct_count(v) OVER w AS n FROM numbers WINDOW w AS",
    "sqlstream": "SELECT STREAM id, SUM(v) OVER w AS v, COUNT(*) OVER w AS n, MIN(x) OVER w AS x FROM numbers"
    " WINDOW w AS",
}


@pytest.mark.parametrize("examples", [1, pytest.param(6, marks=pytest.mark.full)])
def test_same_frames_of_other_dialects(spark: SparkSession, examples: int) -> None:
    """Ends of frames at a row go by `id` here, so that rows of one time have an order."""
    millis = st.sampled_from(("0s", "1s", "5m", "1h", "1d"))

    @settings(thorough, max_examples=examples)
    @given(tables(), st.lists(st.tuples(st.sampled_from(RANGES), millis), min_size=4, max_size=4))
    def same(table: Table, frames: list[tuple[str, str]]) -> None:
        make(spark, table)
        for name, sql in OTHERS.items():
            if name == "sqlstream":
                texts = [f"{sql} (PARTITION BY k ORDER BY ts RANGE INTERVAL '5' MINUTE PRECEDING)"]
            else:
                key = "ts" if frames[0][1] != "5m" else "wall"
                union = "UNION numbers " if "ordered" in name else ""
                spec = f"{union}PARTITION BY k ORDER BY {key}"
                texts = [
                    f"{sql} ({spec} {frame.format(length)})"
                    for frame, length in frames
                    if length != "0s" or "1s" not in frame
                ]
            for text in texts:
                dialect = name.partition(",")[0]
                want, got = (
                    translate(text, dialect, schema=SCHEMA, arrival="id", skewed=skewed) for skewed in (False, True)
                )
                assert "__block" in got
                assert answer(spark.sql(got)) == answer(spark.sql(want))

    same()
