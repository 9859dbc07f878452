"""Queries that give nothing where what they read has nothing, and queries of which that isn't known."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt.adapters.sparkstream.sql import translate
from dbt.adapters.sparkstream.sql.passes.emptiness import Read, gives_nothing

EDGES = "{0} >= TIMESTAMP_NTZ'2024-01-02 00:00:00' and {0} < TIMESTAMP_NTZ'2024-01-03 00:00:00'"
A = f"(select * from db.a where {EDGES.format('ts')})"
B = f"(select * from db.b where {EDGES.format('ts')})"
FULL = f"(select * from db.full where {EDGES.format('ts')})"


def empty(sql: str) -> bool:
    return gives_nothing(sql, lambda read: read.relation != "db.full")


@pytest.mark.parametrize(
    "sql",
    [
        f"select * from {A}",
        f"select x, cast(ts as date) as day from {A} as a where x = 1 or y = 2",
        f"select day, count(*) as n, my_sum(x) from {A} group by day having count(*) > 1",
        f"with a as (select * from {A}) select k, sum(x) over (partition by k order by ts) from a",
        f"select a.* from {A} a join db.names n on a.k = n.k left join {FULL} f on f.k = a.k",
        f"select * from db.names n join {A} a on a.k = n.k",
        f"select * from {A} a full join {B} b on a.k = b.k",
        f"select * from {FULL} f right join {A} a on a.k = f.k",
        f"select * from {A} union all select * from {B}",
        f"select * from {FULL} intersect select * from {A}",
        f"select * from {A} except select * from {FULL}",
        f"select * from {FULL} f left semi join {A} a on a.k = f.k",
        f"select e from {A} lateral view explode(xs) t as e",
        f"(/* windows of the batch */ SELECT * FROM {A} WHERE ts >= TIMESTAMP_NTZ'2024-01-02 00:00:00')",
        f"select day, count(*) as n from (SELECT * FROM (select * from {A}) WHERE ts < now()) group by day",
        f"select distinct upper(k) from {A} order by 1 limit 3",
        translate(f"select window_start, count(*) as n from tumble({A}, ts, '1 hour') group by window_start"),
        translate(
            f"select window_start, count(*) from hop({A}, ts, '1 hour', '2 hours') group by window_start, window_end"
        ),
        translate(f"select * from session({A} partition by k, ts, '1 hour')"),
    ],
)
def test_gives_nothing(sql: str) -> None:
    assert empty(sql)
    assert not gives_nothing(sql, lambda read: False)


@pytest.mark.parametrize(
    "sql",
    [
        f"select * from {FULL}",
        f"select count(*) as n from {A}",
        f"select max(ts) from {A} having max(ts) > 1",
        f"select my_sum(x) from {A}",
        f"select try_sum(x), kll_sketch_agg_bigint(x) from {A}",
        f"select k, count(*) from {A} group by rollup (k)",
        f"select k, count(*) from {A} group by grouping sets ((k), ())",
        f"select count(*) from {A} group by ()",
        f"select count(*) from {A} group by all",
        f"select * from db.days d left join {A} a on a.day = d.day",
        f"select * from {FULL} f full join {A} a on a.k = f.k",
        f"select * from {A} a right join db.days d on a.day = d.day",
        f"select * from {A} union all select * from {FULL}",
        f"select * from {A} union all select 1",
        f"select * from {FULL} except select * from {A}",
        f"select * from {FULL} f left anti join {A} a on a.k = f.k",
        "select * from db.a",
        "select * from (select * from db.a where ts >= x and ts < y)",
        "select * from (select * from db.a where false limit 0)",
        "select * from (select * from db.a where ts >= TIMESTAMP_NTZ'2024-01-02' or x)",
        "select explode(sequence(1, 3)) as n",
        "select * from range(3)",
        "select * from (values (1)) t (x)",
        f"select * from (select sum(n) as s from (select * from {A}))",
        f"with recursive a as (select * from {A} union all select * from a) select * from a",
        "select (",
    ],
)
def test_isnt_known_to_give_nothing(sql: str) -> None:
    assert not empty(sql)


def test_what_is_read() -> None:
    reads: list[Read] = []
    edges = ["TIMESTAMP_NTZ'2024-01-02 00:00:00' - INTERVAL '26' HOUR"]
    edges.append("TIMESTAMP_NTZ'2024-01-03 00:00:00.5' + INTERVAL '90' MINUTE")
    margins = f"(select * from `my db`.a where `my ts` >= {edges[0]} and `my ts` < {edges[1]})"
    by_zone = (
        f"(select * from db.b where t >= least({edges[0]}, CAST(x AS TIMESTAMP_NTZ))"
        f" and t < CASE WHEN x THEN {edges[1]} ELSE TIMESTAMP_NTZ'2024-01-03 00:00:00' END)"
    )
    field = f"(select * from db.d where e.at >= {edges[0]} and d.e.at < {edges[1]})"
    unknown = "(select * from db.c where t >= CASE WHEN x THEN TIMESTAMP_NTZ'2024-01-03 00:00:00' END and t < 3)"

    def is_empty(read: Read) -> bool:
        reads.append(read)
        return True

    assert gives_nothing(" union all ".join(f"select * from {one}" for one in (margins, A, by_zone, field)), is_empty)
    assert reads == [
        Read("`my db`.a", "`my ts`", datetime(2023, 12, 31, 22), datetime(2024, 1, 3, 1, 30, 0, 500000)),
        Read("db.a", "ts", datetime(2024, 1, 2), datetime(2024, 1, 3)),
        Read("db.b", "t", datetime(2023, 12, 31, 19), datetime(2024, 1, 3, 1, 30, 0, 500000)),
        Read("db.d", "e.at", datetime(2023, 12, 31, 22), datetime(2024, 1, 3, 1, 30, 0, 500000)),
    ]
    assert not gives_nothing(f"select * from {unknown}", is_empty)
