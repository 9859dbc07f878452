"""The generic tests for windows: each passes on what is right and finds each kind of fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import yaml

from tests.functional.adapter.project import PARAMETERS, Project, with_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PASS = 0

# test's name -> model, generic test, arguments, how many failures
Tests: TypeAlias = dict[str, tuple[str, str, dict[str, Any], int]]

# model -> its SQL
MODELS = {
    "bids": """
        select id, cast(ts as timestamp_ntz) as ts, item, cast(price as decimal(10, 2)) as price, price * 1.0d as dbl
        from values
          (1, '2020-04-15 08:05:00', 'a', 1.10), (2, '2020-04-15 08:15:00', 'a', 2.20),
          (3, '2020-04-15 08:25:00', 'a', 3.3),
          (4, '2020-04-15 08:05:00', 'b', 4.05), (5, '2020-04-15 08:36:00', 'b', 0.01),
          (6, '2020-04-15 08:15:00', null, 7),
          (7, '2020-04-15 08:25:00', null, null), (8, null, 'a', 100)
        as t (id, ts, item, price)""",
    "tumbling": """
        select item, window_start, window_end, sum(price) as total, count(*) as bids, sum(dbl) as total_dbl
        from {{ TUMBLE(ref('bids'), 'ts', '10 minutes') }} group by item, window_start, window_end""",
    "hopping": """
        select item, window_start, window_end, sum(price) as total
        from {{ HOP(ref('bids'), 'ts', '5 minutes', '12 minutes', '1 minute') }}
        group by item, window_start, window_end""",
    "hopping_twice": """
        select window_start, window_end, sum(price) as total
        from {{ HOP(ref('bids'), 'ts', '5 minutes', '10 minutes') }} group by window_start, window_end""",
    "cumulating": """
        select item, window_start, window_end, sum(price) as total
        from {{ CUMULATE(ref('bids'), 'ts', '5 minutes', '15 minutes', '-5 minutes') }}
        group by item, window_start, window_end""",
    "visits": """
        select item, window_start, window_end, count(*) as bids
        from {{ SESSION(ref('bids'), 'ts', '12 minutes', 'item') }} group by item, window_start, window_end""",
    "nothing": "select * from {{ ref('tumbling') }} where false",
    "no_bids": "select * from {{ ref('bids') }} where false",
    "null_bounds": """
        select * from {{ ref('tumbling') }} union all
        select 'a', null, timestamp_ntz'2020-04-15 08:10:00', 1, 1, 1 union all
        select 'a', timestamp_ntz'2020-04-15 08:10:00', null, 1, 1, 1""",
    "off_grid": """
        select id, cast(s as timestamp_ntz) as window_start, cast(e as timestamp_ntz) as window_end from values
          (1, '2020-04-15 08:00:00', '2020-04-15 08:10:00'),
          (2, '2020-04-15 08:00:00.000001', '2020-04-15 08:10:00.000001'),
          (3, '2020-04-15 08:00:00', '2020-04-15 08:20:00'), (4, '2020-04-15 08:10:00', '2020-04-15 08:10:00'),
          (5, '1969-12-31 23:50:00', '1970-01-01 00:00:00'), (6, '1969-12-31 23:49:59', '1969-12-31 23:59:59'),
          (7, '0001-01-01 00:10:00', '0001-01-01 00:20:00')
        as t (id, s, e)""",
    "too_long": """
        select cast(s as timestamp_ntz) as window_start, cast(e as timestamp_ntz) as window_end from values
          ('2020-04-15 08:00:00', '2020-04-15 08:05:00'), ('2020-04-15 08:00:00', '2020-04-15 08:15:00'),
          ('2020-04-15 08:00:00', '2020-04-15 08:20:00'), ('2020-04-15 08:00:00', '2020-04-15 08:07:00'),
          ('2020-04-15 08:05:00', '2020-04-15 08:10:00'), ('2020-04-15 08:00:00', '2020-04-15 08:00:00') as t (s, e)""",
    "overlapping": """
        select k, cast(s as timestamp_ntz) as window_start, cast(e as timestamp_ntz) as window_end from values
          ('a', '2020-01-01 00:00:00', '2020-01-01 10:00:00'), ('a', '2020-01-01 01:00:00', '2020-01-01 02:00:00'),
          ('a', '2020-01-01 09:59:59', '2020-01-01 11:00:00'), ('a', '2020-01-01 11:00:00', '2020-01-01 12:00:00'),
          ('b', '2020-01-01 05:00:00', '2020-01-01 06:00:00'), (null, '2020-01-01 06:00:00', '2020-01-01 07:00:00'),
          (null, '2020-01-01 06:00:00', '2020-01-01 07:00:00'), ('a', null, '2020-01-01 10:00:00') as t (k, s, e)""",
    # One cent less for b; an item that nobody bid on; NULL's windows are lost.
    "wrong_totals": """
        select item, total - if(item = 'b' and window_start < timestamp_ntz'2020-04-15 08:10:00', 0.01, 0) as total
        from {{ ref('tumbling') }} where item is not null union all select 'z', 5""",
    "zone_hours": """
        select cast(ts as timestamp) as ts from (
          select explode(sequence(timestamp_ntz'2021-03-27 22:30:00', timestamp_ntz'2021-03-28 06:30:00',
                                  interval 15 minutes)) as ts union all
          select explode(sequence(timestamp_ntz'2021-10-30 22:30:00', timestamp_ntz'2021-10-31 06:30:00',
                                  interval 15 minutes)))""",
    "spring_hourly": """
        select window_start, window_end, count(*) as n from {{ TUMBLE(ref('zone_hours'), 'ts', '1 hour') }}
        where ts < timestamp'2021-06-01 00:00:00' group by window_start, window_end""",
    "autumn_hourly": """
        select window_start, window_end, count(*) as n from {{ TUMBLE(ref('zone_hours'), 'ts', '1 hour') }}
        where ts > timestamp'2021-06-01 00:00:00' group by window_start, window_end""",
    "spring_hop": """
        select window_start, window_end, count(*) as n from {{ HOP(ref('zone_hours'), 'ts', '30 minutes', '2 hours') }}
        where ts < timestamp'2021-06-01 00:00:00' group by window_start, window_end""",
    "spring_growing": """
        select window_start, window_end, count(*) as n
        from {{ CUMULATE(ref('zone_hours'), 'ts', '30 minutes', '4 hours') }}
        where ts < timestamp'2021-06-01 00:00:00' group by window_start, window_end""",
    "spring_broken": "select * from {{ ref('spring_hourly') }} where window_start <> timestamp'2021-03-28 03:00:00'",
    "daily": """
        select window_start, window_end, count(*) as n from {{ TUMBLE(ref('zone_hours'), 'ts', '1 day') }}
        where ts < timestamp'2021-06-01 00:00:00' group by window_start, window_end""",
    "in_utc": "select window_start + interval 1 hour as window_start, window_end + interval 1 hour as window_end "
    "from {{ ref('daily') }}",
}

TEN = {"size": "10 minutes"}
HOP = {"slide": "5 minutes", "size": "12 minutes", "offset": "1 minute"}
CUMULATE = {"step": "5 minutes", "size": "15 minutes", "offset": "-5 minutes"}
BIDS = "ref('bids')"

TESTS: Tests = {
    # Some key has a window at each of 08:00, 08:10, 08:20, 08:30; b lacks those at 08:10 and 08:20.
    "complete": ("tumbling", "window_complete", TEN, PASS),
    "complete_no_rows": ("nothing", "window_complete", TEN, PASS),
    "incomplete_b": ("tumbling", "window_complete", {**TEN, "partition_by": "item"}, 1),
    # a lacks the last, b the two in the middle, NULL the first and the last.
    "incomplete_span": ("tumbling", "window_complete", {**TEN, "partition_by": ["item"], "span": "model"}, 4),
    "since_there": ("tumbling", "window_complete", {**TEN, "since": "2020-04-15 08:00:00"}, PASS),
    "since_in_a_window": ("tumbling", "window_complete", {**TEN, "since": "2020-04-15 08:07:00"}, PASS),
    "since_before": ("tumbling", "window_complete", {**TEN, "since": "2020-04-15"}, 1),
    "until_there": ("tumbling", "window_complete", {**TEN, "until": "2020-04-15 08:49:59"}, PASS),
    "until_after": ("tumbling", "window_complete", {**TEN, "until": "timestamp'2020-04-15 08:50:00'"}, 1),
    "until_before": ("tumbling", "window_complete", {**TEN, "until": "2020-04-15 08:20:00"}, PASS),
    "none_since_until": (
        "nothing",
        "window_complete",
        {**TEN, "since": "2020-04-15 08:00:00", "until": "2020-04-15 09:00:00"},
        1,
    ),
    "finer": ("tumbling", "window_complete", {"size": "5 minutes"}, 3),
    "hop_complete": ("hopping", "window_complete", HOP, PASS),
    "hop_incomplete": ("hopping", "window_complete", {**HOP, "partition_by": "item"}, 1),
    "hop_other_slide": ("hopping", "window_complete", {**HOP, "slide": "1 minute"}, 8),
    # Nobody bid from 08:10 to 08:15.
    "cumulate_incomplete": ("cumulating", "window_complete", CUMULATE, 1),
    "cumulate_incomplete_keys": ("cumulating", "window_complete", {**CUMULATE, "partition_by": "item"}, 2),
    "gaps": ("tumbling", "no_gaps", {**TEN, "by": "item"}, 2),
    "gaps_span": ("tumbling", "no_gaps", {**TEN, "by": ["item"], "span": "all"}, 5),
    "gaps_from_to": (
        "tumbling",
        "no_gaps",
        {**TEN, "by": "item", "from": "2020-04-15 07:55:00", "to": "timestamp'2020-04-15 08:40:00'"},
        8,
    ),
    "hop_no_gaps": ("hopping_twice", "no_gaps", {"slide": "5 minutes", "size": "10 minutes"}, PASS),
    "gaps_of_nothing": ("nothing", "no_gaps", TEN, PASS),
    "all_missing": ("nothing", "no_gaps", {**TEN, "from": "2020-04-15 08:00:00", "to": "2020-04-15 08:40:00"}, 4),
    "spine_missing": (
        "nothing",
        "no_gaps",
        {**TEN, "by": "item", "spine": BIDS, "from": "2020-04-15 08:00:00", "to": "2020-04-15 08:11:00"},
        6,
    ),
    "aligned": ("tumbling", "window_aligned", TEN, PASS),
    "hop_aligned": ("hopping", "window_aligned", HOP, PASS),
    "hop_other_offset": ("hopping", "window_aligned", {**HOP, "offset": "2 minutes"}, 15),
    "cumulate_aligned": ("cumulating", "window_aligned", CUMULATE, PASS),
    "cumulate_other_offset": ("cumulating", "window_aligned", {**CUMULATE, "offset": "0 minutes"}, 13),
    "aligned_null": ("null_bounds", "window_aligned", TEN, 2),
    "off_the_grid": ("off_grid", "window_aligned", TEN, 4),
    "wrong_steps": ("too_long", "window_aligned", {"step": "5 minutes", "size": "15 minutes"}, 4),
    "apart": ("tumbling", "no_overlap", {"partition_by": "item"}, PASS),
    "apart_sessions": ("visits", "no_overlap", {"partition_by": "item"}, PASS),
    "overlap_without_key": ("tumbling", "no_overlap", {}, 3),
    "overlap": ("overlapping", "no_overlap", {"partition_by": "k"}, 3),
    "conserved": (
        "tumbling",
        "conserved",
        {
            "source": BIDS,
            "measure": "total",
            "source_measure": "price",
            "source_where": "ts is not null",
            "partition_by": "item",
        },
        PASS,
    ),
    "rows_conserved": (
        "tumbling",
        "conserved",
        {"source": BIDS, "measure": "bids", "source_measure": 1, "source_where": "ts is not null"},
        PASS,
    ),
    "times_conserved": (
        "hopping_twice",
        "conserved",
        {"source": BIDS, "measure": "total", "source_measure": "price", "source_where": "ts is not null", "times": 2},
        PASS,
    ),
    "doubles_conserved": (
        "tumbling",
        "conserved",
        {
            "source": BIDS,
            "measure": "total_dbl",
            "source_measure": "dbl",
            "source_where": "ts is not null",
            "tolerance": 1e-9,
        },
        PASS,
    ),
    "nothing_conserved": (
        "nothing",
        "conserved",
        {"source": "ref('no_bids')", "measure": "total", "source_measure": "price"},
        PASS,
    ),
    "lost_rows": ("tumbling", "conserved", {"source": BIDS, "measure": "bids", "source_measure": 1}, 1),
    "lost_all": ("nothing", "conserved", {"source": BIDS, "measure": "total", "source_measure": "price"}, 1),
    "counted_twice": ("hopping_twice", "conserved", {"source": BIDS, "measure": "total", "source_measure": "price"}, 1),
    # b is a cent off, z isn't in the source, NULL isn't in the windows.
    "wrong_keys": (
        "wrong_totals",
        "conserved",
        {
            "source": BIDS,
            "measure": "total",
            "source_measure": "price",
            "source_where": "ts is not null",
            "partition_by": "item",
        },
        3,
    ),
    "beyond_tolerance": (
        "wrong_totals",
        "conserved",
        {
            "source": BIDS,
            "measure": "total",
            "source_measure": "price",
            "tolerance": 0.5,
            "source_where": "ts is not null",
            "partition_by": "item",
        },
        2,
    ),
    # The latest row is at 08:36, a's at 08:25, b's at 08:36 and NULL's at 08:25.
    "in_time": ("tumbling", "watermark_lag", {"source": BIDS, "timecol": "ts", "max_lag": "0 minutes"}, PASS),
    "late": ("nothing", "watermark_lag", {"source": BIDS, "timecol": "ts", "max_lag": "1 day"}, 1),
    "no_source_rows": (
        "nothing",
        "watermark_lag",
        {"source": "ref('no_bids')", "timecol": "ts", "max_lag": "0 minutes"},
        PASS,
    ),
    "keys_behind": (
        "wrong_windows",
        "watermark_lag",
        {"source": BIDS, "timecol": "ts", "max_lag": "5 minutes", "partition_by": "item"},
        2,
    ),
    "keys_not_far_behind": (
        "wrong_windows",
        "watermark_lag",
        {"source": BIDS, "timecol": "ts", "max_lag": "16 minutes", "partition_by": "item"},
        1,
    ),
    "behind_the_clock": ("tumbling", "watermark_lag", {"max_lag": "1 day"}, 1),
    "in_time_by_the_clock": ("just_now", "watermark_lag", {"max_lag": "1 hour"}, PASS),
}
# b ends at 08:20, 16 minutes behind its row; NULL has no window at all.
MODELS["wrong_windows"] = """
    select 'a' as item, timestamp_ntz'2020-04-15 08:30:00' as window_end union all
    select 'b', timestamp_ntz'2020-04-15 08:20:00'"""
MODELS["just_now"] = "select current_timestamp() - interval 1 minute as window_end"

# The same in Europe/Berlin, where 02:00 to 03:00 of 2021-03-28 isn't there and that of 2021-10-31 twice.
IN_BERLIN: Tests = {
    "spring_complete": ("spring_hourly", "window_complete", {"size": "1 hour"}, PASS),
    "spring_aligned": ("spring_hourly", "window_aligned", {"size": "1 hour"}, PASS),
    "spring_apart": ("spring_hourly", "no_overlap", {}, PASS),
    "spring_no_gaps": ("spring_hourly", "no_gaps", {"size": "1 hour"}, PASS),
    "spring_gap": ("spring_broken", "no_gaps", {"size": "1 hour"}, 1),
    "spring_hop_no_gaps": ("spring_hop", "no_gaps", {"slide": "30 minutes", "size": "2 hours"}, PASS),
    "spring_growing_no_gaps": ("spring_growing", "no_gaps", {"step": "30m", "size": "4 hours"}, PASS),
    "autumn_no_gaps": ("autumn_hourly", "no_gaps", {"size": "1 hour"}, PASS),
    "days_no_gaps": ("daily", "no_gaps", {"size": "1 day"}, PASS),
    "spring_incomplete": ("spring_broken", "window_complete", {"size": "1 hour"}, 1),
    "spring_hop_complete": ("spring_hop", "window_complete", {"slide": "30 minutes", "size": "2 hours"}, PASS),
    "spring_hop_aligned": ("spring_hop", "window_aligned", {"slide": "30 minutes", "size": "2 hours"}, PASS),
    "spring_growing_complete": ("spring_growing", "window_complete", {"step": "30m", "size": "4 hours"}, PASS),
    "spring_growing_aligned": ("spring_growing", "window_aligned", {"step": "30m", "size": "4 hours"}, PASS),
    "autumn_complete": ("autumn_hourly", "window_complete", {"size": "1 hour"}, PASS),
    "autumn_aligned": ("autumn_hourly", "window_aligned", {"size": "1 hour"}, PASS),
    "autumn_apart": ("autumn_hourly", "no_overlap", {}, PASS),
    "days_complete": ("daily", "window_complete", {"size": "1 day"}, PASS),
    "days_aligned": ("daily", "window_aligned", {"size": "1 day"}, PASS),
    "days_of_another_zone": ("in_utc", "window_aligned", {"size": "1 day"}, 2),
}


def model_files(tests: Tests, prefix: str) -> dict[str, str]:
    """A project with all models, and the tests on them."""
    files = {}
    for name, sql in MODELS.items():
        for macro in ("tumble", "hop", "cumulate", "session"):
            sql = sql.replace(f"{macro.upper()}(", f"{prefix}{macro}(")
        files[f"models/{name}.sql"] = sql
    models: dict[str, dict[str, Any]] = {}
    for name, (model, test, arguments, _) in tests.items():
        entry = models.setdefault(model, {"name": model, "data_tests": []})
        entry["data_tests"].append({f"{prefix}{test}": {"name": name, "arguments": arguments}})
    files["models/schema.yml"] = yaml.safe_dump({"models": list(models.values())})
    return files


def _results(project: Project, *models: str) -> dict[str, tuple[str, int]]:
    """What became of each test: its status and how many failures it found."""
    project.dbt("run", "--select", *models)
    done = project.invoke("test", "--select", *models)
    assert done.exception is None, done.exception
    errors = [result.message for result in done.result.results if result.status in ("error", "skipped")]
    assert not errors, errors
    return {result.node.name: (str(result.status), int(result.failures or 0)) for result in done.result.results}


@pytest.fixture(scope="module")
def failures(make_project: Callable[..., Project], embedded: SparkSession) -> Iterator[dict[str, tuple[str, int]]]:
    """The results of all tests of the package on dbt-spark."""
    found: dict[str, tuple[str, int]] = {}
    try:
        for tests, zone in ((TESTS, "UTC"), (IN_BERLIN, "Europe/Berlin")):
            parameters = {**PARAMETERS, "spark.sql.session.timeZone": zone}
            files = with_package(model_files(tests, "sparkstream."))
            project = make_project(files, type="spark", host="none", server_side_parameters=parameters)
            project.dbt("deps")
            found |= _results(project, "+no_bids", *(f"+{model}" for model in {model for model, *_ in tests.values()}))
        yield found
    finally:
        embedded.conf.unset("spark.sql.session.timeZone")


@pytest.mark.parametrize("name", [*TESTS, *IN_BERLIN])
def test_finds_what_is_wrong(failures: dict[str, tuple[str, int]], name: str) -> None:
    expected = {**TESTS, **IN_BERLIN}[name][3]
    assert failures[name] == ("fail" if expected else "pass", expected)


@pytest.mark.full
def test_with_the_adapter_alone(make_project: Callable[..., Project]) -> None:
    """Their names are global then."""
    tests = {name: case for name, case in TESTS.items() if case[0] in ("tumbling", "off_grid")}
    assert {test for _, test, _, _ in tests.values()} >= {*WRONG, "window_aligned"}
    found = _results(make_project(model_files(tests, "")), "+no_bids", "+tumbling", "off_grid")
    assert found == {name: ("fail" if case[3] else "pass", case[3]) for name, case in tests.items()}


WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "window_complete": [
        ({"size": "ten"}, "window_complete's size is no interval: 'ten'"),
        ({"size": "1 month"}, "can't be in months"),
        ({**TEN, "slide": "1m", "step": "1m"}, "write slide for the windows of hop, step for those of cumulate"),
        ({"size": "10m", "step": "3m"}, "must be a whole multiple of its step"),
        ({**TEN, "span": "all"}, "write span: key or span: model"),
        ({**TEN, "partition_by": "a, b"}, "write a list of them: ['a', 'b']"),
    ],
    "conserved": [
        ({"source": BIDS, "measure": "x", "times": 0}, "conserved's times is no positive whole number: 0"),
        ({"source": BIDS, "measure": "x", "tolerance": -1}, "conserved's tolerance is no number of zero or more: -1"),
    ],
    "watermark_lag": [
        ({"source": BIDS, "max_lag": "1 day"}, "or neither to compare with the clock"),
        ({"max_lag": "soon"}, "watermark_lag's max_lag is no interval: 'soon'"),
    ],
    "no_gaps": [
        ({"by": "item"}, "no_gaps's size is missing"),
        ({**TEN, "span": "model"}, "no_gaps's span is neither key nor all: 'model'"),
        ({**TEN, "by": "item", "spine": BIDS}, "no_gaps's spine has keys without a window, whose time nothing says"),
    ],
    "no_overlap": [({"window_start": "a b"}, "no_overlap's window_start is no column name: a b")],
}


def test_wrong_arguments(make_project: Callable[..., Project]) -> None:
    tests = [(test, arguments, message) for test, cases in WRONG.items() for arguments, message in cases]
    generic = [{test: {"name": f"wrong_{i}", "arguments": args}} for i, (test, args, _) in enumerate(tests)]
    schema = yaml.safe_dump({"models": [{"name": "bids", "data_tests": generic}]})
    project = make_project({"models/bids.sql": "select 1 as id", "models/schema.yml": schema})
    done = project.invoke("build")
    messages = {result.node.name: str(result.message) for result in done.result.results}
    for i, (_, _, message) in enumerate(tests):
        assert message in messages[f"wrong_{i}"]


def test_compile_before_the_tables_are_there(make_project: Callable[..., Project]) -> None:
    """matches_rows knows its columns when it runs."""
    tests = "data_tests: [{matches_rows: {arguments: {expected: ref('b'), decimals: 2}}}]"
    project = make_project(
        {
            "models/a.sql": "select 1 as id, 2.0D as x",
            "models/b.sql": "select 2.001D as x, 1 as id",
            "models/a.yml": f"models: [{{name: a, {tests}}}]\n",
        }
    )
    project.dbt("compile")
    project.dbt("docs", "generate")
    project.dbt("build")
    project.sql("drop view {}.b")
    project.dbt("compile")
    assert "b has no columns, or isn't there" in project.failure("test")
