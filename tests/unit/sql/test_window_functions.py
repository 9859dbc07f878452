"""TUMBLE, HOP, CUMULATE and SESSION in FROM: every spelling, and every place they can stand in."""

# A statement and its translation stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.unit.sql.pairs import Pairs, cumulate, flat, hop, session, tumble

HOP_5_10: dict[str, Any] = {
    "relation": "t", "ts": "ts", "slide": "'5' MINUTE", "window": "'5 minutes'",
    "size": "'10' MINUTE", "last": "'599.999' SECOND", "back": "'5' MINUTE",
}
CUMULATE_2_10: dict[str, Any] = {"relation": "t", "ts": "ts", "step": "'2' MINUTE", "window": "'10 minutes'", "micros": 120_000_000}


class TestTumble(Pairs):
    def test_flink(self) -> None:
        self.flink("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble(flink=True))
        self.flink("SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE))", spark="SELECT * FROM " + tumble(flink=True))
        self.flink("SELECT * FROM Table ( Tumble ( Table t , Descriptor ( ts ) , Interval '5' Minutes ) ) AS w", spark="SELECT * FROM " + tumble(flink=True) + " AS w")
        self.flink("SELECT * FROM TUMBLE(TABLE t, descriptor(`ts`), INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble(ts='`ts`', flink=True))
        self.flink("SELECT * FROM TUMBLE(TABLE `a`.`b c`.t, DESCRIPTOR(`e t`), INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble('`a`.`b c`.t', '`e t`', flink=True))
        self.flink("SELECT * FROM TUMBLE((SELECT * FROM t WHERE x > 1), DESCRIPTOR(ts), INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble('(SELECT * FROM t WHERE x > 1)', flink=True))

    def test_flink_named_arguments(self) -> None:
        self.flink("SELECT * FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble(flink=True))
        self.flink("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble(flink=True))
        self.flink("SELECT * FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '5' MINUTE, `OFFSET` => INTERVAL '1' MINUTE)", spark="SELECT * FROM " + tumble(window="'5 minutes', '5 minutes', '1 minute'", flink=True))

    def test_islands_are_ours_in_every_dialect(self) -> None:
        for island in ("<< tumble(t, ts, '5m') >>", "<< TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES) >>"):
            self.flink(f"SELECT * FROM {island}", spark="SELECT * FROM " + tumble(flink=True))
            for dialect in ("openmldb", "sqlstream"):
                assert translate(f"SELECT k FROM {island}", dialect) == translate(f"SELECT k FROM {island}")

    def test_flink_s_texts_may_have_spark_s_spellings(self) -> None:
        for call in ("TUMBLE(t, ts, '5m')", "TUMBLE(TABLE (SELECT * FROM t) AS t, ts, SIZE => '5m')", "tumble(size => '5m', data => TABLE t, timecol => DESCRIPTOR(ts))"):
            assert "window(" in translate(f"SELECT * FROM {call}", "flink")

    def test_own_spellings(self) -> None:
        for call in (
            "tumble(t, ts, '5 minutes')",
            "TUMBLE(t, ts, '5m')",
            "Tumble ( t , ts , '5 min' )",
            "tumble(t, ts, \"5 minutes\")",
            "tumble(t, ts, INTERVAL 5 MINUTES)",
            "tumble(t, ts, INTERVAL '5 minutes')",
            "tumble(t, ts, INTERVAL '5' MINUTE)",
            "tumble(t, DESCRIPTOR(ts), '5m')",
            "tumble(TABLE t, ts, '5m')",
            "tumble(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)",
            "table(tumble(t, ts, '5m'))",
            "tumble(data => t, timecol => ts, size => '5m')",
            "tumble(SIZE => '5m', TimeCol => DESCRIPTOR(ts), data => TABLE t)",
            "tumble(t, size => '5m', timecol => ts)",
            "tumble(t, ts, '5m', '0m')",
            "<< tumble(t, ts, '5m') >>",
            "<<tumble(t, ts, '5m')>>",
            "<<\n  tumble(t, ts, '5m')\n>>",
            "<< TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES) >>",
            "hop(t, ts, '5m', '5m')",
            "cumulate(t, ts, '5m', '5m')",
        ):
            self.spark(f"SELECT * FROM {call}", spark="SELECT * FROM " + tumble())
            self.spark(f"SELECT w.x FROM {call} AS w", spark="SELECT w.x FROM " + tumble() + " AS w")

    def test_relations(self) -> None:
        for relation in (
            "db.t",
            "cat.db.t",
            "`cat`.`my db`.`t`",
            "spark_catalog.`default`.t",
            "parquet.`/data/t`",
            "(SELECT * FROM t)",
            "(select k, ts from t where k in ('a', 'b') and ts > '2020-01-01')",
            "(SELECT * FROM t WHERE false LIMIT 0) _dbt_limit_subq_t",
            "(select * from `a`.`t` where false limit 0) as _dbt_limit_subq_t",
            "(SELECT 1 AS ts UNION ALL SELECT 2)",
            "(VALUES (now())) AS v(ts)",
            "(WITH a AS (SELECT * FROM t) SELECT * FROM a)",
            "(SELECT /*+ REPARTITION(2) */ * FROM t)",
            "(FROM t)",
            "(TABLE t)",
        ):
            self.spark(f"SELECT * FROM tumble({relation}, ts, '5m')", spark="SELECT * FROM " + tumble(relation))
            self.spark(f"SELECT * FROM << tumble({relation}, ts, '5m') >>", spark="SELECT * FROM " + tumble(relation))
            if relation.startswith("("):  # Spark's own spelling of a table argument
                self.spark(f"SELECT * FROM tumble(TABLE {relation}, ts, '5m')", spark="SELECT * FROM " + tumble(relation))

    def test_what_dbt_puts_behind_table(self) -> None:
        for rows in ("(select * from `a`.`t` where false limit 0)", "(select * from a.t limit 3) _dbt_limit_subq_t", "(select * from a.t where ts >= '2020-01-01')"):
            self.flink(f"SELECT * FROM TUMBLE(TABLE {rows}, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble(rows, flink=True))
            self.flink(f"SELECT * FROM TUMBLE(DATA => TABLE {rows}, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '5' MINUTE)", spark="SELECT * FROM " + tumble(rows, flink=True))

    def test_time_columns(self) -> None:
        for ts in ("`ts`", "`event time`", "`a``b`", "timestamp", "date", "time", "window", "`order`"):
            self.spark(f"SELECT * FROM tumble(t, {ts}, '5m')", spark="SELECT * FROM " + tumble(ts=ts))
            self.spark(f"SELECT * FROM tumble(t, DESCRIPTOR({ts}), '5m')", spark="SELECT * FROM " + tumble(ts=ts))

    def test_offset(self) -> None:
        for offset, start in (("'1m'", "1 minute"), ("'-1m'", "4 minutes"), ("INTERVAL '-30' SECOND", "270 seconds"), ("INTERVAL -'2' MINUTE", "3 minutes")):
            self.spark(f"SELECT * FROM tumble(t, ts, '5m', {offset})", spark="SELECT * FROM " + tumble(window=f"'5 minutes', '5 minutes', '{start}'"))
            self.spark(f"SELECT * FROM tumble(t, ts, '5m', offset => {offset})", spark="SELECT * FROM " + tumble(window=f"'5 minutes', '5 minutes', '{start}'"))

    def test_known_type_needs_no_cast(self) -> None:
        types = {"n": {"ts": "timestamp_ntz"}, "db.n": {"ts": "TIMESTAMP_NTZ"}, "z": {"ts": "timestamp"}}
        bare = """(SELECT * EXCEPT (__window), __window.start AS window_start, __window.end AS window_end,
            __window.end - INTERVAL '0.001' SECOND AS window_time
            FROM (SELECT *, window(ts, '5 minutes') AS __window FROM {}))"""
        self.spark("SELECT * FROM tumble(n, ts, '5m')", schema=types, spark="SELECT * FROM " + bare.format('n'))
        self.spark("SELECT * FROM tumble(`N`, ts, '5m')", schema=types, spark="SELECT * FROM " + bare.format('`N`'))
        self.spark("SELECT * FROM tumble(db.n, ts, '5m')", schema=types, spark="SELECT * FROM " + bare.format('db.n'))
        self.spark("SELECT * FROM tumble((SELECT * FROM n), ts, '5m')", schema=types, spark="SELECT * FROM " + bare.format('(SELECT * FROM n)'))
        self.spark("SELECT * FROM tumble(z, ts, '5m')", schema=types, spark="SELECT * FROM " + tumble('z'))
        self.spark("SELECT * FROM tumble(unknown, ts, '5m')", schema=types, spark="SELECT * FROM " + tumble('unknown'))

    def test_type_of_another_table_of_the_same_name_does_not_count(self) -> None:
        types = {"t": {"ts": "timestamp_ntz"}}
        self.spark("SELECT * FROM tumble(other.t, ts, '5m')", schema=types, spark="SELECT * FROM " + tumble('other.t'))


class TestHop(Pairs):
    def test_spellings(self) -> None:
        self.flink("SELECT * FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)", spark="SELECT * FROM " + hop(**HOP_5_10, flink=True))
        self.flink("SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))", spark="SELECT * FROM " + hop(**HOP_5_10, flink=True))
        self.flink("SELECT * FROM HOP(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '5' MINUTE, SIZE => INTERVAL '10' MINUTE)", spark="SELECT * FROM " + hop(**HOP_5_10, flink=True))
        for call in ("hop(t, ts, '5m', '10m')", "hop(t, ts, size => '10m', slide => '5m')", "<< hop(t, ts, '5m', '10m') >>", "table(hop(table t, descriptor(ts), '5m', '10m'))"):
            self.spark(f"SELECT * FROM {call}", spark="SELECT * FROM " + hop(**HOP_5_10))

    def test_sizes(self) -> None:
        self.spark("SELECT * FROM hop(t, ts, '4m', '10m')", spark="SELECT * FROM " + hop("t", "ts", "'4' MINUTE", window="'4 minutes'", size="'10' MINUTE", last="'599.999' SECOND", back="'8' MINUTE", uneven=True))
        self.spark("SELECT * FROM hop(t, ts, '10m', '5m')", spark="SELECT * FROM " + hop("t", "ts", "'10' MINUTE", window="'10 minutes'", size="'5' MINUTE", last="'299.999' SECOND", back="", uneven=True))
        self.spark("SELECT * FROM hop(t, ts, '5m', '10m', '31m')", spark="SELECT * FROM " + hop("t", "ts", "'5' MINUTE", window="'5 minutes', '5 minutes', '1 minute'", size="'10' MINUTE", last="'599.999' SECOND", back="'5' MINUTE"))
        self.spark("SELECT * FROM hop(t, ts, '5m', '10m', '-1m')", spark="SELECT * FROM " + hop("t", "ts", "'5' MINUTE", window="'5 minutes', '5 minutes', '4 minutes'", size="'10' MINUTE", last="'599.999' SECOND", back="'5' MINUTE"))


class TestCumulate(Pairs):
    def test_spellings(self) -> None:
        self.flink("SELECT * FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)", spark="SELECT * FROM " + cumulate(**CUMULATE_2_10, flink=True))
        self.flink("SELECT * FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))", spark="SELECT * FROM " + cumulate(**CUMULATE_2_10, flink=True))
        self.flink("SELECT * FROM CUMULATE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '2' MINUTE, SIZE => INTERVAL '10' MINUTE)", spark="SELECT * FROM " + cumulate(**CUMULATE_2_10, flink=True))
        for call in ("cumulate(t, ts, '2m', '10m')", "cumulate(t, ts, size => '10m', step => '2m')", "<< cumulate(t, ts, '2m', '10m') >>", "table(cumulate(t, ts, '2m', '10m'))"):
            self.spark(f"SELECT * FROM {call}", spark="SELECT * FROM " + cumulate(**CUMULATE_2_10))

    def test_offset(self) -> None:
        self.spark("SELECT * FROM cumulate(t, ts, '2m', '10m', '25m')", spark="SELECT * FROM " + cumulate("t", "ts", "'2' MINUTE", window="'10 minutes', '10 minutes', '5 minutes'", micros=120_000_000))


class TestSession(Pairs):
    def test_spellings(self) -> None:
        self.flink("SELECT * FROM SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '2' MINUTES)", spark="SELECT * FROM " + session(flink=True))
        self.flink("SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' MINUTES))", spark="SELECT * FROM " + session(keys='k', flink=True))
        self.flink("SELECT * FROM SESSION(TABLE t PARTITION BY (k, `v v`), DESCRIPTOR(ts), INTERVAL '2' MINUTES)", spark="SELECT * FROM " + session(keys='k, `v v`', flink=True))
        self.flink("SELECT * FROM SESSION(DATA => TABLE t PARTITION BY k, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '2' MINUTES)", spark="SELECT * FROM " + session(keys='k', flink=True))
        self.flink("SELECT * FROM SESSION((SELECT * FROM t) PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' MINUTES)", spark="SELECT * FROM " + session('(SELECT * FROM t)', keys='k', flink=True))
        for call, keys in (
            ("session(t, ts, '2m')", ""),
            ("session(t partition by k, ts, '2m')", "k"),
            ("session(t partition by (k), ts, '2m')", "k"),
            ("session(t partition by (k, v), ts, '2m')", "k, v"),
            ("session(table t partition by k, descriptor(ts), gap => interval '2' minutes)", "k"),
            ("session(data => t partition by k, timecol => ts, gap => '2m')", "k"),
            ("<< session(t partition by k, ts, '2m') >>", "k"),
        ):
            self.spark(f"SELECT * FROM {call}", spark="SELECT * FROM " + session(keys=keys))
        same = [
            "session(t partition by k, ts, g, max_duration => '4h', close_on => e = 'out' or f)",
            "session(t partition by (k), ts, gap => g, close_on => e = 'out' or f, max_duration => interval '4' hours)",
            "session(timecol => ts, close_on => e = 'out' or f, max_duration => interval '240' minutes, gap => g, data => t partition by (k))",
            "<< session(table t partition by k, descriptor(ts), g, max_duration => '1h 180m', close_on => e = 'out' or f) >>",
        ]
        assert len({flat(translate(f"SELECT * FROM {call}")) for call in same}) == 1
        [made] = {flat(translate(f"SELECT * FROM {call}")) for call in same}
        assert all(flat(piece) in made for piece in ("PARTITION BY k, __stretch", "coalesce(e = 'out' or f, FALSE)", "try_cast(g AS INTERVAL SECOND)", "INTERVAL '4' HOUR"))
        assert "'log\n out'" in translate("  SELECT * FROM session(t, ts, '2m', close_on => e = 'log\n out')"), "a string is no place to indent"
        self.spark("SELECT * FROM session((SELECT * FROM t LIMIT 0) q partition by (k), ts, '2m') s", spark="SELECT * FROM " + session('(SELECT * FROM t LIMIT 0) q', keys='k') + " s")


class TestPlaces(Pairs):
    """A window function in every place of a statement where a table can stand."""

    @pytest.mark.parametrize(
        "statement",
        [
            # what dbt-spark makes of models
            "create or replace view `a`.`b`\n  (k comment 'key')\n  comment 'it''s'\n  tblproperties ('x' = 'y')\n  as\n  select * from {}",
            "create or replace temporary view v as select * from {}",
            "create or replace table `a`.`b`\n  using delta\n  options (compression 'snappy')\n  partitioned by (k)\n  clustered by (k) into 4 buckets\n  location '/x/y'\n  comment 'c'\n  tblproperties ('a'='b')\n  as\n  select * from {}",
            "create table a.b stored as parquet as select * from {}",
            "create table a.b using iceberg partitioned by (days(ts), bucket(16, k)) as select * from {}",
            "insert into table `a`.`b`\n    select `k`, `n` from (select * from {})",
            "insert overwrite table a.b partition (k) select * from {}",
            "insert into a.b by name select * from {}",
            "insert into a.b replace where k = 1 select * from {}",
            "merge into a.b as DBT_INTERNAL_DEST\n    using (select k from {}) as DBT_INTERNAL_SOURCE\n    on DBT_INTERNAL_SOURCE.k = DBT_INTERNAL_DEST.k\n    when matched then update set\n      *\n    when not matched then insert\n      *",
            "merge into t using (select * from {}) s on t.k = s.k when matched and s.n > 1 then update set n = s.n when not matched by source then delete",
            "merge with schema evolution into t using (select * from {}) s on t.k = s.k when matched then delete",
            # what surrounds a query
            "explain select * from {}",
            "explain extended select * from {}",
            "EXPLAIN FORMATTED with a as (select 1) select * from {}, a",
            "describe query select * from {}",
            "cache table c as select * from {}",
            "cache lazy table c options ('storageLevel' 'DISK_ONLY') select * from {}",
            "delete from a.b where k in (select k from {})",
            "from {} w insert into a select * insert into b select k",
            "insert overwrite directory '/x' using parquet select * from {}",
            # set operations, nesting, CTEs
            "select * from {} union all select * from t",
            "(select * from t) intersect (select * from {}) order by 1 limit 3",
            "values (1), (2) union select k from {}",
            "((select * from {}))",
            "select * from ({}) x",
            "select * from ({} a join t on a.k = t.k)",
            "with a as (select * from {}), b (x) as (select k from a) select * from a, b",
            "with a as (with b as (select * from {}) select * from b) select * from a",
            "with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r, {}",
            "insert into a.b with x as (select * from {}) select * from x",
            "select (select max(window_end) from {} w where w.k = t.k) from t",
            "select * from t where exists (select 1 from {} w where w.k = t.k)",
            "select * from t where (k, n) not in (select k, n from {})",
            "select 1 in (select 1 from {})",
            # joins and what follows a table
            "select * from t join {} w using (k)",
            "select * from t natural join {}",
            "select * from t left semi join {} w on t.k = w.k",
            "select * from t anti join {} w on t.k = w.k",
            "select * from t full outer join {} w on t.k = w.k",
            "select * from t cross join {}",
            "select * from t, {} w where t.k = w.k",
            "select * from t, lateral (select * from {} w where w.k = t.k)",
            "select * from t version as of 3 a join {} w on true",
            "select * from {} pivot (sum(n) as s for k in ('a' as a, 'b'))",
            "select * from {} unpivot (v for c in (a, b))",
            "select * from {} w lateral view outer explode(w.xs) e as x where x > 1",
            "select * from {} tablesample (10 percent) w",
            "select * from {} as w(a, b, c)",
            "select * from {} `w w`",
            # what a query may hold
            "select /*+ broadcast(w), coalesce(3) */ * from {} w",
            "select distinct k from {} group by all having count(*) > 1 order by all limit 5 offset 1",
            "select k from {} distribute by k sort by n desc nulls last",
            "select window_start, k, count(*) from {} group by window_start, cube (k), rollup (n, m)",
            "select k, count(*) from {} group by k, n grouping sets ((k), (n), ())",
            "select k, count(*) from {} group by k with rollup",
            "select sum(n) over w from {} window w as (partition by k order by window_time rows 1 preceding)",
            "select sum(n) over (order by ts range between interval 1 hour preceding and current row) from {}",
            "select * from {} qualify row_number() over (partition by window_start order by n) = 1",
            "select count(*) filter (where n > 1), first_value(n) ignore nulls over (order by ts) from {}",
            "select transform(xs, x -> x + 1), s.f.g, m['k'], xs[0] from {}",
            "select * except (n), w.* from {} w",
            "select a << 2, a >> 2, a >>> 2, a <=> b, a == b, a ^ b, ~a from {}",
            "select x'1F', 1L, 1.5BD, 2S, 1e3D, r'a\\b', 'it\\'s', \"it's\" from {}",
            "from {} |> where k = 1 |> aggregate count(*) group by k",
            "from t |> join {} w on t.k = w.k",
            # Spark's own windows
            "select window(ts, '1 hour'), session_window(ts, '5 minutes') from {} group by 1, 2",
            "select window.start, count(*) from {} group by window(ts, '1 hour')",
            "with a as (select window, count(*) from t group by window(ts, '1 hour')) select * from {} join a",
            "select window from {} group by window",
            # several statements
            "set x = 1; select * from {};",
            "select 1;\n\nselect * from {};\n-- end\n",
        ],
    )
    def test_only_the_function_changes(self, statement: str) -> None:
        before, after = statement.split("{}")
        made = translate(before + "tumble(t, ts, '5m')" + after, optimize=False)
        assert made.startswith(before) and made.endswith(after)
        assert flat(made.removeprefix(before).removesuffix(after)) == flat(tumble())

    def test_several(self) -> None:
        self.spark(
            "select * from tumble(a, ts, '5m') a join << hop(t, ts, '5m', '10m') >> b using (k) where k in (select k from cumulate(t, ts, '2m', '10m'))",
            spark="select * from " + tumble('a') + " a join " + hop(**HOP_5_10) + " b using (k) where k in (select k from " + cumulate(**CUMULATE_2_10) + ")",
        )
        self.spark("select * from tumble(a, ts, '5m'); select * from tumble(b, ts, '5m')", spark="select * from " + tumble('a') + "; select * from " + tumble('b'))
        self.spark("select * from tumble(a, ts, '5m') union all select * from tumble(b, ts, '5m')", spark="select * from " + tumble('a') + " union all select * from " + tumble('b'))

    def test_nested(self) -> None:
        inner = "(select k, max(window_time) as wt from {} group by k, window_start, window_end)"
        call = "tumble(t, ts, '5m')"
        self.spark(f"select * from tumble({inner.format(call)}, wt, '1h')", spark="select * from " + tumble(inner.format(tumble()), "wt", "'1 hour'"))

    def test_every_dialect_reads_flink_spelling(self) -> None:
        sql = "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start"
        assert translate(sql, schema={"t": {"ts": "timestamp_ntz"}}) == translate(sql, "flink", schema={"t": {"ts": "timestamp_ntz"}})


class TestLayout:
    """What people read in target/ and on the docs site."""

    def test_indented_like_its_line_with_a_comment_that_names_the_window(self) -> None:
        assert translate("select *\n  from tumble(bid, bidtime, '10 minutes', '-1m') as w\n", optimize=False) == (
            "select *\n"
            "  from (\n"
            "    /* tumble: windows of 10 minutes, offset -1 minute on bidtime */\n"
            "    SELECT\n"
            "      * EXCEPT (__window),\n"
            "      coalesce(__window.start, bidtime) AS window_start,\n"
            "      coalesce(__window.end, bidtime) AS window_end,\n"
            "      coalesce(__window.end, bidtime) - INTERVAL '0.001' SECOND AS window_time\n"
            "    FROM (\n"
            "      SELECT *, window(CAST(bidtime AS TIMESTAMP_NTZ), '10 minutes', '10 minutes', '9 minutes') AS __window\n"
            "      FROM bid\n"
            "    )\n"
            "  ) as w\n"
        )

    @pytest.mark.parametrize(
        ("call", "comment"),
        [
            ("tumble(t, ts, '60m')", "/* tumble: windows of 1 hour on ts */"),
            ("hop(t, ts, '5m', '1h')", "/* hop: windows of 1 hour every 5 minutes on ts */"),
            ("cumulate(t, ts, '1h', '1d')", "/* cumulate: windows that grow by 1 hour up to 1 day on ts */"),
            ("session(t, ts, '90s')", "/* session: sessions with a gap of 90 seconds on ts */"),
            ("session(t partition by (k, v), ts, '2m')", "/* session: sessions with a gap of 2 minutes on ts, per k, v */"),
            ("session(t, ts, g, max_duration => '4h')", "/* session: sessions with each row's own gap, of 4 hours at most on ts */"),
            ("session(t, ts, '2m', close_on => e =\n 'a*/b')", "/* session: sessions with a gap of 2 minutes on ts, closed on e = 'a* /b' */"),
            ("tumble(t, `a*/b`, '1h')", "/* tumble: windows of 1 hour on `a* /b` */"),
        ],
    )
    def test_comment(self, call: str, comment: str) -> None:
        assert comment in translate(f"select * from {call}")

    def test_comments_within_the_call_are_kept(self) -> None:
        made = translate("select * from tumble( /* one */ t /* two */, -- three\n ts, /* four */ '5m' /* five */) /* six */ w")
        for comment in ("one", "two", "three", "four", "five"):
            assert f"/* {comment} */" in made
        assert made.count("six") == 1
