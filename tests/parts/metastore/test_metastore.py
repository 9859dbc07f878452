"""Servers whose catalog is in PostgreSQL: they share it, and it holds what Derby didn't."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.lib.support import Done, free_port
from tests.parts.metastore.conftest import Database
from tests.server.test_kills import kill_a_client, seconds_to_answer
from tests.server.test_server import SMALL, query, run

BIDS = """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='0 seconds') }}
select window_start, window_end, count(*) as n
from {{ tumble(stream(source('raw', 'bid')), 'at', '10 minutes') }}
group by window_start, window_end
"""
SOURCES = """\
sources:
  - name: raw
    schema: shop
    tables:
      - name: bid
"""


@dataclass(frozen=True)
class Ports:
    """Where a server listens."""

    sql: int
    connect: int


@pytest.fixture(scope="module")
def servers(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ports, Ports]]:
    """Two servers on the database, with one warehouse."""
    folder = tmp_path_factory.mktemp("servers")
    warehouse = f"spark.sql.warehouse.dir={folder / 'warehouse'}"
    catalog = ("--metastore", database.url, "--metastore-driver", database.driver)
    settings = ("--properties-file", database.settings, "--conf", warehouse)
    found = Ports(free_port(), free_port()), Ports(free_port(), free_port())
    with ExitStack() as stack:
        for ports in found:
            own = ("--dir", folder / str(ports.sql))
            listens = ("--port", str(ports.sql), "--connect-port", str(ports.connect))
            stack.callback(run, "stop", *own)
            begun = run("start", *own, *listens, *SMALL, *catalog, *settings)
            assert begun.returncode == 0, begun.stderr
        yield found


def test_two_servers_have_one_catalog(servers: tuple[Ports, Ports]) -> None:
    a, b = (ports.sql for ports in servers)
    query(a, "create table shared (x int) using parquet", "insert into shared values (1)")
    assert query(b, "select x from shared") == [(1,)]
    query(b, "insert into shared values (2)")
    assert sorted(query(a, "select x from shared")) == [(1,), (2,)]
    query(b, "drop table shared")
    assert query(a, "show tables like 'shared'") == []


def test_a_stream_goes_on_on_the_other_server(servers: tuple[Ports, Ports], tmp_path: Path) -> None:
    from dbt.cli.main import dbtRunner

    a, b = servers
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n")
    (tmp_path / "models" / "bids.sql").write_text(BIDS)
    (tmp_path / "models" / "schema.yml").write_text(SOURCES)

    def dbt(server: Ports) -> str:
        url = f"sc://127.0.0.1:{server.connect}"
        output = {"type": "sparkstream", "method": "thrift", "host": "127.0.0.1", "port": server.sql, "auth": "NOSASL"}
        outputs = {"test": {**output, "schema": "shop", "threads": 2, "connect_url": url}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"shop": {"target": "test", "outputs": outputs}}))
        done: Done = dbtRunner().invoke(
            ["--quiet", "run", "--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)]
        )
        assert done.success, [result.message for result in done.result.results]
        return str(done.result.results[0].message)

    def add(server: Ports, *minutes: int) -> None:
        rows = ", ".join(f"(timestamp'2020-04-15 08:{minute:02}:00')" for minute in minutes)
        query(server.sql, f"insert into shop.bid values {rows}")

    query(a.sql, "create schema shop", "create table shop.bid (at timestamp) using parquet")
    add(a, 1, 2, 11)
    assert "+1 row," in dbt(a)
    assert "nothing new" in dbt(b)
    add(b, 12, 25)
    assert "+1 row," in dbt(b)
    counts = query(a.sql, "select date_format(window_start, 'HH:mm'), n from shop.bids order by 1")
    assert counts == [("08:00", 2), ("08:10", 2)]


def test_it_answers_after_clients_were_killed(servers: tuple[Ports, Ports]) -> None:
    """A cancelled statement interrupts a thread within the catalog, after which Derby's pool of connections hung."""
    port = servers[0].sql
    limit = max(1.0, 4 * max(seconds_to_answer(port) for _ in range(3)))
    for number in range(8):
        kill_a_client(port, number)
    time.sleep(2)
    assert min(seconds_to_answer(port) for _ in range(8)) < limit


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"driver": ()}, ["org.postgresql.Driver", "--metastore-driver"]),
        ({"settings": ()}, ["password", "ConnectionPassword", "--properties-file"]),
    ],
)
def test_what_is_missing(
    database: Database, tmp_path: Path, change: dict[str, tuple[str, ...]], words: list[str]
) -> None:
    options = {
        "driver": ("--metastore-driver", str(database.driver)),
        "settings": ("--properties-file", str(database.settings)),
        **change,
    }
    ports = ("--port", str(free_port()), "--no-connect")
    given = [text for option in options.values() for text in option]
    try:
        begun = run("start", "--dir", tmp_path / "server", *ports, *SMALL, "--metastore", database.url, *given)
        assert begun.returncode == 1
        for word in words:
            assert word in begun.stderr, begun.stderr
    finally:
        run("stop", "--dir", tmp_path / "server")
