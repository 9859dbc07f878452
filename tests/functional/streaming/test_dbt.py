"""Streaming models in dbt: everything that dbt does with a model, it does with these."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt.adapters.sparkstream.sql import translate
from tests.functional.adapter.project import Project

BIDS = """\
{{ config(materialized='streaming_incremental', event_time='bidtime', watermark='1 minute', tags=['live']) }}
select window_start, window_end, item, sum(price) as total
from {{ tumble(stream(source('raw', 'bid')), 'bidtime', '10 minutes') }}
group by window_start, window_end, item
"""
BEST = """\
{{ config(materialized="streaming_incremental", event_time="window_end", watermark="0 seconds") }}
{% set totals = "(select window_end as t, total as best from " ~ stream(ref("bids")) ~ ")" %}
select window_start, window_end, max(best) as best
from {{ hop(totals, "t", "10 minutes", "20 minutes") }}
group by window_start, window_end
"""
BEFORE = """\
{{ config(materialized="streaming_incremental", event_time="bidtime", watermark="1 minute") }}
select bidtime, item, price, total as before
from {{ asof_join(
  stream(source("raw", "bid")), stream(ref("bids"), event_time="window_end", watermark="0 seconds"), "item",
  "bidtime", "window_end", columns=["total"]) }}
"""
HOURS = """\
{{ config(materialized="streaming_incremental", event_time="bidtime", watermark="1 minute",
          optimize=var("optimize", true)) }}
select window_start, window_end, item, max(price) as best, count(*) as n
from {{ hop(stream(source("raw", "bid")), "bidtime", "1 minute", "20 minutes") }}
group by window_start, window_end, item
"""
FRAMED = """\
{{ config(materialized="streaming_incremental", event_time="bidtime", watermark="1 minute", sql_dialect="openmldb",
          arrival="price") }}
select item, sum(price) over w as total from {{ stream(source("raw", "bid")) }}
window w as (partition by item order by bidtime rows between 2 preceding and current row)
"""
SOURCES = """\
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables:
      - name: bid
"""
MODELS = """\
models:
  - name: bids
    description: Bids in windows
    config:
      contract: {enforced: true}
      persist_docs: {relation: true, columns: true}
    columns:
      - {name: window_start, data_type: timestamp, data_tests: [not_null]}
      - {name: window_end, data_type: timestamp}
      - {name: item, data_type: string, description: what was bid for}
      - {name: total, data_type: double}
    data_tests:
      - no_late_rows: {arguments: {max_percent: 30}}
unit_tests:
  - name: windows_of_ten_minutes
    model: bids
    given:
      - input: source('raw', 'bid')
        format: sql
        rows: select timestamp'2020-01-01 00:01:00' as bidtime, cast(2 as double) as price, 'A' as item
    expect:
      rows: [{item: A, total: 2.0}]
