"""Microbatches in zones that aren't UTC: every input of a model is cut by the clock of the session's zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.functional.adapter.project import PARAMETERS, Project
from tests.lib.support import seldom

CONFIG = (
    "materialized='incremental', incremental_strategy='microbatch', begin='2025-01-01', partition_by='day',"
    " event_time='{}', batch_size='day'"
)
# zone -> first day, the day after the last one; where there is one, with a day on which the clock is turned.
DAYS = {
    "America/Chicago": ("2025-03-08", "2025-03-10"),
    "Asia/Kathmandu": ("2025-02-27", "2025-03-01"),
    "Europe/Berlin": ("2025-10-25", "2025-10-27"),
}
# Half hours, and the microsecond before each, from two days before to two days after.
INSTANTS = """\
{{{{ config(event_time='ts') }}}}
select timestamp_micros(half * 1800000000L - off) as ts
from (
  select explode(sequence(
    unix_seconds(timestamp'{since}') div 1800 - 96, unix_seconds(timestamp'{until}') div 1800 + 96
  )) as half
)
cross join (select explode(array(0, 1)) as off)"""
WALLS = "{{ config(event_time='at') }}select cast(ts as timestamp_ntz) as at from {{ ref('stamped') }}"
DATES = "{{ config(event_time='d') }}select cast(at as date) as d, count(*) as n from {{ ref('walled') }} group by 1"

QUERIES = {
    "instants": ("ts", "select ts, cast(ts as date) as day from {{ ref('stamped') }}"),
    "walls": ("at", "select at, cast(at as date) as day from {{ ref('walled') }}"),
    "dates": ("d", "select n, d as day from {{ ref('dated') }}"),
    "texts": ("at", "select at, cast(at as date) as day from {{ ref('written') }}"),
    "in_flink": ("d", "{{ config(sql_dialect='flink') }}select n, d as `day` from {{ ref('dated') }}"),
    "several": (
        "window_start",
        "select w.window_start, w.day, w.n as n, r.n as of_rows, b.n as of_batch\n"
        "from (select window_start, cast(window_start as date) as day, count(*) as n"
        " from {{ tumble(ref('stamped'), 'ts', '1 day') }} group by window_start) w\n"
        "join (select cast(ts as date) as day, count(*) as n from {{ ref('stamped') }} group by 1) r on r.day = w.day\n"
        "join (select cast(ts as date) as day, count(*) as n from {{ read(ref('stamped'), before='1 hour') }}"
        " where {{ in_batch('ts') }} group by 1) b on b.day = w.day",
    ),
}


def files(since: str, until: str) -> dict[str, str]:
    found = {
        "models/stamped.sql": INSTANTS.format(since=since, until=until),
        "models/walled.sql": WALLS,
        "models/dated.sql": DATES,
        "models/written.sql": "{{ config(event_time='at') }}select cast(at as string) as at from {{ ref('walled') }}",
    }
    for name, (time, query) in QUERIES.items():
        found[f"models/{name}.sql"] = f"{{{{ config({CONFIG.format(time)}) }}}}\n{query}"
        found[f"models/{name}_whole.sql"] = query
    return found


@pytest.fixture(scope="module", params=DAYS)
def project(request: pytest.FixtureRequest, make_project: Callable[..., Project], embedded: Any) -> Iterator[Project]:
    since, until = DAYS[request.param]
    parameters = {**PARAMETERS, "spark.sql.session.timeZone": request.param}
    made = make_project(files(since, until), server_side_parameters=parameters)
    made.bounds = ("--event-time-start", since, "--event-time-end", until)  # type: ignore[attr-defined]
    try:
        made.days = f"day >= date'{since}' and day < date'{until}'"  # type: ignore[attr-defined]
        made.columns = lambda name: embedded.table(f"{made.schema}.{name}").columns  # type: ignore[attr-defined]
        yield made
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")


@pytest.fixture(scope="module")
def built(project: Any) -> Any:
    """The project with all its models."""
    project.dbt("run", *project.bounds)
    return project


@pytest.mark.long
@pytest.mark.parametrize("name", QUERIES)
def test_a_batch_has_the_rows_of_a_day_on_the_clock(built: Any, name: str) -> None:
    columns = ", ".join(sorted(built.columns(name)))
    whole = built.rows(f"select {columns} from {{}}.{name}_whole where {built.days}")
    assert built.rows(f"select {columns} from {{}}.{name}") == whole
    assert len(whole) >= 2


def test_all_inputs_are_cut_alike(project: Any) -> None:
    project.dbt("run", "--select", "+several", *project.bounds)
    rows = project.rows("select n, of_rows, of_batch from {}.several")
    assert len(rows) == 2
    assert all(one == other == third for one, other, third in rows)


# zone -> (first hour, hour after the last one) around both turns of its clock.
HOURS = {
    "America/New_York": (
        ("2025-03-09 00:00:00", "2025-03-09 05:00:00"),
        ("2025-11-02 00:00:00", "2025-11-02 04:00:00"),
    ),
    "Europe/Berlin": (("2025-03-30 00:00:00", "2025-03-30 05:00:00"), ("2025-10-26 01:00:00", "2025-10-26 05:00:00")),
}
HOURLY = CONFIG.replace("'day'", "'hour'")
QUARTERS = """\
{{{{ config(event_time='ts') }}}}
select timestamp_seconds(s + 60) as ts, s div 900 as n from (
  select explode(concat({sequences})) as s
)"""
BY_HOUR = {
    "rows": ("ts", "select ts, n, date_format(ts, 'yyyy-MM-dd HH') as hour from {{ ref('quarters') }}"),
    "sums": (
        "ts",
        "select *, date_format(ts, 'yyyy-MM-dd HH') as hour from (select ts, sum(n) over (order by ts range between"
        " interval '60' minute preceding and interval '50' minute following) as n"
        " from {{ read(ref('quarters'), before='60 minutes', after='50 minutes') }}) where {{ in_batch('ts') }}",
    ),
    "tumbled": (
        "window_start",
        "select window_start, date_format(window_start, 'yyyy-MM-dd HH') as hour, count(*) as n, min(n) as first"
        " from {{ tumble(ref('quarters'), 'ts', '30 minutes') }} group by window_start",
    ),
    "hopped": (
        "window_end",
        "select window_start, window_end, date_format(window_end, 'yyyy-MM-dd HH') as hour, count(*) as n"
        " from << hop({{ ref('quarters') }}, ts, '20 minutes', '1 hour') >> group by window_start, window_end",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("zone", ["Europe/Berlin", *seldom(["America/New_York"])])
def test_batches_of_an_hour_where_a_clock_is_turned(
    zone: str, make_project: Callable[..., Project], embedded: Any
) -> None:
    sequences = ", ".join(
        f"sequence(unix_seconds(timestamp'{since}') - 10800, unix_seconds(timestamp'{until}') + 10800, 900)"
        for since, until in HOURS[zone]
    )
    files = {"models/quarters.sql": QUARTERS.format(sequences=sequences)}
    for name, (time, query) in BY_HOUR.items():
        files[f"models/{name}.sql"] = f"{{{{ config({HOURLY.format(time)}) }}}}\n{query}"
        files[f"models/{name}_whole.sql"] = query
    parameters = {**PARAMETERS, "spark.sql.session.timeZone": zone}
    project = make_project(files, server_side_parameters=parameters)
    try:
        for since, until in HOURS[zone]:
            project.dbt("run", "--event-time-start", since, "--event-time-end", until)
        within = " or ".join(f"hour >= '{since[:13]}' and hour < '{until[:13]}'" for since, until in HOURS[zone])
        for name in BY_HOUR:
            columns = ", ".join(sorted(embedded.table(f"{project.schema}.{name}").columns))
            whole = project.rows(f"select {columns} from {{}}.{name}_whole where {within}")
            assert project.rows(f"select {columns} from {{}}.{name}") == whole
        found = project.rows("select hour, count(*) from {}.rows group by hour")
        assert [n for _, n in found] == [4, 4, 4, 4, 4, 8, 4, 4]
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")
