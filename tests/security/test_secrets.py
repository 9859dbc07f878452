"""Secrets in every form that Spark, Kafka, JDBC and people write them in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest

from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
from dbt.adapters.sparkstream.secrecy import private, redaction
from dbt.adapters.sparkstream.secrecy.names import is_harmless, is_secret
from dbt.adapters.sparkstream.secrecy.redaction import learn, redacted
from dbt.adapters.sparkstream.server import ServerConfig, ServerError
from dbt.adapters.sparkstream.spark.session import spark_session
from dbt.adapters.sparkstream.spark.session_conf import java_properties
from dbt.adapters.sparkstream.streaming.sources.source import given_options

FORMS = [
    "password=S3CR3T",
    "password: S3CR3T",
    "PASSWORD => 'S3CR3T'",
    "OPTIONS (password 'S3CR3T')",
    "'password' = 'S3CR3T'",
    "'password' = 'it''s S3CR3T'",
    '"password": "S3CR3T"',
    r"{\"password\": \"S3CR3T\"}",
    "jdbc:oracle:thin:scott/S3CR3T@db",
    "jdbc:postgresql://db/hive?user=me&password=S3CR3T&ssl=true",
    "jdbc:sqlserver://db;user=me;password=S3CR3T",
    "https://S3CR3T@host/x",
    "https://me:p@S3CR3T@host",
    "https://me:p/S3CR3T@host",
    "https://me;you:S3CR3T@host",
    "LoginModule required username=me password=S3CR3T;",
    r'LoginModule required username="me" password="a\"S3CR3T";',
    r'LoginModule required username="me" password="a\\S3CR3T";',
    'LoginModule required\n  username="me"\n  password="S3CR3T";',
    'OAuthBearerLoginModule required clientId="me" clientSecret="S3CR3T";',
    "kafka.sasl.jaas.config=org.apache.kafka.PlainLoginModule required username=S3CR3T password=S3CR3T;",
    "javax.jdo.option.ConnectionPassword=correct horse S3CR3T",
    "spark.x.password=a,S3CR3T",
    "spark.x.password=a;S3CR3T",
    "spark.x.password=a}S3CR3T",
    "spark.x.password=a'S3CR3T",
    'spark.x.password=a"S3CR3T',
    "Authorization: Bearer S3CR3T",
    "https://store/file?sig=S3CR3T&x=1",
    "basic.auth.user.info=me:S3CR3T",
    "kafka.ssl.keystore.key=S3CR3T",
    "spark.sql.catalog.lake.credential=S3CR3T",
    "spark.sql.catalog.lake.oauth2.credential=S3CR3T",
    "fs.s3a.encryption.key=S3CR3T",
    "-Djavax.net.ssl.trustStorePassword=S3CR3T -Xss4m",
    r"""{\"password\": \"a\\\"S3CR3T\"}""",
    r"""{\"text\": \"{\\\"password\\\": \\\"a\\\\\\\"S3CR3T\\\"}\"}""",
    r"""OPTIONS (password \'a\'\'S3CR3T\')""",
    "password='it's S3CR3T'",
    ".option('password', 'S3CR3T')",
    '.set("spark.x.password", "S3CR3T")',
    "Row(key='password', value='S3CR3T')",
    "spark-sql --password S3CR3T",
    "user/password: S3CR3T/tiger",
    "Bearer S3CR3T",
    "'Bearer S3CR3T'",
    "Basic bWU6UzNDUjNU",
    "https://me:!S3CR3T@host",
    "https://me:%53S3CR3T@host",
    "https://#S3CR3T@host",
    "https://me:!S3CR3T@[::1]",
    "Map(user -> me, password -> S3CR3T)",
    'conf["password"] = "S3CR3T"',
    "['password']='S3CR3T'",
    'password: ["a", "S3CR3T"]',
    "password%3DS3CR3T",
    r"password\u003dS3CR3T",
    "ArrayBuffer((spark.x.password,S3CR3T), (spark.y,1))",
    "spark.x.password    S3CR3T",
    "spark.x.password\tS3CR3T",
    "<name>fs.s3a.secret.key</name><value>S3CR3T</value>",
    "mysql -u me -p S3CR3T db",
    "mysqldump -u me -pS3CR3T db",
    "curl --user me:S3CR3T https://host",
    "keytool -storepass 'S3CR3T' -keypass 'S3CR3T'",
    "java -password S3CR3T",
    "<password>S3CR3T</password>",
    '<Password type="x">a, S3CR3T</Password>',
    '<property name="password" value="S3CR3T"/>',
    "<name>x.password</name>\n  <value>S3CR3T</value>",
    "password:\n  S3CR3T",
    "password: |\n  a: S3CR3T\n  S3CR3T",
    "password: >-\n    S3CR3T\n    S3CR3T",
    "CREATE USER me IDENTIFIED BY 'S3CR3T'",
    "create user me identified with mysql_native_password by 'S3CR3T'",
    "CREATE USER me IDENTIFIED BY S3CR3T",
    "ALTER USER me WITH ENCRYPTED PASSWORD 'S3CR3T'",
    "SET PASSWORD FOR 'me'@'host' = 'S3CR3T'",
    "Driver={SQL};UID=me;PWD=S3CR3T;",
    "Driver={SQL};PWD={a}}S3CR3T;b};UID=me",
    "DB_PASS=S3CR3T",
    "keystorePass: S3CR3T",
    "Cookie: session=S3CR3T",
    'Authorization: Digest username="me", response="S3CR3T"',
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nS3CR3T\n-----END PGP PRIVATE KEY BLOCK-----",
    'jdbc:oracle:oci:scott/"S3CR3T"@db',
    "spark.x.password S3CR3T",
    "ArrayBuffer((user,me), (password,S3CR3T))",
    r'{"name": "password", "value": "S3CR3T"}',
    r"{\"Name\":\"password\",\"Value\":\"S3CR3T\"}",
    ".password('S3CR3T')",
    'the password is "S3CR3T"',
    "&quot;password&quot;:&quot;S3CR3T&quot;",
    "%22password%22%3A%22S3CR3T%22",
    'credentials=("me", "S3CR3T")',
    "password=(a)S3CR3T",
    "at eyJhbGciOiJ-S3CR3T.eyJzdWIiOiIx_S3CR3T.S3CR3T",
    "ssl.keystore.key=-----BEGIN PRIVATE KEY-----\nS3CR3T\nS3CR3T\n-----END PRIVATE KEY-----",
]


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", frozenset())


