"""Joins of streams by time, and group windows on streams: what Spark gets, and what is refused."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.streaming import StreamPlan, plan

COLUMNS = {"ts": "timestamp", "until": "timestamp", "k": "string", "v": "bigint"}
NEAR = "b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts + INTERVAL '1' MINUTE"
A, B = ("(SELECT * FROM s WHERE ts IS NOT NULL) a", "(SELECT * FROM r WHERE ts IS NOT NULL) b")


def planned(sql: str, dialect: str = "spark", *, utc: bool = True, warnings: list[str] | None = None) -> StreamPlan:
    def warn(warning: TranslationWarning) -> None:
        if warnings is not None:
            warnings.append(warning.message)

    return plan(
        sql,
        dialect,
        streams=["s", "r", "untimed"],
        schema=dict.fromkeys(("s", "r", "untimed", "names"), COLUMNS),
        utc=utc,
        times={"s": "ts", "r": "ts"},
        warn=warn,
    )


@pytest.mark.parametrize("dialect", ["spark", "flink"])
@pytest.mark.parametrize("kind", ["", "INNER ", "LEFT ", "RIGHT OUTER "])
def test_a_condition_in_sparks_form_stays(kind: str, dialect: str) -> None:
    found = planned(f"SELECT a.k FROM s a {kind}JOIN r b ON a.k = b.k AND {NEAR}", dialect)
    assert found.query == f"SELECT a.k FROM {A} {kind}JOIN {B} ON a.k = b.k AND {NEAR}"
    assert found.waits
    assert found.state == "row waiting"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        # Differences, and functions.
        (
            "b.ts - a.ts <= INTERVAL '1' MINUTE AND a.ts - b.ts < INTERVAL '5' MINUTE",
            "{} AND b.ts <= a.ts + INTERVAL '1' MINUTE AND a.ts <= b.ts + INTERVAL '5' MINUTE",
        ),
        (
            "b.ts <= timestampadd(MINUTE, 1, a.ts) AND timestampadd(HOUR, -2, b.ts) <= a.ts AND a.ts <= b.ts",
            "{} AND b.ts <= a.ts + INTERVAL '1' MINUTE AND b.ts <= a.ts + INTERVAL '2' HOUR",
        ),
        # A bound that isn't the event time says when rows are over, which Spark would take for the event time.
        (
            "b.ts BETWEEN a.ts AND a.until AND b.ts <= a.ts + INTERVAL '1' HOUR",
            "array_contains(array(b.ts BETWEEN a.ts AND a.until), TRUE) AND b.ts <= a.ts + INTERVAL '1' HOUR "
            "AND a.ts <= b.ts",
        ),
        (
            f"{NEAR} AND (a.v > b.v OR b.v IS NULL) AND a.v < 3",
            f"{NEAR} AND (array_contains(array(a.v > b.v OR b.v IS NULL), TRUE)) AND a.v < 3",
        ),
        (f"{NEAR} AND v < 3", f"{NEAR} AND array_contains(array(v < 3), TRUE)"),
        (f"{NEAR} AND v IN (SELECT v FROM names WHERE v < 3)", "{}"),
    ],
)
def test_conditions_that_spark_takes_for_something_else(condition: str, said: str) -> None:
    said = said.format(condition)
    assert planned(f"SELECT a.k FROM s a JOIN r b ON a.k = b.k AND {condition}").query.endswith(
        f"ON a.k = b.k AND {said}"
    )
    where = planned(f"SELECT a.k FROM s a, r b WHERE a.k = b.k AND {condition}")
    assert where.query == f"SELECT a.k FROM {A}, {B} WHERE a.k = b.k AND {said}"


def test_a_condition_on_one_side_of_an_outer_join() -> None:
    """Spark would never give the rows that find nothing: it takes 5 for a time at which they are over."""
    found = planned(f"SELECT a.k FROM s a FULL JOIN r b ON a.k = b.k AND {NEAR} AND a.v > 5")
    assert found.query.endswith(f"AND {NEAR} AND array_contains(array(a.v > 5), TRUE) AND a.k IS NOT NULL")


def test_an_anti_join_with_a_condition_at_its_end() -> None:
    found = planned(f"SELECT a.k FROM s a LEFT ANTI JOIN r b ON a.k = b.k AND {NEAR} AND b.v > 2")
    assert found.query.endswith(f"AND {NEAR} AND array_contains(array(b.v > 2), TRUE) WHERE b.__matched IS NULL")


def test_days_on_a_clock_that_is_turned() -> None:
    """Spark reckons with 24 hours when it forgets rows, and a day may have 25."""
    near = "b.ts BETWEEN a.ts - INTERVAL '3' HOUR AND a.ts + INTERVAL '1' DAY"
    sql = f"SELECT a.k FROM s a JOIN r b ON a.k = b.k AND {near}"
    assert planned(sql).query.endswith(near)
    assert planned(sql, utc=False).query.endswith(f"{near} AND b.ts <= a.ts + INTERVAL '50' HOUR")


def test_rows_that_are_late_for_a_join() -> None:
    near = "r.ts >= a.t AND r.ts <= a.t + INTERVAL '5' SECOND"
    found = planned(f"WITH a AS (SELECT ts AS t, k FROM s) SELECT a.k FROM a JOIN r ON a.k = r.k AND {near}")
    left, right = found.late
    assert left.rows == "WITH a AS (SELECT ts AS t, k FROM s)\nSELECT * FROM (SELECT * FROM a WHERE t IS NOT NULL) AS a"
    assert (left.time, left.streams) == ("t", ("s",))
    assert right.windows.startswith("SELECT *, ts AS window_start, ts AS window_end FROM (SELECT * FROM r ")


def test_rows_that_are_windowed_above_a_join_are_late_for_the_join() -> None:
    rows = f"(SELECT a.ts FROM s a JOIN r b ON a.k = b.k AND {NEAR})"
    bounds = "window_start, window_end"
    found = planned(f"SELECT {bounds}, count(*) AS n FROM tumble({rows}, ts, '1 hour') GROUP BY {bounds}")
    assert [(arrivals.time, arrivals.streams) for arrivals in found.late] == [("ts", ("s",)), ("ts", ("r",))]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.k FROM s a LEFT JOIN r b ON a.k = b.k AND a.ts = b.ts AND a.v > 5",
        "SELECT k FROM s LEFT JOIN r USING (ts, k)",
        "SELECT a.k FROM s a LEFT JOIN r b ON a.k = b.k AND b.ts = a.ts + INTERVAL '1' HOUR AND a.v > 5",
        "SELECT a.k FROM tumble(s, ts, '1h') a LEFT JOIN tumble(r, ts, '1h') b "
        "ON a.window_end = b.window_end AND a.v > 5",
        "SELECT a.k FROM names n JOIN tumble(s, ts, '1h') a ON n.k = a.k FULL JOIN tumble(r, ts, '1h') b "
        "ON a.window_end = b.window_end AND a.v > 5",
        f"SELECT a.k FROM s a LEFT JOIN names b ON {NEAR}",
    ],
)
def test_joins_that_the_watermark_closes_by_their_key_stay(sql: str) -> None:
    warnings: list[str] = []
    found = planned(sql, warnings=warnings).query
    assert "array_contains" not in found
    assert "WHERE" not in found
    assert not warnings


@pytest.mark.parametrize(
    "condition", ["a.k = b.k", "a.k = b.k AND b.ts >= a.ts", "a.k = b.k AND b.ts BETWEEN a.until AND a.ts"]
)
def test_an_inner_join_without_bounds_is_warned_of(condition: str) -> None:
    warnings: list[str] = []
    planned(f"SELECT a.k FROM s a JOIN r b ON {condition}", warnings=warnings)
    assert warnings == ["this join of two streams doesn't bound their times both ways: its state only grows"]


@pytest.mark.parametrize(
    ("sql", "message", "hint", "column"),
    [
        ("SELECT a.k FROM s a LEFT JOIN r b ON a.k = b.k", "a LEFT JOIN of two streams has to bound", "BETWEEN", 31),
        (
            "SELECT a.k FROM s a FULL JOIN r b ON a.k = b.k AND b.ts > a.ts",
            "a FULL JOIN of two streams has to bound",
            "BETWEEN",
            31,
        ),
        (
            f"SELECT a.k FROM untimed a LEFT SEMI JOIN r b ON a.k = b.k AND {NEAR}",
            "a LEFT SEMI JOIN of two streams has to bound",
            "(a has no event time with a watermark)",
            42,
        ),
        (f"SELECT a.k FROM s a JOIN r b ON {NEAR}", "is equal in both", "ON a.k = b.k", 26),
        (
            f"SELECT a.k FROM (SELECT * EXCEPT (ts), other AS ts FROM s) a LEFT JOIN r b ON a.k = b.k AND {NEAR}",
            "a LEFT JOIN of two streams has to bound",
            "(a has no event time with a watermark)",
            72,
        ),
        (
            f"SELECT a.k FROM s a JOIN r b ON a.k = b.k AND {NEAR} JOIN s c ON c.k = a.k AND c.ts = a.ts",
            "beside another join of streams",
            "a streaming model of its own",
            26,
        ),
    ],
)
def test_joins_that_are_refused(sql: str, message: str, hint: str, column: int) -> None:
    with pytest.raises(TranslationError) as error:
        planned(sql)
    assert message in error.value.message
    assert hint in str(error.value.hint)
    assert error.value.column == column


@pytest.mark.parametrize(
    ("group", "function"),
    [
        (
            "SELECT k, TUMBLE_START(ts, INTERVAL '1' HOUR), TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR) AS t, SUM(v) AS v "
            "FROM s GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), k HAVING TUMBLE_END(ts, INTERVAL '1' HOUR) > MAX(ts)",
            "SELECT k, window_start AS `EXPR$1`, window_time AS t, SUM(v) AS v "
            "FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS s "
            "GROUP BY window_start, window_end, window_time, k HAVING window_end > MAX(ts)",
        ),
        (
            "SELECT s.k, SESSION_END(s.ts, INTERVAL '1' HOUR) AS e FROM s WHERE v > 1 "
            "GROUP BY s.k, SESSION(s.ts, INTERVAL '1' HOUR)",
            "SELECT s.k, window_end AS e FROM TABLE(SESSION((SELECT * FROM s WHERE v > 1) PARTITION BY k, "
            "DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS s  GROUP BY s.k, window_start, window_end",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT ts FROM s) AS x "
            "GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)",
            "SELECT COUNT(*) AS n FROM TABLE(HOP((SELECT ts FROM s), DESCRIPTOR(ts), INTERVAL '1' MINUTE, "
            "INTERVAL '2' MINUTE)) AS x GROUP BY window_start, window_end",
        ),
    ],
)
def test_a_group_window_is_the_function(group: str, function: str) -> None:
    assert planned(group, "flink") == planned(function, "flink")


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("SELECT COUNT(*) AS n FROM s GROUP BY UPPER(k), SESSION(ts, INTERVAL '1' HOUR)", "UPPER(k) is no column", 38),
        (
            "SELECT COUNT(*) AS n FROM s JOIN names AS m ON s.k = m.k GROUP BY TUMBLE(s.ts, INTERVAL '1' HOUR)",
            "the group window TUMBLE doesn't stream",
            67,
        ),
        (
            "SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) AS t FROM s GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
            "has other arguments",
            8,
        ),
        (
            "SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(ts, INTERVAL '1' HOUR) LIMIT 1",
            "LIMIT has no meaning",
            68,
        ),
    ],
)
def test_group_windows_that_are_refused(sql: str, message: str, column: int) -> None:
    with pytest.raises(TranslationError) as error:
        planned(sql, "flink")
    assert message in error.value.message
    assert error.value.column == column
