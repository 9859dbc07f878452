"""The gateway before a real Thrift server: PyHive, beeline, dbt-spark without this adapter, and recorded cases."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyhive import hive
from pyhive.exc import OperationalError

from dbt.adapters.sparkstream.gateway import Gateway
from dbt.adapters.sparkstream.gateway.statements import DIALECT
from dbt.adapters.sparkstream.server.launch import find_spark
from tests.golden.runner import Case, covering, create_view, flink_type, load, same
from tests.integration.compare import difference
from tests.integration.golden_project import files, model_name, sample
from tests.integration.targets import DbtProject, ThriftTarget
from tests.lib.support import PATIENCE, wait_for
from tests.server.test_logins import dbt
from tests.server.thriftserver import thrift_server

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
KEY = "hive.server2.authentication"
WINDOWS = (
    "SELECT window_start, sum(price) AS total FROM << tumble(bid, at, '10 minutes') >> "
    "GROUP BY window_start ORDER BY window_start"
)
BID = (
    "CREATE OR REPLACE TEMPORARY VIEW bid AS SELECT CAST(a AS TIMESTAMP) AS at, price "
    "FROM VALUES ('2020-04-15 08:05:00', 4), ('2020-04-15 08:07:00', 2), ('2020-04-15 08:11:00', 3) AS v(a, price)"
)
TOTALS = [("2020-04-15 08:00:00", 6), ("2020-04-15 08:10:00", 3)]
PROJECT = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nvars: {sparkstream_gateway: true}\n"
    "flags: {send_anonymous_usage_stats: false}\n",
    "packages.yml": f"packages: [{{local: '{ROOT}'}}]\n",
    "seeds/bid.csv": "at,price\n2020-04-15 08:05:00,4\n2020-04-15 08:07:00,2\n2020-04-15 08:11:00,3\n",
    "models/island.sql": "{{ config(materialized='table') }}\nselect window_start, sum(price) as total\n"
    "from << tumble({{ ref('bid') }}, at, '10 minutes') >> group by window_start\n",
    "models/macro.sql": "select window_start, sum(price) as total\n"
    "from {{ sparkstream.tumble(ref('bid'), 'at', '10 minutes') }} group by window_start\n",
    "models/flink.sql": "{% call sparkstream.window_sql(dialect='flink') %}\nSELECT window_start, SUM(price) AS total\n"
    "FROM TUMBLE(TABLE {{ ref('bid') }}, DESCRIPTOR(`at`), INTERVAL '10' MINUTES)\nGROUP BY window_start, window_end\n"
    "{% endcall %}\n",
    "models/frame.sql": "select at, sum(price) over w as total from {{ ref('bid') }}\n"
    "window w as (order by at rows_range between 3m preceding and current row)\n",
    "models/broken.sql": "select *\nfrom << tumble({{ ref('bid') }}, att, '10 minutes') >>\n",
}


@contextmanager
def gateway_to(port: int) -> Iterator[int]:
    gateway = Gateway(("127.0.0.1", port), log=print)
    threading.Thread(target=gateway.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield gateway.server_address[1]
    finally:
        gateway.shutdown()
        gateway.server_close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The gateway's port, with a Spark behind it that asks for no login."""
    folder = tmp_path_factory.mktemp("gateway") / "spark"
    conf = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1", f"spark.hadoop.{KEY}": "NOSASL"}
    with thrift_server(folder, {}, conf) as behind, gateway_to(behind) as port:
        yield port


def connected(port: int, **given: Any) -> Any:
    return closing(hive.Connection(**{"host": "127.0.0.1", "port": port, "auth": "NOSASL", "username": "me", **given}))


def rows(connection: Any, *statements: str) -> list[tuple[Any, ...]]:
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def test_windows_in_the_session_s_own_views(port: int) -> None:
    with connected(port) as connection:
        found = rows(connection, BID, WINDOWS)
        assert [(str(start), total) for start, total in found] == TOTALS
        with pytest.raises(OperationalError, match="att"):
            rows(connection, WINDOWS.replace("at,", "att,"))
        with pytest.raises(OperationalError, match="TABLE_OR_VIEW_NOT_FOUND"):
            rows(connection, "select * from nowhere")
        assert rows(connection, "select 1 << 2") == [(4,)]


