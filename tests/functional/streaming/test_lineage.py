"""OpenLineage's events of the runs of streaming models."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming import run as runs
from tests.functional.adapter.project import Project
from tests.lib.support import free_port, wait_for

pytest.importorskip("openlineage.client", reason="openlineage-python is not installed")

SPEC = os.environ.get("OPENLINEAGE_SPEC")
"""The folder `spec` of OpenLineage's repository: where it is given, all events are checked against its JSON schemas."""

WINDOWS = """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='0 seconds') }}
select window_start, window_end, n.name, count(*) as n
from {{ tumble(stream(source('raw', 'bid')), 'at', '10 minutes') }} as b join {{ ref('names') }} as n on n.id = b.item
group by window_start, window_end, n.name
"""
FILES = """\
{{ config(materialized='streaming_incremental') }}
select id from {{ stream(source('raw', 'file')) }} where assert_true(id < 100) is null
"""


@pytest.fixture(autouse=True)
def no_variables_stay() -> Iterator[None]:
    """The client sets variables of its own, which would configure it for all that comes later."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def shop(make_project: Callable[..., Project], tmp_path: Path) -> Project:
    files = tmp_path / "files"
    files.mkdir()
    (files / "one.json").write_text('{"id": 1}\n{"id": 2}\n')
    file = {"format": "json", "path": str(files), "schema": "id int"}
    tables = [{"name": "bid"}, {"name": "file", "config": {"meta": {"stream": file}}}]
    sources = {"sources": [{"name": "raw", "schema": "{{ target.schema }}", "tables": tables}]}
    shop = make_project(
        {
            "models/bids.sql": WINDOWS,
            "models/files.sql": FILES,
            "models/schema.yml": json.dumps(sources),
            "seeds/names.csv": "id,name\n1,one\n",
        }
    )
    shop.sql("create schema if not exists {}")
    minutes = ", ".join(f"(timestamp'2020-04-15 08:{minute:02}:00', 1)" for minute in (1, 2, 11, 25))
    shop.sql(f"create table {{}}.bid using parquet as select * from values {minutes} as v (at, item)")
    shop.dbt("seed")
    return shop


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """The events since the last call, by a transport that writes them to a file."""
    config, events = tmp_path / "openlineage.yml", tmp_path / "events"
    transport = {"type": "file", "log_file_path": str(events), "append": True}
    config.write_text(json.dumps({"transport": transport}))
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(config))
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")

    def read() -> list[dict[str, Any]]:
        lines = events.read_text().splitlines() if events.exists() else []
        events.unlink(missing_ok=True)
        found = [json.loads(line) for line in lines]
        for event in found:
            check(event)
        return found

    yield read


def check(event: dict[str, Any]) -> None:
    """Looks whether an event is as the specification has it, where the specification is there."""
    if SPEC is None:
        return
    from referencing import Registry, Resource

    jsonschema: Any = importlib.import_module("jsonschema")  # mypy asks for its stubs

    schemas = [json.loads(path.read_text()) for path in [*Path(SPEC).glob("*.json"), *Path(SPEC).glob("facets/*.json")]]
    registry: Registry[Any] = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])

    def valid(value: Any, ref: str) -> None:
        jsonschema.Draft202012Validator(
            {"$ref": ref}, registry=registry, format_checker=jsonschema.FormatChecker()
        ).validate(value)

    valid(event, event["schemaURL"])
    of = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
    for owner in of:
        for kind in ("facets", "inputFacets", "outputFacets"):
            for name, facet in (owner.get(kind) or {}).items():
                url = facet["_schemaURL"]
                valid({name: facet}, url.partition("#")[0])
                valid(facet, url)


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["eventType"] for event in events]


def test_a_run_from_its_beginning_to_its_end(
    shop: Project, told: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = "12345678-1234-4234-8234-123456789012"
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"airflow/daily.dbt/{scheduler}")
    shop.dbt("run", "--select", "bids")
    start, complete = told()
    assert kinds([start, complete]) == ["START", "COMPLETE"]
    assert start["run"]["runId"] == complete["run"]["runId"]
    parent = complete["run"]["facets"]["parent"]
    [recorded] = shop.rows("select distinct run_id from {}.sparkstream_runs where model = 'model.shop.bids'")
    assert (parent["run"]["runId"],) == recorded
    assert parent["job"] == {"namespace": "shop", "name": "dbt-run-shop", "facets": {}}
    assert parent["root"]["run"]["runId"] == scheduler
    assert parent["root"]["job"]["name"] == "daily.dbt"
    job = complete["job"]
    assert (job["namespace"], job["name"]) == ("shop", f"{shop.schema}.shop.bids")
    assert job["facets"]["jobType"]["processingType"] == "BATCH"
    assert "tumble" in job["facets"]["sql"]["query"]

    [bid, names] = complete["inputs"]
    assert (bid["name"], names["name"]) == (f"{shop.schema}.bid", f"{shop.schema}.names")
    assert bid["namespace"].startswith("file:/")
    fields = [(field["name"], field["type"]) for field in bid["facets"]["schema"]["fields"]]
    assert fields == [("at", "timestamp"), ("item", "int")]
    [link] = bid["facets"]["symlinks"]["identifiers"]
    assert (link["namespace"], link["type"]) == ("file", "LOCATION")
    assert link["name"].endswith(f"/{shop.schema}.db/bid")
    [table] = complete["outputs"]
    assert table["name"] == f"{shop.schema}.bids"
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert [f["name"] for f in table["facets"]["schema"]["fields"]][:4] == ["window_start", "window_end", "name", "n"]

    shop.dbt("run", "--select", "bids")
    start, complete = told()
    assert complete["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 0
    assert complete["run"]["runId"] != parent["run"]["runId"]


def test_a_run_that_fails(shop: Project, told: Callable[[], list[dict[str, Any]]], tmp_path: Path) -> None:
    (tmp_path / "files" / "two.json").write_text('{"id": 100}\n')
    shop.failure("run", "--select", "files")
    start, fail = told()
    assert kinds([start, fail]) == ["START", "FAIL"]
    assert [(d["namespace"], d["name"]) for d in fail["inputs"]] == [("file", str(tmp_path / "files"))]
    assert "id < 100" in fail["run"]["facets"]["errorMessage"]["message"]


def test_a_run_that_goes_on(
    shop: Project, told: Callable[[], list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dbt.adapters.sparkstream.streaming.operations import stopping

    monkeypatch.setattr(runs, "SETTLES", 0.0)
    stop = threading.Event()
    monkeypatch.setattr(stopping, "_stop", stop)
    shop.write({"models/files.sql": FILES.replace("')", "', trigger={'processing_time': '1 second'})", 1)})
    events = tmp_path / "events"

    def end_when_told() -> None:
        try:
            wait_for(lambda: events.exists() and '"RUNNING"' in events.read_text())
        finally:
            stop.set()

    watching = threading.Thread(target=end_when_told)
    watching.start()
    shop.dbt("run", "--select", "files")
    watching.join()
    start, *running, complete = told()
    assert kinds([start, complete]) == ["START", "COMPLETE"]
    assert set(kinds(running)) == {"RUNNING"}
    assert running[0]["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert running[0]["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    assert [f["name"] for f in running[0]["inputs"][0]["facets"]["schema"]["fields"]] == ["id"]
    assert len({event["run"]["runId"] for event in (start, *running, complete)}) == 1


def test_a_server_gets_the_events(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[tuple[str, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{server.server_address[1]}")
    try:
        shop.dbt("run", "--select", "files")
    finally:
        server.shutdown()
        server.server_close()
    assert [path for path, _ in got] == ["/api/v1/lineage"] * 2
    assert kinds([event for _, event in got]) == ["START", "COMPLETE"]


@pytest.mark.long
def test_a_server_that_is_not_there_is_a_warning(
    shop: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{free_port()}")
    done = shop.invoke("--warn-error", "run", "--select", "files", quiet=False)
    assert done.success
    assert capsys.readouterr().out.count("files: OpenLineage can't be told of the run") == 1
    assert shop.rows("select id from {}.files") == [(1,), (2,)]