@pytest.mark.parametrize("form", FORMS)
def test_by_pattern(form: str) -> None:
    shown = redacted(f"failed: {form}\nnext line")
    assert "S3CR3T" not in shown
    assert "bWU6UzNDUjNU" not in shown
    assert "*****" in shown
    assert shown.endswith("next line")


@pytest.mark.parametrize(
    "text",
    [
        *("at https://host:8080/a@b", "user=me&ssl=true", "max_tokens: 5", "credentials.provider=x"),
        *("a Bearer token is missing", "basic authentication", "abfss://box@shop.dfs.core.windows.net/x"),
        *("can't read /etc/shop/secrets.conf: Permission denied", "./token: not there"),
        *("Done. PASS=4 WARN=0 ERROR=0", "mkdir -p /tmp/x", "ssh -p 22", "function identified by name", "(token, x)"),
        *("At most one <token> is allowed", "bypass=3", "please pass 'x'", "a token 'x'"),
        *("unexpected token 'x', expecting 'y'", r'"a": "b\"c", "d": "e"'),
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert redacted(text) == text


SECRET = """it's "a" b\\c; d}e, f&g=h"""


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        SECRET.replace("'", "''"),
        SECRET.replace("\\", "\\\\").replace("'", "\\'"),
        json.dumps(SECRET),
        repr(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET),
    ],
)
def test_by_value(written: str) -> None:
    learn({"spark.hadoop.javax.jdo.option.ConnectionPassword": SECRET, "spark.sql.shuffle.partitions": "harmless"})
    assert "d}e" not in redacted(f"no name before it {written} here").replace("%7D", "}")
    assert redacted("a harmless text") == "a harmless text"


def test_parts_of_a_value() -> None:
    jaas = 'org.apache.kafka.ScramLoginModule required username="me" password="horse battery";'
    given_options({"options": {"kafka.sasl.jaas.config": jaas}, "schema_registry": "http://u:staple@registry"})
    assert redacted("Kafka says: horse battery, staple") == "Kafka says: *****, *****"


@pytest.mark.parametrize("kind", ["options", "value_options"])
@pytest.mark.parametrize("name", ["station", "kafka.mine", "X-Auth", "kafka.ssl.engine.extra", "option"])
def test_options_under_names_that_are_not_known_to_be_harmless(kind: str, name: str) -> None:
    given_options({kind: {name: "S3CR3T"}})
    assert redacted("it says S3CR3T") == "it says *****"