def test_a_server_with_logins(tmp_path: Path) -> None:
    with thrift_server(tmp_path / "spark", {KEY: "NONE"}) as behind, gateway_to(behind) as port:
        with connected(port, auth="NONE", username="ann") as connection:
            found = rows(connection, BID, WINDOWS)
            assert [(str(start), total) for start, total in found] == TOTALS
        project(tmp_path / "shop", port, auth="NONE", user="ann")
        assert dbt(tmp_path / "shop", "deps").returncode == 0
        assert "PASS=2" in dbt(tmp_path / "shop", "build", "--select", "+island").stdout


def project(folder: Path, port: int, **target: Any) -> None:
    """A project of dbt-spark's, without this adapter."""
    output = {"type": "spark", "method": "thrift", "host": "127.0.0.1", "port": port, "schema": "shop", **target}
    profile = {"shop": {"target": "test", "outputs": {"test": output}}}
    for name, text in {**PROJECT, "profiles.yml": yaml.safe_dump(profile)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_dbt_spark_without_this_adapter(port: int, tmp_path: Path) -> None:
    project(tmp_path, port, auth="NOSASL")
    for command in ("deps", "build"):
        done = dbt(tmp_path, command)
    assert "PASS=5 WARN=0 ERROR=1" in done.stdout, done.stdout + done.stderr
    assert "the input of TUMBLE has no column att" in done.stdout
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith("att, '10 minutes') >>"))
    assert "line " in lines[at - 1] and lines[at + 1].index("^^^") == lines[at].index("att")
    with connected(port) as connection:
        for model in ("island", "macro", "flink"):
            found = rows(connection, f"select window_start, total from shop.{model} order by window_start")
            assert [(str(start), total) for start, total in found] == TOTALS
        assert rows(connection, "select total from shop.frame order by at") == [(4,), (6,), (3,)]


def test_beeline(port: int) -> None:
    spark = find_spark()
    command = [str(spark.home / "bin" / "beeline"), "-u", f"jdbc:hive2://127.0.0.1:{port}/default;auth=noSasl"]
    options = ["-n", "me", "--silent=true", "--outputformat=csv2", "-e", f"{BID}; {WINDOWS};"]
    environ = {**os.environ, "SPARK_HOME": str(spark.home)}
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE, env=environ)
    assert "2020-04-15 08:00:00.0,6\n2020-04-15 08:10:00.0,3" in done.stdout, done.stdout + done.stderr


def test_a_statement_is_cancelled(port: int) -> None:
    with connected(port) as connection:
        cursor = connection.cursor()
        cursor.execute(BID)
        slow = f"SELECT count(*) FROM ({WINDOWS}) JOIN range(10000000000) r ON rand() < total"
        cursor.execute(slow, async_=True)
        cursor.cancel()
        wait_for(lambda: cursor.poll().operationState not in (0, 1))
        # Spark interrupts it first, and writes "cancelled" then: between the two it may have failed by itself.
        ended = (hive.ttypes.TOperationState.CANCELED_STATE, hive.ttypes.TOperationState.ERROR_STATE)
        assert cursor.poll().operationState in ended
        assert rows(connection, "select 1") == [(1,)]


KILLED = """
from pyhive import hive
cursor = hive.connect("127.0.0.1", PORT, auth="NOSASL", username="me").cursor()
cursor.execute("QUERY", async_=True)
print("runs", flush=True)
while True:
    AGAIN
"""


@pytest.mark.parametrize(
    ("query", "again"),
    [
        ("SELECT count(*) FROM range(10000000000) a JOIN range(10000000000) b ON rand() < 1", "cursor.poll()"),
        ("SELECT repeat('a', 1000) FROM range(1000000)", "cursor.fetchone()"),
    ],
)
def test_a_client_is_killed(port: int, query: str, again: str) -> None:
    """While Spark runs its statement, or sends its rows: the connection behind it ends, too, and others go on."""

    def clients() -> int:
        return sum("process_request_thread" in thread.name for thread in threading.enumerate())

    wait_for(lambda: not clients())
    script = KILLED.replace("PORT", str(port)).replace("QUERY", query).replace("AGAIN", again)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as client:
        try:
            assert client.stdout and client.stdout.readline() == "runs\n"
            assert clients() == 1
        finally:
            client.kill()
    wait_for(lambda: not clients())
    with connected(port) as connection:
        assert rows(connection, "select 1") == [(1,)]


