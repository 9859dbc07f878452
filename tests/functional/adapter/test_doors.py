"""Every way to write a window, in everything that dbt builds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.functional.adapter.project import Project, with_package
from tests.lib.support import sampled

BID = """\
bidtime,price,item,supplier_id
2020-04-15 08:05:00,4.00,C,supplier1
2020-04-15 08:07:00,2.00,A,supplier1
2020-04-15 08:09:00,5.00,D,supplier2
2020-04-15 08:11:00,3.00,B,supplier2
2020-04-15 08:13:00,1.00,E,supplier1
2020-04-15 08:17:00,6.00,F,supplier2
"""

SEEDS = """\
seeds:
  - name: bid
    config:
      column_types: {bidtime: timestamp, price: "decimal(10,2)"}
"""

MACRO = """\
select window_start, window_end, sum(price) as total_price
from {{ tumble(ref('bid'), 'bidtime', '10 minutes') }}
group by window_start, window_end
"""

ISLAND = """\
select window_start, window_end, sum(price) as total_price
from << tumble({{ ref('bid') }}, bidtime, '10 minutes') >>
group by window_start, window_end
"""

FLINK = """\
SELECT window_start, window_end, SUM(price) AS total_price
FROM TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end
"""

CALL = "{% call window_sql(dialect='flink') %}\n" + FLINK + "{% endcall %}\n"

DIALECT = "{{ config(sql_dialect='flink') }}\n" + FLINK

DOORS = {"macro": MACRO, "island": ISLAND, "call": CALL, "dialect": DIALECT}

EIGHT, TEN_PAST, TWENTY_PAST = (datetime(2020, 4, 15, 8, minute) for minute in (0, 10, 20))
TOTALS = [(EIGHT, TEN_PAST, Decimal("11.00")), (TEN_PAST, TWENTY_PAST, Decimal("10.00"))]


def config(**options: str) -> str:
    return "{{ config(" + ", ".join(f"{name}={value!r}" for name, value in options.items()) + ") }}\n"


def shop() -> dict[str, str]:
    """A project with each door in each kind of node."""
    files = {"seeds/bid.csv": BID, "seeds/seeds.yml": SEEDS}
    unit_tests = []
    for door, sql in DOORS.items():
        for kind in ("view", "table", "incremental", "ephemeral"):
            strategy = {"incremental_strategy": "append"} if kind == "incremental" else {}
            files[f"models/{door}_{kind}.sql"] = config(materialized=kind, **strategy) + sql
        files[f"models/{door}_above_ephemeral.sql"] = f"select * from {{{{ ref('{door}_ephemeral') }}}}"
        files[f"tests/{door}_never_negative.sql"] = (
            sql + "having sum(price) < 0\n"
            if door != "call"
            else (sql.replace("{% endcall %}", "HAVING SUM(price) < 0\n{% endcall %}"))
        )
        files[f"analyses/{door}_analysis.sql"] = sql
        files[f"snapshots/{door}_snapshot.sql"] = (
            f"{{% snapshot {door}_snapshot %}}\n"
            + config(strategy="check", check_cols="all", unique_key="window_start", file_format="delta")
            + sql
            + "{% endsnapshot %}\n"
        )
        unit_tests.append(
            f"""\
  - name: {door}_adds_up
    model: {door}_table
    given:
      - input: ref('bid')
        rows:
          - {{bidtime: "2020-04-15 08:00:00", price: 1.5}}
          - {{bidtime: "2020-04-15 08:09:59.999", price: 2}}
          - {{bidtime: "2020-04-15 08:10:00", price: 4}}
    expect:
      rows:
        - {{window_start: "2020-04-15 08:00:00", window_end: "2020-04-15 08:10:00", total_price: 3.5}}
        - {{window_start: "2020-04-15 08:10:00", window_end: "2020-04-15 08:20:00", total_price: 4}}
