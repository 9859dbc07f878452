"""A PostgreSQL of the tests' own, for the catalogs of servers."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.functional.adapter.project import ROOT
from tests.lib.support import free_port

JARS = ROOT / "parts" / "jars" / "metastore"
PASSWORD = "it's hive's"
OWNER = "postgres"
"""Who runs PostgreSQL where the tests run as root, which it refuses to be."""


@dataclass(frozen=True)
class Database:
    """A PostgreSQL with a user `hive` and a database of the same name.

    Attributes:
        url: its JDBC address.
        driver: the jar of its driver.
        settings: a properties file with the password.
    """

    url: str
    driver: Path
    settings: Path


def _programs() -> Path | None:
    """The folder of PostgreSQL's programs, which Debian has off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (found[-1] if found else None)
    return None if initdb is None else Path(initdb).resolve().parent


@pytest.fixture(scope="package")
def database() -> Iterator[Database]:
    programs, driver = _programs(), next(JARS.glob("postgresql-*.jar"), None)
    if driver is None:
        pytest.skip("the driver isn't here: `make parts` gets it from Maven Central")
    if programs is None:
        pytest.skip("there is no PostgreSQL here: apt-get install postgresql")
    as_owner = ["runuser", "-u", OWNER, "--"] if os.geteuid() == 0 else []
    folder, port = Path(tempfile.mkdtemp(prefix="metastore")), free_port()
    secret, data = folder / "password", folder / "data"
    secret.write_text(PASSWORD)
    if as_owner:
        shutil.chown(folder, OWNER)
        shutil.chown(secret, OWNER)

    def do(*arguments: str | Path) -> None:
        command = [*as_owner, *map(str, (programs / arguments[0], *arguments[1:]))]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)

    do("initdb", "-D", data, "-U", "hive", "--auth", "scram-sha-256", "--pwfile", secret, "--no-sync")
    options = f"-p {port} -k {folder} -c fsync=off -c listen_addresses=127.0.0.1"
    do("pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start")
    try:
        environment = {**os.environ, "PGPASSWORD": PASSWORD}
        createdb = [str(programs / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "hive", "hive"]
        subprocess.run(createdb, check=True, env=environment)
        settings = folder / "settings"
        settings.write_text(f"spark.hadoop.javax.jdo.option.ConnectionPassword={PASSWORD}\n")
        settings.chmod(0o600)
        yield Database(f"jdbc:postgresql://127.0.0.1:{port}/hive?user=hive", driver, settings)
    finally:
        do("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder)
