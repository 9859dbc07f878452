"""Columns of relations, as the translator knows them: from the schema, and from the statement itself."""

# A statement and its fault stay on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.translate import tables
from tests.unit.sql.pairs import Pairs, flat

SCHEMA: Schema = {
    "t": {"k": "string", "ts": "timestamp", "n": "int"},
    "u": {"k": "string", "at": "timestamp_ntz", "day": "date", "text": "string", "millis": "bigint"},
    "db.v": {"Ts": "TIMESTAMP_NTZ", "k": "string"},
    "`my db`.`a table`": {"event time": "timestamp"},
}


class TestTimeColumn(Pairs):
    """A time column is checked wherever the statement or the schema tells what it is."""

    def test_missing(self) -> None:
        self.refused("select * from tumble(t, tz, '5m')", "no column tz", at="tz", hint="k, ts, n", schema=SCHEMA)
        self.refused("select * from tumble(t, at, '5m')", "no column at", at="at", hint="k, ts, n", schema=SCHEMA)
        self.refused("select * from hop((select k from t), ts, '5m', '5m')", "no column ts", at="ts", hint="it has k")
        self.refused("select * from tumble((select ts as at from t), ts, '5m')", "no column ts", at="ts", hint="it has at")
        self.refused("with a as (select k from t) select * from tumble(a, ts, '5m')", "no column ts", at="ts", hint="it has k")
        self.refused("with a(x) as (select ts from t) select * from tumble(a, ts, '5m')", "no column ts", at="ts", hint="it has x")
        self.refused("select * from tumble((select ts from t) q(x), ts, '5m')", "no column ts", at="ts", hint="it has x")
        self.refused("select * from tumble((select * except (ts) from t), ts, '5m')", "no column ts", at="ts", hint="k, n", schema=SCHEMA)
        self.refused("select * from tumble((select q.* from t q join u on true), at, '5m')", "no column at", at="at", hint="k, ts, n", schema=SCHEMA)
        self.refused("select * from session(t partition by user, ts, '5m')", "no column user", at="user", hint="k, ts, n", schema=SCHEMA)
        self.refused("select * from session((select k, ts from t) partition by (k, v), ts, '5m')", "no column v", at="v", hint="it has k, ts")
        self.refused("select * from session(t, ts, g)", "no column g", at="g", hint="k, ts, n", schema=SCHEMA)
        self.refused("select * from session(t, ts, '5m', close_on => k = 'a' and event = 'b')", "no column event", at="event", hint="k, ts, n", schema=SCHEMA)
        self.refused_flink("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(tz), INTERVAL '5' MINUTE)", "no column tz", at="tz", hint="k, ts, n", schema=SCHEMA)

    def test_of_another_type(self) -> None:
        for column, type_ in (("day", "date"), ("text", "string"), ("millis", "bigint")):
            time = ("timestamp_millis({})" if type_ == "bigint" else "CAST({} AS TIMESTAMP)").format
            self.refused(f"select * from tumble(u, {column}, '5m')", f"of type {type_}", at=column, hint=time(column), schema=SCHEMA)
            self.refused(f"select * from session((select {column} as c from u), c, '5m')", f"of type {type_}", at="c", hint=time("c"), schema=SCHEMA)
            self.refused_flink(f"SELECT * FROM HOP(TABLE u, DESCRIPTOR({column}), INTERVAL '5' MINUTE, INTERVAL '5' MINUTE)", f"of type {type_}", at=column, hint="TIMESTAMP", schema=SCHEMA)
        self.refused("select * from tumble((select cast(ts as date) as d from t), d, '5m')", "of type date", at="d", hint="CAST(d AS TIMESTAMP)")
        self.refused("select * from tumble((select ts::date as d from t), d, '5m')", "of type date", at="d", hint="CAST(d AS TIMESTAMP)")

    def test_gap_of_another_type(self) -> None:
        for type_ in ("double", "boolean", "timestamp", "interval year to month"):
            self.refused("select * from session(t, ts, g)", f"gap g is of type {type_}", at="g", hint="CAST(g AS DECIMAL(18, 3))", schema={"t": {"ts": "timestamp", "g": type_}})
        for type_ in ("int", "decimal(9,3)", "string", "interval day to second", "interval minute"):
            translate("select * from session(t, ts, g)", schema={"t": {"ts": "timestamp", "g": type_}})

    def test_bounds_of_a_window(self) -> None:
        """A window's start and end are no times to window by; window_time is."""
        inner = "select k, window_start, window_end, window_time from tumble(t, ts, '5m') group by all"
        for bound in ("window_start", "window_end"):
            self.refused(f"select * from tumble(({inner}), {bound}, '1h')", bound, at=bound, hint="window_time")
            self.refused(f"with a as ({inner}) select * from hop(a, {bound}, '1h', '2h')", bound, at=bound, hint="window_time")
            self.refused(f"with a as (select {bound} as b from tumble(t, ts, '5m')) select * from tumble(a, b, '1h')", bound, at="b", hint="window_time")
            self.refused(f"with a as (select * from tumble(t, ts, '5m')), b as (select {bound} as c from a) select * from session(b, c, '1h')", bound, at="c", hint="window_time")
            self.refused(f"select count(*) from ({inner}) group by tumble({bound}, '1h')", bound, at=bound, hint="window_time")
        self.refused_flink("SELECT * FROM TUMBLE((SELECT window_end AS e FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)), DESCRIPTOR(e), INTERVAL '1' HOUR)", "window_end", at="e", hint="window_time")

    def test_window_time_is_a_time(self) -> None:
        for query in (
            "select * from tumble((select k, window_time as wt from tumble(t, ts, '5m') group by all), wt, '1h')",
            "with a as (select max(window_time) as wt from tumble(t, ts, '5m') group by window_start, window_end) select * from tumble(a, wt, '1h')",
            "select count(*) from (select window_time from tumble(t, ts, '5m')) group by tumble(window_time, '1h')",
        ):
            translate(query)
            translate(query, schema=SCHEMA)

    def test_proctime(self) -> None:
        self.refused_flink("SELECT * FROM TUMBLE((SELECT k, PROCTIME() AS pt FROM t), DESCRIPTOR(pt), INTERVAL '5' MINUTE)", "PROCTIME()", at="pt", hint="when the event happened")

    @pytest.mark.parametrize(
        "query",
        [
            "select * from tumble(T, TS, '5m')", "select * from tumble(`t`, `Ts`, '5m')", "select * from tumble(db.v, ts, '5m')", "select * from tumble(`DB`.`v`, TS, '5m')",
            "select * from tumble(`my db`.`a table`, `event time`, '5m')", "select * from tumble(u, at, '5m')", "select * from tumble(unknown, anything, '5m')", "select * from tumble(cat.db.v, anything, '5m')",
            "select * from tumble((select * from t), ts, '5m')", "select * from tumble((select *, 1 as x from t join u using (k)), at, '5m')", "select * from tumble((select t.*, u.* from t, u), at, '5m')",
            "select * from tumble((select ts from t union all select at from u), ts, '5m')", "select * from tumble((values (timestamp '2020-01-01')) v(x), x, '5m')", "select * from tumble((select explode(xs) as (a, ts) from t), ts, '5m')",
            "select * from tumble((select * from t lateral view explode(sequence(ts, ts)) e as x), x, '5m')", "select * from tumble((select * from t pivot (max(ts) for k in ('a'))), a, '5m')", "select * from tumble((select transform(k) using 'cat' as (x) from t), x, '5m')",
            "select * from tumble((from t |> extend ts as x), x, '5m')", "select * from tumble((table t), ts, '5m')", "select * from tumble((select cast(text as timestamp) as x from u), x, '5m')", "select * from tumble((select to_timestamp(text) as x from u), x, '5m')",
            "with t as (select 1 as x, current_timestamp() as y) select * from tumble(t, y, '5m')", "with a as (with t as (select current_timestamp() as y) select * from t) select * from tumble(a, y, '5m')", "with recursive r as (select ts from t union all select ts from r) select * from tumble(r, ts, '5m')",
            "with t as (select * from t) select * from tumble(t, ts, '5m')", "select * from tumble((select * from stream_of(t)), x, '5m')", "select * from tumble((select inline(xs) from t), x, '5m')", "select * from tumble((select struct(ts).* from t), ts, '5m')",
            "select * from tumble((select explode(array(ts)) from t), col, '5m')", "select * from tumble((select max(ts) from t), `max(ts)`, '5m')", "select * from tumble((select * from t unpivot (x for c in (ts))), x, '5m')",
        ],
    )
    def test_accepted(self, query: str) -> None:
        """What is there, and what nobody can know, is left to Spark."""
        translate(query, schema=SCHEMA)


