"""Sources with `meta: stream:` where a batch reads them, over each method of a profile.

On the session, `tests/functional/streaming/test_batch_sources.py` asks the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.targets import DbtProject, Target, problems, write
from tests.lib.support import ON_THE_SERVER

pytestmark = ON_THE_SERVER
TABLE = "{{ config(materialized='table') }}\n"
MODELS = {
    "kinds": TABLE + "select upper(kind) as kind, count(*) as n from {{ source('land', 'events') }} group by 1",
    "hours": TABLE + "select window_start, count(*) as n\n"
    "from {{ tumble(source('land', 'events'), 'at', '1 hour') }} group by window_start, window_end",
    "doubled": TABLE + "select l.id, l.w from {{ source('land', 'lines') }} l",
    "streamed": "{{ config(materialized='streaming_incremental') }}\n"
    "select id, upper(kind) as kind from {{ stream(source('land', 'events')) }}",
}
UNIT = {
    "name": "counts",
    "model": "kinds",
    "given": [{"input": "source('land', 'events')", "rows": [{"id": 1, "kind": "a"}, {"id": 2, "kind": "a"}]}],
    "expect": {"rows": [{"kind": "A", "n": 2}]},
}


@pytest.fixture(scope="module")
def land(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DbtProject]:
    folder = tmp_path_factory.mktemp("land")
    events = {"format": "csv", "path": str(folder / "in"), "schema": "id bigint, at timestamp, kind string"}
    lines = {"format": "text", "path": str(folder / "lines"), "value_format": "json", "schema": "id bigint, v double"}
    sources = [
        {
            "name": "events",
            "columns": [{"name": "id", "data_tests": ["not_null", "unique"]}],
            "config": {"event_time": "at", "meta": {"stream": events}},
        },
        {"name": "lines", "config": {"meta": {"stream": {**lines, "select": ["id", "v * 2 AS w"]}}}},
    ]
    schema = {"sources": [{"name": "land", "schema": "nowhere", "tables": sources}], "unit_tests": [UNIT]}
    files = {
        "dbt_project.yml": "name: land\nprofile: land\n",
        "models/schema.yml": json.dumps(schema),
        **{f"models/{name}.sql": sql for name, sql in MODELS.items()},
        "in/1.csv": "1,2024-01-01 10:00:00,a\n2,2024-01-01 11:00:00,b\n",
        "in/2.csv": "3,2024-01-01 11:30:00,b\n",
        "lines/1.json": '{"id": 1, "v": 1.5}\n{"id": 2, "v": 2}\nnone\n',
    }
    project = DbtProject(write(folder, files), target, schema=f"land_{target.name}")
    yield project
    target.drop_schema(project.schema)


def test_batch_reads_what_the_stream_reads(land: DbtProject) -> None:
    land.dbt("build")

    def rows(query: str) -> list[tuple[object, ...]]:
        return land.target.rows(f"select {query.replace('from ', f'from {land.schema}.')}")

    assert rows("kind, n from kinds") == [("A", 1), ("B", 2)]
    assert rows("id, kind from streamed") == [(1, "A"), (2, "B"), (3, "B")]
    assert [n for _, n in rows("window_start, n from hours")] == [1, 2]
    assert rows("id, w from doubled") == [(1, 3.0), (2, 4.0)]
    # A file that has come since is read, too.
    (land.folder / "in/3.csv").write_text("3,2024-01-01 12:30:00,c\n")
    assert "Got 1 result" in problems(land.invoke("test", "--select", "source:land.events"))
    land.dbt("run", "--select", "kinds")
    assert rows("kind, n from kinds") == [("A", 1), ("B", 2), ("C", 1)]
    land.dbt("show", "--inline", "select events.id from {{ source('land', 'events') }} where id > 2")


def test_a_path_of_the_project_is_refused_elsewhere(land: DbtProject) -> None:
    schema = (land.folder / "models/schema.yml").read_text()
    write(land.folder, {"models/schema.yml": schema.replace(str(Path(land.folder) / "in"), "in")})
    done = land.invoke("run", "--select", "kinds")
    if land.target.name == "session":
        assert done.success, problems(done)
    else:
        assert "path: in begins in the project's folder, and Spark is in another process" in problems(done)
