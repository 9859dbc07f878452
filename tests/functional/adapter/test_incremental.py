"""Incremental models of windows: batch by batch and run by run, they hold what one query over all rows gives."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.functional.adapter.project import ROOT, Project, with_package
from tests.lib.support import seldom

# Rows on both sides of two midnights, in spells that last over them, and one row far from all.
ROWS = """\
select id, cast(ts as timestamp_ntz) as ts, k, n, arrived from values
  (1, '2024-01-01 00:00:00', 'a', 1, 1), (2, '2024-01-01 11:59:00', 'b', 2, 1),
  (3, '2024-01-01 23:05:00', 'a', 3, 1), (4, '2024-01-01 23:50:00', 'a', 4, 1),
  (5, '2024-01-01 23:59:59.999', 'b', 5, 2), (6, '2024-01-02 00:00:00', 'a', 6, 2),
  (7, '2024-01-02 00:30:00', 'a', 7, 2), (8, '2024-01-02 00:59:59', 'b', 8, 2),
  (9, '2024-01-02 14:00:00', 'a', 9, 3), (10, '2024-01-02 23:40:00', 'b', 10, 3),
  (11, '2024-01-03 00:10:00', 'b', 11, 4), (12, '2024-01-03 00:39:00', 'b', 12, 4),
  (13, '2024-01-03 09:00:00', 'a', 13, 4), (14, '2024-01-03 09:20:00', null, 14, 4)
