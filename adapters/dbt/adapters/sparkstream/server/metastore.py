"""A catalog in a database such as PostgreSQL, in place of Derby in the server's folder."""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs

from dbt.adapters.sparkstream.secrecy import private
from dbt.adapters.sparkstream.secrecy.names import is_secret
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.server.failures import ServerError
from dbt.adapters.sparkstream.spark.java import find_java
from dbt.adapters.sparkstream.spark.session_conf import METASTORE_URL, java_properties

DRIVERS = {
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
}
"""Kind of database, as its JDBC address has it -> the class of its driver."""

PASSWORD = "spark.hadoop.javax.jdo.option.ConnectionPassword"  # noqa: S105 - a name
_CONNECTION = "spark.hadoop.javax.jdo.option.Connection"
_DRIVER_PATH = "spark.driver.extraClassPath"

_TABLES = "package.jdo"
"""File in Hive's jar that describes the tables of a catalog."""

_TOOL = "org.datanucleus.store.schema.SchemaTool"
_AS_HIVE = {
    "datanucleus.identifierFactory": "datanucleus1",
    "datanucleus.rdbms.useLegacyNativeValueStrategy": "true",
    "datanucleus.plugin.pluginRegistryBundleCheck": "LOG",
    "datanucleus.schema.autoCreateAll": "true",
    "datanucleus.connectionPoolingType": "NONE",
}
"""Hive's own settings of the library that keeps its catalog, as far as they decide the form of its tables."""

_HINTS = {
    "was not found in the CLASSPATH": "Spark lacks the database's driver; name its jar: "
    "--metastore-driver postgresql-42.7.7.jar",
    "no password was provided": f"write the password to a file for --properties-file: {PASSWORD}=...",
    "authentication failed": "the database takes another user or password; the user is in the address (?user=hive), "
    f"the password in the file of --properties-file: {PASSWORD}=...",
    "Check that the hostname and port are correct": "no database answers at this address",
    "does not exist": "make the database: createdb --owner hive hive",
}
"""Text in Java's output -> advice."""


def metastore_conf(url: str, driver_jar: Path | None) -> dict[str, str]:
    """The Spark settings of a catalog in a database.

    Args:
        url: its JDBC address, such as `jdbc:postgresql://HOST:5432/DATABASE?user=hive`. The password is the setting
            `PASSWORD`, in a properties file.
        driver_jar: the database's driver; None where Spark has it already, in its folder `jars`.

    Raises:
        ServerError: the address is of no database that is known here, it has a password in it, or there is no such jar.
    """
    kind = _kind(url)
    if not url.startswith("jdbc:") or kind not in DRIVERS:
        raise ServerError(
            f"the metastore can't be in '{redacted(url)}'\n"
            f"  write the JDBC address of a database, such as jdbc:postgresql://HOST:5432/DATABASE?user=hive; "
            f"known are {', '.join(DRIVERS)}"
        )
    parameters = parse_qs(url.partition("?")[2])
    if redacted(url) != url or any(map(is_secret, parameters)):
        raise ServerError(
            "the metastore's address holds a password, and everybody on this machine sees a command's arguments\n"
            f"  write it to a file that only you can read, as {PASSWORD}=..., and name the file with --properties-file"
        )
    settings = {METASTORE_URL: url, f"{_CONNECTION}DriverName": DRIVERS[kind]}
    # Without this setting, Hive logs in as its default user, whatever user the address names.
    if "user" in parameters:
        settings[f"{_CONNECTION}UserName"] = parameters["user"][0]
    if driver_jar is not None:
        if not driver_jar.is_file():
            raise ServerError(f"there is no driver {driver_jar}\n  name the jar of the database's JDBC driver")
        settings[_DRIVER_PATH] = str(driver_jar.absolute())
    return settings


def make_catalog(conf: Mapping[str, str], spark: Path, folder: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Makes the tables of a catalog in a database, as far as they are missing.

    Hive makes each when it first needs it, from a second connection. PostgreSQL has this one wait for the first, which
    is in the middle of a transaction, and the server hangs.

    Args:
        conf: the settings of the server; where they name no database for the catalog, there is nothing to do.
        spark: the folder of the installed pyspark.
        folder: for temporary files.
        environ: says where Java is.

    Raises:
        ServerError: why the tables can't be made, and what to do.
    """
    url = conf.get(METASTORE_URL, "")
    if _kind(url) not in DRIVERS:
        return
    [jar] = (spark / "jars").glob("hive-metastore-*.jar")
    given = {
        name.replace(_CONNECTION, "datanucleus.Connection", 1): value
        for name, value in conf.items()
        if name.startswith(_CONNECTION)
    }
    properties, tables = folder / "catalog.properties", folder / _TABLES
    private.write(properties, java_properties({**_AS_HIVE, **given}))
    try:
        with zipfile.ZipFile(jar) as hive:
            hive.extract(_TABLES, folder)
        classes = os.pathsep.join(filter(None, (str(spark / "jars" / "*"), conf.get(_DRIVER_PATH))))
        command = [str(find_java(environ).executable), "-cp", classes, _TOOL, "-create", "-api", "JDO"]
        done = subprocess.run(
            [*command, "-props", properties, tables], capture_output=True, text=True, errors="replace", check=False
        )
    finally:
        properties.unlink(missing_ok=True)
        tables.unlink(missing_ok=True)
    said = done.stdout + done.stderr
    if done.returncode or "completed successfully" not in said:
        hint = next((hint for sign, hint in _HINTS.items() if sign in said), "")
        lines_said = [
            line for line in said.splitlines() if line.strip() and not line.startswith(("\t", "    at ", "NOTE"))
        ]
        raise ServerError(
            f"can't make the catalog in {redacted(url)}\n"
            + (f"  {hint}\n" if hint else "")
            + "\n".join(f"  {redacted(line)[:300]}" for line in lines_said[-4:])
        )


def _kind(url: str) -> str:
    """The kind of database that a JDBC address names, such as `postgresql`."""
    return url.removeprefix("jdbc:").partition(":")[0]
