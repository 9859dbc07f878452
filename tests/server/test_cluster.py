"""The server as the driver of a standalone cluster, whose workers get killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig, ServerError, StartTimedOut
from dbt.adapters.sparkstream.sql import translate
from tests.integration.targets import SMALL_QUERIES, DbtProject, SessionTarget, ThriftTarget, write
from tests.server.standalone import EXECUTORS, Standalone, standalone
from tests.server.test_server import query, run, small, state_of
from tests.support import without_waiting_for_the_disk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

START = 300.0


def config_on(cluster: Standalone, folder: Path, **options: Any) -> ServerConfig:
    conf = {**SMALL_QUERIES, **EXECUTORS, **options.pop("conf", {})}
    return small(folder, **{"master": cluster.master, "timeout": START, "conf": conf, **options})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster") / "cluster") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def running(cluster: Standalone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerConfig]:
    config = config_on(cluster, tmp_path_factory.mktemp("driver") / "server")
    try:
        with without_waiting_for_the_disk():
            assert Server(config).start().warnings == ()
        yield config
    finally:
        Server(config).stop()


EVENTS = ", ".join(
    f"struct({i} as id, timestamp_seconds({1000 + i * 7 % 400}) as ts, 'k{i % 5}' as k, {i * i % 97} as v)"
    for i in range(300)
)

FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n",
    "seeds/bid.csv": "ts,price\n2020-04-15 08:01:00,4\n2020-04-15 08:07:00,2\n2020-04-15 08:21:00,5\n",
    "models/event.sql": f"{{{{ config(materialized='table') }}}}\nselect inline(array({EVENTS}))\n",
    "models/hops.sql": """\
select window_start, window_end, k, count(*) as n, sum(v) as s
from {{ hop(ref('event'), 'ts', '30 seconds', '2 minutes') }} group by window_start, window_end, k
""",
    "models/sessions.sql": """\
{{ config(materialized='table') }}
select window_start, window_end, k, count(*) as n
from {{ session(ref('event'), 'ts', '6 seconds', partition_by='k') }} group by window_start, window_end, k
""",
    "models/frames.sql": """\
{{ config(materialized='table') }}
select id, sum(v) over (partition by k order by ts range between interval 60 seconds preceding and current row) as s,
       lag(v) over (partition by k order by ts, id) as before
from {{ ref('event') }}
""",
    "models/flink.sql": """\
{{ config(sql_dialect='flink') }}
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end
""",
    "models/streamed.sql": """\
{{ config(materialized='streaming_incremental', event_time='ts', watermark='30 seconds') }}
select window_start, window_end, k, count(*) as n, sum(v) as s
from {{ tumble(stream(ref('event')), 'ts', '1 minute') }} group by window_start, window_end, k
""",
    "models/in_python.py": """\
def model(dbt, session):
    from pyspark.sql.types import LongType

    if type(session).__module__.startswith("pyspark.sql.connect"):
        from pyspark.sql.connect.functions import udf
    else:
        from pyspark.sql.functions import udf
    square = udf(lambda v: v * v, LongType())
    return dbt.ref("event").select("id", square("v").alias("squared"))
""",
}
TABLES = ("event", "hops", "sessions", "frames", "flink", "in_python")


def test_dbt_gives_the_rows_of_the_session(
    running: ServerConfig, embedded: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    session, thrift = SessionTarget(embedded), ThriftTarget(running.port, running.connect_port)
    for target in (session, thrift):
        project = DbtProject(write(tmp_path_factory.mktemp(target.name), FILES), target, schema="on_a_cluster")
        target.drop_schema("on_a_cluster")
        project.dbt("build")
    for table in TABLES:
        assert thrift.rows(f"select * from on_a_cluster.{table}") == session.rows(f"select * from on_a_cluster.{table}")
    streamed = "select * except (micro_batch) from on_a_cluster.streamed"
    assert thrift.rows(streamed) == session.rows(streamed)
    assert len(thrift.rows(streamed)) > 20


def folders_of_executors(config: ServerConfig) -> set[str]:
    """Each worker's executor works in a folder of its own."""
    folder = "reflect('java.lang.System', 'getProperty', 'user.dir')"
    rows = query(config.port, f"select distinct folder from (select {folder} as folder from range(1000))")
    return {Path(folder).parents[1].name for (folder,) in rows}


def test_both_workers_take_part(running: ServerConfig) -> None:
    assert folders_of_executors(running) == {"work-0", "work-1"}
    assert Server(running).status().phase is Phase.RUNNING


def test_no_executor_has_so_much_memory(cluster: Standalone, tmp_path: Path) -> None:
    config = config_on(cluster, tmp_path / "server", timeout=60, conf={"spark.executor.memory": "7g"})
    with pytest.raises(StartTimedOut, match=r"gave no executor within 60 seconds\n.* 7g of memory"):
        Server(config).start()
    assert Server(config).status().phase is Phase.STOPPED


# -- Kills ----------------------------------------------------------------------------------------------------
TUMBLE = """select window_start, window_end, k, count(*) as n, sum(v) as s
from tumble(BID, ts, '20 seconds') group by window_start, window_end, k
"""
FILES_TO_READ = 10
HURT = {
    "dbt_project.yml": FILES["dbt_project.yml"],
    "models/schema.yml": "sources:\n  - name: raw\n    schema: hurt\n    tables: [{name: bid}]\n",
    # Tasks of both workers read what tasks of both have written. Each row takes a second: 20 on two workers.
    "models/slow.sql": """\
{{ config(materialized='table') }}
select id, k from (select /*+ repartition(16, id) */ id, id % 7 as k from range(0, 40, 1, 8))
where coalesce(reflect('java.lang.Thread', 'sleep', 1000L), '') <> 'never'
""",
    "models/streamed.sql": "{{ config(materialized='streaming_incremental', event_time='ts', watermark='10 seconds',\n"
    "          max_files_per_trigger=1) }}\n" + TUMBLE.replace("BID", "{{ stream(source('raw', 'bid')) }}"),
}