as t (id, ts, k, n, arrived)"""

MICROBATCH = (
    "materialized='incremental', incremental_strategy='microbatch', batch_size='day', begin='2024-01-01',"
    " partition_by='day'"
)

# model -> (its event_time, the window macro, the columns it groups by)
BATCHED: dict[str, tuple[str, str, str]] = {
    "hop_by_time": (
        "window_time",
        "hop(ref('bids'), 'ts', '5 minutes', '1 hour')",
        "k, window_start, window_end, window_time",
    ),
    "hop_by_start": (
        "window_start",
        "hop(ref('bids'), 'ts', '25 minutes', '1 hour', '3 minutes')",
        "window_start, window_end",
    ),
    "hop_by_end": (
        "window_end",
        "hop(ref('bids'), 'ts', '25 minutes', '1 hour', '-3 minutes')",
        "window_start, window_end",
    ),
    "tumble_by_start": ("window_start", "tumble(ref('bids'), 'ts', '7 hours')", "window_start, window_end"),
    "tumble_by_time": ("window_time", "tumble(ref('bids'), 'ts', '7 hours')", "window_start, window_time"),
    "cumulate_by_time": (
        "window_time",
        "cumulate(ref('bids'), 'ts', '6 hours', '2 days')",
        "window_start, window_end, window_time",
    ),
    "cumulate_by_start": (
        "window_start",
        "cumulate(ref('bids'), 'ts', '1 hour', '10 hours', '2 hours')",
        "window_start, window_end",
    ),
    "session_by_start": (
        "window_start",
        "session(ref('bids'), 'ts', '31 minutes', 'k')",
        "k, window_start, window_end",
    ),
    "cut_by_start": (
        "window_start",
        "session(ref('bids'), 'ts', '31 minutes', 'k', max_duration='50 minutes')",
        "k, window_start, window_end",
    ),
    "session_by_end": ("window_end", "session(ref('bids'), 'ts', '31 minutes', 'k')", "k, window_start, window_end"),
}


def batched(name: str, prefix: str = "", **config: str) -> dict[str, str]:
    """A microbatch model, and the same query over all rows as a view."""
    bound, window, keys = BATCHED[name]
    query = (
        f"select {keys}, count(*) as n_rows, sum(n) as total, cast({bound} as date) as day\n"
        f"from {{{{ {prefix}{window} }}}}\ngroup by {keys}"
    )
    return {
        f"models/{name}.sql": f"{{{{ config({MICROBATCH}, event_time='{bound}') }}}}\n{query}",
        f"models/{name}_whole.sql": query,
    }


def bids(where: str = "true") -> dict[str, str]:
    return {"models/bids.sql": f"{{{{ config(event_time='ts') }}}}\n{ROWS}\nwhere {where}"}


def same(project: Project, name: str, last_day: str = "2024-01-03") -> None:
    """The model has the rows of the query over all rows that its batches are for."""
    whole = project.rows(f"select * from {{}}.{name}_whole where day between '2024-01-01' and '{last_day}'")
    assert project.rows(f"select * from {{}}.{name}") == whole
    assert len(whole) >= 3


def run_batches(project: Project, until: str = "2024-01-04", *more: str) -> None:
    project.dbt("run", "--event-time-start", "2024-01-01", "--event-time-end", until, *more)


@pytest.fixture(scope="module")
def microbatch(make_project: Callable[..., Project]) -> Project:
    files = bids()
    for name in BATCHED:
        files |= batched(name)
    project = make_project(files)
    run_batches(project)
    return project


@pytest.mark.long
@pytest.mark.parametrize("name", BATCHED)
def test_microbatch_at_the_edges(microbatch: Project, name: str) -> None:
    same(microbatch, name)


# As BATCHED, with the window in the SQL: model -> (model there, config, FROM).
WRITTEN: dict[str, tuple[str, str, str]] = {
    "island": ("hop_by_time", "", "<< hop({{ ref('bids') }}, ts, '5 minutes', '1 hour') >>"),
    "island_by_start": (
        "hop_by_start",
        "",
        "<< hop({{ ref('bids') }}, ts, '25 minutes', '1 hour', '3 minutes') >> as w",
    ),
    "island_of_sessions": (
        "session_by_start",
        "",
        "<< session({{ ref('bids') }} partition by k, ts, '31 minutes') >>",
    ),
    "flink": (
        "cumulate_by_time",
        ", sql_dialect='flink'",
        "TABLE(CUMULATE(TABLE {{ ref('bids') }}, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '2' DAY))",
    ),
}


def written(name: str) -> dict[str, str]:
    """A microbatch model with the window in its SQL, and the view of the macro's."""
    like, config, source = WRITTEN[name]
    files = batched(like)
    model = files[f"models/{like}.sql"].replace("{{ " + BATCHED[like][1] + " }}", source)
    assert source in model
    model = model.replace("as day", "as `day`")  # DAY is a reserved word of Flink
    return files | {f"models/{like}.sql": model.replace(MICROBATCH, MICROBATCH + config)}


@pytest.mark.long
@pytest.mark.parametrize("name", ["island_of_sessions", "flink", *seldom(("island", "island_by_start"))])
def test_microbatch_of_windows_in_sql(make_project: Callable[..., Project], name: str) -> None:
    """Also where no macro stands, a window gets the rows that it needs."""
    project = make_project(bids() | written(name))
    run_batches(project)
    same(project, WRITTEN[name][0])


@pytest.mark.long
@pytest.mark.parametrize(
    ("config", "query", "message"),
    [
        (
            "",
            "with some as (select * from {{ ref('bids') }} where k = 'a')\n"
            "select *, cast(window_time as date) as day from << hop(some, ts, '5 minutes', '1 hour') >>",
            "dbt cuts what this HOP reads to the rows of a batch, and its windows need others",
        ),
        (
            ", sql_dialect='flink'",
            "select count(*) as n, date '2024-01-01' as `day` from {{ ref('bids') }}\n"
            "group by hop(ts, interval '5' minute, interval '1' hour)",
            "dbt cuts what this HOP reads to the rows of a batch, and its windows need others",
        ),
    ],
)
def test_microbatch_refuses_windows_on_a_part(
    make_project: Callable[..., Project], config: str, query: str, message: str
) -> None:
    text = f"{{{{ config({MICROBATCH}, event_time='window_time'{config}) }}}}\n{query}"
    project = make_project({**bids(), "models/windows.sql": text})
    project.dbt("run", "--select", "bids")
    done = project.invoke("run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")
    assert not done.success
    assert message in (project.folder / "logs" / "dbt.log").read_text()


