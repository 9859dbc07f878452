"""`method: connect`: everything over Spark Connect, on a server that has nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.messages.diagnosis import check
from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig
from dbt.adapters.sparkstream.spark.environments import environment_of
from tests.integration.targets import SMALL_QUERIES, ConnectTarget, DbtProject, write
from tests.lib.support import free_port, without_waiting_for_the_disk
from tests.server.test_server import small

pytestmark = pytest.mark.long

FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n",
    "seeds/bid.csv": "at,price\n2020-04-15 08:01:00,4\n2020-04-15 08:07:00,2\n2020-04-15 08:21:00,5\n",
    "models/windows.sql": """\
{{ config(materialized='table') }}
select window_start, sum(price) as total from {{ tumble(ref('bid'), 'at', '10 minutes') }} group by window_start
""",
    "models/grown.sql": """\
{{ config(materialized='incremental', incremental_strategy='append') }}
select * from {{ ref('bid') }}{% if is_incremental() %} where at > (select max(at) from {{ this }}){% endif %}
""",
    "models/in_python.py": """\
def model(dbt, session):
    return dbt.ref("windows").where("total > 5")
""",
    "models/streamed.sql": """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='1 minute') }}
select window_start, window_end, count(*) as n
from {{ tumble(stream(ref('bid')), 'at', '10 minutes') }} group by window_start, window_end
""",
    "models/confs.sql": """\
{{ config(materialized='table', pre_hook="set spark.sql.shuffle.partitions = 5") }}
select '{{ run_query("set spark.sql.session.timeZone").rows[0][1] if execute }}' as zone
""",
}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    config = small(tmp_path_factory.mktemp("connect") / "server", port=None, conf=SMALL_QUERIES)
    try:
        with without_waiting_for_the_disk():
            Server(config).start()
        yield config
    finally:
        Server(config).stop()


@pytest.fixture(scope="module")
def project(config: ServerConfig, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    folder = write(tmp_path_factory.mktemp("shop"), FILES)
    return DbtProject(folder, ConnectTarget(0, config.connect_port), schema="shop", zone="Asia/Kathmandu")


def credentials(**keys: Any) -> SparkStreamCredentials:
    return SparkStreamCredentials.from_dict({"method": "connect", "schema": "s", **keys})


def test_the_server_is_known_by_connect_alone(config: ServerConfig) -> None:
    assert Server(config).status().phase is Phase.RUNNING
    assert Server(config).start().already_running


def test_models_of_every_kind(project: DbtProject) -> None:
    results = {result.node.name: result for result in project.dbt("build", "--threads", "1").results}
    assert len(results) == 6
    assert "+1 row" in str(results["streamed"].message)

    def rows(query: str) -> list[list[Any]]:
        shown = project.dbt("show", "--inline", query, "--output", "json", "--limit", "9")
        return [list(row) for row in shown.results[0].agate_table.rows]

    assert [[str(start), n] for start, n in rows("select * from {{ ref('windows') }} order by 1")] == [
        ["2020-04-15 08:00:00", 6],
        ["2020-04-15 08:20:00", 5],
    ]
    assert rows("select total from {{ ref('in_python') }}") == [[6]]
    assert rows("select n from {{ ref('streamed') }}") == [[2]]
    assert rows("select zone from {{ ref('confs') }}") == [["Asia/Kathmandu"]]
    # Each connection has settings of its own.
    assert rows("select count(*) from {{ ref('grown') }}") == [[3]]
    project.dbt("run", "--select", "grown", "streamed")
    assert rows("select count(*) from {{ ref('grown') }}") == [[3]]


def test_values_that_can_t_be_read(project: DbtProject) -> None:
    """Spark Connect reports what a query has observed in a form of its own."""
    folder = project.folder / "lines"
    folder.mkdir()
    (folder / "1.txt").write_text('{"at": "2020-04-15T08:01:00Z"}\nbroken\n{"at": 1.5}\n')
    stream = {"format": "text", "path": str(folder), "value_format": "json", "schema": "at timestamp"}
    source = {"name": "lines", "tables": [{"name": "bid", "config": {"meta": {"stream": stream}}}]}
    reads = "{{ config(materialized='streaming_incremental') }}\nselect at from {{ stream(source('lines', 'bid')) }}\n"
    write(project.folder, {"models/lines.yml": yaml.safe_dump({"sources": [source]}), "models/lines.sql": reads})
    [result] = project.dbt("run", "--select", "lines").results
    assert "+1 row, 2 unreadable rows" in result.message
    query = "select cast(value as string) as v from shop.lines__unreadable"
    shown = project.dbt("show", "--inline", query, "--output", "json")
    assert sorted(row[0] for row in shown.results[0].agate_table.rows) == ["broken", '{"at": 1.5}']


def test_types_of_rows(project: DbtProject) -> None:
    query = "select 1 as i, 1.5 as d, true as b, null as n, date'2020-01-02' as day, 'x' as t, array(1, 2) as many"
    shown = project.dbt("show", "--inline", query, "--output", "json")
    [row] = [dict(row) for row in shown.results[0].agate_table.rows]
    assert (row["i"], float(row["d"]), row["b"], row["n"], str(row["day"]), row["t"]) == (
        1,
        1.5,
        True,
        None,
        "2020-01-02",
        "x",
    )


def test_python_processes_import_the_installed_pyspark(config: ServerConfig) -> None:
    """Spark would have them import its zip of the same code, which takes three times as long in each of them."""
    import pyspark
    from pyspark.sql.connect.functions import udf
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import StringType

    session = SparkSession.builder.remote(f"sc://127.0.0.1:{config.connect_port}").create()
    try:
        where: Any = udf(lambda _: __import__("pyspark").__file__, StringType())
        [[imported]] = session.range(1).select(where("id")).collect()
    finally:
        session.stop()
    assert Path(imported).samefile(pyspark.__file__)


def test_docs_have_comments_and_columns(project: DbtProject) -> None:
    project.dbt("docs", "generate")
    catalog = json.loads((project.folder / "target" / "catalog.json").read_text())
    assert list(catalog["nodes"]["model.shop.windows"]["columns"]) == ["window_start", "total"]


def test_errors_are_spark_s_first_line(project: DbtProject) -> None:
    write(project.folder, {"models/wrong.sql": "{{ config(materialized='table') }}\nselect x from nowhere"})
    try:
        failed = project.invoke("run", "--select", "wrong")
    finally:
        (project.folder / "models" / "wrong.sql").unlink()
    message = str(failed.result.results[0].message)
    assert "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found." in message
    assert "JVM stacktrace" not in message and "UnresolvedRelation" not in message


def test_debug(config: ServerConfig, tmp_path: Path) -> None:
    said: list[str] = []
    environment = environment_of(credentials(host="127.0.0.1", port=config.connect_port), tmp_path)
    environment.check(said.append)
    assert said == [f"Spark Connect at sc://127.0.0.1:{config.connect_port}, for SQL, streaming and Python models"]
    check(environment, lambda: "4.2.0")


def test_nobody_listens(project: DbtProject) -> None:
    profile = project.folder / "profiles.yml"
    before = profile.read_text()
    port = free_port()
    outputs = yaml.safe_load(before)
    outputs["shop"]["outputs"]["connect"]["connect_url"] = f"sc://127.0.0.1:{port}/;token=S3CR3T"
    profile.write_text(yaml.safe_dump(outputs))
    try:
        failed = project.invoke("run", "--select", "windows")
    finally:
        profile.write_text(before)
    message = str(failed.exception or failed.result.results[0].message)
    assert f"failed to connect: no Spark Connect at sc://127.0.0.1:{port}/;token=*****" in message
    assert "sparkstream server start" in message


ADDRESSES: dict[str, dict[str, Any]] = {
    "sc://h:1": {"host": "h", "port": 1},
    "sc://h:15002": {"host": "h"},
    "sc://[::1]:15002": {"host": "::1"},
    "sc://h:1/;user_id=me;token=a%3Bb;use_ssl=true": {
        "host": "h",
        "port": 1,
        "user": "me",
        "token": "a;b",
        "use_ssl": True,
    },
    "sc://u:7/;use_ssl=true;token=t": {"connect_url": "sc://u:7/;use_ssl=true", "token": "t"},
    "sc://u:7/;token=own": {"connect_url": "sc://u:7/;token=own", "token": "t"},
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses(address: str) -> None:
    assert credentials(**ADDRESSES[address]).connect_address() == address


def test_an_address_that_is_none() -> None:
    with pytest.raises(Exception, match="an address of Spark Connect is written sc://HOST:15002"):
        credentials(connect_url="http://h:15002")


def test_no_secrets_are_shown() -> None:
    shown = dict(credentials(host="h", token="S3CR3T", use_ssl=True).connection_info())
    assert shown["host"] == "h" and "S3CR3T" not in str(shown)