def killed_in_the_middle(
    cluster: Standalone, project: DbtProject, model: str, is_in_the_middle: Callable[[], bool], worker: int
) -> str:
    """Runs a model, kills a worker and its executor when it is in the middle, and gives what dbt says in the end."""
    command = [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "--no-send-anonymous-usage-stats"]
    here = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    with subprocess.Popen(
        [*command, "run", "--select", model, *here], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as dbt:
        try:
            deadline = time.monotonic() + START
            while not is_in_the_middle():
                assert dbt.poll() is None and time.monotonic() < deadline, "it was never in the middle"
                time.sleep(0.1)
            cluster.kill_worker(worker)
            output, _ = dbt.communicate(timeout=START)
        finally:
            dbt.kill()
    assert dbt.returncode == 0, output
    return output


@pytest.fixture(scope="module")
def hurt(running: ServerConfig, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    target = ThriftTarget(running.port, running.connect_port)
    project = DbtProject(write(tmp_path_factory.mktemp("hurt"), HURT), target, schema="hurt")
    rows = ", ".join(
        f"struct({i} as id, timestamp_seconds({1000 + i % 17 + i // 2}) as ts, 'k{i % 3}' as k, {i * i % 97} as v)"
        for i in range(40 * FILES_TO_READ)
    )
    query(
        running.port,
        "create schema hurt",
        f"create table hurt.bid using parquet as select inline(array({rows})) where false",
        *(
            f"insert into hurt.bid select /*+ coalesce(1) */ * from (select inline(array({rows}))) "
            f"where id div 40 = {file}"
            for file in range(FILES_TO_READ)
        ),
        "select 1",
    )
    return project


def test_a_table_is_complete_though_a_worker_died(running: ServerConfig, cluster: Standalone, hurt: DbtProject) -> None:
    def some_tasks_are_done() -> bool:
        return len(list(running.folder.glob("warehouse/hurt.db/*/_temporary/0/task_*"))) >= 3

    killed_in_the_middle(cluster, hurt, "slow", some_tasks_are_done, worker=0)
    assert query(running.port, "select id, k from hurt.slow order by id") == [(i, i % 7) for i in range(40)]


def test_a_stream_loses_nothing_though_a_worker_died(
    running: ServerConfig, cluster: Standalone, hurt: DbtProject
) -> None:
    cluster.add_worker()

    def third_micro_batch() -> bool:
        return any(running.folder.glob("warehouse/**/_sparkstream/streamed-*/checkpoint/commits/2"))

    killed_in_the_middle(cluster, hurt, "streamed", third_micro_batch, worker=1)
    until = "timestamp_seconds((select max(unix_seconds(ts)) from hurt.bid) - 10)"
    batch = f"select * from ({translate(TUMBLE.replace('BID', 'hurt.bid'))}) where window_end <= {until}"
    found = hurt.target.rows("select * except (micro_batch) from hurt.streamed")
    assert found == hurt.target.rows(batch)
    assert len(found) > 20
    assert folders_of_executors(running) == {"work-2"}


# -- The end --------------------------------------------------------------------------------------------------
def test_restart_keeps_the_cluster_and_says_what_python_lacks(running: ServerConfig, cluster: Standalone) -> None:
    again = run("restart", "--dir", running.folder, "--conf", "spark.pyspark.python=/nowhere/python3")
    assert again.returncode == 0, again.stderr
    assert "warning: executors can't run functions of this Python" in again.stderr
    assert 'Cannot run program "/nowhere/python3"' in again.stderr
    state = state_of(running.folder)
    assert (state.master, state.python) == (cluster.master, "/nowhere/python3")
    assert query(running.port, "select count(*) from hurt.slow") == [(40,)]


def test_what_runs_goes_on_without_the_master(running: ServerConfig, cluster: Standalone) -> None:
    cluster.kill_master()
    assert query(running.port, "select sum(id) from hurt.slow") == [(780,)]
    again = run("restart", "--dir", running.folder)
    assert again.returncode == 1
    assert f"can't reach Spark's master at {cluster.master}" in again.stderr
    assert Server(running).status().phase is Phase.RUNNING
    assert run("stop", "--dir", running.folder).stdout == "stopped\n"


# -- What has to be common ------------------------------------------------------------------------------------
def test_a_warehouse_that_is_not_shared(tmp_path: Path) -> None:
    """A worker sees a disk of its own where the warehouse is, as another machine would."""
    apart = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"']
    folder = tmp_path / "server"
    (folder / "warehouse").mkdir(parents=True)
    (folder / "server.lock").touch()
    apart.append(str(folder / "warehouse"))
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("this user can't make a mount of its own")
    with standalone(tmp_path / "cluster", workers=1) as cluster:
        cluster.add_worker(within=apart)
        config = config_on(cluster, folder, conf={"spark.cores.max": "2"})  # so that it waits for both
        with pytest.raises(ServerError, match=r"rows that executors .*wrote to .*it is not the same storage for all"):
            Server(config).start()
        assert Server(config).status().phase is Phase.STOPPED
        assert list((folder / "warehouse").iterdir()) == []
