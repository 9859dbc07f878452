"""`sparkstream build`: the project that it writes runs on plain dbt-spark, with the same rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt.adapters.sparkstream.cli import main
from tests.functional.adapter.project import PARAMETERS, Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIDS = """\
id,bidtime,price,item
1,2024-01-01 08:05:00,4,a
2,2024-01-01 08:07:00,2,a
3,2024-01-01 08:09:30,5,b
4,2024-01-01 08:11:00,3,a
5,2024-01-02 00:00:00,1,b
"""
PROJECT = """\
name: shop
version: '1.0'
config-version: 2
profile: shop
vars:
  until: '2024-01-02'
  floor: 1
  sparkstream_examples: false
models:
  shop:
    flinkish:
      +sql_dialect: flink
dispatch:
  - {macro_namespace: sparkstream, search_order: [shop, dbt]}
"""
SEEDS = """\
seeds:
  - name: bids
    config:
      column_types: {bidtime: timestamp_ntz, price: int}
"""
# Model -> its template.
MODELS = {
    "untouched": "-- the cheap ones\nselect * from {{ ref('bids') }} where price < {{ var('floor') }} + 2\n",
    "by_macro": (
        "{# Windows of ten minutes. #}\n{{ config(materialized='table', optimize=false) }}\n"
        "select bids.item, window_start, sum(bids.price) as total\n"
        "from {{ tumble(ref('bids'), 'bidtime', '10 minutes') }} as bids\n"
        "where price >= {{ var('floor') }}\ngroup by 1, 2\n"
    ),
    "by_island": (
        "{{ config(materialized='ephemeral') }}\nselect window_end, count(*) as n\n"
        "from << hop({{ ref('bids') }}, bidtime, '5 minutes', '10 minutes') >>\ngroup by window_start, window_end"
    ),
    "reads_ephemeral": "select * from {{ ref('by_island') }}",
    "by_block": (
        "with sessions as (\n{% call window_sql(dialect='flink') %}\n"
        "SELECT item, window_start, AVG(price) AS mean, COUNT(*) AS n\n"
        "FROM SESSION(TABLE {{ ref('bids') }} PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '3' MINUTES)\n"
        "GROUP BY item, window_start, window_end\n{% endcall %}\n)\n"
        "select *, '{{ target.schema }}' is not null as x from sessions"
    ),
    "flinkish/cumulated": (
        "SELECT window_end, SUM(price) / 2 AS half\n"
        "FROM CUMULATE(TABLE {{ source('raw', 'bids') }}, DESCRIPTOR(bidtime), INTERVAL '12' HOUR, INTERVAL '1' DAY)\n"
        "GROUP BY window_start, window_end"
    ),
    "framed": (
        "select id, {{ over('sum(price)', 'item', 'bidtime', 'rows_range', '5 minutes', exclude='current_row') }}\n"
        "as s from {{ ref('bids') }}"
    ),
    "closed": (
        "{{ config(materialized='incremental', incremental_strategy='append') }}\n"
        "select window_start, window_end, count(*) as n\n"
        "from {{ tumble(ref('bids'), 'bidtime', '10 minutes') }}\n"
        "where window_end <= timestamp_ntz'{{ var('until') }}'\n"
        "{% if is_incremental() %}\n  and window_end > (select max(window_end) from {{ this }})\n{% endif %}\n"
        "group by window_start, window_end\n"
    ),
    "batched": (
        "{{ config(materialized='incremental', incremental_strategy='microbatch', partition_by='day',\n"
        "    event_time='window_start', begin='2024-01-01', batch_size='day') }}\n"
        "select window_start, count(*) as n, cast(window_start as date) as day\n"
        "from << tumble({{ ref('bids') }}, bidtime, '10 minutes') >>\ngroup by window_start, window_end\n"
    ),
}
TABLES = ["untouched", "by_macro", "reads_ephemeral", "by_block", "cumulated", "framed", "closed"]
PROPERTIES = """\
models:
  - name: by_macro
    description: Bids of ten minutes.
    config: {optimize: false}
    data_tests:
      - window_aligned:
          arguments: {size: 10 minutes, window_end: window_end}
          config: {enabled: false}
      - conserved:
          name: nothing_is_lost
          arguments: {source: ref('bids'), measure: total, source_measure: price}
          config: {severity: warn}
    columns:
      - name: item
        data_tests: [not_null]
  - name: cumulated
    data_tests:
      - matches_rows: {arguments: {expected: ref('cumulated')}}
      - as_many_as: {arguments: {n: 1}}
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables: [{name: bids}]
unit_tests:
  - name: ten_minutes
    model: by_macro
    given:
      - input: ref('bids')
        rows: [{bidtime: "2024-05-01 08:00:00", price: 2, item: a}]
    expect:
      rows: [{total: 2}]
