"""Streaming models on a server of their own: over Spark Connect, and through kill -9 of the client and the server."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.server import Server, ServerConfig
from dbt.adapters.sparkstream.sql import translate
from tests.server.test_server import free_port

BOUNDS = "window_start, window_end"
HEAD = "{{ config(materialized='streaming_incremental', event_time='ts', watermark='10 seconds') }}\n"
MODELS = {
    "tumble": f"select {BOUNDS}, k, sum(v) as s from tumble(BID, ts, '20 seconds') group by {BOUNDS}, k",
    "hop": f"select {BOUNDS}, k, max(v) as m, count(*) as n from hop(BID, ts, '1 second', '30 seconds') "
    f"group by {BOUNDS}, k",
    "sessions": f"select {BOUNDS}, k, count(*) as n from session(BID partition by k, ts, '7 seconds') "
    f"group by {BOUNDS}, k",
    "joined": "select l.window_start, l.window_end, l.id as a, r.id as b from (select * from tumble(BID, ts, "
    "'20 seconds')) l left join (select * from tumble(ASK, ts, '20 seconds')) r "
    "on l.window_start = r.window_start and l.window_end = r.window_end and l.k = r.k",
    "best": f"select * from (select *, row_number() over (partition by {BOUNDS} order by v desc, id) as rn "
    "from tumble(BID, ts, '20 seconds')) where rn <= 2",
}
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
        self.pid = 0
        # No connect_url: the server in the project's folder is found.
        output = {"type": "sparkstream", "method": "thrift", "host": "127.0.0.1", "port": self._config.port}
        output |= {"auth": "NOSASL", "schema": "shop", "threads": 3}
        files = {
            "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n",
            "profiles.yml": yaml.safe_dump({"shop": {"target": "t", "outputs": {"t": output}}}),
            "models/schema.yml": "sources:\n  - name: raw\n    schema: shop\n    tables: [{name: bid}, {name: ask}]\n",
        }
        for name, sql in MODELS.items():
            sql = sql.replace("BID", "{{ stream(source('raw', 'bid')) }}")
            files[f"models/{name}.sql"] = HEAD + sql.replace("ASK", "{{ stream(source('raw', 'ask')) }}") + "\n"
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def start(self) -> None:
        # A JVM that was killed may hold the ports for a moment.
        for _ in range(5):
            try:
                self.pid = self.server.start().state.pid
                return
            except Exception:
                time.sleep(3)
        self.pid = self.server.start().state.pid

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        from pyhive import hive

        with closing(hive.connect("127.0.0.1", self._config.port, auth="NOSASL", username="test")) as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        return rows

    def add(self, table: str, rows: Sequence[tuple[int, int, str, int]]) -> None:
        """Adds rows to a table, as one file."""
        values = ", ".join(f"({i}, timestamp_seconds({t}), '{k}', {v})" for i, t, k, v in rows)
        self.sql(f"insert into shop.{table} select /*+ coalesce(1) */ * from values {values}")

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

    def run(self) -> str:
        """Runs all models, which has to succeed."""
        process = self.dbt("run")
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output
        return output

    def check(self, *models: str) -> None:
        """Every model has the rows that a batch query has."""
        for name, sql in MODELS.items():
            if models and name not in models:
                continue
            batch = translate(sql.replace("BID", "shop.bid").replace("ASK", "shop.ask"))
            closed = f"where window_end <= timestamp_seconds({END - 10})"
            assert sorted(map(str, self.sql(f"select * except (micro_batch) from shop.{name}"))) == sorted(
                map(str, self.sql(f"select * from ({batch}) {closed}"))
            ), name


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path)
    shop.start()
    try:
        shop.sql("create schema shop")
        for table in ("bid", "ask"):
            shop.sql(f"create table shop.{table} (id bigint, ts timestamp, k string, v bigint) using parquet")
        yield shop
    finally:
        shop.server.stop()


def chunk(rng: random.Random, number: int) -> list[tuple[int, int, str, int]]:
    start = 1000 + 30 * number
    return [(100 * number + i, start + rng.randint(-9, 25), rng.choice("abc"), rng.randint(0, 9)) for i in range(20)]


def kill(shop: Shop, rng: random.Random, number: int, server: bool) -> bool:
    """Adds rows to both streams, runs the models, and kills the client, or the server, some time after they began.

    Returns:
        Whether the client was at work when it was killed.
    """
    client = shop.dbt("run")
    shop.add("bid", chunk(rng, number))
    shop.add("ask", chunk(rng, number))
    assert client.stdout is not None
    output = []
    for line in client.stdout:
        output.append(line)
        if " START " in line:
            break
    else:
        raise AssertionError("".join(output))
    time.sleep(rng.uniform(0, 12))
    interrupted = client.poll() is None
    if server:
        os.kill(shop.pid, signal.SIGKILL)
        time.sleep(rng.uniform(0, 3))  # the client finds out, or doesn't
    with suppress(ProcessLookupError):  # it has ended by itself
        os.killpg(client.pid, signal.SIGKILL)
    client.communicate()
    if server:
        shop.start()
    return interrupted


def finish(shop: Shop) -> None:
    shop.add("bid", [(98, END, "z", 0)])
    shop.add("ask", [(99, END, "y", 0)])
    output = shop.run()
    assert "OK created sql streaming_incremental model shop.tumble" in output
    shop.check()
    assert list(shop.folder.glob("**/_sparkstream/hop-*/checkpoint_history/kept_*"))  # its state is slices


def test_models_over_connect_go_on_after_kills(shop: Shop) -> None:
    rng = random.Random(1)
    shop.add("bid", chunk(rng, 0))
    shop.add("ask", chunk(rng, 0))
    shop.run()
    kill(shop, rng, 1, server=False)
    kill(shop, rng, 2, server=True)
    finish(shop)


def test_a_query_that_outlives_its_client_is_ended(shop: Shop) -> None:
    """`sparkstream stream` is killed, its query goes on on the server, and the table is made anew."""
    rng = random.Random(2)
    shop.add("bid", chunk(rng, 0))
    command = [sys.executable, "-m", "dbt.adapters.sparkstream.cli", "stream", "tumble"]
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    client = subprocess.Popen([*command, *here], cwd=shop.folder, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    for line in client.stdout:
        if "micro-batch 0" in line:
            break
    client.kill()
    client.wait()
    [old] = shop.folder.glob("**/_sparkstream/tumble-*")
    shop.add("bid", chunk(rng, 1))

    def begun() -> set[str]:
        return {path.name for path in (old / "checkpoint" / "offsets").iterdir() if path.name.isdigit()}

    deadline = time.monotonic() + 120
    while begun() <= {"0", "1"}:  # nobody follows it, and it reads what comes
        assert time.monotonic() < deadline
        time.sleep(0.5)
    output, _ = shop.dbt("run", "--full-refresh", "--select", "tumble").communicate(timeout=600)
    assert "OK created sql streaming_incremental model shop.tumble" in output, output
    assert not list(old.iterdir())
    shop.add("bid", [*chunk(rng, 2), (98, END, "z", 0)])
    time.sleep(12)  # it ran every ten seconds
    output, _ = shop.dbt("run", "--select", "tumble").communicate(timeout=600)
    assert "OK created sql streaming_incremental model shop.tumble" in output, output
    assert not list(old.iterdir())
    shop.check("tumble")


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_by_kill_9(shop: Shop) -> None:
    """Twenty kills at random moments, of the client, or of the server together with what runs in it."""
    seed = int(os.environ.get("SPARKSTREAM_SEED", random.randrange(1_000_000)))
    print(f"SPARKSTREAM_SEED={seed}")
    rng = random.Random(seed)
    interrupted = [kill(shop, rng, number, server=number % 4 == 3) for number in range(20)]
    assert sum(interrupted) >= 15, "too many clients had ended before they were killed"
    finish(shop)