class TestWindowColumns(Pairs):
    def test_twice(self) -> None:
        for column in ("window_start", "window_end", "window_time"):
            for name in (column, column.upper(), f"`{column}`"):
                self.refused(f"select * from tumble((select *, 1 as {name} from t), ts, '5m')", f"has a column {column} already", at=f"(select *, 1 as {name} from t)", hint="rename it")
        self.refused("select * from hop((select * from tumble(t, ts, '5m')), window_time, '1h', '2h')", "has a column window_start already", at="(select * from tumble(t, ts, '5m'))", hint="SELECT window_start AS")
        self.refused("select * from tumble(windowed, ts, '5m')", "has a column window_start already", at="windowed", hint="rename it", schema={"windowed": {"ts": "timestamp", "window_start": "timestamp"}})
        self.refused_flink("SELECT * FROM TUMBLE((SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)), DESCRIPTOR(window_time), INTERVAL '1' HOUR)", "has a column window_start already", at="(SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE))", hint="rename it")

    def test_renamed(self) -> None:
        translate("select * from tumble((select window_start as s, window_end as e, window_time as wt from tumble(t, ts, '5m')), wt, '1h')")
        translate("select * from tumble((select * except (window_start, window_end, window_time), window_time as wt from tumble(t, ts, '5m')), wt, '1h')")


