"""Keys with most of the rows, which are split by time: what is split, and what is said of the rest."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationWarning, explain, translate

SCHEMA = {
    "t": {"id": "int", "k": "int", "ts": "timestamp", "wall": "timestamp_ntz", "day": "date", "v": "int", "f": "double"}
}
LAST = "RANGE BETWEEN INTERVAL '20' MINUTE PRECEDING AND CURRENT ROW"
WINDOW = f"WINDOW w AS (PARTITION BY k ORDER BY ts {LAST})"


def skewed(sql: str, dialect: str = "spark") -> tuple[str, list[TranslationWarning]]:
    """The translation, and what it warns of."""
    warnings: list[TranslationWarning] = []
    return translate(sql, dialect, schema=SCHEMA, skewed=True, warn=warnings.append), warnings


def test_frames_go_by_key_and_block() -> None:
    sql = f"SELECT id, max(f) OVER w AS m FROM t WHERE v > 0 OR f > 0 {WINDOW} ORDER BY id"
    text, warnings = skewed(sql)
    assert text.split("\n") == [
        "SELECT id, __over_1 AS m FROM (",
        "  /* skewed: the rows of a key in blocks of 320 minutes, with copies of rows that frames of others reach */",
        "  SELECT *, max(f) OVER w AS __over_1",
        "  FROM (",
        "    SELECT *, unix_micros(ts) AS __at",
        "    FROM t",
        "    WHERE v > 0 OR f > 0",
        "  ) AS t",
        "  LATERAL VIEW OUTER explode(sequence(__at - pmod(__at, 19200000000),"
        " __at + 1200000000 - pmod(__at + 1200000000, 19200000000), 19200000000)) AS __block",
        "  WINDOW",
        f"    w AS (PARTITION BY __block, k ORDER BY ts {LAST})",
        ") AS t",
        "WHERE __at - pmod(__at, 19200000000) <=> __block ORDER BY id",
    ]
    assert not warnings
    assert translate(sql, schema=SCHEMA) is sql


@pytest.mark.parametrize(
    ("frame", "reach"),
    [
        ("ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '5' MINUTE FOLLOWING", (-300, 3600)),
        ("ts DESC RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '5' MINUTE FOLLOWING", (-3600, 300)),
        ("wall RANGE BETWEEN INTERVAL '2' DAY PRECEDING AND INTERVAL '1' DAY PRECEDING", (0, 2 * 86400)),
        # A day of a TIMESTAMP has 23 or 25 hours where the clock is changed, and 0 or 48 where a day is skipped.
        ("ts RANGE BETWEEN INTERVAL '2' DAY PRECEDING AND INTERVAL '1' DAY PRECEDING", (-86400, 3 * 86400)),
        ("day RANGE BETWEEN CURRENT ROW AND INTERVAL '1' DAY FOLLOWING", (-86400, 0)),
        ("ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW", (0, 0)),
    ],
)
def test_copies_are_as_far_as_frames_reach(frame: str, reach: tuple[int, int]) -> None:
    text, warnings = skewed(f"SELECT id, max(f) OVER (ORDER BY {frame}) AS m FROM t")
    length = 16 * max(reach[1] - reach[0], 1) * 1_000_000
    ends = [f"__at {'-' if s < 0 else '+'} {abs(s) * 1_000_000}" if s else "__at" for s in reach]
    blocks = ", ".join(f"{end} - pmod({end}, {length})" for end in ends)
    assert f"explode(sequence({blocks}, {length}))" in text
    assert "PARTITION BY __block ORDER BY" in text
    assert not warnings


def test_stars_have_the_columns_of_the_table() -> None:
    text, _ = skewed(f"SELECT *, x.* EXCEPT (f), max(f) OVER w AS m FROM db.t AS x {WINDOW}".replace("db.t", "t"))
    hidden = "__at, __block, __over_1"
    assert text.startswith(f"SELECT * EXCEPT ({hidden}), x.* EXCEPT (f, {hidden}), __over_1 AS m FROM (")


def test_other_windows_stay_where_copies_are_gone() -> None:
    text, warnings = skewed(
        f"SELECT max(f) OVER w AS m, max(f) OVER w + 1 AS m1, row_number() OVER r AS n FROM t {WINDOW},"
        " r AS (PARTITION BY k ORDER BY ts)"
    )
    assert text.startswith("SELECT __over_1 AS m, __over_1 + 1 AS m1, row_number() OVER r AS n FROM (")
    [warning] = warnings
    assert warning.message.startswith("skewed does nothing for a frame of no bounds: it isn't RANGE")
    assert (warning.line, warning.column) == (1, 53)


def test_sums_of_other_dialects_are_running_sums_of_a_block() -> None:
    text, warnings = skewed(f"SELECT id, SUM(v) OVER w AS s FROM t {WINDOW}", "flink")
    assert "PARTITION BY __block, k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" in text
    assert not warnings
    found = explain(f"SELECT id, SUM(v) OVER w AS s FROM t {WINDOW}", "flink", schema=SCHEMA, skewed=True)
    assert [d.rule for d in found.decisions] == ["skewed-frames", "frame-sums"]


def test_a_frame_that_ends_at_a_row() -> None:
    text, warnings = skewed(
        "SELECT id, max(v) OVER w AS m FROM t"
        " WINDOW w AS (PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 20m PRECEDING AND CURRENT ROW)",
        "openmldb",
    )
    assert "sequence(__at - pmod(__at, 19200000), __at + 1200000 - pmod(__at + 1200000, 19200000), 19200000)" in text
    assert "w AS (PARTITION BY __block, k ORDER BY __order RANGE" in text
    assert not warnings


def test_sessions_stay_whole_beside_frames_that_are_split() -> None:
    grouped = "SELECT window_start, k, count(*) AS n FROM {} GROUP BY window_start, k"
    for dialect, function in (
        ("spark", "SESSION(t PARTITION BY k, ts, '1 minute')"),
        ("flink", "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"),
    ):
        sql = f"SELECT max(v) OVER w AS m FROM t {WINDOW}"
        both = f"WITH s AS ({grouped.format(function)}), f AS ({sql}) SELECT n, m FROM s, f"
        text, [warning] = skewed(both, dialect)
        assert "__block" in text
        assert "DISTRIBUTE BY k" in text
        assert warning.message.startswith("skewed does nothing for this session: ")
        assert (warning.line, warning.column) == (1, both.index(function) + 1)


REASONS = {
    "SELECT sum(v) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS s FROM t": "it isn't RANGE between",
    "SELECT sum(v) OVER (ORDER BY ts RANGE UNBOUNDED PRECEDING) AS s FROM t": "it reaches all rows on one side",
    f"SELECT sum(v) OVER (ORDER BY v {LAST}) AS s FROM t": "its frame goes by a key of type int",
    f"SELECT sum(v) OVER (ORDER BY now {LAST}) AS s FROM t": "its frame goes by a type that nobody knows",
    f"SELECT sum(v) OVER w FROM t {WINDOW}": "write AS",
    f"SELECT sum(v) OVER w AS s FROM t JOIN u USING (id) {WINDOW}": "joins in its query: put the frames",
    f"SELECT sum(v) OVER w AS s FROM t {WINDOW} QUALIFY s > 1": "qualify in its query",
    f"SELECT sum(db.t.v) OVER w AS s FROM db.t AS t {WINDOW}": "its frame goes by a type that nobody knows",
    f"SELECT id, (SELECT max(s) FROM (SELECT max(v) OVER w AS s FROM t WHERE t.id = u.id {WINDOW})) AS m FROM t AS u": (
        "it stands in a condition or expression"
    ),
    f"SELECT v + 1 AS x, sum(x) OVER w AS s FROM t {WINDOW}": "it reads a column that the SELECT list names",
    f"SELECT max(sum(v)) OVER (PARTITION BY k ORDER BY ts {LAST}) AS s FROM t GROUP BY k, ts": "the rows are groups",
    f"SELECT max(v) OVER w AS s, min(v) OVER (ORDER BY wall {LAST}) AS m FROM t {WINDOW}": "go by another time",
    "SELECT * FROM session(t PARTITION BY k, ts, '1 minute')": "sessions take longer",
    "SELECT window_start, k, collect_list(v) AS v FROM session(t PARTITION BY k, ts, '1 minute')"
    " GROUP BY window_start, k": "sessions take longer",
}


@pytest.mark.parametrize("sql", REASONS)
def test_what_stays_whole_is_said(sql: str) -> None:
    text, warnings = skewed(sql)
    assert "__block" not in text
    assert warnings
    for warning in warnings:
        assert warning.message.startswith("skewed does nothing for ")
    assert REASONS[sql] in warnings[0].message


@pytest.mark.parametrize("beside", ["ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", "ROWS_RANGE 1d PRECEDING"])
def test_frames_of_ours_are_split_together_or_not(beside: str) -> None:
    text, warnings = skewed(
        "SELECT sum(v) OVER w AS s, max(v) OVER x AS m FROM t WINDOW w AS (PARTITION BY k ORDER BY ts ROWS_RANGE"
        f" BETWEEN 20m PRECEDING AND CURRENT ROW), x AS (PARTITION BY k ORDER BY ts {beside})",
        "openmldb",
    )
    assert ("__block" in text) is (not warnings)
    assert [w.message.partition(": ")[2] for w in warnings] == (
        ["it doesn't begin at a time", "a window beside it isn't split: put that in a query of its own"]
        if beside.startswith("ROWS B")
        else []
    )


def test_a_statement_is_split_once() -> None:
    """A model with the macro `window_sql` is translated with what the macro has written."""
    for sql in (f"SELECT id, max(f) OVER w AS m FROM t {WINDOW}", *list(REASONS)[-2:]):
        text, _ = skewed(sql)
        assert skewed(text) == (text, [])


def test_names_with_underscores_are_the_author_s() -> None:
    text, _ = skewed(f"SELECT max(f) OVER (PARTITION BY tag__name ORDER BY ts {LAST}) AS m FROM t")
    assert "PARTITION BY __block, tag__name ORDER BY" in text


def test_nothing_to_split() -> None:
    for sql in ("SELECT 1 AS over", "SELECT k, count(*) FROM t GROUP BY k", "SHOW TABLES"):
        assert skewed(sql) == (sql, [])


def test_not_without_the_optimizer_and_not_for_streams() -> None:
    for options in ({"optimize": False}, {"mode": "stream"}):
        with pytest.raises(ValueError, match="skewed is for batch, with the optimizer on"):
            translate("SELECT 1", skewed=True, **options)