"""
        )
    files["models/names.sql"] = "select 'x' as name"
    files["models/lengths.sql"] = "select name, length(name) as n from {{ ref('names') }}"
    unit_tests.append(
        """\
  - name: texts_have_backslashes
    model: lengths
    given:
      - input: ref('names')
        rows: [{name: 'C:\\temp'}, {name: 'it\'\'s \\'}]
    expect:
      rows: [{name: 'C:\\temp', n: 7}, {name: 'it\'\'s \\', n: 6}]
"""
    )
    files["models/contracted.sql"] = ISLAND
    files["models/contracted.yml"] = """\
models:
  - name: contracted
    config: {materialized: table, contract: {enforced: true}, persist_docs: {relation: true, columns: true}}
    columns:
      - {name: window_start, data_type: timestamp}
      - {name: window_end, data_type: timestamp}
      - {name: total_price, data_type: "decimal(20,2)", description: What was bid in ten minutes}
"""
    files["models/unit_tests.yml"] = "unit_tests:\n" + "".join(unit_tests)
    return files


@pytest.fixture(scope="module")
def built(make_project: Callable[..., Project]) -> Project:
    """The project, built; snapshots need a table format that Spark comes without, so they are only compiled."""
    project = make_project(shop())
    project.dbt("build", "--exclude", "resource_type:snapshot")
    return project


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["view", "table", "incremental", "above_ephemeral"])
def test_rows(built: Project, door: str, kind: str) -> None:
    assert built.rows(f"select * from {{}}.{door}_{kind}") == TOTALS


def test_contract(built: Project) -> None:
    assert built.rows("select * from {}.contracted") == TOTALS


@pytest.mark.parametrize("door", DOORS)
def test_target_has_the_sql_that_runs(built: Project, door: str) -> None:
    compiled = built.compiled(f"{door}_table")
    assert "/* tumble: windows of 10 minutes on bidtime */" in compiled
    assert "<<" not in compiled and "DESCRIPTOR" not in compiled
    assert compiled.strip() in built.executed(f"{door}_table")
    assert "/* tumble: windows" in built.compiled(f"{door}_above_ephemeral")
    assert "/* tumble: windows" in built.compiled(f"{door}_never_negative")
    assert "/* tumble: windows" in built.manifest()["nodes"][f"model.shop.{door}_view"]["compiled_code"]


def test_snapshots_and_analyses_compile(built: Project) -> None:
    result = built.dbt("compile", "--select", "resource_type:snapshot", "resource_type:analysis")
    nodes = {r.node.name: r.node.compiled_code for r in result.results}
    assert sorted(nodes) == sorted(f"{door}_{kind}" for door in DOORS for kind in ("snapshot", "analysis"))
    assert all("/* tumble: windows of 10 minutes on bidtime */" in sql for sql in nodes.values())


@pytest.mark.long
def test_second_run_of_an_incremental_model(built: Project) -> None:
    models = [f"{door}_incremental" for door in DOORS]
    built.dbt("run", "--select", *models, "--full-refresh")
    built.dbt("run", "--select", *models)
    for model in models:
        assert built.rows(f"select * from {{}}.{model}") == sorted(TOTALS * 2)


def test_show(built: Project) -> None:
    results = built.dbt("show", "--select", *(f"{door}_table" for door in DOORS), "--limit", "1").results
    assert len(results) == len(DOORS)
    for result in results:
        assert len(result.agate_table.rows) == 1
        assert result.agate_table.column_names == ("window_start", "window_end", "total_price")


@pytest.mark.parametrize("door", ["macro", "island", "call"])
def test_show_inline(built: Project, door: str) -> None:
    [result] = built.dbt("show", "--inline", DOORS[door]).results
    assert sorted(row["total_price"] for row in result.agate_table.rows) == [10, 11]


def test_show_inline_direct(built: Project, capfd: pytest.CaptureFixture[str]) -> None:
    query = ISLAND.replace("{{ ref('bid') }}", f"{built.schema}.bid") + "order by window_start"
    done = built.invoke("show", "--inline-direct", query, "--limit", "1", "--output", "json", quiet=False)
    assert done.success, done.exception
    shown = capfd.readouterr().out
    assert '"total_price": 11.0' in shown and '"total_price": 10.0' not in shown


@pytest.mark.parametrize("door", sampled(["macro", "island", "call", "dialect"], share=2))
def test_empty(built: Project, door: str) -> None:
    built.dbt("run", "--empty", "--select", f"{door}_table")
    try:
        assert built.rows(f"select * from {{}}.{door}_table") == []
    finally:
        built.dbt("run", "--select", f"{door}_table")


HOOK = """\
{% macro totals_view(name) %}
  create or replace temporary view {{ name }}_{{ target.schema }} as
  select window_start, window_end, sum(price) as total_price
  from << tumble({{ target.schema }}.bid, bidtime, '10 minutes') >>
  group by window_start, window_end
{% endmacro %}

