"""The window macros, as plain Jinja on dbt-spark and through the translator of the adapter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.adapter.project import Project, with_package
from tests.lib.support import sampled
from tests.property.window_reference import (
    DAY,
    HOUR,
    MINUTE,
    MS,
    SECOND,
    Bounds,
    Cumulate,
    Hop,
    RuledSession,
    Session,
    SessionRow,
    Tumble,
    assign,
    assign_sessions,
    instant,
    wall_clock,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EPOCH = datetime(1970, 1, 1)

Window = Tumble | Hop | Cumulate | Session | RuledSession

# What the macro is called with -> the window that it means.
WINDOWS: dict[str, Window] = {
    "tumble(EVENTS, 'ts', '10 minutes')": Tumble(10 * MINUTE),
    "tumble(EVENTS, 'ts', '10m', '2 minutes')": Tumble(10 * MINUTE, 2 * MINUTE),
    "tumble(EVENTS, 'ts', '10 Minutes', offset='-2 min')": Tumble(10 * MINUTE, -2 * MINUTE),
    "tumble(EVENTS, 'ts', '1 week')": Tumble(7 * DAY),
    "tumble(EVENTS, 'ts', '7 DAYS', '-3d')": Tumble(7 * DAY, -3 * DAY),
    "tumble(EVENTS, 'ts', '0.25 seconds')": Tumble(250 * MS),
    "tumble(EVENTS, 'ts', '7ms')": Tumble(7 * MS),
    'tumble(EVENTS, "ts", "INTERVAL \'90\' MINUTES")': Tumble(90 * MINUTE),
    "tumble(EVENTS, 'ts', 'INTERVAL 90 MINUTES')": Tumble(90 * MINUTE),
    "tumble(EVENTS, 'ts', '1 hour 30 minutes')": Tumble(90 * MINUTE),
    "tumble(EVENTS, 'ts', '1h30m')": Tumble(90 * MINUTE),
    "hop(EVENTS, 'ts', '5 minutes', '10 minutes')": Hop(5 * MINUTE, 10 * MINUTE),
    "hop(EVENTS, 'ts', '4 minutes', '10 minutes')": Hop(4 * MINUTE, 10 * MINUTE),
    "hop(EVENTS, 'ts', '10 minutes', '4 minutes')": Hop(10 * MINUTE, 4 * MINUTE),
    "hop(EVENTS, 'ts', '5 minutes', '5 minutes')": Hop(5 * MINUTE, 5 * MINUTE),
    "hop(EVENTS, 'ts', '5 minutes', '10 minutes', '31 minutes')": Hop(5 * MINUTE, 10 * MINUTE, 31 * MINUTE),
    "hop(EVENTS, 'ts', '5 minutes', '12 minutes', '-31 minutes')": Hop(5 * MINUTE, 12 * MINUTE, -31 * MINUTE),
    "cumulate(EVENTS, 'ts', '2 minutes', '10 minutes')": Cumulate(2 * MINUTE, 10 * MINUTE),
    "cumulate(EVENTS, 'ts', '10 minutes', '10 minutes')": Cumulate(10 * MINUTE, 10 * MINUTE),
    "cumulate(EVENTS, 'ts', '6 hours', '1 day', '25 hours')": Cumulate(6 * HOUR, DAY, 25 * HOUR),
    "cumulate(EVENTS, 'ts', '1s', '1m', '-1500ms')": Cumulate(SECOND, MINUTE, -1500 * MS),
    "session(EVENTS, 'ts', '2 minutes')": Session(2 * MINUTE),
    "session(EVENTS, 'ts', '2 minutes', partition_by='k')": Session(2 * MINUTE, keyed=True),
    "session(EVENTS, 'ts', '2 minutes', ['k'])": Session(2 * MINUTE, keyed=True),
    "session(EVENTS, 'ts', 'id')": RuledSession(None),
    "session(EVENTS, 'ts', '2 minutes', max_duration='3 minutes')": RuledSession(2 * MINUTE, 3 * MINUTE),
    "session(EVENTS, 'ts', '2 minutes', 'k', close_on='id % 3 = 1')": RuledSession(2 * MINUTE, keyed=True),
    "session(EVENTS, 'ts', gap='`id`', partition_by=['k'], max_duration='1s', close_on='id % 3 = 1')": RuledSession(
        None, SECOND, keyed=True
    ),
}

# Ties, gaps of exactly two minutes and a bit more, parts of a millisecond, before 1970, year 1, no time, no key.
TIMES = [
    (1, "2020-04-15 08:05:00", "a"),
    (2, "2020-04-15 08:05:00", "a"),
    (3, "2020-04-15 08:07:00", "a"),
    (4, "2020-04-15 08:09:00.001", "a"),
    (5, "2020-04-15 08:06:00", "b"),
    (6, "2020-04-15 08:09:59.999999", "b"),
    (7, "2020-04-15 08:10:00", None),
    (8, "2020-04-15 08:11:59.9995", None),
    (9, None, "a"),
    (10, "1969-12-31 23:59:59.999", "a"),
    (11, "1960-02-29 12:34:56.789", "b"),
    (12, "0001-01-05 00:00:00", "a"),
    (13, "2024-02-29 23:59:59", "c"),
    (14, None, None),
]


def micros(text: str | None) -> int | None:
    return None if text is None else (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


def table(type_: str) -> str:
    rows = ",\n  ".join(
        f"({i}, {'null' if ts is None else repr(ts)}, {'null' if k is None else repr(k)})" for i, ts, k in TIMES
    )
    return f"select id, cast(ts as {type_}) as ts, k from values\n  {rows}\nas t(id, ts, k)"


def assigned(call: str) -> list[list[Bounds]]:
    window = WINDOWS[call]
    if not isinstance(window, RuledSession):
        return assign(window, [micros(ts) for _, ts, _ in TIMES], [k for _, _, k in TIMES])
    rows = [SessionRow(micros(ts), k, i * SECOND, "close_on" in call and i % 3 == 1) for i, ts, k in TIMES]
    return [[bounds] if bounds else [] for bounds in assign_sessions(window, rows)]


def expected(call: str) -> Counter[tuple[Any, ...]]:
    return Counter(
        (row[0], EPOCH + timedelta(microseconds=start), EPOCH + timedelta(microseconds=end))
        for row, bounds in zip(TIMES, assigned(call), strict=True)
        for start, end in bounds
    )


# In Berlin, 02:00 was 03:00 on 2021-03-28: times before and behind it.
NIGHT = [1616887800, 1616891400, 1616893200, 1622541600]
NIGHTLY: dict[str, Tumble | Hop | Cumulate | Session] = {
    "cumulate(NIGHT, 'ts', '15 minutes', '4 hours')": Cumulate(15 * MINUTE, 4 * HOUR),
    "hop(NIGHT, 'ts', '15 minutes', '75 minutes')": Hop(15 * MINUTE, 75 * MINUTE),
    "hop(NIGHT, 'ts', '1 hour', '364 days')": Hop(HOUR, 364 * DAY),
    "tumble(NIGHT, 'ts', '15 minutes')": Tumble(15 * MINUTE),
    "session(NIGHT, 'ts', '50 minutes')": Session(50 * MINUTE),
}


def models(prefix: str = "") -> dict[str, str]:
    files = {"models/ntz.sql": table("timestamp_ntz"), "models/instants.sql": table("timestamp")}
    times = ", ".join(f"({second})" for second in NIGHT)
    files["models/night.sql"] = f"select timestamp_seconds(s) as ts from values {times} as t(s)"
    for i, call in enumerate(NIGHTLY):
        relation = call.replace("NIGHT", "ref('night')")
        files[f"models/night_{i}.sql"] = f"select * from {{{{ {prefix}{relation} }}}}"
    for i, call in enumerate(WINDOWS):
        for source in ("ntz", "instants"):
            text = call.replace("EVENTS", f"ref('{source}')")
            files[f"models/{source}_{i}.sql"] = f"select * from {{{{ {prefix}{text} }}}}"
    return files


@pytest.fixture(scope="module", params=sampled(["sparkstream", "spark"], share=2))
def windows(request: pytest.FixtureRequest, make_project: Callable[..., Project]) -> Project:
    """A project with every window, built: with the package on dbt-spark, and on the adapter alone."""
    if request.param == "spark":
        project = make_project(with_package(models("sparkstream.")), type="spark", host="none")
        project.dbt("deps")
    else:
        project = make_project(models())
    project.dbt("run", "--select", "ntz", "instants", "night")
    project.dbt("compile")
    return project


@pytest.mark.parametrize("call", WINDOWS)
def test_rows(windows: Project, embedded: SparkSession, call: str) -> None:
    i = list(WINDOWS).index(call)
    for source, type_ in (("ntz", "timestamp_ntz"), ("instants", "timestamp")):
        answer = embedded.sql(windows.compiled(f"{source}_{i}"))
        assert answer.columns == ["id", "ts", "k", "window_start", "window_end", "window_time"]
        assert [t for _, t in answer.dtypes[3:]] == [type_] * 3
        clock = answer.selectExpr(
            "id", *(f"cast({c} as timestamp_ntz)" for c in ("window_start", "window_end", "window_time"))
        )
        rows = clock.collect()
        assert Counter((r[0], r[1], r[2]) for r in rows) == expected(call)
        assert all(r[3] == r[2] - timedelta(milliseconds=1) for r in rows)


@pytest.mark.parametrize("call", NIGHTLY)
def test_rows_where_the_clock_skips_an_hour(windows: Project, embedded: SparkSession, call: str) -> None:
    """Windows of the same bounds are one, and a row is in it once."""
    zone = "Europe/Berlin"
    found = assign(NIGHTLY[call], [wall_clock(second * SECOND, zone) for second in NIGHT], [None] * len(NIGHT))
    rows = [{(instant(a, zone), instant(b, zone)) for a, b in windows_} for windows_ in found]
    want = Counter((s * SECOND, a, b, b - MS) for s, windows_ in zip(NIGHT, rows, strict=True) for a, b in windows_)
    before = embedded.conf.get("spark.sql.session.timeZone")
    assert before
    embedded.conf.set("spark.sql.session.timeZone", zone)
    try:
        answer = embedded.sql(windows.compiled(f"night_{list(NIGHTLY).index(call)}"))
        times = answer.selectExpr(*(f"unix_micros({column})" for column in answer.columns)).collect()
    finally:
        embedded.conf.set("spark.sql.session.timeZone", before)
    assert Counter(tuple(row) for row in times) == want


def test_a_slide_longer_than_the_size_is_warned_of(windows: Project, capsys: pytest.CaptureFixture[str]) -> None:
    number = list(WINDOWS).index("hop(EVENTS, 'ts', '10 minutes', '4 minutes')")
    assert windows.invoke("compile", "--select", f"ntz_{number}", quiet=False).success
    out = " ".join(capsys.readouterr().out.split())
    message = "the slide '10 minutes' is longer than the size '4 minutes', so rows between two windows are in none"
    assert out.count(message) == 1
    assert "if you mean windows of 10 minutes every 4 minutes, write hop(..., '4 minutes', '10 minutes')" in out


def test_readable(windows: Project) -> None:
    """The compiled SQL says which window it is and has no line of white space in it."""
    for i, call in enumerate(WINDOWS):
        sql = windows.compiled(f"ntz_{i}")
        assert (
            re.search(rf"/\* {call.split('(')[0]}: .*on ts", sql)
            or ("hop" in call and "/* tumble:" in sql)
            or ("cumulate" in call and "/* tumble:" in sql)
        )
        assert not re.search(r"\n\s*\n|[ \t]+\n", sql)
