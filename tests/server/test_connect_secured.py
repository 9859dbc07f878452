"""Spark Connect that asks for a token, on this machine and behind a proxy that has TLS (Debian's nginx)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.sparkstream.server import Phase, Server, ServerConfig
from dbt.adapters.sparkstream.spark import connect
from tests.integration.targets import SMALL_QUERIES, write
from tests.lib.support import free_port, without_waiting_for_the_disk
from tests.server import logins
from tests.server.test_connect import FILES
from tests.server.test_server import run, small

pytestmark = pytest.mark.full

TOKEN = "S3CR3T_of-connect"

# As docs/connect.md has it.
NGINX = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
    client_max_body_size 0;
    location / {{
      grpc_pass grpc://127.0.0.1:{behind};
      grpc_read_timeout 1h;
      grpc_send_timeout 1h;
    }}
  }}
}}
"""


@dataclass(frozen=True)
class Place:
    """A server.

    Attributes:
        config: what it was started with.
        port: of the proxy.
        authority: the file of the proxy's certificate.
    """

    config: ServerConfig
    port: int
    authority: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    nginx, openssl = logins.program("nginx"), shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("no nginx or openssl here: apt-get install nginx-light openssl")
    folder = tmp_path_factory.mktemp("proxy")
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    made = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-keyout", "key.pem", "-out", "cert.pem")
    subprocess.run([openssl, "req", *made, *subject], cwd=folder, check=True, capture_output=True)
    conf = {**SMALL_QUERIES, "spark.connect.authenticate.token": TOKEN}
    config = small(tmp_path_factory.mktemp("connect") / "server", port=None, conf=conf)
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, behind=config.connect_port))
    proxy = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf")], stdin=subprocess.DEVNULL)
    try:
        with without_waiting_for_the_disk():
            Server(config).start()
        yield Place(config, port, folder / "cert.pem")
    finally:
        proxy.terminate()
        proxy.wait()
        Server(config).stop()


def project(folder: Path, **output: Any) -> Path:
    """A project whose profile has these keys."""
    given = {"type": "sparkstream", "method": "connect", "schema": folder.name, "threads": 2, **output}
    files = {key: text for key, text in FILES.items() if "confs" not in key}
    profile = {"shop": {"target": "test", "outputs": {"test": given}}}
    return write(folder, {**files, "profiles.yml": yaml.safe_dump(profile)})


def dbt(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs dbt in a process of its own, as gRPC reads the environment once."""
    flags = ("--no-use-colors", "--no-version-check")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GRPC_", "SPARK_"))}
    return subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", *flags, *arguments, "--project-dir", ".", "--profiles-dir", "."],
        cwd=folder,
        env={**clean, **environ},
        capture_output=True,
        text=True,
        timeout=400,
    )


def rows(folder: Path, query: str, **environ: str) -> list[list[Any]]:
    shown = dbt(folder, "--quiet", "show", "--inline", query, "--limit", "-1", "--output", "json", **environ)
    assert shown.returncode == 0, shown.stdout
    return [list(row.values()) for row in json.loads(shown.stdout[shown.stdout.index("{") :])["show"]]


def test_the_server_knows_itself(place: Place) -> None:
    assert Server(place.config).status().phase is Phase.RUNNING
    said = run("status", "--dir", place.config.folder, "--json")
    assert json.loads(said.stdout)["connect_url"] == f"sc://localhost:{place.config.connect_port}"
    again = run(
        "start", "--dir", place.config.folder, "--connect-only", "--connect-port", str(place.config.connect_port)
    )
    assert (
        f"connect_url: sc://localhost:{place.config.connect_port}/;token={{{{ env_var('SPARK_TOKEN') }}}}"
        in again.stdout
    )
    assert TOKEN not in said.stdout + again.stdout + again.stderr


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "on_this_machine"])
def test_models_of_every_kind(place: Place, tmp_path: Path, tls: bool) -> None:
    port = place.port if tls else place.config.connect_port
    given = {
        "connect_url": f"sc://localhost:{port}",
        "token": "{{ env_var('SPARK_TOKEN') }}",
        **({"use_ssl": True} if tls else {}),
    }
    folder = project(tmp_path / f"tls_{tls}", **given)
    environ = {"SPARK_TOKEN": TOKEN, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(place.authority)}
    said = dbt(folder, "--debug", "build", **environ)
    assert said.returncode == 0, said.stdout
    assert rows(folder, "select sum(total) as s from {{ ref('windows') }}", **environ) == [[11]]
    assert rows(folder, "select total from {{ ref('in_python') }}", **environ) == [[6]]
    assert rows(folder, "select n from {{ ref('streamed') }}", **environ) == [[2]]
    debug = dbt(folder, "debug", **environ)
    assert debug.returncode == 0, debug.stdout
    logs = "".join(path.read_text() for path in (folder / "logs").glob("*"))
    manifest = (folder / "target" / "manifest.json").read_text()
    for text in (said.stdout, debug.stdout, logs, manifest):
        assert TOKEN not in text and "S3CR3T" not in text


UNTRUSTED = "this machine doesn't trust the server's certificate"


def test_what_grpc_says_of_another_address(place: Place) -> None:
    """Where localhost has two addresses, gRPC tells of the last one, at which nobody listens."""
    refused = RuntimeError("StatusCode.UNAVAILABLE: ipv6:%5B::1%5D:32869: Failed to connect: Connection refused")
    secured, plain = f"sc://localhost:{place.port}/;use_ssl=true", f"sc://localhost:{place.config.connect_port}"
    assert UNTRUSTED in connect._advice(refused, secured)
    for url in (plain, f"{plain}/;use_ssl=true", f"sc://localhost:{free_port()}/;use_ssl=true"):
        assert UNTRUSTED not in connect._advice(refused, url)


@pytest.mark.parametrize(
    ("keys", "trusts", "reason"),
    [
        ({"token": "another", "use_ssl": True}, True, "write the token that the server takes as token in the profile"),
        ({"use_ssl": True}, True, "write the token that the server takes as token in the profile"),
        ({"token": TOKEN, "use_ssl": True}, False, UNTRUSTED),
    ],
    ids=["wrong_token", "no_token", "untrusted"],
)
def test_who_is_refused(place: Place, tmp_path: Path, keys: dict[str, Any], trusts: bool, reason: str) -> None:
    folder = project(tmp_path / "refused", connect_url=f"sc://localhost:{place.port}", **keys)
    environ = {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(place.authority)} if trusts else {}
    for command in (("debug",), ("run", "--select", "windows")):
        said = dbt(folder, *command, **environ)
        assert said.returncode != 0
        assert reason in said.stdout, said.stdout
        assert TOKEN not in said.stdout