{% macro totals() %}
  {% set answer = run_query("select count(*) as n from << tumble(" ~ target.schema ~ ".bid, bidtime, '10m') >>") %}
  {% if answer.columns['n'].values() | list != [6] %}{% do exceptions.raise_compiler_error('wrong') %}{% endif %}
{% endmacro %}
"""


def test_hooks_and_operations(make_project: Callable[..., Project]) -> None:
    project = make_project(
        {
            "seeds/bid.csv": BID,
            "seeds/seeds.yml": SEEDS,
            "macros/hook.sql": HOOK,
            "models/plain.sql": "{{ config(pre_hook=totals_view('before'), post_hook=totals_view('after')) }}\n"
            "select count(*) as bids from {{ ref('bid') }}",
        }
    )
    with (project.folder / "dbt_project.yml").open("a") as file:
        file.write("on-run-end: \"{{ totals_view('end') }}\"\n")
    project.dbt("build")
    for when in ("before", "after", "end"):
        assert project.rows(f"select * from {when}_{{}}") == TOTALS
    project.dbt("run-operation", "totals")


RELATIONS: dict[str, str] = {
    "a CTE": """\
with bids as (select * from {{ ref('bid') }})
select window_start, window_end, sum(price) as total_price
from {{ tumble('bids', 'bidtime', '10 minutes') }} as w
group by window_start, window_end
""",
    "a query": """\
select window_start, window_end, sum(price) as total_price
from {{ tumble('(select * from ' ~ ref('bid') ~ ')', 'bidtime', '10 minutes') }}
group by window_start, window_end
""",
    "a query with a name": """\
select window_start, window_end, sum(price) as total_price
from {{ tumble('(select * from ' ~ ref('bid') ~ ') as b', 'bidtime', '10 minutes') }}
group by window_start, window_end
""",
    "a name": """\
-- depends_on: {{ ref('bid') }}
select window_start, window_end, sum(price) as total_price
from {{ tumble(target.schema ~ '.bid', 'bidtime', '10 minutes') }}
group by window_start, window_end
""",
    "a column in backticks": """\
with bids as (select *, bidtime as `bid time` from {{ ref('bid') }})
select window_start, window_end, sum(price) as total_price
from {{ tumble('bids', '`bid time`', '10 minutes') }}
group by window_start, window_end
""",
    "window on window": """\
with small as (
  select window_time as t, sum(price) as price
  from {{ tumble(ref('bid'), 'bidtime', '5 minutes') }}
  group by window_start, window_end, window_time
)
select window_start, window_end, sum(price) as total_price
from {{ tumble('small', 't', '10 minutes') }}
group by window_start, window_end
""",
}


@pytest.mark.long
@pytest.mark.parametrize("type_", ["sparkstream", "spark"])
def test_relations(make_project: Callable[..., Project], type_: str) -> None:
    prefix = "" if type_ == "sparkstream" else "sparkstream."
    files: dict[str, Any] = {"seeds/bid.csv": BID, "seeds/seeds.yml": SEEDS}
    for i, sql in enumerate(RELATIONS.values()):
        files[f"models/m{i}.sql"] = sql.replace("{{ tumble", "{{ " + prefix + "tumble")
    project = make_project(with_package(files) if prefix else files, type=type_, host="none")
    if prefix:
        project.dbt("deps")
    project.dbt("build")
    for i, what in enumerate(RELATIONS):
        assert project.rows(f"select * from {{}}.m{i}") == TOTALS, what