@pytest.mark.parametrize(
    "name",
    [
        *("subscribe", "startingOffsets", "STARTINGOFFSETS", "kafka.bootstrap.servers", "kafka.group.id", "sep"),
        *("timestampFormat", "pathGlobFilter", "rowsPerSecond", "host", "baseUrl", "stream-from-timestamp"),
    ],
)
def test_options_that_are_known_to_be_harmless(name: str) -> None:
    given_options({"options": {name: "harmless"}})
    assert redacted("a harmless text") == "a harmless text"


def test_values_of_options_that_are_no_texts() -> None:
    given_options({"options": {"mine": None, "flag": True, "number": 1234567, 3: "S3CR3T"}})
    assert redacted("None True 1234567 S3CR3T") == "None True 1234567 *****"


def test_parts_as_java_reads_them() -> None:
    jaas = r"""x.PlainLoginModule required username="alice" password="a\"quoted\\one" other=unquoted1 useKeyTab=true;"""
    key = "-----BEGIN PRIVATE KEY-----\nline one\nline two\n"
    learn({"kafka.sasl.jaas.config": jaas, "basic.auth.user.info": "alice:registry pw", "x.private.key": key})
    said = redacted('a"quoted\\one | unquoted1 | registry pw | alice | true | line two | x.PlainLoginModule')
    assert said == "***** | ***** | ***** | alice | true | ***** | x.PlainLoginModule"


COMMON = ["true", "spark", "admin", "10000", "64m", "1.5g", "30 seconds", "org.apache.spark.sql.Extension", "abc"]


@pytest.mark.parametrize("value", COMMON)
def test_values_that_also_stand_where_nothing_is_secret(value: str) -> None:
    learn({"password": value, "spark.ssl.keyPassword": value})
    learn({"spark.custom.thing": value}, is_harmless)
    text = f"Spark says {value}, and {value}."
    assert redacted(text) == text


def test_short_values_are_whole_words() -> None:
    learn({"password": "hunter2", "token": "p-9!"})
    said = redacted(r"hunter2 (hunter2) \nhunter2 xhunter2 hunter22 a_hunter2 | p-9!x xp-9!")
    assert said == r"***** (*****) \n***** xhunter2 hunter22 a_hunter2 | *****x xp-9!"
    learn({"password": "of eight"})
    assert redacted("xof eightx") == "x*****x"


@pytest.mark.parametrize(
    "name",
    ["spark.mine", "spark.hadoop.fs.x.thing", "spark.sql.catalog.lake.header.X-Auth", "spark.executorEnv.KEY"],
)
def test_settings_under_names_that_are_not_known_to_be_harmless(name: str) -> None:
    learn({name: "S3CR3T"}, is_harmless)
    assert redacted("it says S3CR3T") == "it says *****"


@pytest.mark.parametrize(
    "name",
    [
        *("spark.sql.shuffle.partitions", "spark.hadoop.fs.s3a.endpoint", "spark.sql.catalog.lake.warehouse"),
        *("spark.hadoop.javax.jdo.option.ConnectionUserName", "spark.master", "set:hiveconf:spark.app.name"),
    ],
)
def test_settings_that_are_known_to_be_harmless(name: str) -> None:
    learn({name: "harmless"}, is_harmless)
    assert redacted("a harmless text") == "a harmless text"


def test_values_of_the_profile_and_of_dbts_secret_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ENV_SECRET_HARMLESS", "from the environment")
    monkeypatch.setenv("DBT_ENV_SECRET_TOKEN_ID", "87654321")
    parameters = {"spark.plain.name": "from the environment", "spark.sql.catalog.x.credential": "id:of the catalog"}
    SparkStreamCredentials.from_dict(
        {
            "method": "thrift",
            "host": "127.0.0.1",
            "port": 10000,
            "schema": "dev",
            "password": "of the user",
            "connect_url": "sc://127.0.0.1:15002/;token=of_the_address",
            "server_side_parameters": parameters,
        }
    )
    said = redacted("from the environment | 87654321 | id:of the catalog | of the user | of_the_address | 127.0.0.1")
    assert said == "***** | ***** | ***** | ***** | ***** | 127.0.0.1"


