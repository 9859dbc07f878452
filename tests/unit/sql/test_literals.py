"""Values as Spark SQL and JSON write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from dbt.adapters.sparkstream.sql.core.literals import read_time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-03-01", datetime(2024, 3, 1)),
        ("2024-03-01 10:00:00", datetime(2024, 3, 1, 10)),
        ("2024-03-01T10:00:00.5", datetime(2024, 3, 1, 10, 0, 0, 500_000)),
        ("2024-03-01T10:00:00.1234567Z", datetime(2024, 3, 1, 10, 0, 0, 123_456, timezone.utc)),
        ("2024-03-01 10:00:00.25+05:45", datetime(2024, 3, 1, 10, 0, 0, 250_000, timezone(timedelta(minutes=345)))),
    ],
)
def test_times(text: str, time: datetime) -> None:
    assert read_time(text) == time


@pytest.mark.parametrize("text", ["", "20240301", "3.5", "2024-03-01 10:00:00.", "2024-03-01 10:00:00.x", "noon"])
def test_no_times(text: str) -> None:
    with pytest.raises(ValueError, match=""):
        read_time(text)
