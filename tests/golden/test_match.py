"""Flink's answers to MATCH_RECOGNIZE: patterns of every kind, and random ones over small random tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.golden.runner import Case, compare, load, params
from tests.golden.test_flink import Door

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = load("flink_match.json")
NEED_TYPES = ("SUM(", "AVG(", " / ")
"""What answers in the type of the column, so it needs to know it."""


@pytest.fixture
def door(spark: SparkSession) -> Iterator[Callable[..., Door]]:
    """Opens a Door to a case's tables, and closes it when the test is over."""
    doors: list[Door] = []

    def open_door(case: Case, *, typed: bool) -> Door:
        doors.append(Door(spark, case, typed=typed))
        return doors[-1]

    yield open_door
    for opened in doors:
        opened.close()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_rows_with_types(door: Callable[..., Door], case: Case) -> None:
    assert case.expected
    compare(case.expected, door(case, typed=True).run(case.sql))


@pytest.mark.parametrize("case", params(case for case in CASES if not any(word in case.sql for word in NEED_TYPES)))
def test_rows_without_types(door: Callable[..., Door], case: Case) -> None:
    """The same rows where nobody tells the translator what the tables hold."""
    assert case.expected
    compare(case.expected, door(case, typed=False).run(case.sql))
