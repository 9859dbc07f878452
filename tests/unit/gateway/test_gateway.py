"""The gateway before a Thrift server that has no Spark: what it hands on, what it translates, what it refuses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from pyhive import hive
from pyhive.exc import OperationalError
from TCLIService import TCLIService, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolFactory
from thrift.server.TServer import TThreadedServer
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TBufferedTransportFactory, TTransportException

from dbt.adapters.sparkstream.cli import main
from dbt.adapters.sparkstream.gateway import Gateway
from dbt.adapters.sparkstream.gateway.statements import DIALECT, query_start
from dbt.adapters.sparkstream.gateway.wire import NoMessage, read_message
from dbt.adapters.sparkstream.sql import translate
from tests.lib.macros import Macros
from tests.lib.support import PATIENCE

OK = ttypes.TStatus(ttypes.TStatusCode.SUCCESS_STATUS)
TUMBLE = "SELECT window_start, sum(price) AS s FROM << tumble(bid, bidtime, '10 minutes') >> GROUP BY window_start"
FLINK = (
    "SELECT window_start, SUM(price) AS s FROM TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES) "
    "GROUP BY window_start, window_end"
)
SCHEMA = {"bid": {"bidtime": "timestamp", "price": "int"}}
ROWS = [["__sparkstream_table", "int"], *([name, type_] for name, type_ in SCHEMA["bid"].items())]


class Spark:
    """Answers as Spark's Thrift server does, and keeps the statements."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.results: dict[bytes, list[list[str]]] = {}
        self.sessions = 0
        self.cuts = 0

    def OpenSession(self, request: Any) -> Any:
        self.sessions += 1
        handle = ttypes.TSessionHandle(ttypes.THandleIdentifier(b"\x86\xff%014d" % self.sessions, b"\xda" * 16))
        return ttypes.TOpenSessionResp(OK, request.client_protocol, handle)

    def ExecuteStatement(self, request: Any) -> Any:
        self.said.append(request.statement)
        if request.statement.startswith("DESCRIBE") and self.cuts:
            self.cuts -= 1
            raise TTransportException(message="the connection is closed")
        number = b"%016d" % len(self.said)
        self.results[number] = list(ROWS) if request.statement.startswith("DESCRIBE") else []
        handle = ttypes.TOperationHandle(ttypes.THandleIdentifier(number, b"o" * 16), 0, True)
        return ttypes.TExecuteStatementResp(OK, handle)

    def GetOperationStatus(self, request: Any) -> Any:
        return ttypes.TGetOperationStatusResp(OK, ttypes.TOperationState.FINISHED_STATE)

    def GetResultSetMetadata(self, request: Any) -> Any:
        entry = ttypes.TTypeEntry(ttypes.TPrimitiveTypeEntry(ttypes.TTypeId.STRING_TYPE))
        columns = [ttypes.TColumnDesc(f"c{i}", ttypes.TTypeDesc([entry]), i) for i in range(2)]
        return ttypes.TGetResultSetMetadataResp(OK, ttypes.TTableSchema(columns))

    def FetchResults(self, request: Any) -> Any:
        rows = self.results.pop(request.operationHandle.operationId.guid, [])
        columns = [ttypes.TColumn(stringVal=ttypes.TStringColumn([row[i] for row in rows], b"")) for i in range(2)]
        return ttypes.TFetchResultsResp(OK, False, ttypes.TRowSet(0, [], columns))

    def CloseOperation(self, request: Any) -> Any:
        return ttypes.TCloseOperationResp(OK)

    def CloseSession(self, request: Any) -> Any:
        return ttypes.TCloseSessionResp(OK)


class Listens(TServerSocket):
    """A socket that listens once, and ends the thread of its server when it is closed.

    Thrift's server takes a closed socket for an error of one connection, and asks it again and again, for good.
    """

    def __init__(self) -> None:
        super().__init__("127.0.0.1", 0)
        super().listen()

    def listen(self) -> None:
        """The server would listen once more, on another port."""

    def accept(self) -> Any:
        try:
            return super().accept()
        except (OSError, AttributeError):  # it is closed
            raise SystemExit from None

    def close(self) -> None:
        self.handle.shutdown(socket.SHUT_RDWR)  # a thread that waits in `accept` is told
        super().close()