class TestTypes:
    """A cast to TIMESTAMP_NTZ is left away exactly where the column is one."""

    @pytest.mark.parametrize(
        ("query", "cast"),
        [
            ("select * from tumble(u, at, '5m')", False), ("select * from tumble(t, ts, '5m')", True), ("select * from tumble(db.v, ts, '5m')", False), ("select * from tumble(unknown, at, '5m')", True),
            ("select * from tumble((select at as x from u), x, '5m')", False), ("select * from tumble((select u.at as x from t join u using (k)), x, '5m')", False), ("select * from tumble((select * from t join u using (k)), at, '5m')", False),
            ("select * from tumble((select cast(text as timestamp_ntz) as x from u), x, '5m')", False), ("select * from tumble((select cast(at as timestamp) as at from u), at, '5m')", True),
            ("with a as (select at from u) select * from tumble(a, at, '5m')", False), ("with u as (select cast(at as timestamp) as at from u) select * from tumble(u, at, '5m')", True), ("with a(x) as (select at from u) select * from tumble(a, x, '5m')", False),
            ("select * from tumble((select at from u union all select ts from t), at, '5m')", True),
            ("select * from tumble((select ts as at from t union all select at from u), at, '5m')", True),
            ("select * from tumble((select coalesce(at, ts) as at from t join u), at, '5m')", True),
            ("select * from tumble((select window_time as wt from tumble(u, at, '10s')), wt, '5m')", False),
            ("select * from tumble(other.u, at, '5m')", True), ("select * from tumble((select at + interval 1 day as at from u), at, '5m')", False),
            ("select * from tumble((select to_timestamp(text) as at from u), at, '5m')", True), ("select * from tumble((select timestamp(text) as at from u), at, '5m')", True),
            ("select * from tumble((select 1 as k, u.* from u), at, '5m')", False), ("select * from tumble((select u.*, t.ts as at2 from u, t), at2, '5m')", True),
        ],
    )
    def test_cast(self, query: str, cast: bool) -> None:
        made = flat(translate(query, schema=SCHEMA))
        window = made[made.rindex("window(") :]
        assert window.startswith("window(CAST(") == cast, made

    def test_what_a_cte_hides(self) -> None:
        """A CTE's name means the CTE, not the table of the schema."""
        with pytest.raises(TranslationError, match="no column ts"):
            translate("with t as (select 1 as x) select * from tumble(t, ts, '5m')", schema=SCHEMA)
        translate("with t as (select 1 as x) select * from tumble(db.t, ts, '5m')", schema=SCHEMA)


