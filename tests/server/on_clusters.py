"""Trials on each kind of cluster: dbt's models on it, and workers that get killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dbt.adapters.sparkstream.server import ServerConfig
from dbt.adapters.sparkstream.sql import translate
from tests.integration.targets import SMALL_QUERIES, DbtProject, SessionTarget, ThriftTarget, write
from tests.server.test_server import query, small

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = 300.0


class Cluster(Protocol):
    """A cluster on this machine, whose workers have room for one executor each."""

    @property
    def master(self) -> str: ...

    def add_worker(self) -> None: ...

    def kill_worker(self, number: int) -> None: ...

    def worker_of(self, folder: str) -> str: ...


def config_on(cluster: Cluster, folder: Path, executors: Mapping[str, str], **options: Any) -> ServerConfig:
    """A server that is the driver of a cluster.

    Args:
        cluster: the cluster.
        folder: of the server.
        executors: settings that fit them into the workers.
        options: of the server, beside the usual ones.
    """
    conf = {**SMALL_QUERIES, **executors, **options.pop("conf", {})}
    return small(folder, **{"master": cluster.master, "timeout": START, "conf": conf, **options})


def workers_at_work(cluster: Cluster, config: ServerConfig) -> set[str]:
    """Those whose executors take part in a query: each executor works in a folder of its own."""
    folder = "reflect('java.lang.System', 'getProperty', 'user.dir')"
    rows = query(config.port, f"select distinct folder from (select {folder} as folder from range(1000))")
    return {cluster.worker_of(folder) for (folder,) in rows}


# -- dbt ------------------------------------------------------------------------------------------------------
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


def rows_are_the_sessions(running: ServerConfig, embedded: SparkSession, folder: Path) -> None:
    """Builds a project on both, and compares the tables."""
    session, thrift = SessionTarget(embedded), ThriftTarget(running.port, running.connect_port)
    for target in (session, thrift):
        project = DbtProject(write(folder / target.name, FILES), target, schema="on_a_cluster")
        target.drop_schema("on_a_cluster")
        project.dbt("build")
    for table in TABLES:
        assert thrift.rows(f"select * from on_a_cluster.{table}") == session.rows(f"select * from on_a_cluster.{table}")
    streamed = "select * except (micro_batch) from on_a_cluster.streamed"
    assert thrift.rows(streamed) == session.rows(streamed)
    assert len(thrift.rows(streamed)) > 20


# -- A hot key ------------------------------------------------------------------------------------------------
HOT_ROWS = 20_000
HOT_EVENTS = f"""select id, timestamp_seconds(1000 + id * 37 % {HOT_ROWS} * 2 + id * 37 % {HOT_ROWS} div 10 * 30) as ts,
if(id % 10 = 0, concat('k', id % 70), 'hot') as k, id * id % 97 as v from range(0, {HOT_ROWS}, 1, 4)"""
"""Nine of ten rows have one key. Ten times are two seconds apart, and the next ten half a minute later."""

HOT_QUESTIONS = {
    "tumble": """select window_start, window_end, k, count(*) as n, sum(v) as s, max(v) as m
from tumble(hot.event, ts, '1 minute') group by window_start, window_end, k""",
    "session": """select window_start, window_end, k, count(*) as n, sum(v) as s
from session(table hot.event partition by k, descriptor(ts), interval '20' seconds)
group by window_start, window_end, k""",
    "over": """select id, k, sum(v) over w as s, max(v) over w as m,
lag(v) over (partition by k order by ts, id) as before
from hot.event window w as (partition by k order by ts range between interval '5' minutes preceding and current row)""",
}


def a_hot_key_gives_the_rows_of_the_session(running: ServerConfig, embedded: SparkSession) -> None:
    """Asks both for windows over rows of which one key has nearly all."""
    session, thrift = SessionTarget(embedded), ThriftTarget(running.port, running.connect_port)
    for target in (session, thrift):
        target.drop_schema("hot")
        for statement in ("create schema hot", f"create table hot.event using parquet as {HOT_EVENTS}"):
            target.do(statement)
    schema = {"hot.event": {"id": "bigint", "ts": "timestamp", "k": "string", "v": "bigint"}}
    for name, question in HOT_QUESTIONS.items():
        found = [target.rows(translate(question, schema=schema)) for target in (session, thrift)]
        assert found[0] == found[1], name
        hot = [row for row in found[0] if "hot" in row]
        assert len(hot) > 200, name
        if name != "over":
            assert sum(row[3] for row in hot) == HOT_ROWS * 9 // 10, name


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
    cluster: Cluster, project: DbtProject, model: str, is_in_the_middle: Callable[[], bool], worker: int
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


def project_to_hurt(running: ServerConfig, folder: Path) -> DbtProject:
    """A project whose models take long enough to be hurt, and the source that one of them streams."""
    target = ThriftTarget(running.port, running.connect_port)
    project = DbtProject(write(folder, HURT), target, schema="hurt")
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


def table_is_complete_though_a_worker_dies(
    running: ServerConfig, cluster: Cluster, hurt: DbtProject, worker: int
) -> None:
    """Kills a worker while a table is being written."""

    def some_tasks_are_done() -> bool:
        return len(list(running.folder.glob("warehouse/hurt.db/*/_temporary/0/task_*"))) >= 3

    killed_in_the_middle(cluster, hurt, "slow", some_tasks_are_done, worker)
    assert query(running.port, "select id, k from hurt.slow order by id") == [(i, i % 7) for i in range(40)]


def stream_loses_nothing_though_a_worker_dies(
    running: ServerConfig, cluster: Cluster, hurt: DbtProject, worker: int
) -> None:
    """Kills a worker in the middle of a stream."""

    def third_micro_batch() -> bool:
        return any(running.folder.glob("warehouse/*/_sparkstream/streamed-*/checkpoint/commits/2"))

    killed_in_the_middle(cluster, hurt, "streamed", third_micro_batch, worker)
    until = "timestamp_seconds((select max(unix_seconds(ts)) from hurt.bid) - 10)"
    batch = f"select * from ({translate(TUMBLE.replace('BID', 'hurt.bid'))}) where window_end <= {until}"
    found = hurt.target.rows("select * except (micro_batch) from hurt.streamed")
    assert found == hurt.target.rows(batch)
    assert len(found) > 20