"""
GENERIC = """\
{% test as_many_as(model, n) %}
select count(*) as c from {{ tumble(model, 'half_at', '1 day') if false else model }} having count(*) < {{ n }}
{% endtest %}
"""
SINGULAR = "select * from (select count(*) as n from << tumble({{ ref('bids') }}, bidtime, '1 day') >>) where n <> 5"
FILES = {
    "seeds/bids.csv": BIDS,
    "seeds/seeds.yml": SEEDS,
    "dbt_project.yml": PROJECT,
    "models/models.yml": PROPERTIES,
    "tests/generic/as_many_as.sql": GENERIC,
    "tests/five_bids.sql": SINGULAR,
    "macros/unused.sql": "{% macro unused() %}{{ return(tumble(none, 'a', '1 day')) }}{% endmacro %}",
    **{f"models/{name}.sql": text for name, text in MODELS.items()},
}
STREAM = "{{ config(materialized='streaming_incremental', watermark='1 minute', event_time='bidtime') }}\n"
REFUSED = {
    "streaming": STREAM + "select window_start, count(*) as n from "
    "{{ tumble(stream(ref('bids')), 'bidtime', '1 day') }} group by window_start, window_end",
    "replaced": "{{ config(materialized='incremental', incremental_strategy='window_replace', partition_by='day') }}\n"
    "select window_start, window_end, count(*) as n, cast(window_start as date) as day\n"
    "from {{ tumble(ref('bids'), 'bidtime', '1 day') }} group by window_start, window_end",
}


def build(project: Project, into: Path, *options: str) -> Result:
    here = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    return CliRunner().invoke(main, ["build", "--into", str(into), *options, *here])


def plain(embedded: SparkSession, folder: Path, schema: str) -> Project:
    """The project that was written, on plain dbt-spark."""
    written = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    output = {"type": "spark", "host": "none", "schema": schema, "server_side_parameters": PARAMETERS}
    project = Project(folder, embedded, {"dbt_project.yml": written["dbt_project.yml"]}, output)
    project.schema = schema
    return project


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    project = make_project(FILES)
    project.dbt("seed")
    project.dbt("build", "--exclude-resource-type", "seed", *BATCHES)
    project.dbt("run", "--select", "closed", "--vars", "until: '2024-01-03'")
    return project


BATCHES = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-03")


@pytest.fixture(scope="module")
def written(shop: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("written") / "plain"
    done = build(shop, into)
    assert done.exit_code == 0, done.output
    return into


@pytest.mark.long
def test_rows_are_the_same(shop: Project, written: Path, embedded: SparkSession) -> None:
    other = plain(embedded, written, shop.schema + "_plain")
    # dbt-spark's session method has seeds of its own way; these are the same tables.
    other.sql("create schema if not exists {}")
    other.sql(f"create table {{}}.bids using parquet as select * from {shop.schema}.bids")
    done = other.dbt("build", "--exclude-resource-type", "seed", *BATCHES)
    results = {r.node.name: str(r.status) for r in done.results}
    assert results["ten_minutes"] == results["nothing_is_lost"] == results["five_bids"] == "pass"
    other.dbt("run", "--select", "closed", "--vars", "until: '2024-01-03'")
    for table in [*TABLES, "batched"]:
        select = f"select * from {{}}.{table}"
        assert shop.rows(select), table
        assert other.rows(select) == shop.rows(select), table


def test_jinja_stays(written: Path) -> None:
    def text(name: str) -> str:
        return (written / "models" / f"{name}.sql").read_text()

    assert text("untouched") == MODELS["untouched"]
    macro = text("by_macro")
    assert macro.startswith("{# Windows of ten minutes. #}\n{{ config(materialized='table') }}\n")
    assert "{{ ref('bids') }}" in macro and "where price >= {{ var('floor') }}" in macro
    assert "{{ source('raw', 'bids') }}" in text("flinkish/cumulated")
    closed = text("closed")
    assert "{% if is_incremental() %}" in closed and "from {{ this }}" in closed
    assert "timestamp_ntz'{{ var('until') }}'" in closed
    assert "'{{ target.schema }}' is not null" in text("by_block")
    for name in MODELS:
        assert not re.search(r"tumble\(|<< \w+\(|window_sql", text(name))


def test_properties_hold_nothing_of_ours(written: Path) -> None:
    project = (written / "dbt_project.yml").read_text()
    for ours in ("sql_dialect", "sparkstream"):
        assert ours not in project
    models = yaml.safe_load((written / "models/models.yml").read_text())["models"]
    assert models[0]["description"] == "Bids of ten minutes."
    assert models[0]["columns"][0]["data_tests"] == ["not_null"]
    assert "config" not in models[0] and "data_tests" not in models[0]
    lost = (written / "tests/sparkstream/nothing_is_lost.sql").read_text()
    assert lost.startswith("{{ config(severity='warn') }}") and "FROM {{ ref('by_macro') }}" in lost


@pytest.mark.long
@pytest.mark.parametrize(
    "hook",
    [
        "create or replace view {{ target.schema }}.v as select * from {{ tumble(ref('bids'), 'bidtime', '1 day') }}",
        "{{ tumble(target.schema ~ '.bids', 'bidtime', '1 day') }}",
        "{% if execute %}{% do run_query('select 1') %}{{ hop('x', 'y', '1 day', '2 days') }}{% endif %}",
        "{% call window_sql(dialect='flink') %}SELECT 1{% endcall %}",
        "{% if flags.WHICH == 'run' %}select * from {{ tumble(ref('bids'), 'bidtime', '1 day') }}{% endif %}",
        "{% if execute and flags.WHICH == 'run' %}{{ days_of('x') }}{% endif %}",
        "{% if load_relation(ref('bids')) %}{{ dbt_sparkstream.tumble(ref('bids'), 'bidtime', '1 day') }}{% endif %}",
    ],
)
def test_hooks(shop: Project, tmp_path: Path, hook: str) -> None:
    """They stay as they are, so one with a window is refused, and so is a model with such a hook."""
    model = f'{{{{ config(post_hook="{hook}") }}}}\nselect 1 as x'
    more = {
        "dbt_project.yml": f"{PROJECT}on-run-end: [{json.dumps(hook)}, \"{{{{ log('done') }}}}\"]\n",
        "models/hooked.sql": model,
        "macros/days_of.sql": "{% macro days_of(x) %}select * from {{ tumble(x, 'ts', '1 day') }}{% endmacro %}",
    }
    shop.write(more)
    try:
        done = build(shop, tmp_path / "a")
        assert "shop-on-run-end-0 is refused" in done.output, done.output
        assert "hooked is refused" in done.output, done.output
        assert "shop-on-run-end-1" not in done.output
        assert done.exit_code == 1
        assert build(shop, tmp_path / "b", "--skip").exit_code == 0
        project = yaml.safe_load((tmp_path / "b" / "dbt_project.yml").read_text())
        assert project["on-run-end"] == ["{{ log('done') }}"]
        assert not (tmp_path / "b" / "models" / "hooked.sql").exists()
    finally:
        shop.write({"dbt_project.yml": PROJECT})
        for name in ("models/hooked.sql", "macros/days_of.sql"):
            (shop.folder / name).unlink()


@pytest.mark.long
def test_what_cannot_be_written(shop: Project, tmp_path: Path, embedded: SparkSession) -> None:
    files = {f"models/{name}.sql": text for name, text in REFUSED.items()}
    files["models/reads_it.sql"] = "select * from {{ ref('streaming') }}"
    shop.write(files)
    try:
        done = build(shop, tmp_path / "a")
        assert done.exit_code == 1 and not (tmp_path / "a").exists()
        assert "streaming is refused: it is a streaming model, and only the adapter runs streams" in done.output
        assert "replaced is refused: incremental_strategy='window_replace' is the adapter's" in done.output
        done = build(shop, tmp_path / "b", "--skip")
        assert done.exit_code == 0, done.output
        assert "reads_it is left out: it reads streaming" in done.output
        there = {path.stem for path in (tmp_path / "b" / "models").rglob("*.sql")}
        assert there == {name.split("/")[-1] for name in MODELS}
        done = build(shop, tmp_path / "c", "--as-tables", "--select", "streaming", "replaced")
        assert done.exit_code != 0  # one text, as dbt's --select in a list
        done = build(shop, tmp_path / "c", "--as-tables", "--select", "streaming replaced")
        assert done.exit_code == 0, done.output
        other = plain(embedded, tmp_path / "c", shop.schema)
        other.dbt("run", "--select", "streaming", "replaced")
        assert other.rows("select n from {}.streaming") == [(1,), (4,)]
        assert other.rows("select n from {}.replaced") == [(1,), (4,)]
    finally:
        for name in files:
            (shop.folder / name).unlink()


def test_another_folder(shop: Project, written: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = build(shop, tmp_path)
    assert done.exit_code == 1
    assert "holds files that no build has written" in done.output


SOURCE = """\
sources:
  - name: raw
    tables:
      - name: bids
        config:
          event_time: ts
          meta: {stream: {format: json, path: land, schema: "ts timestamp, k string"}}
