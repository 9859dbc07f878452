"""ASOF JOIN as Spark 4.3 writes it, and LAST JOIN that looks back in time: one sort of both sides."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.streaming.endings import OnClosed, OnHistory
from tests.unit.sql.pairs import Pairs

SCHEMA = {name: {"id": "int", "k": "string", "ts": "timestamp", "v": "int"} for name in ("l", "r", "s")}
ON = "MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k"


def joined(left: str, right: str, order: str, keys: str, known: str, found: str, item: str = "l.k AS __key1, ") -> str:
    partition = "PARTITION BY __key1 " if keys else ""
    return (
        f"( SELECT l, r FROM ( SELECT l, last_value(r, true) OVER ({partition}{order} ROWS UNBOUNDED PRECEDING) AS r, "
        f"__is_left FROM ( SELECT struct(l.*) AS l, NULL AS r, {item}l.ts AS __time, TRUE AS __is_left FROM {left} "
        f"UNION ALL SELECT NULL, struct(r.*), {keys}r.ts, FALSE FROM {right} WHERE r.ts IS NOT NULL{known} ) ) "
        f"WHERE {found} )"
    )


class TestAsOfJoins(Pairs):
    def test_inner_and_left(self) -> None:
        rows = joined(
            "l", "r", "ORDER BY __time, __is_left", "r.k, ", " AND r.k IS NOT NULL", "__is_left AND r IS NOT NULL"
        )
        for join in ("ASOF JOIN", "INNER ASOF JOIN", "asof join"):
            self.spark(f"SELECT l.id, r.v FROM l {join} r {ON}", spark=f"SELECT l.id, r.v FROM {rows}")
        rows = rows.replace(" AND r IS NOT NULL )", " )")
        for join in ("LEFT ASOF JOIN", "LEFT OUTER ASOF JOIN"):
            self.spark(f"SELECT * FROM l {join} r {ON} ORDER BY 1", spark=f"SELECT l.*, r.* FROM {rows} ORDER BY 1")

    def test_a_table_called_as_the_keyword(self) -> None:
        for table in ("match_condition", "match_condition AS r"):
            name = table.rpartition(" ")[2]
            text = translate(f"SELECT 1 FROM l ASOF JOIN {table} MATCH_CONDITION (l.ts >= {name}.ts) ON l.k = {name}.k")
            assert "as-of join" in text

    @pytest.mark.parametrize(
        ("match", "order"),
        [
            ("l.ts > r.ts", "ORDER BY __time, __is_left DESC"),
            ("r.ts <= l.ts", "ORDER BY __time, __is_left"),
            ("l.ts <= r.ts", "ORDER BY __time DESC NULLS FIRST, __is_left"),
            ("(r.ts > l.ts)", "ORDER BY __time DESC NULLS FIRST, __is_left DESC"),
        ],
    )
    def test_directions(self, match: str, order: str) -> None:
        rows = joined("l", "r", order, "", "", "__is_left", item="")
        self.spark(f"SELECT r.v FROM l LEFT ASOF JOIN r MATCH_CONDITION ({match})", spark=f"SELECT r.v FROM {rows}")

    @pytest.mark.parametrize("on", ["l.k <=> r.k", "r.k IS NOT DISTINCT FROM l.k"])
    def test_null_keys_that_are_equal(self, on: str) -> None:
        rows = joined("l", "r", "ORDER BY __time, __is_left", "r.k, ", "", "__is_left")
        self.spark(
            f"SELECT 1 FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON {on}", spark=f"SELECT 1 FROM {rows}"
        )
        text = translate(f"SELECT 1 FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON {on} AND l.v = r.v")
        assert "r.ts IS NOT NULL AND r.v IS NOT NULL\n" in text

    def test_conditions_of_the_right_side(self) -> None:
        rows = joined("l", "r", "ORDER BY __time, __is_left", "r.k, ", " AND r.k IS NOT NULL AND r.v > 3", "__is_left")
        self.spark(f"SELECT 1 FROM l LEFT ASOF JOIN r {ON} AND r.v > 3", spark=f"SELECT 1 FROM {rows}")

    def test_one_after_the_other(self) -> None:
        text = translate(f"SELECT s.v FROM l ASOF JOIN r {ON} LEFT ASOF JOIN s MATCH_CONDITION (r.ts > s.ts)")
        assert "l,\n      r,\n      last_value(s, true) OVER (ORDER BY __time, __is_left DESC" in text
        assert text.count("UNION ALL") == 2

    def test_columns_without_a_table(self) -> None:
        schema = {
            "l": {"id": "int", "k": "string", "ts": "timestamp"},
            "r": {"k": "string", "ts": "timestamp", "w": "int"},
        }
        assert "r.w AS w" in translate(f"SELECT id, w FROM l ASOF JOIN r {ON}", schema=schema)
        self.refused(
            f"SELECT w FROM l ASOF JOIN r {ON}", "needs the table of w", at=f"ASOF JOIN r {ON}", hint="t.column"
        )

    def test_what_is_no_asof_join(self) -> None:
        self.unchanged(
            "SELECT asof.id FROM l asof JOIN r ON asof.k = r.k",
            "SELECT * FROM l AS asof, r match_condition (a, b)",
            "SELECT asof FROM l JOIN match_condition ON true",
            "SELECT * FROM l asof JOIN match_condition",
        )

    def test_errors(self) -> None:
        self.refused(
            "SELECT 1 FROM l ASOF JOIN r MATCH_CONDITION (l.ts = r.ts)",
            "by >=, >, <= or <",
            at="l.ts = r.ts",
            hint="ASOF JOIN r",
        )
        self.refused(
            "SELECT 1 FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= l.ts)",
            "its right side",
            at="l.ts >= l.ts",
            hint="ASOF JOIN r",
        )
        self.refused(
            "SELECT 1 FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) USING (k)",
            "no USING",
            at="USING (",
            hint="ON l.k = r.k",
        )
        self.refused(
            f"SELECT 1 FROM l ASOF JOIN r {ON} AND l.v > 3",
            "takes equalities",
            at="l.v > 3",
            hint="in a query around it",
        )
        self.refused(
            f"SELECT 1 FROM l ASOF JOIN r {ON} JOIN s ON s.k = r.k",
            "beside another join",
            at=f"ASOF JOIN r {ON}",
            hint="in a subquery",
        )
        self.refused(
            "SELECT 1 FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.id",
            "a string with a int",
            at="r.id",
            hint="CAST",
            schema=SCHEMA,
        )
        self.refused(
            f"SELECT sum(l.v) OVER (ORDER BY l.ts ROWS_RANGE 3s PRECEDING) FROM l ASOF JOIN r {ON}",
            "a window that Spark has not",
            at=f"ASOF JOIN r {ON}",
            hint="subquery",
        )
        self.refused(
            f"SELECT 1 FROM l LAST JOIN s ORDER BY s.ts ON l.k < s.k ASOF JOIN r {ON}",
            "beside a LAST JOIN",
            at=f"ASOF JOIN r {ON}",
            hint="subquery",
        )


class TestLastJoins:
    JOIN = "SELECT l.k, r.v FROM l LAST JOIN r ORDER BY {} ON l.k = r.k AND {}"

    @pytest.mark.parametrize(
        ("order", "condition"),
        [("r.ts", "l.ts >= r.ts"), ("ts", "r.ts <= l.ts"), ("r.ts", "l.ts > r.ts AND r.v > 1")],
    )
    def test_back_in_time(self, order: str, condition: str) -> None:
        text = translate(self.JOIN.format(order, condition), "openmldb", schema=SCHEMA)
        assert "last_value(r, true) OVER (PARTITION BY __key1 ORDER BY __time, __is_left" in text
        assert ("__is_left DESC" in text) == ("l.ts > r.ts" in condition)
        assert "r.k IS NOT NULL" not in text, "two NULLs are equal keys of a LAST JOIN"

    def test_ahead_in_time(self) -> None:
        text = translate(self.JOIN.format("r.ts DESC", "l.ts <= r.ts"), "openmldb", schema=SCHEMA)
        assert "OVER (PARTITION BY __key1 ORDER BY __time DESC NULLS FIRST, __is_left ROWS" in text

    @pytest.mark.parametrize(
        ("order", "condition"),
        [
            ("r.v", "l.ts >= r.ts"),
            ("r.ts", "l.ts <= r.ts"),
            ("r.ts DESC", "l.ts >= r.ts"),
            ("r.ts", "l.ts >= r.ts AND l.v > 1"),
            ("r.ts", "l.v >= r.ts"),
        ],
    )
    def test_otherwise(self, order: str, condition: str) -> None:
        assert "last_value" not in translate(self.JOIN.format(order, condition), "openmldb", schema=SCHEMA)

    def test_types_have_to_be_known(self) -> None:
        assert "last_value" not in translate(self.JOIN.format("r.ts", "l.ts >= r.ts"), "openmldb")

    def test_two_of_them(self) -> None:
        second = "LAST JOIN s ORDER BY s.ts ON r.k = s.k AND r.ts > s.ts"
        text = translate(f"{self.JOIN.format('r.ts', 'l.ts >= r.ts')} {second}", "openmldb", schema=SCHEMA)
        assert text.count("UNION ALL") == 2


@pytest.mark.parametrize(
    ("join", "dialect"),
    [
        ("LAST JOIN r ON l.k = r.k", "openmldb"),
        ("LAST JOIN r ORDER BY r.ts ON l.k = r.k", "spark"),
    ],
)
def test_no_stream_runs_them(join: str, dialect: str) -> None:
    with pytest.raises(TranslationError, match="doesn't stream: a later row may be a better match") as raised:
        plan(f"SELECT l.id FROM l {join}", dialect, streams=["l"], schema=SCHEMA)
    assert raised.value.column == 20


TO_S = ON.replace("r.", "s.")
VERSIONS = (
    "WITH v AS (SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM r) "
    "WHERE rn = 1) SELECT l.id, v.v FROM l LEFT JOIN v FOR SYSTEM_TIME AS OF l.ts ON l.k = v.k"
)


class TestOnStreams:
    @pytest.mark.parametrize(
        ("sql", "dialect"),
        [
            (f"SELECT l.id, r.v FROM l ASOF JOIN r {ON}", "spark"),
            (f"SELECT l.id, r.v FROM l LEFT ASOF JOIN r {ON.replace('>=', '<')}", "spark"),
            (f"SELECT id FROM (SELECT l.id FROM (SELECT * FROM l) l ASOF JOIN r {ON}) WHERE id > 1", "spark"),
            (f"SELECT l.id, r.v, s.v AS w FROM l ASOF JOIN r {ON} LEFT ASOF JOIN s {TO_S}", "spark"),
            (VERSIONS, "flink"),
        ],
    )
    def test_with_a_table_only_the_left_side_streams(self, sql: str, dialect: str) -> None:
        found = plan(sql, dialect, streams=["l"], schema=SCHEMA)
        assert (found.streams, found.buffered) == (("l",), False)
        assert "OVER" not in found.query
        assert isinstance(found.ending, OnClosed)
        assert "FROM __closed_rows AS l" in found.ending.query
        assert "last_value(" in found.ending.query.lower()

    def test_with_a_stream_rows_wait_for_the_watermark(self) -> None:
        found = plan(f"SELECT l.id, r.v FROM l ASOF JOIN r {ON}", streams=["l", "r"], schema=SCHEMA)
        assert (found.streams, found.buffered, found.time) == (("l", "r"), True, "__time")
        assert isinstance(found.ending, OnHistory)
        newest = "PARTITION BY __key1, (r) IS NOT NULL ORDER BY __time DESC, __is_left DESC"
        assert found.ending.kept == (
            f"SELECT * EXCEPT (__is_new, __newest_0) FROM (SELECT *, row_number() OVER ({newest}) AS __newest_0 "
            "FROM __closed_rows) WHERE (__newest_0 <= 1 AND (r) IS NOT NULL)"
        )

    @pytest.mark.parametrize(
        ("sql", "streams", "message"),
        [
            (f"SELECT l.id FROM l ASOF JOIN r {ON}", ["r"], "UNION ALL of a stream and a table"),
            (f"SELECT l.id FROM l ASOF JOIN r {ON.replace('>=', '<=')}", ["l", "r"], "ordered by time"),
            (
                f"SELECT window_end, count(*) AS n FROM tumble((SELECT l.ts FROM l ASOF JOIN r {ON}), ts, '1 minute') "
                "GROUP BY window_start, window_end",
                ["l"],
                "above a join as of a time",
            ),
            (
                f"SELECT *, lag(v) OVER (PARTITION BY k ORDER BY ts) AS b FROM (SELECT l.* FROM l ASOF JOIN r {ON})",
                ["l"],
                "above a join as of a time",
            ),
            (f"SELECT l.id FROM l ASOF JOIN r {ON} ASOF JOIN s {TO_S}", ["l", "s"], "above a join as of a time"),
            (f"SELECT l.id FROM l ASOF JOIN r {ON} UNION ALL SELECT id FROM s", ["l", "s"], "other rows beside them"),
        ],
    )
    def test_what_doesnt_stream(self, sql: str, streams: list[str], message: str) -> None:
        with pytest.raises(TranslationError, match=message):
            plan(sql, streams=streams, schema=SCHEMA)

    @pytest.mark.parametrize("sign", ["=", "IS NOT DISTINCT FROM"])
    def test_versions_with_null_keys(self, sign: str) -> None:
        """A row with a NULL in its key gets the version with a NULL there: Flink keeps both by their key."""
        text = translate(VERSIONS.replace("l.k = v.k", f"l.k {sign} v.k AND v.v > l.v"), "flink", schema=SCHEMA)
        assert "__row -> __row IS NOT NULL AND __row.v > l.v" in text

    def test_versions_from_a_stream(self) -> None:
        found = plan(VERSIONS, "flink", streams=["l", "r"], schema=SCHEMA)
        assert (set(found.streams), found.buffered, found.time) == ({"l", "r"}, True, "__time")
        assert isinstance(found.ending, OnHistory)
        assert "ROW_NUMBER" not in found.query and "LAST_VALUE(__version, TRUE) OVER" in found.ending.query
        assert "(__version) IS NOT NULL" in found.ending.kept

    @pytest.mark.parametrize(
        ("old", "new", "message", "at"),
        [
            ("l.k = v.k", "l.k = v.k JOIN v AS n ON n.k = l.k", "OVER in several branches", None),
            ("l.k = v.k", "l.k > v.k", "a temporal join equates the key", "l.k > v.k"),
            ("SELECT l.id, v.v", "SELECT COUNT(*) AS n", "is never final", None),
            ("SELECT l.id, v.v", "SELECT l.id, LAG(l.v) OVER (ORDER BY l.ts) AS p", "of several micro-batches", None),
        ],
    )
    def test_versions_from_a_stream_refused(self, old: str, new: str, message: str, at: str | None) -> None:
        sql = VERSIONS.replace(old, new)
        with pytest.raises(TranslationError, match=message) as raised:
            plan(sql, "flink", streams=["l", "r"], schema=SCHEMA)
        assert at is None or raised.value.column == sql.index(at) + 1


class TestAroundOnStreams:
    AROUND = (
        "SELECT p.*, n FROM (SELECT p, count(x) OVER w AS n FROM (SELECT struct(*) AS p, k, ts, NULL AS x FROM l "
        "UNION ALL SELECT NULL, k, ts, v FROM r) WINDOW w AS (PARTITION BY k ORDER BY ts {})) WHERE p IS NOT NULL"
    )

    def test_rows_wait_until_the_end_of_their_frames(self) -> None:
        ahead = "RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND INTERVAL '2' MINUTE FOLLOWING"
        found = plan(self.AROUND.format(ahead), streams=["l", "r"], schema=SCHEMA)
        assert (found.buffered, found.waits_longer, found.time) == (True, True, "ts")
        assert "k, ts + INTERVAL '2' MINUTE, NULL AS x FROM l UNION ALL SELECT NULL, k, ts, v FROM r" in found.query
        assert isinstance(found.ending, OnHistory)
        assert "RANGE BETWEEN INTERVAL '150' SECOND PRECEDING AND CURRENT ROW" in found.ending.query
        assert "- INTERVAL '150' SECOND" in found.ending.kept

    def test_beside_a_table_no_row_waits(self) -> None:
        ahead = "RANGE BETWEEN CURRENT ROW AND INTERVAL '2' MINUTE FOLLOWING"
        found = plan(self.AROUND.format(ahead), streams=["l"], schema=SCHEMA)
        assert (found.buffered, found.waits_longer, found.query) == (False, False, "SELECT * FROM l")
        assert isinstance(found.ending, OnClosed)
        assert ahead in found.ending.query

    @pytest.mark.parametrize(
        "sql",
        [
            AROUND.format("ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING"),
            AROUND.format("RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '2' MINUTE FOLLOWING"),
            AROUND.format("RANGE BETWEEN CURRENT ROW AND INTERVAL '2' MINUTE FOLLOWING").removesuffix(
                "WHERE p IS NOT NULL"
            ),
            AROUND.format("RANGE BETWEEN CURRENT ROW AND INTERVAL '2' MINUTE FOLLOWING").replace("NULL AS x", "v AS x"),
        ],
    )
    def test_other_frames_that_end_behind_the_row(self, sql: str) -> None:
        with pytest.raises(TranslationError, match=r"still to come|no end"):
            plan(sql, streams=["l", "r"], schema=SCHEMA)