def test_a_login_before_the_host_of_a_profile() -> None:
    SparkStreamCredentials.from_dict({"method": "thrift", "host": "me:of-the-host@db.example", "schema": "dev"})
    assert redacted("failed to resolve sockaddr for me:of-the-host@db.example") == (
        "failed to resolve sockaddr for me:*****@db.example"
    )


SECRETS = {
    "spark.hadoop.kafka.sasl.jaas.config": 'PlainLoginModule required password="S3CR3T-1";',
    "spark.hadoop.plain.uri": "jdbc:mysql://me:S3CR3T-2@db/x",
    "spark.plain.address": "https://me:S3CR3T-3@host/",
    "spark.sql.catalog.x.credential": "S3CR3T-4",
    "spark.hadoop.fs.s3a.encryption.key": "S3CR3T-5",
    "spark.sql.catalog.x.oauth2.credential": "S3CR3T-6",
    "spark.plain.name": "S3CR3T-7",
    "spark.hadoop.fs.s3a.secret.key": "S3CR3T-8",
}
SESSION = """
import json, os, sys
from pathlib import Path
from dbt.adapters.sparkstream.spark.session import spark_session
spark = spark_session(json.loads(sys.argv[1]), Path(sys.argv[2]))
lines = [path.read_text() for path in Path("/proc").glob("[0-9]*/cmdline") if path.stat().st_uid == os.getuid()
         and int((path.parent / "stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()]
java = spark._jvm.java.lang
fetched = java.Thread.currentThread().getContextClassLoader().getResource("probe.txt")
left = [str(path) for path in Path(sys.argv[2]).rglob("launch-*")]
values = [spark.conf.get(name, None) for name in json.loads(sys.argv[1])]
print(json.dumps([lines, values, java.System.getProperty("probe"), fetched is not None, left]))
"""


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc on this machine")
def test_the_process_list(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(SESSION)
    with zipfile.ZipFile(tmp_path / "probe.jar", "w") as jar:
        jar.writestr("probe.txt", "here")
    options = tmp_path / "java options"
    private.write(options, "-Dprobe=S3CR3T-9\n")
    given = {
        **SECRETS,
        "spark.driver.memory": "600m",
        "spark.driver.extraJavaOptions": f'"@{options}"',
        # A file system that is known by settings alone.
        "spark.hadoop.fs.viewfs.mounttable.shop.link./jars": tmp_path.as_uri(),
        "spark.jars": "viewfs://shop/jars/probe.jar",
    }
    environ = {**os.environ, "DBT_ENV_SECRET_X": "S3CR3T-7"}
    command = [sys.executable, str(tmp_path / "run.py"), "@", str(tmp_path)]
    # The secrets of this test reach the process by its code, not by its arguments.
    (tmp_path / "run.py").write_text(SESSION.replace("sys.argv[1]", repr(json.dumps(given))))
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, cwd=tmp_path)
    lines, values, option, fetched, left = json.loads(done.stdout.splitlines()[-1])
    assert any("-Xmx600m" in line for line in lines)
    assert not [line for line in lines if "S3CR3T" in line]
    # Spark has them all the same, and has fetched the jar by them.
    assert values[: len(SECRETS)] == list(SECRETS.values())
    assert (option, fetched, left) == ("S3CR3T-9", True, [])


@pytest.mark.parametrize("options", ["-Djavax.net.ssl.trustStorePassword=S3CR3T", "-Dharmless=S3CR3T-known"])
@pytest.mark.parametrize("name", ["spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions"])
def test_java_options_with_a_secret_are_refused(options: str, name: str, tmp_path: Path) -> None:
    learn({"password": "S3CR3T-known"})
    with pytest.raises(RuntimeError, match="@/path/of/the/file") as refused:
        spark_session({name: options}, tmp_path)
    assert "S3CR3T" not in str(refused.value)
    with pytest.raises(ServerError, match="@/path/of/the/file"):
        ServerConfig(conf={name: options})


def test_a_file_of_java_properties() -> None:
    settings = {"spark.a": " x\\y\n=z", "spark.b:c d": "${x}"}
    assert java_properties(settings) == "spark.a=\\ x\\\\y\\n=z\nspark.b\\:c\\ d=${x}\n"


def test_names() -> None:
    for name in ("spark.hadoop.fs.s3a.aws.credentials.provider", "spark.sql.shuffle.partitions", "kafka.group.id"):
        assert not is_secret(name)