@pytest.mark.long
def test_microbatch_warns_of_frames(make_project: Callable[..., Project]) -> None:
    frame = (
        "select *, sum(n) over (partition by k order by ts rows_range between interval '10' minute preceding"
        " and current row) as recent, cast(ts as date) as day from {{ ref('bids') }}"
    )
    by_window = (
        "select *, row_number() over (partition by window_start, window_end order by n desc) as r,"
        " cast(window_time as date) as day from << tumble({{ ref('bids') }}, ts, '1 hour') >>"
    )
    project = make_project(
        {
            **bids(),
            "models/frames.sql": f"{{{{ config({MICROBATCH}, event_time='ts') }}}}\n{frame}",
            "models/ranks.sql": f"{{{{ config({MICROBATCH}, event_time='window_time') }}}}\n{by_window}",
        }
    )
    run_batches(project, "2024-01-02")
    log = (project.folder / "logs" / "dbt.log").read_text()
    assert "models/frames.sql:2" in log
    assert "rows of earlier times are missing at its start" in log
    assert "models/ranks.sql:2" not in log


@pytest.mark.long
def test_microbatch_of_a_frame_as_documented(make_project: Callable[..., Project]) -> None:
    """A model on the page reads from before the batch on, by itself."""
    page = (ROOT / "docs" / "incremental.md").read_text()
    [text] = [block for block in re.findall(r"```sql\n(.*?)\n```", page, re.DOTALL) if "over('sum(price)'" in block]
    rows = f"{{{{ config(event_time='bidtime') }}}}\nselect ts as bidtime, k as item, n as price from ({ROWS})"
    whole = text.partition("}}\n")[2]
    project = make_project({"models/bid.sql": rows, "models/spent.sql": text, "models/spent_whole.sql": whole})
    run_batches(project)
    same(project, "spent")
    assert "rows of earlier times" not in (project.folder / "logs" / "dbt.log").read_text()


@pytest.mark.long
def test_microbatch_on_plain_dbt_spark(make_project: Callable[..., Project]) -> None:
    names = ("hop_by_time", "session_by_start")
    files = bids() | batched(names[0], "sparkstream.") | batched(names[1], "sparkstream.")
    on_a_name = (
        "with some as (select * from {{ ref('bids') }})\nselect *, cast(window_time as date) as day"
        " from {{ sparkstream.hop('some', 'ts', '5 minutes', '1 hour') }}"
    )
    files["models/on_a_name.sql"] = f"{{{{ config({MICROBATCH}, event_time='window_time') }}}}\n{on_a_name}"
    project = make_project(with_package(files), type="spark", host="none")
    project.dbt("deps")
    run_batches(project)
    for name in names:
        same(project, name)
    log = (project.folder / "logs" / "dbt.log").read_text()
    assert "hop in on_a_name reads some: if dbt cuts that to the rows of a batch, windows at its edges lack some" in log
    assert "hop in hop_by_time" not in log


@pytest.mark.long
def test_microbatch_reads_what_the_windows_need(microbatch: Project) -> None:
    [path] = (microbatch.folder / "target" / "compiled").rglob("hop_by_time_2024-01-02.sql")
    sql = path.read_text()
    edge = "ELSE TIMESTAMP_NTZ'2024-01-01 23:05:00' END"  # before that, where the clock is turned
    assert f"{edge} - INTERVAL '3' HOUR AND CAST(ts AS TIMESTAMP_NTZ) - (CASE WHEN " in sql
    assert f"{edge}) >= INTERVAL '0' SECOND" in sql
    assert "AND ts < TIMESTAMP_NTZ'2024-01-03 00:00:00'" in sql
    assert "window_time - TIMESTAMP_NTZ'2024-01-02 00:00:00' >= INTERVAL '0' SECOND" in sql


