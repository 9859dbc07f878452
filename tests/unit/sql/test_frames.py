"""Frames in all three spellings: what becomes of them, and what is refused."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest
import sqlglot

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.errors import PartError
from dbt.adapters.sparkstream.sql.core.frames import Bound, Frame, Kind
from dbt.adapters.sparkstream.sql.translate import tables
from tests.unit.sql.pairs import Pairs, flat

TYPED = {"t": {"id": "bigint", "k": "string", "ts": "timestamp", "n": "int", "x": "double", "seq": "bigint"}}
W = "PARTITION BY k ORDER BY ts"
ROWS = "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
ORDERED = "(SELECT *, CAST(__key AS DECIMAL(20,0)) * 2097152 + row_number() OVER (PARTITION BY k, __key ORDER BY {ties}) AS __order FROM (SELECT *, {arrival}unix_millis(ts) AS __key FROM t {where}) AS t) AS t"


def openmldb(call: str, window: str) -> str:
    return flat(translate(f"SELECT id, {call} OVER w AS y FROM t WINDOW w AS ({window})", "openmldb", schema=TYPED))


def native(call: str, spec: str) -> str:
    return flat(f"SELECT id, {call} OVER w AS y FROM t WHERE ts IS NOT NULL WINDOW w AS ({spec})")


def ordered(expression: str, *windows: str) -> str:
    rows = ORDERED.format(ties="__arrival", arrival="monotonically_increasing_id() AS __arrival, ", where="WHERE ts IS NOT NULL")
    clause = f" WINDOW {', '.join(windows)}" if windows else ""
    return flat(f"SELECT id, {expression} AS y FROM {rows}{clause}")


class TestWhereSparkHasTheFrame:
    ARRIVAL = "monotonically_increasing_id()"

    def test_rows(self) -> None:
        for frame, spark in (
            ("2 PRECEDING AND CURRENT ROW", "2 PRECEDING AND CURRENT ROW"),
            ("2 PRECEDING AND 0 PRECEDING", "2 PRECEDING AND CURRENT ROW"),
            ("2 PRECEDING AND -1 PRECEDING", "2 PRECEDING AND CURRENT ROW"),
            ("UNBOUNDED PRECEDING AND CURRENT ROW", "UNBOUNDED PRECEDING AND CURRENT ROW"),
            ("UNBOUNDED OPEN PRECEDING AND 2 PRECEDING", "UNBOUNDED PRECEDING AND 2 PRECEDING"),
            ("3 OPEN PRECEDING AND 0 OPEN PRECEDING", "2 PRECEDING AND 1 PRECEDING"),
            ("2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW", "2 PRECEDING AND 1 PRECEDING"),
            ("3 PRECEDING AND 2 PRECEDING EXCLUDE CURRENT_ROW", "3 PRECEDING AND 2 PRECEDING"),
        ):
            assert openmldb("max(x)", f"{W} ROWS BETWEEN {frame}") == native("max(x)", f"{W}, {self.ARRIVAL} ROWS BETWEEN {spark}")

    def test_rows_range_without_start_is_rows(self) -> None:
        assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW") == native("max(x)", f"{W}, {self.ARRIVAL} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
        assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW MAXSIZE 3") == native("max(x)", f"{W}, {self.ARRIVAL} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW")

    def test_rows_range_that_ends_before_the_row_is_range(self) -> None:
        key = "PARTITION BY k ORDER BY unix_millis(ts) RANGE BETWEEN"
        assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN 3h PRECEDING AND 30m PRECEDING") == native("max(x)", f"{key} 10800000 PRECEDING AND 1800000 PRECEDING")
        assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN 4S OPEN PRECEDING AND 0s OPEN PRECEDING EXCLUDE CURRENT_TIME") == native("max(x)", f"{key} 3999 PRECEDING AND 1 PRECEDING")

    def test_without_order(self) -> None:
        assert openmldb("count(x)", "PARTITION BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW") == flat("SELECT id, count(x) OVER w AS y FROM t WINDOW w AS (PARTITION BY k ORDER BY monotonically_increasing_id() ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)")

    def test_a_sum_of_ints_wraps(self) -> None:
        assert flat("CAST(pmod(CAST(sum(n) OVER w AS BIGINT) + 2147483648, 4294967296) - 2147483648 AS INT)") in openmldb("sum(n)", f"{W} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
        assert flat("sum(x) OVER w AS y") in openmldb("sum(x)", f"{W} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")


class TestWhereRowsAreNumbered:
    def test_rows_range(self) -> None:
        spec = "(PARTITION BY k ORDER BY __order RANGE BETWEEN {start}BD PRECEDING AND {end})"
        second = 1000 * 2**21 + 2**20 - 1
        for frame, end in (
            ("1s PRECEDING AND CURRENT ROW", "CURRENT ROW"),
            ("1s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW", "1BD PRECEDING"),
        ):
            assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN {frame}") == ordered("max(x) OVER w", "w AS " + spec.format(start=second, end=end))
        assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME") == ordered("greatest(max(x) OVER w, x)", "w AS " + spec.format(start=second, end=f"{2**20}BD PRECEDING"))

    def test_maxsize_is_a_case_on_a_count(self) -> None:
        second = 1000 * 2**21 + 2**20 - 1
        assert openmldb("max(x)", f"{W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW MAXSIZE 2") == ordered(
            "CASE WHEN count(1) OVER w > 2 THEN max(x) OVER w_2 ELSE max(x) OVER w END",
            f"w AS (PARTITION BY k ORDER BY __order RANGE BETWEEN {second}BD PRECEDING AND CURRENT ROW)",
            "w_2 AS (PARTITION BY k ORDER BY __order ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        )

    def test_arrival(self) -> None:
        sql = f"SELECT max(x) OVER ({W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW) AS y FROM t"
        assert "ORDER BY ts,seq)" in flat(translate(sql, schema=TYPED, arrival="seq"))
        assert translate(sql.replace("ORDER BY ts", "ORDER BY ts, seq"), schema=TYPED) == translate(sql, schema=TYPED, arrival="seq")

    def test_windows_of_one_order_share_it(self) -> None:
        sql = f"SELECT max(x) OVER a AS p, min(x) OVER b AS q FROM t WINDOW a AS ({W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW), b AS ({W} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
        text = translate(sql, "openmldb", schema=TYPED)
        assert text.count("row_number()") == 1 and text.count("PARTITION BY k ORDER BY __order") == 2


class TestSpellings(Pairs):
    """What OpenMLDB and SQLstream say in another way than Spark, beside windows."""

    def openmldb(self, sql: str, spark: str) -> None:
        made = flat(translate(f"{sql} WINDOW w AS ({W} {ROWS})", "openmldb", schema=TYPED))
        assert made.partition(" WINDOW ")[0] == flat(spark)

    def test_names_of_columns(self) -> None:
        self.openmldb("SELECT max( x ) OVER w, (max(x) OVER w), ((max(x) OVER w)) AS b, max(x) OVER w + 1, x  FROM t", "SELECT max( x ) OVER w AS `max(x)over w`, (max(x) OVER w) AS `max(x)over w`, ((max(x) OVER w)) AS b, max(x) OVER w + 1 AS `max(x)over w + 1`, x FROM t WHERE ts IS NOT NULL")

    def test_conditions_stay_together(self) -> None:
        for word in ("or", "OR"):
            self.openmldb(f"SELECT max(x) OVER w AS m FROM t WHERE x = 1 {word} n = 2", f"SELECT max(x) OVER w AS m FROM t WHERE (x = 1 {word} n = 2) AND ts IS NOT NULL")

    def test_a_window_by_the_name_of_another(self) -> None:
        named = translate(f"SELECT max(x) OVER v AS y FROM t WINDOW w AS ({W} {ROWS}), v AS w", "openmldb", schema=TYPED)
        assert flat(named) == flat(translate(f"SELECT max(x) OVER w AS y FROM t WINDOW w AS ({W} {ROWS})", "openmldb", schema=TYPED))
        self.refused("SELECT max(x) OVER w AS m FROM t WINDOW w AS nope", "no window named nope", at="nope", hint="WINDOW nope AS", dialect="openmldb")

    def test_numbers_and_times(self) -> None:
        self.openmldb("SELECT bigint(ts) AS b, bigint(k) AS c, timestamp(id) AS d, timestamp(ts) AS e, 1.5 AS f, max(x) OVER w AS m FROM t", "SELECT unix_millis(ts) AS b, try_cast(k AS BIGINT) AS c, timestamp_millis(id) AS d, timestamp(ts) AS e, 1.5D AS f, max(x) OVER w AS m FROM t WHERE ts IS NOT NULL")

    def test_a_last_join_either_way_round(self) -> None:
        joined = "SELECT t.k, u.v FROM t LAST JOIN u ORDER BY u.ts ON {} AND t.n > u.v"
        assert translate(joined.format("u.k = t.k"), "openmldb") == translate(joined.format("t.k = u.k"), "openmldb")

    def test_union_beside_a_join(self) -> None:
        sql = f"SELECT t.*, k2, max(t.x) OVER w AS y FROM t LAST JOIN u ON t.k = u.k WINDOW w AS (UNION (SELECT * FROM r) PARTITION BY t.k ORDER BY t.ts {ROWS})"
        t, u = {"k": "string", "ts": "timestamp", "x": "int"}, {"k": "string", "k2": "string"}
        made = flat(translate(sql, "openmldb", schema={"t": t, "u": u}))
        assert flat("struct(t.*) AS t, struct(u.*) AS u, k2") in made
        assert flat("SELECT named_struct('k', c0, 'ts', c1, 'x', c2) AS t, named_struct('k', c3, 'k2', c4) AS u, c4 AS k2, 1") in made
        assert flat("FROM (SELECT * FROM (SELECT * FROM r)) AS __union(c0, c1, c2, c3, c4)") in made
        self.refused(sql, "can't have all columns of one table", at="t.*", hint="name the columns", dialect="openmldb", schema={"t": t})

    def test_distinct(self) -> None:
        self.refused(f"SELECT max_by(DISTINCT x, n) OVER w AS y FROM t WINDOW w AS ({W} {ROWS})", "DISTINCT can't stand in max_by", at="max_by(DISTINCT x, n)", hint="", dialect="openmldb", schema=TYPED)

    def test_sqlstream(self) -> None:
        made = translate("SELECT STREAM \"a`b\", 'it''s', FLOOR(ROWTIME TO HOUR) AS h, CEIL(ROWTIME TO MINUTE) AS c FROM t", "sqlstream")
        minute = "date_trunc('MINUTE', ROWTIME)"
        assert made == f"SELECT `a``b`, 'it\\'s' AS `EXPR$1`, date_trunc('HOUR', ROWTIME) AS h, IF({minute} = ROWTIME, {minute}, {minute} + INTERVAL '1' MINUTE) AS c FROM t"
        by_time = translate("SELECT STEP(ROWTIME BY INTERVAL '5' MINUTE) AS s, STEP(n BY 10) AS n FROM t", "sqlstream")
        assert by_time == "SELECT timestamp_micros(unix_micros(ROWTIME) - pmod(unix_micros(ROWTIME), 300000000)) AS s, ((n) - pmod(n, 10)) AS n FROM t"


class TestOnlyTheQueryBlockChanges(Pairs):
    def test_around(self) -> None:
        before, after = "WITH q AS (SELECT 'OPEN  PRECEDING' -- rows_range\n) SELECT a  ,b FROM (", ") z  JOIN q ON TRUE -- end"
        text = translate(f"{before}SELECT max(x) OVER ({W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW) AS y FROM t{after}", schema=TYPED)
        assert text.startswith(before) and text.endswith(after)

    def test_unchanged(self) -> None:
        self.unchanged(
            "SELECT sum(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t",
            "SELECT maxsize, open, t.rows_range, instance_not_in_window FROM t",
            "SELECT a FROM t UNION (SELECT b FROM u)",
            "SELECT last, 'last join' FROM t JOIN u ON t.a = u.a",
            "SELECT sum(x) OVER (PARTITION BY union, exclude ORDER BY open) FROM t",
        )

    def test_other_windows_stay(self) -> None:
        sql = f"SELECT avg(x) OVER v AS p, max(x) OVER w AS q, rank() OVER (PARTITION BY k ORDER BY x) AS r FROM t WINDOW v AS (PARTITION BY k), w AS ({W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW)"
        text = flat(translate(sql, schema=TYPED))
        for kept in ("avg(x) OVER v AS p", "rank() OVER (PARTITION BY k ORDER BY x) AS r", "WINDOW v AS (PARTITION BY k), w AS (PARTITION BY k"):
            assert flat(kept) in text

    def test_tables(self) -> None:
        assert set(tables(f"SELECT max(x) OVER (UNION u {W} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM db.t", "openmldb")) == {"db.t", "u"}
        assert tables("SELECT * FROM t LAST JOIN u ORDER BY u.ts ON t.k = u.k") == ["t", "u"]


class TestUnion:
    def rows(self, union: str) -> str:
        return openmldb("max(x)", f"UNION {union} {W} {ROWS}")

    def test_a_list_in_parentheses(self) -> None:
        assert self.rows("(u, (SELECT * FROM v))") == self.rows("u, (SELECT * FROM v)")
        assert self.rows("((SELECT * FROM u), v)") == self.rows("(SELECT * FROM u), v")

    def test_an_alias_is_of_no_use(self) -> None:
        assert self.rows("u AS q, v") == self.rows("u, v")

    def test_a_table_twice_is_two_tables(self) -> None:
        assert [self.rows(tables).count("UNION ALL") for tables in ("u", "u, u", "u, v")] == [1, 2, 2]


class TestRefused(Pairs):
    def window(self, window: str, message: str, *, at: str, hint: str, dialect: str = "openmldb", call: str = "max(x)") -> None:
        self.refused(f"SELECT id, {call} OVER w AS y FROM t WINDOW w AS ({window})", message, at=at, hint=hint, dialect=dialect, schema=TYPED)

    def test_bounds(self) -> None:
        self.window(f"{W} ROWS BETWEEN 1 PRECEDING AND 3 PRECEDING", "starts after it ends", at="1 PRECEDING", hint="farther back first")
        self.window(f"{W} ROWS BETWEEN 2s PRECEDING AND CURRENT ROW", "counts rows", at="2s PRECEDING", hint="ROWS_RANGE")
        self.window(f"{W} ROWS BETWEEN 2s OPEN PRECEDING AND CURRENT ROW", "counts rows", at="2s OPEN PRECEDING", hint="ROWS_RANGE")
        self.window(f"{W} ROWS_RANGE BETWEEN 500ms PRECEDING AND CURRENT ROW", "ms is no unit", at="500ms", hint="milliseconds")
        self.window(f"{W} ROWS_RANGE BETWEEN 0s OPEN PRECEDING AND CURRENT ROW", "starts after it ends", at="0s OPEN PRECEDING", hint="farther back first")
        self.window(f"{W} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "FOLLOWING", at="1 FOLLOWING", hint="CURRENT ROW")
        self.window(f"{W} RANGE BETWEEN 3s PRECEDING AND CURRENT ROW", "ROWS_RANGE", at="RANGE", hint="ROWS_RANGE")

    def test_parts(self) -> None:
        self.window(f"{W} ", "needs a frame", at=f"({W} )", hint="ROWS BETWEEN")
        self.window("PARTITION BY k ORDER BY ts DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "ascending", at="ts DESC", hint="DESC")
        self.window("PARTITION BY k ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "this is a double", at="x", hint="subquery")
        self.window("PARTITION BY k ROWS_RANGE BETWEEN 2 PRECEDING AND CURRENT ROW", "needs ORDER BY", at="ROWS_RANGE", hint="ORDER BY ts")

    def test_flags(self) -> None:
        self.window(f"{W} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW MAXSIZE 2", "ROWS_RANGE", at="MAXSIZE 2", hint="number of rows")
        self.window(f"{W} ROWS_RANGE BETWEEN 1 PRECEDING AND CURRENT ROW MAXSIZE 0", "at least 1", at="MAXSIZE 0", hint="MAXSIZE 1")
        self.window(f"{W} ROWS_RANGE BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT_ROW MAXSIZE 2", "can't stand behind", at="MAXSIZE", hint="first MAXSIZE 100")
        self.window("PARTITION BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME", "needs ORDER BY", at="EXCLUDE", hint="ORDER BY")

    def test_calls(self) -> None:
        w = f"{W} {ROWS}"
        self.refused(f"SELECT lag(x, id) OVER w FROM t WINDOW w AS ({w})", "constant whole number", at="id", hint="lag(x, 1)", dialect="openmldb")
        self.refused(f"SELECT max(x) OVER vv FROM t WINDOW w AS ({w})", "no window named vv", at="vv", hint="declares w", dialect="openmldb")
        self.refused("SELECT max(x) OVER PARTITION BY k FROM t", "in parentheses", at="OVER PARTITION BY", hint="OVER (", dialect="openmldb")
        self.refused(f"SELECT k, max(x) OVER w FROM t GROUP BY k WINDOW w AS ({w})", "one SELECT", at="GROUP BY k", hint="subquery", dialect="openmldb")

    def test_a_frame_may_have_one_bound_and_an_interval(self) -> None:
        sql = "SELECT max(x) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY ts ROWS_RANGE %s)"
        both = translate(sql % "BETWEEN 1d PRECEDING AND CURRENT ROW", "openmldb")
        assert translate(sql % "INTERVAL 1 DAY PRECEDING", "openmldb") == both

    def test_several_windows_in_one_expression_are_spark_s_to_take(self) -> None:
        w = f"{W} {ROWS}"
        sql = f"SELECT max(x) OVER a + max(x) OVER b AS y FROM t WINDOW a AS ({w}), b AS ({w} EXCLUDE CURRENT_ROW)"
        assert translate(sql, dialect="openmldb").startswith("SELECT max(x) OVER a + max(x) OVER b AS y FROM")

    def test_spellings(self) -> None:
        self.window(f"{W} ROWS_RANGE BETWEEN 3 s PRECEDING AND CURRENT ROW", "right behind it", at="3 s", hint="10s")
        self.window(f"{W} {ROWS} EXCLUDE CURRENT ROW", "can't stand behind", at="EXCLUDE", hint="EXCLUDE CURRENT_ROW")
        self.window(f"{W} {ROWS} EXCLUDE CURRENT_ROW, EXCLUDE CURRENT_TIME", "can't stand behind", at=",", hint="without commas")
        self.window(f"{W} ROWS BETWEEN 2 PRECEDING", "AND and the end", at=")", hint="AND CURRENT ROW")
        self.window(f"UNION {W} {ROWS}", "UNION takes tables", at="PARTITION BY", hint="(SELECT")

    def test_statements_of_openmldb_alone(self) -> None:
        select = f"SELECT max(x) OVER w FROM t WINDOW w AS ({W} {ROWS})"
        self.refused(f"DEPLOY demo {select}", "makes a service", at="DEPLOY", hint="the query alone", dialect="openmldb")
        self.refused("SET @@execute_mode='offline'", "variable", at="SET @@execute_mode='offline'", hint="leave it out", dialect="openmldb")
        self.refused(f"{select} CONFIG (execute_mode = 'request')", "how OpenMLDB runs a query", at="CONFIG (execute_mode = 'request')", hint="sparkstream request", dialect="openmldb")

    def test_places_of_calls(self) -> None:
        window = f"FROM t WINDOW w AS ({W} {ROWS})"
        for sql, message, at, hint in (
            (f"SELECT id FROM t WHERE max(x) OVER w > 1 WINDOW w AS ({W} {ROWS})", "WHERE", "max(x) OVER w", "subquery"),
            (f"SELECT max(x) OVER AS y {window}", "in parentheses", "OVER AS", "OVER ("),
            ("SELECT max(x) OVER ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW FROM t", "in parentheses", "OVER ROWS_RANGE", "OVER ("),
            (f"SELECT count_where(x) OVER w {window}", "takes 2 arguments", "count_where(x)", "count_where(x, condition)"),
            (f"SELECT top_n_key_sum_cate_where(x, k) OVER w {window}", "takes 4", "top_n_key_sum_cate_where(x, k)", "(x, condition, category, 2)"),
            (f"SELECT sum(n, x) OVER w {window}", "takes 1 argument,", "sum(n, x)", "sum(x)"),
            (f"SELECT sum(*) OVER w {window}", "no *", "sum(*)", "sum(x)"),
        ):
            self.refused(sql, message, at=at, hint=hint, dialect="openmldb", schema=TYPED)

    @pytest.mark.parametrize("dialect", ["openmldb", "sqlstream"])
    def test_names_are_left_to_spark(self, dialect: str) -> None:
        for sql in (
            "SELECT zz FROM t WHERE z > 1",
            "SELECT n + 1 AS z, z + 1 AS zz FROM t",
            "SELECT n AS z FROM t ORDER BY z",
            "SELECT zz FROM t, other",
            "SELECT n FROM t WHERE EXISTS (SELECT 1 FROM other WHERE zz = t.n)",
            "SELECT a.n FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b WHERE b.n = a.n)",
            "SELECT current_date, _metadata FROM t",
            "SELECT a.id AS id FROM t AS a JOIN t AS b ON a.id = b.id ORDER BY id",
            "SELECT a.id FROM t AS a JOIN t AS b ON a.id = b.id ORDER BY id",
            "SELECT id FROM t AS a JOIN t AS b USING (id)",
            "SELECT id FROM (SELECT n AS m FROM t) AS q JOIN (t AS a JOIN t AS b USING (id)) ON q.m = a.n",
            "SELECT id FROM t AS a LEFT SEMI JOIN t AS b ON a.id = b.id",
        ):
            translate(sql, dialect, schema=TYPED)

    def test_types_that_only_spark_knows(self) -> None:
        text = flat(translate(f"SELECT sum(a.b) OVER w AS y FROM a WINDOW w AS ({W} {ROWS})", "openmldb"))
        assert flat("WHEN 'timestamp' THEN raise_error('the sum of a time needs its type, from a schema')") in text

    def test_sqlstream(self) -> None:
        self.refused("SELECT STREAM SUM(n) OVER (ROWS INTERVAL '1' HOUR PRECEDING) FROM t", "counts rows", at="INTERVAL '1' HOUR PRECEDING", hint="or RANGE for", dialect="sqlstream")
        self.refused("SELECT STREAM FLOOR(ts TO FORTNIGHT) FROM t", "no unit FORTNIGHT", at="FLOOR(ts TO FORTNIGHT)", hint="WEEK, DAY", dialect="sqlstream")
        self.refused("SELECT STREAM STEP(n BY 0) FROM t", "positive number", at="0", hint="STEP(n BY 10)", dialect="sqlstream")
        self.refused("SELECT STREAM n FROM t OVER (RANGE INTERVAL '1' HOUR PRECEDING) AS o", "t has a window in FROM", at="t OVER (RANGE INTERVAL '1' HOUR PRECEDING)", hint="JOIN b OVER (...) AS b ON", dialect="sqlstream")
        self.refused("SELECT STREAM EXP_AVG(n, 5) OVER (ROWS 3 PRECEDING) FROM t", "takes a constant interval", at="5", hint="INTERVAL '10' MINUTES", dialect="sqlstream")
        self.refused("SELECT STREAM EXP_AVG(n, INTERVAL '0' SECOND) OVER (ROWS 3 PRECEDING) FROM t", "positive interval", at="INTERVAL '0' SECOND", hint="INTERVAL '10' SECOND", dialect="sqlstream")

    def test_over_behind_what_is_no_call_is_left_to_spark(self) -> None:
        sql = f"SELECT case when n > 1 then x end OVER w AS y FROM t WINDOW w AS ({W} {ROWS})"
        assert "case when n > 1 then x end OVER w" in translate(sql, "openmldb", schema=TYPED)

    def test_spark_names_its_own_windows(self) -> None:
        with pytest.raises(TranslationError, match="row_number numbers a partition"):
            translate(f"SELECT row_number() OVER ({W} ROWS_RANGE BETWEEN 1s PRECEDING AND CURRENT ROW) FROM t")


class TestFrame:
    def test_open_moves_a_bound_inward(self) -> None:
        frame = Frame.of(Kind.ROWS_RANGE, Bound(4000, open=True, timed=True), Bound(0, open=True, timed=True))
        assert (frame.start, frame.end) == (3999, 1)

    def test_a_frame_can_not_end_unbounded(self) -> None:
        with pytest.raises(PartError, match="can't end"):
            Frame.of(Kind.ROWS, Bound(None), Bound(None))


def test_sqlglot_knows_the_dialects() -> None:
    from dbt.adapters.sparkstream.sql.dialects.openmldb import OpenMLDB
    from dbt.adapters.sparkstream.sql.dialects.sqlstream import SQLStream

    assert sqlglot.parse_one("SELECT 1", read=OpenMLDB).sql() == "SELECT 1"
    assert sqlglot.parse_one('SELECT STREAM "a" FROM t', read=SQLStream).sql() == 'SELECT "a" FROM t'


def test_strings_keep_their_new_lines() -> None:
    window = f"({W} ROWS_RANGE BETWEEN 1d PRECEDING AND CURRENT ROW EXCLUDE CURRENT_TIME)"
    sql = f"  SELECT id, sum(x) OVER w AS y\n  FROM (SELECT * FROM t WHERE a = 'b\nc') WHERE d = 'e\n  f' WINDOW w AS {window}"
    for text in ("'b\nc'", "'e\n  f'"):
        assert text in translate(sql)
    sql = "  SELECT a.id FROM a LAST JOIN b ORDER BY b.ts ON a.k = b.k AND b.x = 'c\nd'"
    assert "'c\nd'" in translate(sql, "openmldb")
    assert "'c\nd'" in translate(sql.replace("a.k = b.k", "a.k < b.k"), "openmldb")


def test_a_sum_of_a_group_takes_no_time_unseen() -> None:
    """Of a time, Spark's SUM gives seconds; where the type isn't known, the query fails in words."""
    sql = "SELECT k, sum(x) AS s, sum(2.5) AS one FROM t GROUP BY k"
    guarded = translate(sql, "openmldb")
    assert "CASE typeof(any_value(x)) WHEN 'int' THEN pmod(sum(x) + " in guarded
    assert "WHEN 'timestamp' THEN raise_error(" in guarded
    assert "sum(2.5D) AS one" in guarded
    assert "raise_error" not in translate(sql, "openmldb", schema={"t": {"k": "string", "x": "bigint"}})


@pytest.mark.parametrize(
    ("dialect", "window"),
    [
        ("openmldb", "PARTITION BY k ORDER BY ts ROWS_RANGE 3s PRECEDING"),
        ("sqlstream", "PARTITION BY k ORDER BY ts RANGE INTERVAL '3' SECOND PRECEDING"),
        ("spark", "PARTITION BY k ORDER BY ts ROWS_RANGE 3s PRECEDING"),
    ],
)
def test_a_window_minus_a_column(dialect: str, window: str) -> None:
    """Spark takes `w - n` for one name."""
    named = translate(f"SELECT max(n) OVER w -n AS x, max(n) OVER w AS y FROM t WINDOW w AS ({window})", dialect)
    assert named.startswith("SELECT (max(n) OVER w) -n AS x, max(n) OVER w AS y FROM")
    written = translate(f"SELECT max(n) OVER ({window}) - t.n AS x FROM t", dialect)
    assert written.startswith("SELECT (max(n) OVER __window) - t.n AS x FROM")