class TestTables:
    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("select * from tumble(a, ts, '5m')", ["a"]), ("select * from << hop(db.a, ts, '5m', '5m') >> w", ["db.a"]), ("select * from tumble(`c c`.db.`a`, ts, '5m')", ["`c c`.db.`a`"]),
            ("with x as (select * from a), y as (select * from x) select * from tumble(y, ts, '5m')", ["a"]), ("select * from tumble((select * from a join b using (k)), ts, '5m')", ["a", "b"]),
            ("create table z as select * from tumble(a, ts, '5m')", ["a"]), ("insert into z select * from session(a, ts, '5m')", ["a"]), ("insert overwrite table db.z partition (d) select * from session(a, ts, '5m')", ["a"]),
            ("merge into z using (select * from tumble(a, ts, '5m')) s on z.k = s.k when matched then delete", ["a"]), ("select * from a; select * from tumble(b, ts, '5m')", ["b"]), ("select * from tumble(a, ts, '5m') union all select * from tumble(A, ts, '5m')", ["a", "A"]),
            ("with a as (select * from a) select * from tumble(a, ts, '5m')", ["a"]), ("with a as (select 1) select * from tumble(db.a, ts, '5m')", ["db.a"]),
            ("select tumble_start(ts, '1h') from a group by tumble(ts, '1h')", ["a"]), ("select count(*) from a join b using (k) group by tumble(ts, '1h')", ["a", "b"]),
            ("select * from a where hop(x) > 1", []), ("select 1", []), ("select 'from tumble(a'", []),
        ],
    )
    def test_tables_that_matter(self, query: str, names: list[str]) -> None:
        assert tables(query) == names

    def test_described_once(self) -> None:
        asked: list[list[str]] = []

        def describe(names: list[str]) -> Schema:
            asked.append(names)
            return SCHEMA

        made = translate("select * from tumble(u, at, '5m') join tumble(t, ts, '5m') using (window_start)", schema=describe)
        assert asked == [["u", "t"]]
        assert made == translate("select * from tumble(u, at, '5m') join tumble(t, ts, '5m') using (window_start)", schema=SCHEMA)


@pytest.mark.parametrize("name", ["", "`t"])
def test_a_schema_for_what_is_no_table(name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a table"):
        translate("select * from tumble(t, ts, '5m')", schema={name: {"ts": "timestamp"}})


def test_a_name_among_many_inputs_takes_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    columns = Resolver.columns

    def counted(self: Resolver, relation: exp.Expr) -> Columns:
        nonlocal asked
        asked += 1
        return columns(self, relation)

    monkeypatch.setattr(Resolver, "columns", counted)

    def asked_for(inputs: int) -> int:
        nonlocal asked
        asked = 0
        names = ", ".join(f"x{i}" for i in range(inputs))
        joins = " ".join(f"CROSS JOIN UNNEST(t.a) AS u{i}(x{i})" for i in range(inputs))
        translate(f"SELECT {names} FROM t {joins}", "flink", schema={"t": {"a": "array<int>"}})
        return asked

    assert asked_for(80) < 5 * asked_for(20)


@pytest.mark.parametrize(
    ("star", "expected"),
    [
        ("* EXCEPT (`a,b`, `(c`)", "* EXCEPT (`a,b`, `(c`, __arrival, __key, __order)"),
        ("t.* except ( `x)` /* one */ )", "t.* except ( `x)` /* one */ , __arrival, __key, __order)"),
        ("* /* all */", "* EXCEPT (__arrival, __key, __order) /* all */"),
    ],
)
def test_a_star_leaves_out_what_its_author_does(star: str, expected: str) -> None:
    frame = "PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 10s PRECEDING AND CURRENT ROW MAXSIZE 3"
    schema = {"t": {"a,b": "int", "(c": "int", "x)": "int", "k": "string", "ts": "timestamp", "v": "int"}}
    assert translate(f"SELECT {star}, sum(v) OVER w AS s FROM t WINDOW w AS ({frame})", schema=schema).startswith(
        f"SELECT {expected}, CASE "
    )