"""


@pytest.mark.long
def test_a_source_of_files_has_the_types_of_its_schema(make_project: Callable[..., Project], tmp_path: Path) -> None:
    config = "{{ config(materialized='streaming_incremental', watermark='1 minute') }}\n"
    query = "{{ tumble(stream(source('raw', 'bids')), 'ts', '1 hour') }} group by window_start, window_end"
    files = {
        "models/sources.yml": SOURCE,
        "models/hours.sql": f"{config}select window_start, count(*) as n from {query}",
        "land/a.json": '{"ts": "2024-07-01T10:20:00Z", "k": "a"}\n',
    }
    project = make_project(files)
    assert build(project, tmp_path / "plain", "--as-tables").exit_code == 0
    written = (tmp_path / "plain/models/hours.sql").read_text()
    assert "{{ source('raw', 'bids') }}" in written
    assert "TIMESTAMP_NTZ" not in written


OUTSIDE_SQL = """\
models:
  - name: lost
    description: lost
  - name: board
    description: a model with an exposure's name
snapshots:
  - name: snap
    relation: ref('lost')
    config: {unique_key: x, strategy: check, check_cols: all, file_format: delta}
exposures:
  - {name: board, type: dashboard, owner: {name: me}, depends_on: [ref('lost')]}
  - {name: page, type: dashboard, owner: {name: me}, depends_on: [ref('board')]}
"""


def test_what_is_in_yaml_goes_by_its_entry(make_project: Callable[..., Project], tmp_path: Path) -> None:
    models = {"models/board.sql": "select 1 as x", "models/lost.sql": REFUSED["streaming"]}
    shop = make_project({**models, "models/schema.yml": OUTSIDE_SQL, "seeds/bids.csv": BIDS})
    done = build(shop, tmp_path / "plain", "--skip")
    assert "snap is left out: it reads lost" in done.output
    assert "exposure board is left out: it shows lost" in done.output
    kept = yaml.safe_load((tmp_path / "plain" / "models" / "schema.yml").read_text())
    names = {key: [entry["name"] for entry in entries] for key, entries in kept.items()}
    assert names == {"models": ["board"], "snapshots": [], "exposures": ["page"]}