@pytest.fixture
def spark() -> Iterator[SimpleNamespace]:
    """A server and the gateway before it."""
    handler = Spark()
    listens = Listens()
    port = listens.handle.getsockname()[1]
    server = TThreadedServer(
        TCLIService.Processor(handler), listens, TBufferedTransportFactory(), TBinaryProtocolFactory(), daemon=True
    )

    def serve() -> None:
        with suppress(SystemExit):
            server.serve()

    threading.Thread(target=serve, daemon=True).start()
    told: list[str] = []
    gateway = Gateway(("127.0.0.1", port), log=told.append)
    threading.Thread(target=gateway.serve_forever, args=(0.05,), daemon=True).start()
    yield SimpleNamespace(handler=handler, port=gateway.server_address[1], said=handler.said, told=told)
    gateway.shutdown()
    gateway.server_close()
    listens.close()


def connected(spark: SimpleNamespace) -> Any:
    return closing(hive.Connection(host="127.0.0.1", port=spark.port, auth="NOSASL", username="me"))


@pytest.mark.parametrize(
    "sql", ["select 1 << 2", "SHOW TABLES", "select '\u00e9\u202e', ``", "select 'x' -- << tumble"]
)
def test_what_has_nothing_of_ours_is_handed_on_as_it_is(spark: SimpleNamespace, sql: str) -> None:
    with connected(spark) as connection:
        connection.cursor().execute(sql)
    assert spark.said == ["USE `default`", sql]


def test_windows_are_translated_with_the_columns_of_the_session_s_tables(spark: SimpleNamespace) -> None:
    with connected(spark) as connection:
        connection.cursor().execute(TUMBLE)
        connection.cursor().execute(f"CREATE VIEW v AS {TUMBLE}")
    asked = "DESCRIBE QUERY SELECT 0 AS __sparkstream_table, t0.* FROM bid AS t0"
    translated = translate(TUMBLE, schema=SCHEMA)
    assert spark.said[1:] == [asked, translated, asked, f"CREATE VIEW v AS {translated}"]


def test_a_session_says_what_its_queries_are_written_in(spark: SimpleNamespace) -> None:
    translated = translate(FLINK, "flink", schema=SCHEMA)
    with connected(spark) as connection, connected(spark) as other:
        connection.cursor().execute(f"/* a comment */ SET {DIALECT} = flink;")
        for sql in (FLINK, f"CREATE TABLE t\nUSING parquet AS ({FLINK})", "SHOW TABLES"):
            connection.cursor().execute(sql)
        other.cursor().execute("select 7 / 2")
        connection.cursor().execute(TUMBLE)
        connection.cursor().execute(f"RESET {DIALECT}")
        connection.cursor().execute("select 1")
    # What stands below another line is indented by what is before the query.
    said = [" ".join(sql.split()) for sql in spark.said if not sql.startswith(("USE", "DESCRIBE"))]
    translated = " ".join(translated.split())
    assert said[1:] == [
        translated,
        f"CREATE TABLE t USING parquet AS ({translated})",
        "SHOW TABLES",
        "select 7 / 2",
        " ".join(translate(TUMBLE, "flink", schema=SCHEMA).split()),
        f"RESET {DIALECT}",
        "select 1",
    ]


def test_two_sessions_of_one_connection(spark: SimpleNamespace) -> None:
    with connected(spark) as connection:
        opened = connection.client.OpenSession(ttypes.TOpenSessionReq(username="me"))
        other = SimpleNamespace(client=connection.client, sessionHandle=opened.sessionHandle)
        connection.cursor().execute(f"SET {DIALECT} = flink")
        hive.Cursor(other).execute("select 7 / 2")
        connection.cursor().execute("select 7 / 2")
    assert spark.said[-2:] == ["select 7 / 2", translate("select 7 / 2", "flink")]


