"""The templater for sqlfluff: windows don't break linting, and fixes leave them as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlfluff.core import FluffConfig, Linter

from dbt.adapters.sparkstream.editors.linting import windows

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def linter() -> Linter:
    rules = "CP01,LT01,LT12"
    return Linter(config=FluffConfig(overrides={"dialect": "sparksql", "templater": "sparkstream", "rules": rules}))


WINDOWS = {
    "an island": "select window_start\nfrom << tumble({{ ref('bid') }}, bidtime, '10 minutes') >>\n",
    "an island over lines": "select 1 as x\nfrom << tumble(\n    {{ ref('bid') }},\n    ts, '1m'\n) >> as t\n",
    "an island in another": "select 1 as x\nfrom << tumble(<< hop(t, ts, '1m', '2m') >>, ts, '10m') >>\n",
    "brackets in strings": "select 1 as x\nfrom << tumble(t, ts, ')') >>\n",
    "the shortest one": "select 1 as x\nfrom <<hop(a)>>\n",
    "a table function": "select 1 as x\nfrom hop(table bid, descriptor(ts), interval '1' hour, interval '2' hours)\n",
    "a macro": "select window_start\nfrom {{ tumble(ref('bid'), 'bidtime', '10 minutes') }}\n",
    "the package's macro": "select 1 as x\nfrom {{ sparkstream.session('bid', 'bidtime', '5m', partition_by='k') }}\n",
    "a frame": "select {{ over('sum(x)', order_by='ts', frame='rows_range', start='3s') }} as s\nfrom t\n",
    "a stream": "select 1 as x\nfrom {{ stream(ref('bid'), watermark='1m') }}\nwhere {{ in_batch('ts') }}\n",
    "text of another system": "{% call window_sql(dialect='flink') %}\nSELECT a FROM TUMBLE(TABLE t)\n{% endcall %}\n",
    "the dialect in meta": "{{ config(meta={'sql_dialect': 'flink'}) }}\nSELECT  a FROM TUMBLE(TABLE t)\n",
    "a model in a dialect": "{{ config(sql_dialect='flink') }}\nSELECT  a FROM TUMBLE(TABLE t, DESCRIPTOR(x))\n",
    "shifts": "select a << b as c, '<< tumble(' as d\nfrom t -- from << tumble(\n",
}


@pytest.mark.parametrize("sql", WINDOWS.values(), ids=WINDOWS)
def test_nothing_to_say_of_a_window(sql: str, linter: Linter) -> None:
    assert [violation.desc() for violation in linter.lint_string(sql).get_violations()] == []


def test_what_is_around_a_window_is_linted_in_its_place(linter: Linter) -> None:
    sql = "select 1 as x\nfrom << tumble({{ ref('bid') }}, ts, '1m') >>\nWHERE  x = 1\n"
    found = linter.lint_string(sql).get_violations()
    assert sorted((v.rule_code(), v.line_no, v.line_pos) for v in found) == [("CP01", 3, 1), ("LT01", 3, 6)]


def test_a_fix_leaves_the_window(linter: Linter) -> None:
    sql = "select 1 as x\nfrom << TUMBLE({{  ref('bid') }},  ts, '1m') >>\nWHERE  x = 1\n"
    fixed, done = linter.lint_string(sql, fix=True).fix_string()
    assert done
    assert fixed == "select 1 as x\nfrom << TUMBLE({{  ref('bid') }},  ts, '1m') >>\nwhere x = 1\n"


def test_a_mistake_around_a_window_is_found(linter: Linter) -> None:
    found = linter.lint_string("select 1 as x\nfrom << tumble(t, ts, '1m') >> wher x = 1\n").get_violations()
    assert "PRS" in {violation.rule_code() for violation in found}


def test_a_window_that_is_not_closed_is_none() -> None:
    assert list(windows("select 1 from << tumble(t, ts, '1m')")) == []
    assert list(windows("select 1 from << tumble(t, ts, '1m' >>")) == []


def test_flink_may_be_linted_as_flink() -> None:
    linter = Linter(config=FluffConfig(overrides={"dialect": "flink", "templater": "sparkstream", "rules": "CP01"}))
    found = linter.lint_string("{{ config(sql_dialect='flink') }}\nselect a FROM t\n").get_violations()
    assert [violation.rule_code() for violation in found] == ["CP01"]
