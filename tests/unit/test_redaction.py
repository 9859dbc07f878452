"""Secrets stay out of what people and files get to see."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import pytest
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.events.types import SQLQuery
from dbt_common.events.base_types import EventLevel
from dbt_common.events.event_manager import EventManager
from dbt_common.events.event_manager_client import ctx_set_event_manager, get_event_manager
from dbt_common.events.functions import fire_event
from dbt_common.events.logger import LineFormat, LoggerConfig

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.secrecy import dbtlog, redaction
from dbt.adapters.sparkstream.secrecy.names import is_secret
from dbt.adapters.sparkstream.secrecy.redaction import learn, redacted


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", frozenset())


@pytest.mark.parametrize(
    "name",
    [
        "spark.hadoop.javax.jdo.option.ConnectionPassword",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.s3a.access.key",
        "spark.hadoop.fs.s3a.session.token",
        "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net",
        "spark.hadoop.fs.azure.sas.tables.shop.blob.core.windows.net",
        "spark.ssl.keyPassword",
        "kafka.ssl.truststore.password",
        "spark.hadoop.google.cloud.auth.service.account.private.key",
    ],
)
def test_settings_that_hold_a_secret(name: str) -> None:
    assert is_secret(name)
    assert redacted(f"can't set {name}=S3CR3T, so there") == f"can't set {name}=*****, so there"
    assert "S3CR3T" not in redacted(str({name: "S3CR3T"}))


@pytest.mark.parametrize(
    "name",
    ["spark.sql.shuffle.partitions", "spark.hadoop.fs.s3a.aws.credentials.provider", "spark.hadoop.fs.s3a.endpoint"],
)
def test_settings_that_hold_none(name: str) -> None:
    assert not is_secret(name)
    assert redacted(f"{name}=x") == f"{name}=x"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("sc://host:15002/;token=S3CR3T", "sc://host:15002/;token=*****"),
        ("sc://host/;use_ssl=true;x-key=S3CR3T;user_id=me", "sc://host/;use_ssl=true;x-key=*****;user_id=me"),
        ("sc://host:15002", "sc://host:15002"),
        ("jdbc:postgresql://db/hive?user=me&password=S3CR3T&ssl=true", None),
        ("jdbc:sqlserver://db;user=me;password=S3CR3T", None),
        ("https://me:S3CR3T@host/path", "https://me:*****@host/path"),
        (
            'ScramLoginModule required username="me" password="S3C R3T";',
            'ScramLoginModule required username="me" password="*****";',
        ),
        ("-Djavax.net.ssl.trustStorePassword=S3CR3T -Xss4m", "-Djavax.net.ssl.trustStorePassword=***** -Xss4m"),
    ],
)
def test_addresses_and_options(address: str, shown: str | None) -> None:
    assert redacted(f"at {address}") == f"at {shown or address.replace('S3CR3T', '*****')}"


@pytest.mark.parametrize(
    "text",
    [
        "select token from t where token is null",
        "unexpected token 'select'",
        "a; b=c",
        "12:30 @home",
        "http://h:80/a@b",
        "https://h/path@v1",
    ],
)
def test_sql_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text


def test_errors() -> None:
    assert readable("[X] at sc://h/;token=S3CR3T\n\tat org.Foo(Foo.java:1)") == "[X] at sc://h/;token=*****"


def credentials(**keys: Any) -> SparkStreamCredentials:
    given = {"method": "thrift", "host": "127.0.0.1", "port": 10000, "schema": "dev", "user": "me", **keys}
    return SparkStreamCredentials.from_dict(given)


def test_the_profile_that_dbt_shows_and_hands_to_jinja() -> None:
    profile = credentials(
        connect_url="sc://h:1/;token=S3CR3T", password="S3CR3T", token="S3CR3T", server_side_parameters={"a": "S3CR3T"}
    )
    shown = dict(profile.connection_info(with_aliases=True))
    assert shown["connect_url"] == "sc://h:1/;token=*****"
    assert "S3CR3T" not in str(shown)
    assert profile.connect_url == "sc://h:1/;token=S3CR3T"


@pytest.fixture
def manager() -> Iterator[EventManager]:
    """A manager of dbt's events of this test's own."""
    before, own = get_event_manager(), EventManager()
    ctx_set_event_manager(own)
    yield own
    ctx_set_event_manager(before)


@pytest.mark.parametrize("line_format", LineFormat)
def test_every_line_of_dbts_logs(line_format: LineFormat, manager: EventManager) -> None:
    written = io.StringIO()
    log = LoggerConfig("x", line_format=line_format, level=EventLevel.DEBUG, output_stream=written)
    manager.add_logger(log)
    heard: list[str] = []
    manager.add_callback(lambda event: heard.append(str(event)))
    dbtlog.install()
    dbtlog.install()
    learn({"password": 'the "CR3T"'})
    AdapterLogger("Test").warning("On a: set spark.hadoop.fs.s3a.secret.key=S3CR3T")
    fire_event(SQLQuery(conn_name="x", sql="select 'a the \"CR3T\"', 'password' = 'it''s S3CR3T'", node_info={}))
    said = written.getvalue()
    assert "spark.hadoop.fs.s3a.secret.key=*****" in said
    assert "select 'a *****', 'password' = '*****'" in said
    for text in (said, *heard):
        assert "CR3T" not in text
    assert len(heard) == 2
    assert len([log for log in manager.loggers if isinstance(log, dbtlog._Redaction)]) == 1


def test_exceptions_and_results_of_dbt() -> None:
    from dbt.contracts.results import RunStatus
    from dbt.task.compile import CompileRunner
    from dbt_common.exceptions import CompilationError

    dbtlog.install()
    learn({"password": "of the user"})
    assert "of the user" not in str(CompilationError("it isn't of the user, is it?"))

    runner = CompileRunner.__new__(CompileRunner)  # of which this needs nothing
    said = "a driver's ValueError of the user"
    result = runner._build_run_result(None, time.time(), RunStatus.Error, [], said)
    assert result.message == "a driver's ValueError *****"


def test_a_profile_that_dbt_refuses() -> None:
    """dbt quotes the value that is of another type."""
    from dbt.config.profile import Profile
    from dbt.exceptions import DbtProfileError

    given = {"type": "sparkstream", "method": "thrift", "host": "h", "schema": "s"}
    with pytest.raises(DbtProfileError) as refused:
        Profile._credentials_from_profile({**given, "password": 123456789}, "p", "t")
    assert "123456789" not in str(refused.value)
    assert "*****" in str(refused.value)


class Java(Exception):
    """An error as py4j gives it."""

    def __init__(self, words: str) -> None:
        super().__init__("An error occurred while calling o1.sql.\n: org.apache.spark.sql.delta.DeltaAnalysisException")
        self.java_exception = self
        self.getMessage = lambda: words


@pytest.mark.parametrize("below", [RuntimeError, Java])
def test_an_error_whose_text_spark_does_not_know_says_what_was_before_it(below: type[Exception]) -> None:
    """pyspark raises it while it handles another one, of Delta's."""
    with pytest.raises(ValueError) as caught:
        try:
            raise below("[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve nothing")
        except below:
            raise ValueError("calling z:org.apache.spark.SparkThrowableHelper.getMessage")  # noqa: B904 (as pyspark does)
    assert readable(caught.value) == "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve nothing"