@pytest.mark.parametrize(
    "sql",
    [
        f"-- a comment\nSET {DIALECT} = flink",
        f"/* a /* b */ c */ set\n\t{DIALECT}=FLINK ;",
        f"SET `{DIALECT}` = 'flink'",
    ],
)
def test_the_setting_is_read_however_it_is_written(spark: SimpleNamespace, sql: str) -> None:
    with connected(spark) as connection:
        connection.cursor().execute(sql)
        assert spark.said[-1] == sql
        for reset in ("-- all\nRESET", f"reset `{DIALECT}`;"):
            connection.cursor().execute("select 7 / 2")
            assert spark.said[-1] != "select 7 / 2"
            connection.cursor().execute(reset)
            connection.cursor().execute("select 7 / 2")
            assert spark.said[-1] == "select 7 / 2"
            connection.cursor().execute(sql)


def test_a_misspelt_setting_is_refused(spark: SimpleNamespace) -> None:
    """Spark keeps any setting, and the session's queries would be read in another dialect."""
    with connected(spark) as connection:
        for key in ("sparkstream.sql.dialct", "SPARKSTREAM.SQL.DIALECT", "sparkstream.dialect"):
            with pytest.raises(OperationalError, match=f"no setting {key}.*write SET {DIALECT} = flink"):
                connection.cursor().execute(f"SET {key} = flink")
        for sql in ("SET sparkstream", f"SET {DIALECT}", "SET spark.x = it's", "SET spark.x = sparkstream.y"):
            connection.cursor().execute(sql)
            assert spark.said[-1] == sql
        connection.cursor().execute("select 7 / 2")
    assert spark.said[-1] == "select 7 / 2"


def test_blocks_of_the_macro_window_sql(spark: SimpleNamespace) -> None:
    block = f"<< window_sql(flink, {len(FLINK)}, optimize => false) {FLINK} >>"
    plain = translate(FLINK, "flink", schema=SCHEMA, optimize=False)
    with connected(spark) as connection:
        connection.cursor().execute(f"create view v as\nselect * from ({block}) a -- {block}")
        connection.cursor().execute(f"select '{block}'")
        with pytest.raises(OperationalError, match=r"line 2, column 46"):
            connection.cursor().execute("select *\nfrom (<< window_sql(flink, 31) select * from tumble(table bid) >>)")
    said = [" ".join(sql.split()) for sql in spark.said if not sql.startswith(("USE", "DESCRIBE"))]
    assert said == [
        " ".join(f"create view v as select * from ({plain}) a -- {block}".split()),
        f"select '{block}'",
    ]


def test_columns_are_asked_once_for_a_statement(spark: SimpleNamespace) -> None:
    block = f"<< window_sql(flink, {len(FLINK)}) {FLINK} >>"
    with connected(spark) as connection:
        connection.cursor().execute(f"select * from ({block}) a cross join ({block}) b cross join ({TUMBLE}) c")
        connection.cursor().execute(f"select * from ({block}) a")
    asked = [sql.startswith("DESCRIBE") for sql in spark.said]
    assert asked == [False, True, False, True, False]


def test_a_connection_for_columns_that_was_closed_is_opened_again(spark: SimpleNamespace) -> None:
    translated = translate(TUMBLE, schema=SCHEMA)
    with connected(spark) as connection:
        connection.cursor().execute(TUMBLE)
        spark.handler.cuts = 1
        connection.cursor().execute(TUMBLE)
        assert spark.said[-1] == translated
        spark.handler.cuts = 2
        with pytest.raises(OperationalError, match="can't ask Spark for the columns"):
            connection.cursor().execute(TUMBLE)
        connection.cursor().execute(TUMBLE)
        assert spark.said[-1] == translated


def test_the_macro_window_sql_writes_them() -> None:
    there = Macros("spark", var=lambda name, default=None: name == "sparkstream_gateway" or default)
    block = there.call("default__window_sql", "SELECT 1", "flink", arrival="seq", optimize=False)
    assert block == "<< window_sql(flink, 8, arrival => seq, optimize => false) SELECT 1 >>"
    assert there.call("default__window_sql", "SELECT 1", None) == "<< window_sql(spark, 8) SELECT 1 >>"