@pytest.mark.long
def test_microbatch_goes_on(make_project: Callable[..., Project]) -> None:
    """What comes later counts, in the batches that are run again."""
    project = make_project(bids("arrived <= 2") | batched("hop_by_start") | batched("tumble_by_start"))
    run_batches(project, "2024-01-03")
    project.write(bids())
    project.dbt("run", "--event-time-start", "2024-01-02", "--event-time-end", "2024-01-04")
    same(project, "hop_by_start")
    same(project, "tumble_by_start")


@pytest.mark.long
def test_microbatch_without_a_bound(make_project: Callable[..., Project]) -> None:
    """Windows that fill their batch, and rows that stay rows, are the batch's under any name."""
    config = f"{{{{ config({MICROBATCH}, event_time='%s') }}}}\n"
    project = make_project(
        {
            **bids(),
            "models/hours.sql": config
            % "hour"
            + "select window_start as hour, count(*) as n, cast(window_start as date) as day\n"
            "from {{ tumble(ref('bids'), 'ts', '1 hour') }} group by window_start",
            "models/rows.sql": config % "ts"
            + "select *, cast(ts as date) as day from {{ hop(ref('bids'), 'ts', '30 minutes', '1 hour') }}",
        }
    )
    run_batches(project)
    assert project.rows("select sum(n), count(distinct hour) from {}.hours") == [(14, 8)]
    assert project.rows("select count(*), count(distinct id) from {}.rows") == [(28, 14)]


IMPOSSIBLE = {
    "hops": ("slot", "hop(ref('bids'), 'ts', '5 minutes', '1 hour')", "write event_time='window_time'"),
    "visits": ("slot", "session(ref('bids'), 'ts', '5 minutes')", "write event_time='window_time'"),
    "odd": ("slot", "tumble(ref('bids'), 'ts', '7 hours')", "doesn't say which windows are the batch's"),
    "elsewhere": (
        "window_end",
        "tumble(ref('bids'), 'other', '1 hour')",
        "write event_time: other in the config of bids",
    ),
    "twice": (
        "window_end",
        "hop(tumble(ref('bids'), 'ts', '1 hour'), 'window_time', '1 hour', '3 hours')",
        "build the inner windows in a model of their own",
    ),
}
"""Model -> its event time, its windows, and what is said of it."""


def test_microbatch_says_what_it_cannot_do(make_project: Callable[..., Project]) -> None:
    files = bids()
    for name, (event_time, window, _) in IMPOSSIBLE.items():
        config = f"{{{{ config({MICROBATCH}, event_time='{event_time}') }}}}"
        files[f"models/{name}.sql"] = f"{config}\nselect *, window_start as slot from {{{{ {window} }}}}"
    project = make_project(files)
    project.dbt("run", "--select", "bids")
    day = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")
    assert not project.invoke("run", "--exclude", "bids", *day).success
    told = (project.folder / "logs" / "dbt.log").read_text().split(" in model ")
    for name, (_, _, message) in IMPOSSIBLE.items():
        assert any(message in part for part in told if part.startswith(f"{name} (")), name


REPLACED: dict[str, tuple[str, str]] = {
    "tumbling": ("tumble(ref('arriving'), 'ts', '50 minutes')", "k, window_start, window_end"),
    "hopping": ("hop(ref('arriving'), 'ts', '25 minutes', '1 hour')", "window_start, window_end"),
    "growing": ("cumulate(ref('arriving'), 'ts', '1 hour', '10 hours')", "window_start, window_end"),
    "cut_visits": (
        "session(ref('arriving'), 'ts', '31 minutes', 'k', max_duration='40 minutes', close_on='n % 3 = 0')",
        "k, window_start, window_end",
    ),
    "visits": ("session(ref('arriving'), 'ts', '31 minutes', 'k')", "k, window_start, window_end"),
}


