"""Rows from Comet: what is recorded of other systems, and what the references of random tables give.

The tests are those of `tests/golden` and `tests/property`, which Spark alone passes; here they get a Spark with Comet.
"""

from __future__ import annotations

from tests.golden.test_flink import door, every_rule, test_rows_by_the_optimiser, test_rows_with_types
from tests.golden.test_openmldb import test_rows_are_openmldbs
from tests.golden.test_sqlstream import test_rows_are_sqlstreams
from tests.property.test_flink_sql import test_flink_sql_gives_the_rows_of_hand_written_sql
from tests.property.test_frames import test_frames_hold_the_rows_of_the_rules
from tests.property.test_sessions import test_rows_get_their_sessions
from tests.property.test_windows import (
    test_aggregates_per_window,
    test_group_windows,
    test_many_tables,
    test_optimiser_changes_no_answer,
    test_rows_get_their_windows,
)

__all__ = [
    "door",
    "every_rule",
    "test_aggregates_per_window",
    "test_flink_sql_gives_the_rows_of_hand_written_sql",
    "test_frames_hold_the_rows_of_the_rules",
    "test_group_windows",
    "test_many_tables",
    "test_optimiser_changes_no_answer",
    "test_rows_are_openmldbs",
    "test_rows_are_sqlstreams",
    "test_rows_by_the_optimiser",
    "test_rows_get_their_sessions",
    "test_rows_get_their_windows",
    "test_rows_with_types",
]
