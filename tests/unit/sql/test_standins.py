"""Views in place of tables, wherever a statement reads one and nowhere else."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql.streaming.standins import name_of, replaced

NAMES = {name_of("raw.events"), name_of("`cat`.`my raw`.`ev ents`")}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select events.id from raw.events -- all", "select events.id from VIEW AS `events` -- all"),
        ("select 1 in (select id from RAW.`Events` e)", "select 1 in (select id from VIEW e)"),
        ("select * from a, raw.events as b", "select * from a, VIEW as b"),
        ("from a join `cat`.`my raw`.`ev ents` using (id)", "from a join VIEW AS `ev ents` using (id)"),
        ("create table x as select * from raw.events", "create table x as select * from VIEW AS `events`"),
        ("describe extended raw.events", "describe extended VIEW"),
        ("DESCRIBE QUERY SELECT t0.* FROM raw.events AS t0", "DESCRIBE QUERY SELECT t0.* FROM VIEW AS t0"),
        ("from raw.events |> where id > 1", "from VIEW AS `events` |> where id > 1"),
        ("select * from raw.events tablesample (10 rows)", "select * from VIEW tablesample (10 rows)"),
        (
            "merge into t using raw.events s on x when matched then delete",
            "merge into t using VIEW s on x when matched then delete",
        ),
        ("from raw.events |> limit 5 |> drop x", "from VIEW AS `events` |> limit 5 |> drop x"),
        ("select raw.events from raw", None),
        ("select extract(day from raw.events) from raw", None),
        ("select * from x where a is distinct from raw.events", None),
        ("select 'from raw.events'", None),
        ("insert into raw.events select 1", None),
        ("drop table raw.events", None),
        ("select * from other.events", None),
    ],
)  # fmt: skip
def test_a_view_in_place_of_a_table(sql: str, expected: str | None) -> None:
    found = replaced(sql, NAMES, lambda name: "VIEW")
    assert found == (expected or sql)
