"""Spark SQL without any of our constructs comes back as the same object, whatever it looks like."""

# ruff: noqa: E501

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.translate import tables

STATEMENTS = [
    # nothing
    "", " ", "\n", ";", ";;", "-- a comment", "/* a comment about tumble(t, ts, '1m') */", "-- hop(\n",
    # << and >>
    "select a << 1, b >> 2, 1 <<(2), x<<y>>z, a >>> 1 from t",
    "select a << hop(b) from t",
    "select a << tumble (b, c) >> 1 from t",
    "select a<<session(b)>>2, 1 <= 2, a <> b, a <=> b from t",
    "select 1 < hop(a), hop(a) > 2 from t where x < session(y)",
    # our words as other people's functions
    "select shop(1), workshop(2), my_hop(3), hop_(4), tumblex(5), my.hop(6), tumble2(7), cumulated(8) from t",
    "select hop(a), tumble(b, 1), cumulate(c), session(d), hop(distinct e), hop(*) from t",
    "select a, hop(b) over (order by c), tumble(b) filter (where c) from t",
    "select hop(a, b) from t group by hop(a, b)",
    "select count(*) from t group by session(user_id), tumble(a)",
    "select * from t where tumble(a) > 1 and x in (hop(1), session(2)) or exists (select session(1))",
    "select * from t join u on hop(t.a) = session(u.b)",
    "select * from db.hop(1), cat.db.tumble(2)",
    "select hop.tumble(a), `hop`(1), `tumble`(ts, '1m') from t",
    "select case when session (a) then hop(1) end from t",
    "select session_window(ts, '5 minutes'), window(ts, '1 hour') from t group by 1, 2",
    "select session_window.start, count(*) from t group by session_window(ts, '5 minutes')",
    "select session_user(), current_session(), hop_count(1), session_id(2), tumble_starts(3) from t",
    # our words as names
    "select session_start, session_end, tumble_start, hop_end, cumulate_start from sessions s where session_start > 1",
    "select session_start - session_end, session_start /* ( */, hop_end -- (\nfrom t",
    "select `session`(1), tumble, hop, cumulate, session from session where hop = tumble",
    "select current_session - 1, session -1, hop / 2, tumble -- comment\nfrom session -- tumble(t, ts, '1m')\n",
    "select session.hop, session['a'], session[0], hop::int, t.session.hop from t session",
    "with hop as (select 1), tumble (a) as (select 2), session(b) as (select 3) select * from hop, tumble, session",
    "select * from t hop join u as session (a, b) on true join (values (1)) tumble (c)",
    "select * from t tablesample (1 percent) hop (a) lateral view explode(xs) tumble as session",
    "select transform(xs, hop -> hop + 1), filter(xs, (session, i) -> session(i) > 0) from t",
    "select 1 as hop, 2 tumble, 3 as `session(` from t window session as (order by a)",
    # our words in strings and comments
    "select 'tumble(', \"hop(t, ts, '1m')\", `session(`, 'it''s cumulate(', 'from << hop(' from t",
    "select '<< tumble(t, ts, 1) >>' -- << tumble(t, ts, '1m') >>\nfrom t",
    "select 'a' 'tumble(' \"x\", r'hop(\\', R\"session(\\\", 'it\\'s hop(' from t",
    "select 1 /* from tumble(t, ts, '1m') /* nested hop( */ session( */, 2 from t",
    "select '-- ', hop(1), '/* ' from t where x = '*/'",
    "select 'multi\nline tumble(\n' from t",
    # DDL and others
    "create table hop (tumble int, session string comment 'hop(1)') using parquet partitioned by (session)",
    "create or replace view session (a comment 'x', b) as select 1, 2",
    "create temporary function tumble as 'com.x.Tumble' using jar '/a.jar'",
    "create or replace function hop(x int, y int) returns int return x + y",
    "insert into session (a, b) select * from t",
    "insert into table tumble (a) values (1)",
    "insert overwrite hop (a) select hop(1)",
    "merge into tumble using session on tumble.id = session.id when matched then update set hop = tumble(1) when not matched then insert (hop) values (session(1))",
    "update session set hop = tumble(1) where session = 1",
    "delete from session where hop(1) = 2",
    "alter table session add columns (hop int)",
    "analyze table hop compute statistics for columns tumble, session",
    "cache table session options ('storageLevel' 'MEMORY_ONLY') as select hop(1)",
    "show tables like 'hop*'", "show create table session", "describe function tumble", "drop function if exists hop", "explain select hop(1)",
    "set x.session.timeout = hop(1)", "set spark.sql.session.timeZone = UTC", "call system.hop(table => 'x')", "use tumble",
    "comment on table session is 'tumble(x)'", "grant select on table session to hop", "truncate table hop", "msck repair table session",
    "execute immediate 'select * from tumble(t, ts, 1)' using hop as a",
    "begin declare hop int default 1; set hop = tumble(2); end",
    # several statements
    "select 1; select hop(1); select 'tumble(' ;\n", "drop table if exists hop; create table hop as select session(1)",
    # what sqlglot may not know
    "from t |> where hop(a) > 1 |> aggregate count(*) group by tumble |> select hop(x)",
    "select /*+ broadcast(hop), mapjoin(session) */ * from hop, session",
    "select x qualify, y as qualify, hop(1) from t qualify qualify > 1",
    "select v:a.b[0]::int, hop(1), X\"AB\", a >>> session(2), map() from t",
    "select * from my_function(table(t) partition by k order by hop(1) with single partition)",
    "select ${hop(1)}, :hop, ?, {{ hop(1) }} from t",
    "select hop(1) from t where x ?? y $$ z",
]  # fmt: skip


@pytest.mark.parametrize("sql", STATEMENTS)
def test_same_object(sql: str) -> None:
    assert translate(sql) is sql
    assert translate(sql, schema={"t": {"a": "int"}}) is sql


@pytest.mark.parametrize("sql", STATEMENTS)
def test_asks_for_no_schema(sql: str) -> None:
    def describe(names: list[str]) -> dict[str, dict[str, str]]:
        raise AssertionError(f"asked for {names}")

    assert tables(sql) == []
    assert translate(sql, schema=describe) is sql


@pytest.mark.parametrize("sql", [sql for sql in STATEMENTS if ";" not in sql])
def test_beside_a_statement_with_a_window(sql: str) -> None:
    """Each statement of a text is translated on its own."""
    made = translate(f"{sql}\n;\nselect * from tumble(t, ts, '5m')")
    assert made.startswith(f"{sql}\n;\nselect * from (\n")


def test_long() -> None:
    sql = "select " + ",\n  ".join(f"hop(c{i}) as session{i}" for i in range(5_000)) + "\nfrom tumble"
    assert translate(sql) is sql
