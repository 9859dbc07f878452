"""Sources with `meta: stream:` where a batch reads them, in a dbt project."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.functional.adapter.project import Project

SCHEMA = """\
sources:
  - name: files
    schema: nowhere
    tables:
      - name: events
        columns: [{name: id, data_tests: [not_null, unique]}]
        config:
          event_time: at
          meta: {stream: {format: csv, path: incoming, schema: 'id bigint, at timestamp, kind string'}}
      - name: lines
        config:
          meta:
            stream:
              format: text
              path: lines
              value_format: json
              schema: 'id bigint, v double'
              select: ['id', 'v * 2 AS w']
      - name: later
        config: {meta: {stream: {format: json, path: not/yet/there, schema: 'id bigint'}}}
      - name: ticks
        config: {meta: {stream: {format: rate}}}
unit_tests:
  - name: counts_kinds
    model: kinds
    given:
      - input: source('files', 'events')
        rows: [{id: 1, at: '2024-01-01 10:00:00', kind: a}, {id: 2, at: '2024-01-01 10:01:00', kind: b}]
    expect: {rows: [{kind: A, n: 1}, {kind: B, n: 1}]}
  - name: upper_kinds
    model: streamed
    given:
      - input: source('files', 'events')
        rows: [{id: 1, kind: a}]
    expect: {rows: [{id: 1, kind: A}]}
  - name: reads_nothing_yet
    model: waiting
    given:
      - input: source('files', 'later')
        rows: [{id: 7}]
    expect: {rows: [{id: 7}]}
"""
MODELS = {
    "models/schema.yml": SCHEMA,
    "models/kinds.sql": "{{ config(materialized='table') }}\n"
    "select upper(kind) as kind, count(*) as n from {{ source('files', 'events') }} group by 1",
    "models/streamed.sql": "{{ config(materialized='streaming_incremental') }}\n"
    "select id, upper(kind) as kind from {{ stream(source('files', 'events')) }}",
    "models/by_hour.sql": "{{ config(materialized='table') }}\nselect window_start, count(*) as n "
    "from {{ tumble(source('files', 'events'), 'at', '1 hour') }} group by window_start, window_end",
    "models/doubled.sql": "{{ config(materialized='table') }}\n"
    "select lines.id, lines.w from {{ source('files', 'lines') }}",
    "models/waiting.sql": "{{ config(materialized='table') }}\nselect id from {{ source('files', 'later') }}",
}


@pytest.fixture
def shop(make_project: Callable[..., Project]) -> Project:
    project = make_project(MODELS)
    for folder in ("incoming", "lines"):
        (project.folder / folder).mkdir()
    (project.folder / "incoming/1.csv").write_text("1,2024-01-01 10:00:00,a\n2,2024-01-01 11:00:00,b\n")
    (project.folder / "incoming/2.csv").write_text("3,2024-01-01 11:30:00,b\n")
    (project.folder / "lines/1.json").write_text('{"id": 1, "v": 1.5}\n{"id": 2, "v": 2}\nnone\n')
    return project


def test_batch_reads_what_the_stream_reads(shop: Project) -> None:
    shop.dbt("build", "--exclude", "waiting")
    assert shop.rows("select kind, n from {}.kinds order by kind") == [("A", 1), ("B", 2)]
    assert shop.rows("select id, kind from {}.streamed order by id") == [(1, "A"), (2, "B"), (3, "B")]
    assert shop.rows("select n from {}.by_hour order by window_start") == [(1,), (2,)]
    assert shop.rows("select id, w from {}.doubled order by id") == [(1, 3.0), (2, 4.0)]
    (shop.folder / "incoming/3.csv").write_text("3,2024-01-01 12:30:00,c\n")
    assert "Got 1 result" in shop.failure("test", "--select", "source:files.events")
    shop.dbt("show", "--inline", "select events.id from {{ source('files', 'events') }} where id > 2")
    # Columns are stated before there is a folder.
    shop.dbt("test", "--select", "waiting,test_type:unit")
    absent = shop.failure("run", "--select", "waiting")
    assert "not/yet/there" in absent and "make the folder, or write another path" in absent
    shop.write({"models/kinds.sql": "{{ config(materialized='view') }}\nselect * from {{ source('files', 'events') }}"})
    assert "write materialized='table'" in shop.failure("run", "--select", "kinds")
    shop.write({"models/kinds.sql": "{{ config(materialized='table') }}\nselect * from {{ source('files', 'ticks') }}"})
    assert "is read as a stream alone, and not by a batch: it is rate" in shop.failure("run", "--select", "kinds")
