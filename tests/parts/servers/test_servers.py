"""Delta and Iceberg on a server: one on this machine, and the driver of a cluster of which a worker gets killed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.sql import translate
from tests.integration.targets import DbtProject, ThriftTarget, write
from tests.lib.support import free_port, without_waiting_for_the_disk
from tests.parts.parameters import FORMATS, reason_to_skip
from tests.server.on_clusters import killed_in_the_middle
from tests.server.standalone import EXECUTORS, standalone
from tests.server.test_server import SMALL, query, run

FILES_TO_READ = 8
TUMBLE = """select window_start, window_end, k, count(*) as n, sum(v) as s
from tumble(BID, ts, '20 seconds') group by window_start, window_end, k
"""
STREAMING = "materialized='streaming_incremental', event_time='ts'"
FILES = {
    "seeds/item.csv": "id,name\n1,apple\n2,pear\n",
    "models/schema.yml": "sources:\n  - name: raw\n    schema: shop\n    tables: [{name: bid}]\n",
    "models/merged.sql": """\
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select id, '{{ var("version", "first") }}' as version from {{ ref('item') }}
{% if is_incremental() %}where id > 1 union all select 3, 'new'{% endif %}
""",
    "models/streamed.sql": f"{{{{ config({STREAMING}, watermark='10 seconds', max_files_per_trigger=1) }}}}\n"
    + TUMBLE.replace("BID", "{{ stream(source('raw', 'bid')) }}"),
    "models/onward.sql": f"{{{{ config({STREAMING.replace('ts', 'window_start')}, watermark='10 seconds') }}}}\n"
    "select k, n, window_start from {{ stream(ref('streamed')) }}\n",
    "models/in_python.py": "def model(dbt, session):\n    return dbt.ref('item').select('id')\n",
    "models/exchanged.sql": """\
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id') }}
select id, '{{ var("version") }}' as version, n
from values (1, 0), (2, 0), (2, 1) as t (id, n) {% if is_incremental() %}where id > 1{% endif %}
""",
    "models/versioned.sql": "select id, if(id = 1, 'first', '{{ var(\"version\") }}') as version "
    "from {{ ref('item') }}\n",
    "snapshots/versions.yml": "snapshots:\n  - {name: versions, relation: ref('versioned'), "
    "config: {strategy: check, unique_key: id, check_cols: [version]}}\n",
    "models/arrived.sql": "select * from {{ source('raw', 'bid') }} "
    "where id < {{ 200 if var('version') == 'first' else 320 }}\n",
    "models/replaced.sql": f"""\
{{{{ config(materialized='incremental', incremental_strategy='window_replace', lateness='10 seconds') }}}}
{TUMBLE.replace("BID", "{{ ref('arrived') }}")}""",
}
TABLES = ("item", "merged", "streamed", "onward", "in_python", "exchanged", "versions", "replaced")


@pytest.fixture(scope="module")
def given() -> tuple[str, dict[str, str]]:
    """The format that is built for the Spark of these tests, and the settings for it."""
    faults = []
    for name, settings in FORMATS.items():
        fault = reason_to_skip(name)
        if fault is None:
            own = ("spark.master", "spark.driver.memory")
            return name, {key: value for key, value in settings().items() if key not in own}
        faults.append(fault)
    pytest.skip("; ".join(faults))


class Shop:
    """A project whose tables are in a format, on a server of its own.

    Args:
        folder: of the server and the project.
        given: the format and its settings.
        options: of `sparkstream server start`.
    """

    def __init__(self, folder: Path, given: tuple[str, dict[str, str]], *options: str) -> None:
        self.format, settings = given
        self.server = folder / "server"
        self.port, connect_port = free_port(), free_port()
        conf = dict(settings)
        jars = conf.pop("spark.jars")
        words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        ports = ("--port", str(self.port), "--connect-port", str(connect_port))
        with without_waiting_for_the_disk():
            begun = run("start", "--dir", self.server, *ports, "--jars", jars, *words, *options)
        assert begun.returncode == 0, begun.stderr
        self.warnings = [line for line in begun.stderr.splitlines() if line.startswith("warning")]
        project: dict[str, Any] = {"name": "shop", "version": "1.0", "profile": "shop"}
        project |= {kind: {"+file_format": self.format} for kind in ("models", "seeds", "snapshots")}
        files = {**FILES, "dbt_project.yml": yaml.safe_dump(project)}
        target = ThriftTarget(self.port, connect_port)
        self.project = DbtProject(write(folder / "project", files), target, schema="shop")

    def close(self) -> None:
        run("stop", "--dir", self.server)

    def build(self, version: str, *arguments: str) -> None:
        self.project.dbt("build", "--vars", f"{{version: {version}}}", *arguments)

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        return self.project.target.rows(question)

    def make_source(self) -> None:
        """Makes a source of several files, each of which is a micro-batch."""
        rows = ", ".join(
            f"struct({i} as id, timestamp_seconds({1000 + i % 17 + i // 2}) as ts, 'k{i % 3}' as k, {i * i % 97} as v)"
            for i in range(40 * FILES_TO_READ)
        )
        inserts = (
            f"insert into shop.bid select /*+ coalesce(1) */ * from (select inline(array({rows}))) "
            f"where id div 40 = {file}"
            for file in range(FILES_TO_READ)
        )
        empty = f"create table shop.bid using parquet as select inline(array({rows})) where false"
        query(self.port, "create schema if not exists shop", empty, *inserts, "select 1")

    def check(self) -> None:
        """Compares the tables with what a query over the source gives."""
        until = "timestamp_seconds((select max(unix_seconds(ts)) from shop.bid) - 10)"
        batch = f"select * from ({translate(TUMBLE.replace('BID', 'shop.bid'))}) where window_end <= {until}"
        expected = self.rows(batch)
        assert self.rows("select window_start, window_end, k, n, s from shop.streamed") == expected
        assert len(expected) > 20
        onward = self.rows("select window_start, k, n from shop.onward")
        assert onward == self.rows("select window_start, k, n from shop.streamed")
        assert self.rows("select id, version from shop.merged") == [(1, "first"), (2, "second"), (3, "new")]
        assert self.rows("select id from shop.in_python") == [(1,), (2,)]
        exchanged = [(1, "first", 0), (2, "second", 0), (2, "second", 1)]
        assert self.rows("select id, version, n from shop.exchanged") == exchanged
        seen = self.rows("select id, version, dbt_valid_to is null from shop.versions")
        assert seen == [(1, "first", True), (2, "first", False), (2, "second", True)]
        whole = self.rows(translate(TUMBLE.replace("BID", "shop.bid")))
        assert self.rows("select window_start, window_end, k, n, s from shop.replaced") == whole
        providers = {
            row[1]
            for table in TABLES
            for row in query(self.port, f"describe extended shop.{table}")
            if row[0] == "Provider"
        }
        assert providers == {self.format}


def test_on_a_server(tmp_path: Path, given: tuple[str, dict[str, str]]) -> None:
    """Each build is a client of its own, one after the other."""
    try:
        with closing(Shop(tmp_path, given, *SMALL)) as shop:
            shop.make_source()
            shop.build("first")
            shop.build("second")
            shop.check()
    finally:
        run("stop", "--dir", tmp_path / "server")


@pytest.mark.slow
def test_on_a_cluster_of_which_a_worker_dies(tmp_path: Path, given: tuple[str, dict[str, str]]) -> None:
    conf = [word for name, value in EXECUTORS.items() for word in ("--conf", f"{name}={value}")]
    with standalone(tmp_path / "cluster") as cluster:
        try:
            at = ("--master", cluster.master, "--memory", "1g", "--timeout", "300")
            with closing(Shop(tmp_path, given, *at, *conf)) as shop:
                assert shop.warnings == []
                shop.make_source()

                def third_micro_batch() -> bool:
                    # No **: that would walk into folders that Spark removes meanwhile.
                    commits = "warehouse/*/_sparkstream/streamed-*/checkpoint/commits/2"
                    return any(shop.server.glob(commits))

                killed_in_the_middle(cluster, shop.project, "streamed", third_micro_batch, worker=1)
                shop.build("first")
                cluster.add_worker()
                shop.build("second")
                shop.check()
        finally:
            run("stop", "--dir", tmp_path / "server")
