"""Names and texts of the user within what the adapter writes around them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt.adapters.sparkstream.export.marks import Marks
from dbt.adapters.sparkstream.messages.places import described
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.sql import TranslationError, translate

_SQL = "select * from tumble(t, ts, '0 minutes')"


@pytest.mark.parametrize("name", ["{}", "{0}", "{9}", "{a!r}", "%s"])
@pytest.mark.parametrize("is_a_file", [True, False])
def test_place_of_an_error(tmp_path: Path, name: str, is_a_file: bool) -> None:
    with pytest.raises(TranslationError) as found:
        translate(_SQL)
    if is_a_file:
        (tmp_path / f"{name}.sql").write_text(_SQL)
    node = SimpleNamespace(raw_code=_SQL, original_file_path=f"{name}.sql", name=name)
    text = described(found.value, node, tmp_path, "the SQL")
    assert (f"{name}.sql:1:{found.value.column}" if is_a_file else f"column {found.value.column} of {name}\n") in text


def test_marks_within_values() -> None:
    marks = Marks()
    first, second = marks.value("{{ var('dbt_mark_2_') }}"), marks.value("{{ var('b') }}")
    assert marks.restore(f"{first} {second} dbt_mark_7_") == "{{ var('dbt_mark_2_') }} {{ var('b') }} dbt_mark_7_"
    values = {"{{ var('dbt_mark_2_') }}": second, "{{ var('b') }}": "x"}
    assert marks.substitute(f"{first} {second}", values) == f"{second} x"


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ('[MISSING_AGGREGATION] The non-aggregating expression "window_start" is', "then what else stands"),
        ("[MISSING_GROUP_BY] The query does not include a GROUP BY clause.", "group by window_start, window_end"),
        ('[INVALID_WHERE_CONDITION] The WHERE condition "(sum(a) > 1)" contains', "write having"),
        ("[WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE] It is not allowed to use window functions", "write qualify"),
        ("[GROUP_BY_AGGREGATE] Aggregate functions are not allowed in GROUP BY", "the columns alone"),
        ("[UNSUPPORTED_EXPR_FOR_OPERATOR] The query operator Sort contains one or more", "order by with the name"),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near 'ON': extra input 'on'. SQLSTATE: 42601", "in backticks"),
        ("[UNRESOLVED_ROUTINE] Cannot resolve routine `nofun` on search path", "sql_dialect"),
        (
            "An error occurred while calling o135.save.\n: org.apache.spark.SparkException: Job aborted due to stage "
            "failure: Task 1 in stage 2.0 failed 1 times, most recent failure: Lost task 1.0 in stage 2.0 (TID 6) "
            "(localhost executor driver): org.apache.comet.CometNativeException: Not enough memory to continue "
            "external sort. Consider increasing the memory limit",
            "a larger spark.memory.offHeap.size",
        ),
    ],
)
def test_hints(message: str, hint: str) -> None:
    assert hint in readable(message)


def test_no_hint_where_a_syntax_error_is_at_no_word() -> None:
    assert "backticks" not in readable("[PARSE_SYNTAX_ERROR] Syntax error at or near end of input. SQLSTATE: 42601")