def test_many_clients_at_once(port: int) -> None:
    def one(number: int) -> list[tuple[Any, ...]]:
        with connected(port) as connection:
            return rows(connection, BID, WINDOWS.replace("sum(price)", f"sum(price) + {number}"))

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(one, range(20)))
    assert [[total for _, total in each] for each in found] == [[6 + n, 3 + n] for n in range(20)]


class _Session:
    """What `create_view` takes for a Spark, over the gateway."""

    def __init__(self, connection: Any, query: str = "") -> None:
        self._connection, self._query = connection, query

    def sql(self, query: str) -> _Session:
        return _Session(self._connection, query)

    def createOrReplaceTempView(self, name: str) -> None:
        rows(self._connection, f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {self._query}")

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        return []


SIMPLE = {"integer", "decimal", "double", "boolean", "string", "timestamp", "date"}


def plain(case: Case) -> bool:
    return bool(case.expected) and not case.setup and set(case.expected.families) <= SIMPLE if case.expected else False


RECORDED = [
    *(("flink", case) for case in covering(filter(plain, load("flink_documented.json")))[:12]),
    *(("flink", case) for case in covering(filter(plain, load("flink_cases.json")))[:12]),
    *(("openmldb", case) for case in covering(filter(plain, load("openmldb_cases.json")))[:12]),
    *(("sqlstream", case) for case in covering(filter(plain, load("sqlstream_cases.json")))[:8]),
]


@pytest.mark.parametrize(("dialect", "case"), [pytest.param(d, c, id=f"{d}-{c.id}") for d, c in RECORDED])
def test_recorded_cases(port: int, dialect: str, case: Case) -> None:
    assert case.expected
    spark_type = flink_type if dialect == "flink" else lambda type_: {"bool": "BOOLEAN"}.get(type_, type_.upper())
    with connected(port) as connection:
        rows(connection, "set spark.sql.ansi.enabled = true", f"set spark.sql.session.timeZone = {case.zone}")
        for name, table in case.tables.items():
            create_view(_Session(connection), name, table, spark_type)  # type: ignore[arg-type]
        found = rows(connection, f"SET {DIALECT} = {dialect}", case.sql.rstrip().rstrip(";"))
    left = [[_shown(value) for value in row] for row in found]
    for want in case.expected.rows:
        equal = next((got for got in left if _equal(want, got, case.expected.families)), None)
        assert equal is not None, (want, left)
        left.remove(equal)
    assert not left


HOOKS = f"{{{{ config(pre_hook='SET {DIALECT} = flink', post_hook='RESET {DIALECT}') }}}}\n"


def test_recorded_cases_as_models_of_dbt_spark(port: int, tmp_path: Path) -> None:
    """Flink's text under a hook that says so, islands, and blocks of `window_sql`, without this adapter."""
    flink = [case for dialect, case in RECORDED if dialect == "flink" and case.zone == "UTC"]
    openmldb = [case for dialect, case in RECORDED if dialect == "openmldb" and len(case.tables) == 1]
    doors = {"window_sql": flink, "sql": flink, "island": sample(flink, "island")}
    texts = files(doors) | {
        name: text.replace("'flink'", "'openmldb'").replace(" AS bool)", " AS boolean)")
        for name, text in files({"window_sql": openmldb}).items()
    }
    for name, text in texts.items():
        hooks = HOOKS if name.endswith("__sql.sql") else ""
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(hooks + text.replace("call window_sql(", "call sparkstream.window_sql("))
    for name in ("dbt_project.yml", "packages.yml"):
        (tmp_path / name).write_text(PROJECT[name])
    target = ThriftTarget(port, None)
    built = DbtProject(tmp_path, target, schema="recorded", type_="spark")
    built.dbt("deps")
    built.dbt("build")
    for door, case in [
        *((d, case) for d, cases in doors.items() for case in cases),
        *(("window_sql", c) for c in openmldb),
    ]:
        assert case.expected
        name = model_name(case, door)
        assert not difference(case.expected, target.ask(f"SELECT * FROM recorded.{name}")), name


def _shown(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(" ", "milliseconds")
    return str(value) if isinstance(value, date) else float(value) if isinstance(value, Decimal) else value


def _equal(want: Sequence[Any], got: Sequence[Any], families: Sequence[str]) -> bool:
    return all(same(w, g, "double" if k in ("decimal",) else k) for w, g, k in zip(want, got, families, strict=True))
