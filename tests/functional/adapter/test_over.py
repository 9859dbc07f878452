"""The macro `over`: Spark's own frames on any adapter, the others through the translator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project, with_package

TICKS = """\
(select * from values
  (1, 'a', timestamp'2024-03-01 10:00:00', 10), (2, 'a', timestamp'2024-03-01 10:00:01', 20),
  (3, 'a', timestamp'2024-03-01 10:00:01', 30), (4, 'a', timestamp'2024-03-01 10:00:04', 40),
  (5, 'b', timestamp'2024-03-01 10:00:04', 50) as t(id, k, ts, v))"""
QUOTES = "(select 100 as id, 'a' as k, timestamp'2024-03-01 10:00:03' as ts, 7 as v)"

SPARKS: dict[str, list[int | None]] = {
    "over('sum(v)', 'k', ['ts', 'id'], start=1)": [10, 30, 50, 70, 50],
    "over('sum(v)', 'k', 'ts', 'range', start='3 seconds')": [10, 60, 60, 90, 50],
    "over('sum(v)', ['k'], 'ts', 'range', start='1 s', end='1 second following')": [60, 60, 60, 40, 50],
    "over('count(*)', order_by='ts, id')": [1, 2, 3, 4, 5],
    "over('max(v)', 'k', 'id desc', start=2, end='1 preceding')": [30, 40, 40, None, None],
    "over('sum(v)', 'k', 'id', 'range', start=1, end=0)": [10, 30, 50, 70, 50],
}
OURS: dict[str, list[int | None]] = {
    "over('sum(v)', 'k', ['ts', 'id'], 'rows_range', start='3 seconds')": [10, 30, 60, 90, 50],
    "over('sum(v)', 'k', ['ts', 'id'], 'rows_range', start='open 3 seconds')": [10, 30, 60, 40, 50],
    "over('sum(v)', 'k', 'ts', 'rows_range', start='3s', end='open 0')": [None, 10, 10, 50, None],
    "over('sum(v)', 'k', ['ts', 'id'], 'rows_range', start='1m', maxsize=2)": [10, 30, 50, 70, 50],
    "over('sum(v)', 'k', 'ts', 'rows_range', start='1m', exclude='current_time')": [10, 30, 40, 100, 50],
    "over('sum(v)', 'k', ['ts', 'id'], start=9, exclude=['current_row', 'current_time'])": [None, 10, 10, 60, None],
    "over('sum(v)', 'k', 'ts', 'rows_range', start='1m', union=QUOTES, instance_not_in_window=true)": [
        10,
        20,
        30,
        47,
        50,
    ],
}


def models(calls: dict[str, list[int | None]], package: str = "") -> dict[str, str]:
    relations = f'{{% set QUOTES = "{QUOTES}" %}}'
    return {
        f"models/m{i}.sql": f"{relations}select id, {{{{ {package}{call} }}}} as y from {TICKS} as t"
        for i, call in enumerate(calls)
    }


@pytest.fixture(scope="module")
def through_adapter(make_project: Callable[..., Project]) -> Project:
    project = make_project(models({**SPARKS, **OURS}))
    project.dbt("run")
    return project


@pytest.fixture(scope="module")
def plain(make_project: Callable[..., Project]) -> Project:
    project = make_project(with_package(models({**SPARKS, **OURS}, "sparkstream.")), type="spark", host="none")
    project.dbt("deps")
    return project


@pytest.mark.parametrize(("number", "call"), enumerate({**SPARKS, **OURS}))
def test_through_the_adapter(through_adapter: Project, number: int, call: str) -> None:
    want = {**SPARKS, **OURS}[call]
    assert through_adapter.rows(f"select id, y from {{}}.m{number}") == list(enumerate(want, 1))


def test_sparks_frames_stay_as_they_are(through_adapter: Project) -> None:
    assert "sum(v) OVER (PARTITION BY k ORDER BY ts, id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)" in (
        through_adapter.compiled("m0")
    )


def test_on_plain_spark(plain: Project) -> None:
    plain.dbt("run", "--select", *(f"m{i}" for i in range(len(SPARKS))))
    for i, want in enumerate(SPARKS.values()):
        assert plain.rows(f"select id, y from {{}}.m{i}") == list(enumerate(want, 1))


def test_what_needs_the_adapter(plain: Project) -> None:
    words = ["rows_range", "open start", "open end", "maxsize", "exclude", "exclude", "union, instance_not_in_window"]
    for i, word in enumerate(words, len(SPARKS)):
        message = plain.failure("compile", "--select", f"m{i}")
        assert word in message and "needs the adapter dbt-sparkstream" in message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("over('')", "write a call such as 'sum(price)'"),
        ("over('sum(v)', frame='groups')", "over has no frame 'groups'"),
        ("over('sum(v)', start='1 hour')", "over's start is no number of rows: '1 hour'"),
        ("over('sum(v)', 'k', 'ts', 'rows_range', start='1 month')", "over's start can't be in months"),
        ("over('sum(v)', exclude='ties')", "over can't exclude 'ties'"),
        ("over('sum(v)', 'k', 'ts', 'rows_range', maxsize=0)", "over's maxsize is no number of rows: 0"),
        ("over('sum(v)', 'k', 'ts', 'range', maxsize=3)", "frame='range' is Spark's own, and takes no maxsize"),
        ("over('sum(v)', partition_by=[1])", "over's partition_by is no column: 1"),
        ("over('sum(v)', 'k', 'ts', 'rows', maxsize=3)", "MAXSIZE is for ROWS_RANGE"),
    ],
)
def test_faults(through_adapter: Project, call: str, message: str) -> None:
    through_adapter.write({"analyses/fault.sql": f"select {{{{ {call} }}}} as y from {TICKS} as t"})
    assert message in through_adapter.failure("compile", "--select", "fault")