def replaced(name: str, lateness: str = "30 minutes") -> dict[str, str]:
    window, keys = REPLACED[name]
    query = (
        f"select {keys}, count(*) as n_rows, sum(n) as total, cast(window_start as date) as day\n"
        f"from {{{{ {window} }}}}\ngroup by {keys}"
    )
    config = (
        "{{ config(materialized='incremental', incremental_strategy='window_replace', partition_by='day', "
        f"lateness='{lateness}') }}}}\n"
    )
    return {f"models/{name}.sql": config + query, f"models/{name}_whole.sql": query}


def arriving(condition: str, more: str = "") -> dict[str, str]:
    """The rows that have come so far; `more` are rows of the same columns."""
    union = f"\nunion all select id, cast(ts as timestamp_ntz), k, n, 9 from values {more} as t (id, ts, k, n)"
    return {"models/arriving.sql": f"select * from ({ROWS})\nwhere {condition}{union if more else ''}"}


# Rows that come half an hour late: at the end of the day, between two sessions, and before a session of the next day.
LATE = "(20, '2024-01-02 23:35:00', 'a', 20), (21, '2024-01-02 23:59:00', 'b', 21)"
STEPS = {
    "one day": arriving("arrived <= 1"),
    "nothing new": arriving("arrived <= 1"),
    "over midnight": arriving("arrived <= 2"),
    "a day later": arriving("arrived <= 3"),
    "late rows": arriving("arrived <= 3", LATE),
    "all": arriving("arrived <= 4", LATE),
    # A session of the 4th that turns out to have begun on the 3rd: its day has no window left.
    "a new day": arriving("true", LATE + ", (30, '2024-01-04 00:10:00', 'c', 30)"),
    "it began the day before": arriving(
        "true", LATE + ", (30, '2024-01-04 00:10:00', 'c', 30), (31, '2024-01-03 23:45:00', 'c', 31)"
    ),
}


@pytest.mark.full
def test_window_replace(make_project: Callable[..., Project]) -> None:
    files = STEPS["one day"]
    for name in REPLACED:
        files = files | replaced(name)
    project = make_project(files)
    for step, rows in STEPS.items():
        project.write(rows)
        # The views that all is compared with stay as they are.
        project.dbt("run", *([] if step == "one day" else ["--select", "arriving", *REPLACED]))
        for name in REPLACED:
            whole = project.rows(f"select * from {{}}.{name}_whole")
            assert project.rows(f"select * from {{}}.{name}") == whole, (step, name)
    days = [row[0].isoformat() for row in project.rows("select distinct day from {}.visits")]
    assert days == ["2024-01-01", "2024-01-02", "2024-01-03"]
    assert not project.rows("show tables in {} like '*__dbt_windows'")


@pytest.mark.long
def test_window_replace_reads_and_writes_open_windows_only(make_project: Callable[..., Project]) -> None:
    project = make_project(arriving("arrived <= 3") | replaced("tumbling") | replaced("visits"))
    project.dbt("run")
    closed = project.rows("select * from {}.tumbling where window_end < '2024-01-02 23:00:00'")
    # A row that is later than `lateness` is not read: its window is closed.
    project.write(
        arriving("arrived <= 3", "(40, '2024-01-02 14:01:00', 'a', 1000), (41, '2024-01-02 23:45:00', 'b', 5)")
    )
    project.dbt("run")
    assert project.rows("select * from {}.tumbling where window_end < '2024-01-02 23:00:00'") == closed
    assert project.rows("select sum(total) from {}.tumbling") == [(sum(range(1, 11)) + 5,)]
    # The latest window begins at 23:10; less the lateness, and less a window's size.
    assert "ts >= TIMESTAMP_NTZ'2024-01-02 21:50:00'" in project.compiled("tumbling")
    # The latest session begins at 23:40.
    assert "ts >= TIMESTAMP_NTZ'2024-01-02 23:10:00'" in project.compiled("visits")
    project.dbt("run", "--full-refresh")
    assert project.rows("select sum(total) from {}.tumbling") == [(sum(range(1, 11)) + 1005,)]