def test_errors_are_those_of_the_statement_with_its_lines(spark: SimpleNamespace) -> None:
    with connected(spark) as connection:
        with pytest.raises(OperationalError) as error:
            connection.cursor().execute("CREATE VIEW v AS\nSELECT * FROM << tumble(bid, bidtim, '1 day') >>")
        assert "bidtim" in str(error.value) and "line 2, column 30" in str(error.value)
        with pytest.raises(OperationalError, match="there is no SQL dialect flunk"):
            connection.cursor().execute(f"SET {DIALECT} = flunk")
        connection.cursor().execute("select 1")
    assert spark.said[-1] == "select 1"


def test_many_clients_and_some_that_are_killed(spark: SimpleNamespace) -> None:
    def one(number: int) -> None:
        if number % 4 == 0:
            with socket.create_connection(("127.0.0.1", spark.port)) as client:
                client.sendall(b"\x80\x01\x00\x01\x00\x00\x00\x10Execu"[: 3 + number])
            return
        with connected(spark) as connection:
            for i in range(5):
                connection.cursor().execute(f"select {number}, {i}")

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(one, range(40)))
    assert len([sql for sql in spark.said if sql.startswith("select")]) == 150


@pytest.mark.parametrize(
    "sent", [b"GET / HTTP/1.1\r\n\r\n", b"\x01\x00\x00\x00\x06GSSAPI", b"\x80\x01\x00\x01\x7f\xff\xff\xff", b"\x01\xff"]
)
def test_other_talk_is_cut_off(spark: SimpleNamespace, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", spark.port), PATIENCE) as client:
        client.sendall(sent)
        with suppress(OSError):  # it is cut off already
            client.shutdown(socket.SHUT_WR)
        assert client.recv(100) == b""
    with connected(spark) as connection:
        connection.cursor().execute("select 1")


def test_no_spark_behind_it() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        told: list[str] = []
        gateway = Gateway(unused.getsockname(), log=told.append)
        threading.Thread(target=gateway.serve_forever, args=(0.05,), daemon=True).start()
        with socket.create_connection(gateway.server_address, PATIENCE) as client:  # type: ignore[arg-type]
            assert client.recv(1) == b""
        gateway.shutdown()
        gateway.server_close()
    assert "no Spark answers at 127.0.0.1" in told[0]


def test_it_is_not_its_own_spark() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = str(unused.getsockname()[1])
    done = CliRunner().invoke(main, ["gateway", "--to", f"127.0.0.1:{port}", "--port", port])
    assert done.exit_code == 1
    assert f"--to names its own port {port}" in done.output


def test_a_message_is_no_longer_than_spark_takes() -> None:
    def read(size: int) -> bytes:
        return sent.read(size)

    sent = BytesIO(b"\x80\x01\x00\x01" + b"\x7f\xff\xff\xff" + b"a" * 100)
    with pytest.raises(NoMessage, match="104857600"):
        read_message(read)


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ("SELECT 1", "SELECT 1"),
        ("/* c */ WITH a AS (SELECT 1) SELECT * FROM a", "/* c */ WITH a AS (SELECT 1) SELECT * FROM a"),
        ("CREATE OR REPLACE VIEW v (a, b) AS SELECT 1, 2", "SELECT 1, 2"),
        (
            "CREATE TABLE t USING parquet AS WITH a AS (SELECT 1) SELECT * FROM a",
            "WITH a AS (SELECT 1) SELECT * FROM a",
        ),
        ("CREATE TABLE t (a INT) PARTITIONED BY (a) AS (SELECT 1)", "(SELECT 1)"),
        ("INSERT OVERWRITE t PARTITION (p = 1) (a, b) VALUES (1, 2)", "VALUES (1, 2)"),
        ("INSERT INTO t SELECT 1", "SELECT 1"),
        ("EXPLAIN FORMATTED SELECT 1", "SELECT 1"),
        ("CREATE TABLE t (a INT)", None),
        ("INSERT INTO t TABLE s", None),
        ("SHOW TABLES", None),
        ("USE x", None),
        ("", 0),
    ],
)
def test_where_a_query_begins(sql: str, query: str | None) -> None:
    start = query_start(sql)
    assert (None if start is None else sql[start:]) == (query or (None if query is None else ""))