"""
DAY = "2020-04-15"


def bids(project: Project, *rows: tuple[str, float, str]) -> None:
    values = ", ".join(f"(timestamp'{DAY} {time}', {price}, '{item}')" for time, price, item in rows)
    project.sql(f"insert into {{}}.bid values {values}")


TOTALS = "select date_format(window_start, 'HH:mm'), item, total from {}.bids"


def test_a_streaming_model_is_a_model(make_project: Callable[..., Project]) -> None:

    shop = make_project(
        {
            "models/bids.sql": BIDS,
            "models/schema.yml": SOURCES + MODELS,
            "models/best.sql": BEST,
            "models/before.sql": BEFORE,
        }
    )
    shop.sql("create schema if not exists {}")
    shop.sql("create table {}.bid (bidtime timestamp, price double, item string) using parquet")
    bids(shop, ("08:05:00", 4, "A"), ("08:07:00", 2, "B"), ("08:11:00", 2, "B"), ("08:25:00", 9, "C"))

    # A chain, its tests and unit tests in one build; only what is final is there.
    messages = {r.node.name: r.message for r in shop.dbt("build").results}
    assert messages["bids"].startswith("+3 rows, 2 windows closed, watermark 2020-04-15 08:24, state ")
    assert shop.rows(TOTALS) == [("08:00", "A", 4.0), ("08:00", "B", 2.0), ("08:10", "B", 2.0)]
    assert shop.rows("select date_format(window_end, 'HH:mm'), best from {}.best") == [("08:20", 4.0)]
    before = "select date_format(bidtime, 'HH:mm'), before from {}.before order by bidtime"
    assert shop.rows(before) == [("08:05", None), ("08:07", None), ("08:11", 2.0)]
    comments = {row[0]: row[2] for row in shop.rows("describe table {}.bids")}
    assert comments["item"] == "what was bid for"
    assert "__tumble_1 AS (" in shop.executed("bids")

    # New rows only, of which one is late, one of a clock that is wrong, and one without a time.
    bids(shop, ("08:26:00", 1, "C"), ("08:41:00", 5, "A"), ("08:03:00", 7, "A"))
    shop.sql("insert into {}.bid values (timestamp'2099-01-01', 1, 'Z'), (null, 1, 'Z')")
    [second] = shop.dbt("run", "--select", "bids").results
    counts = "+1 row, 1 window closed, 1 late row, 1 row too far ahead, 1 row without a time"
    assert second.message.startswith(f"{counts}, watermark 2020-04-15 08:40")
    log = (shop.folder / "logs" / "dbt.log").read_text()
    assert "bids: 1 row left out with times more than 1 day ahead of the clock, such as 2099-01-01 00:00:00" in log
    assert shop.rows(TOTALS)[-1] == ("08:20", "C", 10.0)
    [third] = shop.dbt("run", "--select", "tag:live").results
    assert third.message == "+0 rows, nothing new"
    shop.dbt("test", "--select", "bids")

    # Shown, it is a query like any other.
    shown = shop.dbt("show", "--select", "bids", "--limit", "50").results[0].agate_table
    assert len(shown) == 6

    # Cloned into another schema, it is a view of the table, which has one column more than the contract.
    state = (shop.folder / "target" / "manifest.json").read_text()
    shop.write({"state/manifest.json": state})
    shop.write({"models/bids.sql": BIDS.replace("config(", "config(schema='clones', ")})
    shop.dbt("clone", "--select", "bids", "--state", "state")
    assert shop.rows("select count(micro_batch) from {}_clones.bids") == [(4,)]
    shop.write({"models/bids.sql": BIDS})

    # A full refresh reads all rows again, of which none is late now.
    [anew] = shop.dbt("run", "--select", "bids", "--full-refresh").results
    assert "late" not in anew.message
    assert shop.rows(TOTALS)[0] == ("08:00", "A", 11.0)
    assert shop.rows("select rows_late from {}.sparkstream_runs where relation like '%bids' and batch = 0")[-1] == (0,)

    # Its rows were read by the model downstream, which says so.
    assert "created again" in shop.failure("run", "--select", "best")

    # Other columns than the contract has.
    shop.write({"models/bids.sql": BIDS.replace("sum(price)", "count(*)")})
    assert "contract" in shop.failure("run", "--select", "bids")


@pytest.mark.long
def test_a_model_whose_state_is_slices(make_project: Callable[..., Project]) -> None:
    shop = make_project({"models/hours.sql": HOURS, "models/framed.sql": FRAMED, "models/schema.yml": SOURCES})
    shop.sql("create schema if not exists {}")
    shop.sql("create table {}.bid (bidtime timestamp, price double, item string) using parquet")
    windows = translate(
        "select window_start, window_end, item, max(price) as best, count(*) as n from "
        "hop(raw.bid, bidtime, '1 minute', '20 minutes') group by window_start, window_end, item"
    ).replace("raw.bid", "{}.bid")

    def check(until: str) -> None:
        columns = "select date_format(window_end, 'HH:mm'), item, best, n from"
        expected = shop.rows(f"{columns} ({windows}) where window_end <= timestamp'{DAY} {until}'")
        assert sorted(shop.rows(f"{columns} {{}}.hours")) == sorted(expected)

    bids(shop, ("08:05:00", 4, "A"), ("08:07:30", 2, "B"), ("08:11:00", 2, "B"), ("08:41:00", 9, "C"))
    [compiled] = shop.dbt("compile", "--select", "hours").results
    assert "CREATE VIEW __kept_rows AS" in compiled.node.compiled_code
    [plain] = shop.dbt("compile", "--select", "hours", "--vars", "optimize: false").results
    assert plain.node.compiled_code.startswith("/* windows are kept, and no slices: the optimizer is off here */")

    [framed] = shop.dbt("compile", "--select", "framed").results
    assert "order by bidtime, price rows" in framed.node.compiled_code.casefold()

    [first] = shop.dbt("run", "--select", "hours").results
    assert first.message.startswith("+44 rows, 26 windows closed, watermark 2020-04-15 08:40, state ")
    assert "CREATE VIEW __kept_rows AS" in shop.executed("hours")
    check("08:40:00")
    bids(shop, ("08:42:00", 3, "C"), ("09:10:00", 1, "A"))
    shop.dbt("run", "--select", "hours")
    check("09:09:00")
    assert "have changed" in shop.failure("run", "--select", "hours", "--vars", "optimize: false")


@pytest.mark.long
def test_seeds_and_files(make_project: Callable[..., Project]) -> None:
    shop = make_project({})
    project = (shop.folder / "dbt_project.yml").read_text()
    events = shop.folder / "events"
    schema = {
        # dbt writes the name of a source with backticks then, and what source() gives without.
        "dbt_project.yml": project + "quoting: {identifier: true}\n",
        "seeds/bids_seed.csv": "bidtime,price\n2020-04-15 08:05:00,4\n2020-04-15 08:21:00,1\n",
        "models/from_seed.sql": BIDS.replace("source('raw', 'bid')", "ref('bids_seed')").replace("item", "price"),
        "models/from_files.sql": "{{ config(materialized='streaming_incremental') }}\n"
        "select id, upper(name) as name from {{ stream(source('files', 'events')) }}",
        "models/schema.yml": "sources:\n  - name: files\n    tables:\n      - name: events\n        config:\n"
        "          meta: {stream: {format: json, path: '" + str(events) + "', schema: 'id bigint, name string'}}\n",
    }
    shop.write(schema)
    events.mkdir()
    (events / "1.json").write_text('{"id": 1, "name": "ada"}\n')
    shop.dbt("build")
    assert shop.rows("select total from {}.from_seed") == [(4,)]
    assert shop.rows("select id, name from {}.from_files") == [(1, "ADA")]

    # The seed is loaded anew with each build, and has the same rows.
    (events / "2.json").write_text('{"id": 2, "name": "bob"}\n')
    messages = {r.node.name: r.message for r in shop.dbt("build").results}
    assert messages["from_seed"] == "+0 rows, nothing new"
    assert shop.rows("select id, name from {}.from_files") == [(1, "ADA"), (2, "BOB")]
    shop.write({"seeds/bids_seed.csv": schema["seeds/bids_seed.csv"] + "2020-04-15 08:55:00,1\n"})
    assert "created again" in shop.failure("build", "--select", "bids_seed", "from_seed")


FAULTS: dict[str, tuple[str, list[str]]] = {
    "config": (BIDS.replace("watermark=", "watermrk="), ["no config 'watermrk'", "did you mean watermark?"]),
    "key": (BIDS.replace("tags=['live']", "unique_key='item'"), ["no unique_key"]),
    "trigger": (BIDS.replace("tags=['live']", "trigger='often'"), ["trigger can't be 'often'", "processing_time"]),
    "batch": (BIDS.replace("streaming_incremental", "table"), ["stream() stands in a streaming model"]),
    "still": (
        BIDS.replace("stream(source('raw', 'bid'))", "source('raw', 'bid')"),
        ["reads no stream", "models/still.sql"],
    ),
    "ordered": (BIDS + "order by 1", ["ORDER BY has no meaning", "models/ordered.sql:5"]),
    "grouped": (BIDS.replace("window_start, window_end, item\n", "item\n"), ["GROUP BY needs the end of a window"]),
}
"""Model -> its query, and what is said of it."""


def test_faults_are_told_before_anything_runs(make_project: Callable[..., Project]) -> None:
    source = "sources:\n  - name: raw\n    schema: nowhere\n    tables: [{name: bid}]\n"
    shop = make_project(
        {"models/schema.yml": source, **{f"models/{name}.sql": model for name, (model, _) in FAULTS.items()}}
    )
    told = {result.node.name: result.message for result in shop.invoke("run").result.results}
    assert told.keys() == FAULTS.keys()
    for name, (_, words) in FAULTS.items():
        assert [word for word in words if word not in told[name]] == [], told[name]


def test_nothing_streams_without_the_adapter(make_project: Callable[..., Project]) -> None:
    from tests.functional.adapter.project import with_package

    head = "{{ config(materialized='streaming_incremental') }} select 1 as x"
    files = {"models/alone.sql": head, "models/reads.sql": "select * from {{ sparkstream.stream('bid') }}"}
    shop = make_project(with_package(files), type="spark", host="localhost")
    shop.dbt("deps")
    assert "streaming_incremental needs the adapter dbt-sparkstream" in shop.failure("run", "--select", "alone")
    assert "stream needs the adapter dbt-sparkstream" in shop.failure("run", "--select", "reads")


@pytest.mark.long
def test_empty_makes_the_table_only(make_project: Callable[..., Project]) -> None:
    schema = "sources:\n  - name: raw\n    schema: '{{ target.schema }}'\n    tables: [{name: bid}]\n"
    schema += "models:\n  - name: bids\n    data_tests: [no_late_rows]\n"
    staged = "{{ config(event_time='bidtime') }} select * from {{ source('raw', 'bid') }}"
    models = {"models/bids.sql": BIDS.replace("source('raw', 'bid')", "ref('staged')"), "models/staged.sql": staged}
    shop = make_project({**models, "models/schema.yml": schema})
    shop.sql("create schema if not exists {}")
    shop.sql("create table {}.bid (bidtime timestamp, price double, item string) using parquet")
    bids(shop, ("08:05:00", 4, "A"), ("08:25:00", 9, "C"))
    shop.dbt("build", "--empty")  # nobody has made sparkstream_runs yet
    assert shop.rows(TOTALS) == []
    shop.dbt("build")  # the staging view has other SQL now
    assert shop.rows(TOTALS) == [("08:00", "A", 4.0)]