@pytest.mark.long
def test_window_replace_with_keys_as_partitions(make_project: Callable[..., Project]) -> None:
    """Also with a key that is NULL, has quotes in it, and other names of the bounds."""
    text = """{{ config(materialized='incremental', incremental_strategy='window_replace', partition_by=['k', 'day'],
        window_columns=['began', 'ended'], lateness='1 hour') }}
    select count(*) as n, window_start as began, window_end as ended, k, cast(window_start as date) as day
    from {{ session(ref('arriving'), 'ts', '1 hour', 'k') }} group by window_start, window_end, k"""
    odd = "(50, '2024-01-04 10:00:00', 'it\\'s', 1), (51, '2024-01-05 00:30:00', null, 2)"
    project = make_project({"models/visits.sql": text, **arriving("true", odd)})
    project.dbt("run")
    # Both sessions now begin the day before.
    project.write(arriving("true", odd + ", (52, '2024-01-04 23:50:00', null, 3)"))
    project.dbt("run")
    assert project.rows("select began, n from {}.visits where k is null and day >= '2024-01-04'") != []
    found = project.rows("select cast(day as string), n from {}.visits where k is null or k like 'it%'")
    assert found == [("2024-01-03", 1), ("2024-01-04", 1), ("2024-01-04", 2)]


def test_window_replace_without_bounds(make_project: Callable[..., Project]) -> None:
    """Said before anything is built, and not when the first windows are to be replaced."""
    files = arriving("true") | replaced("tumbling")
    renamed = files["models/tumbling.sql"].replace("select k, window_start", "select k, window_start as began")
    files["models/tumbling.sql"] = renamed
    project = make_project(files)
    assert "the query has no column window_start" in project.failure("run", "--select", "arriving", "tumbling")
    # Without the views of the session, which other tests have left.
    assert [row for row in project.rows("show tables in {} like 'tumbling*'") if not row[2]] == []


NO_STRATEGY = {
    "macro": "select window_start from {{ tumble(ref('arriving'), 'ts', '1 hour') }} group by window_start",
    "block": "{% call window_sql(dialect='flink') %}SELECT COUNT(*) AS c FROM {{ ref('arriving') }}"
    " GROUP BY SESSION(ts, INTERVAL '1' HOUR){% endcall %}",
    "none": "select * from {{ ref('arriving') }} {% if is_incremental() %}where false{% endif %}",
}


def test_windows_without_a_strategy(make_project: Callable[..., Project]) -> None:
    """dbt-spark's is append, which would add all windows once more in each run."""
    config = "{{ config(materialized='incremental') }}\n"
    project = make_project({**arriving("true"), **{f"models/{n}.sql": config + q for n, q in NO_STRATEGY.items()}})
    results = {result.node.name: result for result in project.invoke("run").result.results}
    assert {name for name, result in results.items() if result.status == "error"} == {"block", "macro"}
    for name in ("block", "macro"):
        assert "write incremental_strategy='window_replace' and a partition_by" in results[name].message


INCREMENTAL = "{{ config(materialized='incremental', incremental_strategy='%s'%s) }}\n"


ONLY_NEW = {
    "macros/only_new.sql": """{% macro get_incremental_only_new_sql(arg_dict) %}
      insert into {{ arg_dict['target_relation'] }}
      select * from {{ arg_dict['temp_relation'] }} as fresh
      where not exists (select 1 from {{ arg_dict['target_relation'] }} as t
                        where t.{{ arg_dict['unique_key'] }} = fresh.id)
    {% endmacro %}""",
    "models/log.sql": INCREMENTAL % ("only_new", ", unique_key='id'") + "select * from {{ ref('arriving') }}",
}


