"""HOPs whose slide is longer than their size: the rows are what was asked for, and a warning says so."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt.adapters.sparkstream.sql import TranslationWarning, translate
from dbt.adapters.sparkstream.sql.passes.batches import BatchRows, Microbatch

FLINK = "HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '10' MINUTES)"


def warnings(sql: str, dialect: str = "spark", batch: Microbatch | None = None) -> list[TranslationWarning]:
    found: list[TranslationWarning] = []
    translate(sql, dialect, warn=found.append, batch=batch)
    return found


@pytest.mark.parametrize("group", ["", " group by window_start, window_end"])
@pytest.mark.parametrize(
    ("call", "dialect", "right"),
    [
        ("hop(bid, bidtime, '1 hour', '10 minutes')", "spark", "hop(..., '10 minutes', '1 hour')"),
        ("<< hop(bid, bidtime, '60m', '600s') >>", "spark", "hop(..., '10 minutes', '1 hour')"),
        ("hop(bid, bidtime, size => '10m', slide => '1h')", "spark", "hop(..., '10 minutes', '1 hour')"),
        (FLINK, "flink", "HOP(..., INTERVAL '10' MINUTE, INTERVAL '1' HOUR)"),
    ],
)
def test_which_argument_is_which(call: str, dialect: str, right: str, group: str) -> None:
    [warning] = warnings(f"select count(*) as n\nfrom {call}{group}", dialect)
    assert warning.message == (
        "hop(..., slide, size): the slide '1 hour' is longer than the size '10 minutes',"
        " so rows between two windows are in none"
    )
    assert warning.hint == f"if you mean windows of 1 hour every 10 minutes, write {right}"
    assert warning.line == 2


def test_once_for_a_statement() -> None:
    hop = "select * from hop(bid, bidtime, '1 hour', '10 minutes')"
    [warning] = warnings(f"{hop}\nunion all\n{hop};\n{hop}")
    assert warning.line == 1


def test_once_in_a_batch() -> None:
    """Where the text with the windows widened is translated in turn."""
    rows = (
        "(select * from db.bid where `ts` >= TIMESTAMP_NTZ'2024-01-02 00:00:00' "
        "and `ts` < TIMESTAMP_NTZ'2024-01-03 00:00:00')"
    )
    batch = Microbatch(
        datetime(2024, 1, 2), datetime(2024, 1, 3), lambda window, time, cut: BatchRows(cut.relation, "true")
    )
    assert len(warnings(f"select * from hop({rows}, ts, '1 hour', '10 minutes')", batch=batch)) == 1


@pytest.mark.parametrize(
    "call",
    ["hop(t, ts, '10m', '1h')", "hop(t, ts, '1h', '1h')", "hop(t, ts, '4m', '10m')", "cumulate(t, ts, '1m', '1h')"],
)
def test_no_time_between_windows(call: str) -> None:
    assert warnings(f"select * from {call}") == []
