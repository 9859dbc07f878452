"""The deprecated group windows: TUMBLE, HOP and SESSION in GROUP BY, with their auxiliary functions."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs

HOUR = "window(CAST(ts AS TIMESTAMP_NTZ), '1 hour')"
NTZ = {"t": {"ts": "timestamp_ntz", "k": "string", "x": "int"}}
LTZ = {"t": {"ts": "timestamp", "k": "string"}}


class TestTumble(Pairs):
    def test_bounds(self) -> None:
        self.flink("SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", spark=f"SELECT COUNT(*) AS n FROM t GROUP BY {HOUR}")
        self.flink("SELECT k, TUMBLE_START(ts, INTERVAL '1' HOUR) AS ws FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR)", spark=f"SELECT k, window.start AS ws FROM t GROUP BY k, {HOUR}")
        self.flink("SELECT TUMBLE_END(ts, INTERVAL '1' HOUR) AS we FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), k", spark=f"SELECT window.end AS we FROM t GROUP BY {HOUR}, k")
        self.flink("SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR) AS wt FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", spark=f"SELECT coalesce(window.end - INTERVAL '0.001' SECOND, min(ts)) AS wt FROM t GROUP BY {HOUR}")

    def test_spellings(self) -> None:
        for interval in ("'1h'", "'60 minutes'", "INTERVAL 1 HOUR", "INTERVAL '1:00' HOUR TO MINUTE", "INTERVAL '3600' SECOND"):
            self.spark(f"select tumble_start(ts, {interval}) as ws from t group by tumble(ts, {interval})", spark=f"select coalesce(window.start, min(ts)) as ws from t group by {HOUR}")
        self.spark("select tumble_start(ts, '60m') as ws from t group by Tumble ( ts, '1 hour' )", spark=f"select coalesce(window.start, min(ts)) as ws from t group by {HOUR}")
        self.spark("select tumble_start(t.ts, '1h') as ws from t group by tumble(t.ts, '1h')", spark="select coalesce(window.start, min(t.ts)) as ws from t group by window(CAST(t.ts AS TIMESTAMP_NTZ), '1 hour')")
        self.spark("select count(*) from t group by tumble(cast(s as timestamp), '1h')", spark="select count(*) from t group by window(CAST(cast(s as timestamp) AS TIMESTAMP_NTZ), '1 hour')")

    def test_names_are_the_same_in_any_case(self) -> None:
        self.spark("select tumble_start(TS, '1h') as ws from t group by tumble(ts, '1h')", spark=f"select coalesce(window.start, min(TS)) as ws from t group by {HOUR}")
        self.flink("SELECT TUMBLE_ROWTIME(TO_TIMESTAMP_LTZ(ms, 3), INTERVAL '1' HOUR) AS wt FROM t GROUP BY TUMBLE(TO_TIMESTAMP_LTZ(ms, 3), INTERVAL '1' HOUR)", spark="SELECT coalesce(window.end - INTERVAL '0.001' SECOND, min(TIMESTAMP_MILLIS(ms))) AS wt FROM t GROUP BY window(CAST(TIMESTAMP_MILLIS(ms) AS TIMESTAMP_NTZ), '1 hour')", schema={"t": {"ms": "bigint"}})

    def test_unnamed_columns_have_the_function_as_name(self) -> None:
        self.spark("select tumble_start(ts, '1h'), TUMBLE_END(ts, '1h') from t group by tumble(ts, '1h')", spark=f"select coalesce(window.start, min(ts)) AS tumble_start, coalesce(window.end, min(ts)) AS tumble_end from t group by {HOUR}")
        self.flink("SELECT k, TUMBLE_START(ts, INTERVAL '1' HOUR) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR)", spark=f"SELECT k, window.start AS `EXPR$1` FROM t GROUP BY k, {HOUR}")

    def test_known_type_needs_no_cast(self) -> None:
        self.spark("select tumble_start(ts, '1h') as ws from t group by tumble(ts, '1h')", schema=NTZ, spark="select window.start as ws from t group by window(ts, '1 hour')")

    def test_in_expressions_and_clauses(self) -> None:
        self.spark("select cast(tumble_start(ts, '1h') as date) as d, tumble_end(ts, '1h') - interval 1 day as e from t group by tumble(ts, '1h')", spark=f"select cast(coalesce(window.start, min(ts)) as date) as d, coalesce(window.end, min(ts)) - interval 1 day as e from t group by {HOUR}")
        self.spark("select count(*) as n from t group by tumble(ts, '1h') having tumble_start(ts, '1h') > now() order by tumble_end(ts, '1h') desc", spark=f"select count(*) as n from t group by {HOUR} having window.start > now() order by window.end desc")
        self.spark("select sum(count(*)) over (order by tumble_start(ts, '1h')) as n from t group by tumble(ts, '1h')", spark=f"select sum(count(*)) over (order by coalesce(window.start, min(ts))) as n from t group by {HOUR}")

    def test_cascade(self) -> None:
        self.spark(
            "select tumble_start(rt, '1d') as d from (select tumble_rowtime(ts, '1h') as rt from t group by tumble(ts, '1h')) group by tumble(rt, '1d')",
            spark=f"select coalesce(window.start, min(rt)) as d from (select coalesce(window.end, min(ts)) - INTERVAL '0.001' SECOND as rt from t group by {HOUR}) group by window(CAST(rt AS TIMESTAMP_NTZ), '1 day')",
        )

    def test_each_query_has_its_own(self) -> None:
        self.spark(
            "select tumble_start(ts, '1h') as ws from t where x > (select count(*) from u group by tumble(ts, '2h')) group by tumble(ts, '1h')",
            spark=f"select coalesce(window.start, min(ts)) as ws from t where x > (select count(*) from u group by window(CAST(ts AS TIMESTAMP_NTZ), '2 hours')) group by {HOUR}",
        )
        self.spark(
            "select tumble_start(ts, '1h') as ws from t group by tumble(ts, '1h') union all select hop_start(ts, '1h', '2h') from t group by hop(ts, '1h', '2h')",
            spark=f"select coalesce(window.start, min(ts)) as ws from t group by {HOUR} union all select coalesce(window.start, min(ts)) AS hop_start from t group by window(CAST(ts AS TIMESTAMP_NTZ), '2 hours', '1 hour')",
        )

    def test_over_a_window_function(self) -> None:
        self.spark("select tumble_start(wt, '1d') as d from v group by tumble(wt, '1d')", spark="select coalesce(window.start, min(wt)) as d from v group by window(CAST(wt AS TIMESTAMP_NTZ), '1 day')")


class TestHopAndSession(Pairs):
    def test_hop(self) -> None:
        self.flink("SELECT HOP_START(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS ws FROM t GROUP BY HOP(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)", spark="SELECT window.start AS ws FROM t GROUP BY window(CAST(ts AS TIMESTAMP_NTZ), '10 minutes', '5 minutes')")
        self.spark("select hop_rowtime(ts, '4m', '10m') as wt from t group by hop(ts, '4m', '10m')", spark="select coalesce(window.end, min(ts)) - INTERVAL '0.001' SECOND as wt from t group by window(CAST(ts AS TIMESTAMP_NTZ), '10 minutes', '4 minutes')")
        self.spark("select count(*) from t group by hop(ts, '5m', '5m')", spark="select count(*) from t group by window(CAST(ts AS TIMESTAMP_NTZ), '5 minutes')")

    def test_session(self) -> None:
        self.flink("SELECT SESSION_START(ts, INTERVAL '5' MINUTE) AS ws, SESSION_END(ts, INTERVAL '5' MINUTE) AS we FROM t GROUP BY k, SESSION(ts, INTERVAL '5' MINUTE)", spark="SELECT session_window.start AS ws, session_window.end AS we FROM (SELECT *, window(CAST(ts AS TIMESTAMP_NTZ), '0.001 seconds').start AS __time FROM t) AS t GROUP BY k, session_window(__time, '5 minutes')")
        self.spark("select session_rowtime(ts, '5m') as wt from t group by session(ts, '5m')", spark="select coalesce(session_window.end, min(ts)) - INTERVAL '0.001' SECOND as wt from (SELECT *, window(CAST(ts AS TIMESTAMP_NTZ), '0.001 seconds').start AS __time FROM t) AS t group by session_window(__time, '5 minutes')")

    def test_session_of_a_timestamp(self) -> None:
        self.flink("SELECT a.k FROM t AS a JOIN s ON a.k = s.k GROUP BY a.k, SESSION(a.ts, INTERVAL '5' MINUTE)", spark="SELECT a.k FROM t AS a JOIN s ON a.k = s.k GROUP BY a.k, session_window(CAST(a.ts AS TIMESTAMP_NTZ) - INTERVAL '0.000001' SECOND * pmod((CAST(a.ts AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ '1970-01-01') DIV INTERVAL '0.000001' SECOND, 1000), '5 minutes')")
        self.flink("SELECT x.k, COUNT(*) AS n FROM (SELECT * FROM t) AS x GROUP BY x.k, SESSION(x.ts, INTERVAL '5' MINUTE)", spark="SELECT x.k, COUNT(*) AS n FROM (SELECT *, window(CAST(x.ts AS TIMESTAMP_NTZ), '0.001 seconds').start AS __time FROM (SELECT * FROM t) AS x) AS x GROUP BY x.k, session_window(__time, '5 minutes')")
        self.flink("SELECT k, COUNT(*) AS n FROM t GROUP BY k, SESSION(ts, INTERVAL '5' MINUTE)", schema=LTZ, spark="SELECT k, COUNT(*) AS n FROM t GROUP BY k, session_window(CAST(date_trunc('MILLISECOND', ts) AS TIMESTAMP_NTZ), '5 minutes')")


class TestRefused(Pairs):
    def test_auxiliary_functions(self) -> None:
        self.refused("select tumble_start(ts, '2h') from t group by tumble(ts, '1h')", "TUMBLE_START has other arguments than TUMBLE", at="tumble_start(ts, '2h')", hint="give both the same")
        self.refused("select tumble_start(tz, '1h') from t group by tumble(ts, '1h')", "TUMBLE_START has other arguments than TUMBLE", at="tumble_start(tz, '1h')", hint="ts and the same intervals")
        self.refused("select hop_end(ts, '1m', '1h') from t group by tumble(ts, '1h')", "HOP_END needs HOP", at="hop_end(ts, '1m', '1h')", hint="write GROUP BY HOP(")
        self.refused("select tumble_start(ts, '1h') from t", "TUMBLE_START needs TUMBLE", at="tumble_start(ts, '1h')", hint="write GROUP BY TUMBLE(")
        self.refused("select tumble_start(ts, '1h') as ws from t group by ws", "TUMBLE_START needs TUMBLE", at="tumble_start(ts, '1h')", hint="write GROUP BY TUMBLE(")
        self.refused("select tumble_start(ts) from t group by tumble(ts, '1h')", "TUMBLE_START takes 2 arguments", at="tumble_start(ts)", hint="write TUMBLE")

    def test_a_window_stands_in_group_by_only(self) -> None:
        self.refused_flink("SELECT k FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR) HAVING TUMBLE(ts, INTERVAL '1' HOUR) IS NULL", "stands in GROUP BY only", at="TUMBLE(ts, INTERVAL '1' HOUR)", hint="TUMBLE_START(...)")
        self.refused_flink("SELECT TUMBLE(ts, INTERVAL '1' HOUR) FROM t", "stands in GROUP BY only", at="TUMBLE(ts, INTERVAL '1' HOUR)", hint="TUMBLE_START(...)")

    def test_an_auxiliary_function_in_where(self) -> None:
        # WHERE comes before GROUP BY, so there is no window yet.
        self.refused("select count(*) from t where tumble_start(ts, '1h') > x group by tumble(ts, '1h')", "WHERE", at="tumble_start(ts, '1h')", hint="HAVING")

    def test_proctime(self) -> None:
        self.refused("select tumble_proctime(ts, '1h') from t group by tumble(ts, '1h')", "no processing time", at="tumble_proctime(ts, '1h')", hint="TUMBLE_ROWTIME(...)")
        self.refused_flink("SELECT HOP_PROCTIME(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR) FROM t GROUP BY HOP(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)", "no processing time", at="HOP_PROCTIME(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)", hint="HOP_ROWTIME(...)")
        self.refused("select count(*) from t group by tumble(proctime(), '1h')", "PROCTIME()", at="proctime()", hint="when the event happened")

    def test_one_window(self) -> None:
        self.refused("select count(*) from t group by tumble(ts, '1h'), hop(ts, '1m', '1h')", "one group window", at="hop(ts, '1m', '1h')", hint="subquery")
        self.refused_flink("SELECT COUNT(*) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR), TUMBLE(ts, INTERVAL '2' HOUR)", "one group window", at="TUMBLE(ts, INTERVAL '2' HOUR)", hint="subquery")

    def test_arguments(self) -> None:
        self.refused("select count(*) from t group by tumble(ts, '0m')", "must be positive", at="'0m'", hint="'10 minutes'")
        self.refused("select count(*) from t group by hop(ts, '1h')", "HOP takes 3 arguments", at="hop(ts, '1h')", hint="HOP(ts, slide")
        self.refused("select count(*) from t group by hop(ts, '2h', '1h')", "slide longer than its size", at="hop(ts, '2h', '1h')", hint="FROM HOP(TABLE t")
        self.refused("select count(*) from t group by tumble(ts, '1 month')", "no fixed length", at="'1 month'", hint="date_trunc")
        self.refused_flink("SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts)", "TUMBLE takes 2 arguments", at="TUMBLE(ts)", hint="TUMBLE(ts, INTERVAL")
        self.refused_flink("SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' WEEK)", "WEEK", at="INTERVAL '1' WEEK", hint="'7' DAY")
        self.refused_flink("SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY, TIME '08:00:00')", "time of day", at="TIME '08:00:00'", hint="offset INTERVAL '8' HOUR")

    def test_grouping_sets(self) -> None:
        for sets in ("rollup(k), {}", "{}, cube(k)", "rollup({}, k)", "grouping sets (({}), (k))"):
            self.refused("select count(*) from t group by " + sets.format("tumble(ts, '1h')"), "GROUPING SETS", at="tumble(ts, '1h')", hint="FROM TUMBLE(TABLE t")
            self.refused_flink("SELECT COUNT(*) FROM t GROUP BY " + sets.format("TUMBLE(ts, INTERVAL '1' HOUR)"), "GROUPING SETS", at="TUMBLE(ts, INTERVAL '1' HOUR)", hint="FROM TUMBLE(TABLE t")

    def test_cumulate_in_group_by_is_left_to_spark(self) -> None:
        sql = "select count(*) from t group by cumulate(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY)"
        assert "cumulate(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY)" in translate(sql, "flink", schema=NTZ)

    def test_time_column(self) -> None:
        self.refused("select count(*) from t group by k, tumble(day, '1h')", "of type date", at="day", hint="CAST(day AS TIMESTAMP)", schema={"t": {"day": "date"}})
        self.refused("select count(*) from t group by tumble(nope, '1h')", "no column nope", at="nope", hint="ts", schema=NTZ)
        self.refused("select count(*) from (select tumble_end(ts, '1h') as we from t group by tumble(ts, '1h')) group by tumble(we, '1d')", "window_end", at="we", hint="window_time")


class TestByRules:
    """HOP and SESSION of Flink become table functions where rules may compute them."""

    def test_where_stays_below_a_session(self) -> None:
        sql = translate("SELECT x.k, COUNT(*) AS n FROM t AS x WHERE x.x > 0 GROUP BY x.k, SESSION(x.ts, INTERVAL '5' MINUTE)", "flink", schema=NTZ)
        assert "FROM (SELECT * FROM t AS x WHERE x.x > 0)" in sql
        assert "put together from slices of 5 minutes" in sql

    def test_what_no_rule_computes_stays(self) -> None:
        for aggregate, key in (("COUNT(DISTINCT x)", "k"), ("LISTAGG(k)", "k"), ("COUNT(*)", "UPPER(k)")):
            sql = translate(f"SELECT {aggregate} AS n FROM t GROUP BY {key}, SESSION(ts, INTERVAL '5' MINUTE)", "flink", schema=NTZ)
            assert "session_window(__time, '5 minutes')" in sql

    def test_hop(self) -> None:
        sql = translate("SELECT HOP_END(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR), COUNT(*) AS n FROM t GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)", "flink", schema=NTZ)
        assert "put together from slices of 1 minute" in sql
        assert "window_end AS `EXPR$0`" in sql


class TestWhereOverASession:
    """Flink 2.2: WHERE comes first where the aggregation takes the SESSION in, and else behind; as its plans show."""

    SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"
    BELOW = "FROM (SELECT * FROM t WHERE x > 0)"

    def translated(self, select: str, where: str = "x > 0", group: str = "k, window_start, window_end") -> str:
        return translate(f"SELECT {select} FROM {self.SESSION} WHERE {where} GROUP BY {group}", "flink", schema=NTZ)

    def test_first(self) -> None:
        assert self.BELOW in self.translated("k, window_start, SUM(x) AS s")
        assert self.BELOW in self.translated("k, MAX(x) AS s", group="window_end, k, window_time, window_start")
        sql = translate(f"SELECT DISTINCT k, window_start, window_end FROM {self.SESSION} AS w WHERE w.x > 0", "flink", schema=NTZ)
        assert "FROM (SELECT * FROM t AS w WHERE w.x > 0)" in sql

    def test_behind(self) -> None:
        assert self.BELOW not in self.translated("k, MAX(window_time) AS m")
        assert self.BELOW not in self.translated("SUM(x) AS s", group="window_start, window_end")
        assert self.BELOW not in self.translated("k, x, SUM(x) AS s", group="k, x, window_start, window_end")
        assert self.BELOW not in self.translated("UPPER(k) AS k, SUM(x) AS s", group="UPPER(k), window_start, window_end")
        assert "FROM t" in self.translated("k, SUM(x) AS s", where="x > 0 AND window_start > TIMESTAMP '2020-01-01 00:00:00'")
        assert "FROM t" in self.translated("k, SUM(x) AS s", where="x IN (SELECT 1)")
        assert self.BELOW not in self.translated("k, COUNT(*) FILTER (WHERE window_end > TIMESTAMP '2020-01-01 00:00:00') AS n")

    def test_a_key_that_a_condition_fixes(self) -> None:
        for fixed in ("k = 'a'", "'a' = k", "k IN ('a')", "k IS NULL", "k IS NOT DISTINCT FROM 'a'", "k = LOWER('A')"):
            assert "FROM t\n" in self.translated("k, SUM(x) AS s", where=f"x > 0 AND {fixed}"), fixed
        for free in ("k <> 'a'", "k IN ('a', 'b')", "k = CAST(x AS STRING)", "x = 1", "k IS NOT NULL"):
            assert f"FROM (SELECT * FROM t WHERE x > 0 AND {free})" in self.translated("k, SUM(x) AS s", where=f"x > 0 AND {free}"), free
        having = f"FROM {self.SESSION} WHERE x > 0 GROUP BY k, window_start, window_end HAVING"
        for condition, first in (("k = 'a'", False), ("window_end > TIMESTAMP '2020-01-01 00:00:00'", False), ("SUM(x) > 3", True)):
            assert (self.BELOW in translate(f"SELECT k, SUM(x) AS s {having} {condition}", "flink", schema=NTZ)) is first

    def test_spellings_of_keys(self) -> None:
        for group in ("(window_start, window_end), (k)", "window_start, window_end, GROUPING SETS ((k))", "k, k, window_start, window_end"):
            assert self.BELOW in self.translated("k, SUM(x) AS s", group=group), group
        assert self.BELOW not in self.translated("SUM(x) AS s", group="window_start, window_end")

    @pytest.mark.parametrize("group", ["window_start, window_end, ROLLUP (k)", "window_start, window_end, CUBE (k, x)", "GROUPING SETS ((window_start, window_end, k), (window_start, window_end))"])
    @pytest.mark.parametrize("keys", ["PARTITION BY k", ""])
    def test_grouping_sets_are_filtered_first(self, group: str, keys: str) -> None:
        session = self.SESSION.replace("PARTITION BY k", keys)
        assert self.BELOW in translate(f"SELECT k, SUM(x) AS s FROM {session} WHERE x > 0 GROUP BY {group}", "flink", schema=NTZ)

    def test_bounds_that_every_row_has(self) -> None:
        """Flink's optimiser takes such a condition away."""
        group = "GROUP BY k, window_start, window_end"
        for where in (f"WHERE x > 0 AND window_start IS NOT NULL {group}", f"WHERE x > 0 {group} HAVING window_end IS NOT NULL"):
            assert self.BELOW in translate(f"SELECT k, SUM(x) AS s FROM {self.SESSION} {where}", "flink", schema=NTZ)
        for where in ("WHERE window_start IS NOT NULL", "WHERE x > 0 AND window_start IS NULL"):
            assert "FROM (SELECT * FROM t WHERE" not in translate(f"SELECT k, SUM(x) AS s FROM {self.SESSION} {where} {group}", "flink", schema=NTZ)

    def test_queries_between(self) -> None:
        def between(query: str, where: str = "", select: str = "k, SUM(x) AS s", group: str = "k, window_start, window_end") -> str:
            return translate(f"SELECT {select} FROM ({query}) {where} GROUP BY {group}", "flink", schema=NTZ)

        rows = f"SELECT * FROM {self.SESSION}"
        assert self.BELOW in between(f"{rows} WHERE x > 0")
        assert self.BELOW in between(rows, "WHERE x > 0")
        assert "FROM (SELECT * FROM t WHERE (x = 1 OR x = 2) AND k <> 'a')" in between(f"SELECT * FROM ({rows} WHERE x = 1 OR x = 2) WHERE k <> 'a'")
        computed = f"SELECT window_start AS a, s.window_end AS b, s.k AS c, s.x + 1 AS y FROM {self.SESSION} AS s"
        named = between(computed, "AS q WHERE q.y > 2", "c, SUM(y) AS s", "a, b, c")
        assert "FROM (SELECT * FROM t AS s WHERE (s.x + 1) > 2)" in named
        assert "WHERE q.y" not in named
        assert self.BELOW in between(f"SELECT *, EXTRACT(SECOND FROM window_end) AS e FROM {self.SESSION} WHERE x > 0")
        unfiltered = (
            between(f"SELECT *, EXTRACT(SECOND FROM window_end) AS e FROM {self.SESSION} WHERE x > 0", select="k, MAX(e) AS e"),
            between(f"SELECT *, window_end AS e FROM {self.SESSION}", "WHERE x > 0 AND e > TIMESTAMP '2020-01-01 00:00:00'"),
            between(f"SELECT *, UPPER(k) AS u FROM {self.SESSION} WHERE x > 0", select="u, SUM(x) AS s", group="u, window_start, window_end"),
            between(f"{rows} WHERE x > 0 UNION ALL {rows} WHERE x > 0"),
            between(f"SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY x) AS n FROM {self.SESSION} WHERE x > 0"),
            between(f"SELECT DISTINCT window_start, window_end, k, x FROM {self.SESSION} WHERE x > 0"),
            between(f"{rows} WHERE x > 0 AND k = 'a'"),
        )
        for sql in unfiltered:
            assert self.BELOW not in sql

    def test_ctes_between(self) -> None:
        cte = f"WITH s AS (SELECT * FROM {self.SESSION} WHERE x > 0)"
        one = "SELECT k, SUM(x) AS s FROM s GROUP BY k, window_start, window_end"
        assert self.BELOW in translate(f"{cte} {one}", "flink", schema=NTZ)
        both = translate(f"{cte} {one} UNION ALL SELECT 'all' AS k, SUM(x) AS s FROM s GROUP BY window_start, window_end", "flink", schema=NTZ)
        assert both.count(self.BELOW) == 1  # each reading as Flink plans it
        assert both.count("WHERE x > 0") == 2