def test_strategies_of_the_project(make_project: Callable[..., Project]) -> None:
    """`get_incremental_<name>_sql` of the user's own; dbt-spark refuses them."""
    project = make_project({**ONLY_NEW, **arriving("arrived <= 2")})
    project.dbt("run")
    project.write(arriving("true"))
    project.dbt("run")
    assert project.rows("select count(*), count(distinct id) from {}.log") == [(14, 14)]


def test_merge_reaches_spark(make_project: Callable[..., Project]) -> None:
    """dbt-spark's MERGE is what runs for Delta; Spark takes it, and says that a table in Parquet can't have it."""
    query = "select 1 as id, 'x' as k"
    project = make_project({"models/m.sql": INCREMENTAL % ("append", "") + query})
    project.dbt("run")
    more = ", unique_key='id', file_format='delta', merge_update_columns=['k']"
    project.write({"models/m.sql": INCREMENTAL % ("merge", more) + query})
    assert "does not support MERGE INTO TABLE" in project.failure("run")
    sql = " ".join(project.executed("m").split())
    assert "on DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id" in sql
    assert "when matched then update set k = DBT_INTERNAL_SOURCE.k when not matched then insert *" in sql


NEEDS = {
    "merged": ("merge", "", "write incremental_strategy='window_replace'"),
    "whole": ("window_replace", "", "window_replace replaces partitions, and needs a partition_by"),
    "unknown": (
        "nosuch",
        "",
        'dbt could not find an incremental strategy macro with the name "get_incremental_nosuch_sql" in',
    ),
    "boundless": ("window_replace", ", partition_by='k'", "has no column window_start"),
    "late": (
        "window_replace",
        ", partition_by='k', window_columns=['ts', 'ts'], lateness='late'",
        "is no interval: 'late'",
    ),
    "one_bound": (
        "window_replace",
        ", partition_by='k', window_columns='ts'",
        "write window_columns=['window_start', 'window_end']",
    ),
}
"""Model -> its strategy, more configs, and what is said of it."""


def test_strategies_say_what_they_need(make_project: Callable[..., Project]) -> None:
    query = "select 1 as id, timestamp_ntz'2024-01-01 00:00:00' as ts, 'x' as k"
    project = make_project(
        {f"models/{name}.sql": INCREMENTAL % (strategy, more) + query for name, (strategy, more, _) in NEEDS.items()}
    )
    project.invoke("run")  # some have a table then
    told = {result.node.name: str(result.message) for result in project.invoke("run").result.results}
    for name, (_, _, message) in NEEDS.items():
        assert message in told[name]


SHRINKING = {
    "parted": ("insert_overwrite", "partition_by='day'", "select %s, date'2024-01-01' as day"),
    "whole": ("insert_overwrite", "schema='x'", "select %s, date'2024-01-01' as day"),
    "windows": (
        "window_replace",
        "partition_by='day'",
        "select window_start, window_end, max(id) as x, %s, date'2024-01-01' as day\n"
        "from {{ tumble(ref('arriving'), 'ts', '1 day') }} where ts < timestamp_ntz'2024-01-02' group by all",
    ),
}


def test_a_column_that_goes_is_null_in_new_rows(make_project: Callable[..., Project]) -> None:
    def models(columns: str) -> dict[str, str]:
        return {
            f"models/{name}.sql": INCREMENTAL % (strategy, f", on_schema_change='append_new_columns', {config}")
            + query % columns
            for name, (strategy, config, query) in SHRINKING.items()
        }

    project = make_project({**models("1 as `old one`"), **arriving("arrived <= 2")})
    project.dbt("run")
    project.write(models("2 as `new one`"))
    project.dbt("run")
    for table in ("{}.parted", "{}_x.whole", "{}.windows"):
        assert project.rows(f"select `old one`, `new one`, cast(day as string) from {table}") == [
            (None, 2, "2024-01-01")
        ]
