"""OpenLineage's names for the tables that models read and write, and the runs that it is told of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.reports import lineage
from dbt.adapters.sparkstream.streaming.reports.watch import Outcome
from dbt.adapters.sparkstream.streaming.sinks.topic import Topic
from dbt.adapters.sparkstream.streaming.sources.reader import source_of

CATALOG = "spark://etl:10000"


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("OPENLINEAGE")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def named(reader: dict[str, Any]) -> list[tuple[str, str]]:
    source = source_of("stream_bid", "`raw`.`bid`", reader=reader)
    return [(d.namespace, d.name) for d in lineage.of_source(CATALOG, source)]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/data/bids", ("file", "/data/bids")),
        ("/data/bids/", ("file", "/data/bids")),
        ("file:/data/my%20bids", ("file", "/data/my bids")),
        ("file:///data/bids", ("file", "/data/bids")),
        ("s3a://shop/raw/bids/", ("s3://shop", "raw/bids")),
        ("s3://shop", ("s3://shop", "/")),
        ("gs://shop/raw/bids", ("gs://shop", "raw/bids")),
        ("hdfs://nn:8020/raw/bids", ("hdfs://nn:8020", "/raw/bids")),
        ("abfss://box@account.dfs.core.windows.net/raw", ("abfss://box@account.dfs.core.windows.net", "/raw")),
    ],
)
def test_files(path: str, names: tuple[str, str]) -> None:
    assert named({"format": "json", "path": path}) == [names]


def test_topics() -> None:
    servers = {"Kafka.Bootstrap.Servers": "SASL_SSL://b1:9093,b2:9092"}
    assert named({"format": "kafka", "options": {**servers, "subscribe": "bids, asks"}}) == [
        ("kafka://b1:9093", "bids"),
        ("kafka://b1:9093", "asks"),
    ]
    assert named({"format": "kafka", "options": {**servers, "subscribePattern": "bids.*"}}) == [
        ("kafka://b1:9093", "bids.*")
    ]
    assert named({"format": "kafka", "options": {**servers, "assign": '{"bids": [0, 1]}'}}) == [
        ("kafka://b1:9093", "bids")
    ]
    sink = Topic.read({"format": "kafka", "topic": "sums", "options": {"kafka.bootstrap.servers": "b1"}})
    topic = lineage.topic(sink.servers, sink.name, "shop.bids")
    assert (topic.namespace, topic.name) == ("kafka://b1:9092", "sums")


def test_tables() -> None:
    assert named({}) == [(CATALOG, "raw.bid")]
    assert named({"format": "rate"}) == [(CATALOG, "raw.bid")]  # no rule of OpenLineage's names it
    assert lineage.table(CATALOG, "`lake`.`shop`.`bids`").name == "lake.shop.bids"


@pytest.mark.parametrize(
    ("method", "settings", "namespace"),
    [
        ("thrift", {}, CATALOG),
        ("connect", {lineage.METASTORES: "thrift://meta:9083,thrift://other:9083"}, "hive://meta:9083"),
        ("session", {lineage.WAREHOUSE: "file:/shop/.sparkstream/warehouse"}, "file:/shop/.sparkstream/warehouse"),
        ("session", {lineage.WAREHOUSE: "s3a://shop/warehouse"}, "s3://shop/warehouse"),
    ],
)
def test_catalogs(method: str, settings: dict[str, str], namespace: str) -> None:
    assert lineage.catalog_namespace(method, "etl", 10000, settings) == namespace


def test_what_configures_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert lineage.configured() is None
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")
    assert lineage.configured() is None
    home = tmp_path / "home" / ".openlineage" / "openlineage.yml"
    home.parent.mkdir(parents=True)
    home.write_text("transport: {type: console}\n")
    assert lineage.configured() == str(home)
    (tmp_path / "openlineage.yml").write_text("transport: {type: console}\n")
    assert lineage.configured() == "openlineage.yml"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "console")
    assert lineage.configured() == "OPENLINEAGE__TRANSPORT__TYPE"
    monkeypatch.setenv("OPENLINEAGE_URL", "http://lineage:5000")
    assert lineage.configured() == "OPENLINEAGE_URL"
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert lineage.configured() is None


def test_a_client_that_is_not_installed_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    assert lineage.client(said.append) is None
    assert said == []
    monkeypatch.setenv("OPENLINEAGE_URL", "http://lineage:5000")
    monkeypatch.setitem(sys.modules, "openlineage.client", None)
    assert lineage.client(said.append) is None
    [text] = said
    assert "OPENLINEAGE_URL configures OpenLineage" in text
    assert "pip install 'dbt-sparkstream[openlineage]'" in text


def test_a_configuration_that_is_wrong_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openlineage.client")
    said: list[str] = []
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "pigeon")
    assert lineage.client(said.append) is None
    assert "its client can't be made" in said[0]


def test_the_console_shows_events(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openlineage.client")
    code = (
        "from openlineage.client.event_v2 import Job, Run, RunEvent, RunState\n"
        "from dbt.adapters.sparkstream.streaming.reports import lineage\n"
        "run = Run('12345678-1234-4234-8234-123456789012')\n"
        "job = Job('shop', 'bids')\n"
        "event = RunEvent(eventType=RunState.START, eventTime='2020-04-15T08:00:00Z', run=run, job=job)\n"
        "lineage.client(print).emit(event)"
    )
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "console")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert '"eventType": "START"' in done.stderr


def test_nothing_is_imported_where_it_is_not_configured() -> None:
    code = (
        "import sys; from dbt.adapters.sparkstream.streaming import adapter; "
        "from dbt.adapters.sparkstream.streaming.reports import lineage; "
        "assert lineage.client(print) is None; "
        "sys.exit(any(name.startswith('openlineage') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_spark_cannot_describe_is_left_out() -> None:
    """The end of a run is told, with or without the columns of its tables."""
    pytest.importorskip("openlineage.client")

    class Engine:
        version = "4.3.0"

        def exists(self, table: str) -> bool:
            raise RuntimeError("the catalog is away")

    class Client:
        def emit(self, event: Any) -> None:
            events.append(event)

    config = SimpleNamespace(interval=None)
    model: Any = SimpleNamespace(
        identifier="bids", unique_id="model.shop.bids", relation="`s`.`bids`", run_id="", sql="", dialect="spark",
        config=config,
    )  # fmt: skip
    events: list[Any] = []
    warnings: list[str] = []
    client, engine = Client(), Engine()
    bids = lineage.table(CATALOG, "`s`.`bids`")
    told = lineage.Lineage(client, model, engine, [], [bids], warnings.append)  # type: ignore[arg-type]
    told.of_run(lambda: Outcome("nothing new", 0))
    assert [event.eventType.name for event in events] == ["START", "COMPLETE"]
    assert events[-1].outputs[0].facets == {}
    assert warnings == ["bids: OpenLineage is told nothing of the columns of s.bids: the catalog is away"]
