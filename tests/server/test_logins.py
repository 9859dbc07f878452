"""Thrift servers that ask who comes: `auth: NONE`, LDAP, KERBEROS, and TLS, with the real servers behind them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.spark.java import prepare_session_environment
from tests.server import logins
from tests.server.thriftserver import thrift_server

pytestmark = pytest.mark.long

HIVE = "hive.server2."
FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n",
    "seeds/bid.csv": "bidtime,price\n2020-04-15 08:05:00,4.0\n2020-04-15 08:07:00,2.0\n2020-04-15 08:11:00,3.0\n",
    "models/totals.sql": (
        "select window_start, window_end, sum(price) as total\n"
        "from << tumble({{ ref('bid') }}, bidtime, '10 minutes') >>\ngroup by window_start, window_end\n"
    ),
    "models/checked.yml": (
        "models:\n  - name: totals\n    columns:\n      - name: total\n        data_tests:\n"
        "          - accepted_values:\n              arguments: {values: [6.0, 3.0], quote: false}\n"
    ),
}


def dbt(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs dbt in a process of its own: Kerberos reads its settings once in a process."""
    command = [str(Path(sys.executable).with_name("dbt")), *arguments, "--profiles-dir", "."]
    everything = {**os.environ, **(environ or {})}
    return subprocess.run(
        command, cwd=folder, env=everything, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )


def project(folder: Path, port: int, **target: Any) -> Path:
    """A project with a seed and windows; `target` is what its profile says beside host and port."""
    output = {"type": "sparkstream", "method": "thrift", "host": "localhost", "port": port, "schema": "shop", **target}
    profile = {"shop": {"target": "test", "outputs": {"test": {"threads": 1, "poll_interval": 1, **output}}}}
    for name, text in {**FILES, "profiles.yml": yaml.safe_dump(profile)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def assert_builds(folder: Path, environ: Mapping[str, str] | None = None) -> None:
    """Has dbt debug and build a project; a test of dbt's checks the windows' rows."""
    for command in ("debug", "build"):
        done = dbt(folder, command, environ=environ)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS=3" in done.stdout


def refusal(folder: Path, environ: Mapping[str, str] | None = None) -> str:
    """What dbt says where the server lets nobody in."""
    done = dbt(folder, "debug", environ=environ)
    assert done.returncode != 0, done.stdout
    return done.stdout


@pytest.mark.full
def test_a_server_that_believes_every_name(tmp_path: Path) -> None:
    with thrift_server(tmp_path / "server", {f"{HIVE}authentication": "NONE"}) as port:
        assert_builds(project(tmp_path / "default", port, user="ann"))
        assert_builds(project(tmp_path / "said", port, user="ann", auth="NONE"))
        said = refusal(project(tmp_path / "nosasl", port, user="ann", auth="NOSASL"))
        assert f"localhost:{port} listens, but gives no answer to auth: NOSASL" in said


@pytest.mark.skipif(logins.program("slapd") is None, reason="no slapd here: apt-get install slapd")
def test_a_server_that_asks_an_ldap_directory_over_tls(tmp_path: Path) -> None:
    with logins.directory(tmp_path / "ldap") as address:
        conf = {
            f"{HIVE}authentication": "LDAP",
            f"{HIVE}authentication.ldap.url": address,
            f"{HIVE}authentication.ldap.baseDN": "ou=people,dc=example,dc=org",
        }
        with thrift_server(tmp_path / "plain", conf) as port:
            ann = {"auth": "LDAP", "user": "ann", "password": logins.PASSWORD}
            assert_builds(project(tmp_path / "right", port, **ann))
            said = refusal(project(tmp_path / "wrong", port, **{**ann, "password": "wrong"}))
            assert "the server doesn't take the profile's user and password" in said
            said = refusal(project(tmp_path / "tls_of_none", port, use_ssl=True, **ann))
            assert "gives no answer to TLS" in said
            assert "take use_ssl out of the profile" in said
        with thrift_server(tmp_path / "encrypted", {**conf, **tls(tmp_path)}) as port:
            assert_builds(project(tmp_path / "tls", port, use_ssl=True, **ann))
            said = refusal(project(tmp_path / "no_tls", port, **ann))
            assert "if its hive.server2.use.SSL is true, write use_ssl: true" in said
            said = refusal(project(tmp_path / "tls_wrong", port, use_ssl=True, **{**ann, "password": "wrong"}))
            assert "the server doesn't take the profile's user and password" in said


def tls(folder: Path) -> dict[str, str]:
    """Settings of a server with a certificate of its own."""
    store, environ = folder / "keys", dict(os.environ)
    prepare_session_environment(environ)
    keytool = Path(environ["JAVA_HOME"]) / "bin" / "keytool" if "JAVA_HOME" in environ else Path("keytool")
    command = [str(keytool), "-genkeypair", "-keystore", str(store), "-storepass", "secret", "-keyalg", "RSA"]
    subprocess.run([*command, "-alias", "hive", "-dname", "CN=localhost"], check=True, capture_output=True)
    return {f"{HIVE}use.SSL": "true", f"{HIVE}keystore.path": str(store), f"{HIVE}keystore.password": "secret"}


@pytest.mark.skipif(
    not logins.has_kerberos(), reason="no Kerberos here: apt-get install krb5-kdc krb5-admin-server krb5-user"
)
@pytest.mark.skipif(importlib.util.find_spec("kerberos") is None, reason="no kerberos here: pip install kerberos")
def test_a_server_of_a_kerberos_realm(tmp_path: Path) -> None:
    with logins.realm(tmp_path / "realm") as realm:
        principal = "hive/localhost@EXAMPLE.ORG"
        conf = {
            f"{HIVE}authentication": "KERBEROS",
            f"{HIVE}authentication.kerberos.principal": principal,
            f"{HIVE}authentication.kerberos.keytab": str(realm.keytab),
        }
        spark = {
            "spark.kerberos.principal": principal,
            "spark.kerberos.keytab": str(realm.keytab),
            "spark.hadoop.hadoop.security.authentication": "kerberos",
            "spark.driver.extraJavaOptions": f"-Djava.security.krb5.conf={realm.environ['KRB5_CONFIG']}",
        }
        with thrift_server(tmp_path / "server", conf, spark, realm.environ) as port:
            folder = project(tmp_path / "shop", port, auth="KERBEROS", kerberos_service_name="hive", user="ann")
            assert "there is no ticket: run kinit first" in refusal(folder, realm.environ)
            kinit = logins.program("kinit")
            assert kinit
            subprocess.run([kinit, "-kt", str(realm.keytab), "ann"], check=True, env={**os.environ, **realm.environ})
            assert_builds(folder, realm.environ)
