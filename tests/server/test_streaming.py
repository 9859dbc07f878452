"""A streaming model on a server of its own, over Spark Connect, whose client is killed; tests/kill kills many more."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.server import Server, ServerConfig
from dbt.adapters.sparkstream.sql import translate
from tests.lib.support import free_port, wait_for

pytestmark = pytest.mark.long

BOUNDS = "window_start, window_end"
HEAD = "{{ config(materialized='streaming_incremental', event_time='ts', watermark='10 seconds') }}\n"
TUMBLE = f"select {BOUNDS}, k, sum(v) as s from tumble(BID, ts, '20 seconds') group by {BOUNDS}, k"
END = 100_000


class Shop:
    """A dbt project on a local server in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._config = ServerConfig(
            folder=folder / ".sparkstream" / "server",
            port=free_port(),
            connect_port=free_port(),
            master="local[2]",
            memory="1g",
            timeout=400,
            conf={"spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false"},
        )
        self.server = Server(self._config)
        # No connect_url: the server in the project's folder is found.
        output = {"type": "sparkstream", "method": "thrift", "host": "127.0.0.1", "port": self._config.port}
        output |= {"auth": "NOSASL", "schema": "shop", "threads": 3}
        files = {
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n",
            "profiles.yml": yaml.safe_dump({"shop": {"target": "t", "outputs": {"t": output}}}),
            "models/schema.yml": "sources:\n  - name: raw\n    schema: shop\n    tables: [{name: bid}]\n",
            "models/tumble.sql": HEAD + TUMBLE.replace("BID", "{{ stream(source('raw', 'bid')) }}") + "\n",
        }
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        from pyhive import hive
        from pyhive.exc import OperationalError

        connection = hive.connect("127.0.0.1", self._config.port, auth="NOSASL", username="test")
        try:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        finally:
            with suppress(OperationalError):  # Spark 4.3 fails to close a session now and then
                connection.close()
        return rows

    def add(self, rows: Sequence[tuple[int, int, str, int]]) -> None:
        """Adds rows to the source, as one file."""
        values = ", ".join(f"({i}, timestamp_seconds({t}), '{k}', {v})" for i, t, k, v in rows)
        self.sql(f"insert into shop.bid select /*+ coalesce(1) */ * from values {values}")

    def dbt(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts dbt."""
        command = [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "--no-send-anonymous-usage-stats"]
        here = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        return subprocess.Popen(
            [*command, *arguments, *here],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def check(self) -> None:
        """The model has the rows that a batch query has."""
        batch = translate(TUMBLE.replace("BID", "shop.bid"))
        closed = f"where window_end <= timestamp_seconds({END - 10})"
        assert sorted(map(str, self.sql("select * except (micro_batch) from shop.tumble"))) == sorted(
            map(str, self.sql(f"select * from ({batch}) {closed}"))
        )


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path)
    shop.server.start()
    try:
        shop.sql("create schema shop")
        shop.sql("create table shop.bid (id bigint, ts timestamp, k string, v bigint) using parquet")
        yield shop
    finally:
        shop.server.stop()


def chunk(rng: random.Random, number: int) -> list[tuple[int, int, str, int]]:
    start = 1000 + 30 * number
    return [(100 * number + i, start + rng.randint(-9, 25), rng.choice("abc"), rng.randint(0, 9)) for i in range(20)]


@pytest.mark.full
def test_a_query_that_outlives_its_client_is_ended(shop: Shop) -> None:
    """`sparkstream stream` is killed, its query goes on on the server, and the table is made anew."""
    rng = random.Random(2)
    shop.add(chunk(rng, 0))
    command = [sys.executable, "-m", "dbt.adapters.sparkstream.cli", "stream", "tumble"]
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    client = subprocess.Popen([*command, *here], cwd=shop.folder, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    for line in client.stdout:
        if "micro-batch 0" in line:
            break
    client.kill()
    client.wait()
    [old] = shop.folder.glob(".sparkstream/server/warehouse/**/_sparkstream/tumble-*")
    shop.add(chunk(rng, 1))

    def begun() -> set[str]:
        return {path.name for path in (old / "checkpoint" / "offsets").iterdir() if path.name.isdigit()}

    wait_for(lambda: not begun() <= {"0", "1"})  # nobody follows it, and it reads what comes
    output, _ = shop.dbt("run", "--full-refresh", "--select", "tumble").communicate(timeout=600)
    assert "OK created sql streaming_incremental model shop.tumble" in output, output
    assert not list(old.iterdir())
    shop.add([*chunk(rng, 2), (98, END, "z", 0)])
    time.sleep(12)  # it ran every ten seconds
    output, _ = shop.dbt("run", "--select", "tumble").communicate(timeout=600)
    assert "OK created sql streaming_incremental model shop.tumble" in output, output
    assert not list(old.iterdir())
    shop.check()
