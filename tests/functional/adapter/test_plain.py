"""The package on dbt-spark alone: it parses, what can work compiles, and what can't says what it needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from tests.functional.adapter.project import ROOT, Project, with_package

ROWS = "select 1 as k, timestamp'2024-01-01 00:00:00' as ts, 2.0 as price"

# Every public macro that has no need of the adapter -> a model that calls it.
WORKS = {
    "tumble": "select * from {{ sparkstream.tumble(ref('rows'), 'ts', '1 hour', offset='1 minute') }}",
    "hop": "select * from {{ sparkstream.hop(ref('rows'), 'ts', '1 hour', '2 hours') }}",
    "cumulate": "select * from {{ sparkstream.cumulate(ref('rows'), 'ts', '1 hour', '2 hours') }}",
    "session": "select * from {{ sparkstream.session(ref('rows'), 'ts', '1 hour', 'k', '3 hours', 'k = 2') }}",
    "window_join": "select * from {{ sparkstream.window_join(ref('tumbling'), ref('tumbling'), 'k', 'full') }}",
    "window_top_n": "select * from {{ sparkstream.window_top_n(ref('tumbling'), 3, 'price desc', 'k') }}",
    "window_dedup": "select * from {{ sparkstream.window_dedup(ref('tumbling'), 'k', 'ts') }}",
    "asof_join": (
        "select * from {{ sparkstream.asof_join(ref('rows'), ref('timed'), 'k', 'ts', 'ts', 'nearest', '1 hour',"
        " columns={'price': 'other'}) }}"
    ),
    "window_around": (
        "select * from {{ sparkstream.window_around(ref('rows'), ref('timed'), 'k', 'ts', 'ts', '1 hour', '0 seconds',"
        " {'n': 'count', 'total': ['sum', 'price + 1']}) }}"
    ),
    "gapfill": (
        "select * from {{ sparkstream.gapfill(ref('tumbling'), 'k', '1 hour', offset='1 minute', span='all',"
        " fill={'price': 'linear'}, max_gap=3) }}"
    ),
    "over": "select {{ sparkstream.over('sum(price)', 'k', 'ts', 'range', '5 minutes') }} as n from {{ ref('rows') }}",
    "microbatch": (
        "{{ config(materialized='incremental', incremental_strategy='microbatch', partition_by='day',"
        " begin='2024-01-01', event_time='window_time', batch_size='day') }}\n"
        "select *, cast(window_time as date) as day from {{ sparkstream.tumble(ref('timed'), 'ts', '1 hour') }}"
    ),
}
STREAM = "{{ config(materialized='streaming_incremental') }}\n"
REPLACE = "{{ config(materialized='incremental', incremental_strategy='window_replace') }}\n"

# What only the adapter can do -> a model that asks for it.
NEEDS = {
    "window_sql": "{% call sparkstream.window_sql(dialect='flink') %}select 1{% endcall %}",
    "stream": STREAM + "select * from {{ sparkstream.stream(ref('rows')) }}",
    "streaming_incremental": STREAM + "select * from {{ sparkstream.tumble(ref('rows'), 'ts', '1 hour') }}",
    "rows_range": "select {{ sparkstream.over('sum(k)', none, 'ts', 'rows_range') }} as n from {{ ref('rows') }}",
    "window_replace": REPLACE + "select * from {{ sparkstream.tumble(ref('rows'), 'ts', '1 hour') }}",
}
TESTS = {
    "window_aligned": {"size": "1 hour", "offset": "1 minute"},
    "window_complete": {"size": "1 hour", "offset": "1 minute", "partition_by": "k"},
    "no_gaps": {"size": "1 hour", "offset": "1 minute", "by": "k", "from": "2023-12-31 23:30:00", "span": "all"},
    "no_overlap": {"partition_by": ["k"]},
    "conserved": {"source": "ref('rows')", "measure": "price"},
    "watermark_lag": {"source": "ref('rows')", "timecol": "ts", "max_lag": "1 hour"},
    "matches_rows": {"expected": "ref('tumbling')"},
    "no_late_rows": {"max_percent": 1},
}
PROJECT = """\
name: shop
version: '1.0'
config-version: 2
profile: shop
flags:
  # dbt 2 always does this.
  validate_macro_args: true
"""


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    properties = {
        "models": [
            {"name": "timed", "config": {"event_time": "ts"}},
            {
                "name": "tumbling",
                "data_tests": [{f"sparkstream.{name}": {"arguments": given}} for name, given in TESTS.items()],
            },
        ]
    }
    models = {"rows": ROWS, "timed": ROWS, "tumbling": WORKS["tumble"]}
    models |= {f"works/works_{name}": text for name, text in WORKS.items()}
    models |= {f"needs/needs_{name}": text for name, text in NEEDS.items()}
    files = {f"models/{name}.sql": text for name, text in models.items()}
    files |= {"models/models.yml": yaml.safe_dump(properties), "dbt_project.yml": PROJECT}
    project = make_project(with_package(files), type="spark", host="none")
    project.dbt("deps")
    return project


def test_every_public_macro_is_here() -> None:
    files = [path.stem for folder in ("windows", "streaming") for path in (ROOT / "macros" / folder).glob("*.yml")]
    assert {*files} <= {*WORKS, *NEEDS}
    assert {path.stem for path in (ROOT / "macros" / "tests").glob("*.yml")} == {*TESTS}


def test_parses_without_a_warning(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """dbt warns of what it will no longer take, and of what dbt 2 has against the YAML of macros."""
    monkeypatch.setattr("dbt_common.tests._TEST_CACHING_ENABLED", False)  # what is parsed twice warns once
    shop.dbt("--no-partial-parse", "--warn-error", "--show-all-deprecations", "parse")


def test_compiles(shop: Project) -> None:
    shop.dbt("run", "--select", "rows", "timed", "tumbling")
    shop.dbt("compile", "--exclude", "path:models/needs")
    assert "window(CAST(ts AS TIMESTAMP_NTZ), '1 hour'" in shop.compiled("works_tumble")


@pytest.mark.parametrize("name", NEEDS)
def test_needs_the_adapter(shop: Project, name: str) -> None:
    failure = shop.failure("compile", "--select", f"needs_{name}")
    assert f"Compilation Error in model needs_{name} (models/needs/needs_{name}.sql)" in failure
    assert "needs the adapter dbt-sparkstream" in failure
    assert "pip install dbt-sparkstream" in failure
    assert "type: sparkstream" in failure
