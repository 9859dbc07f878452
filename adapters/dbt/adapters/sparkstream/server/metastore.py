"""Spark settings for a catalog in a database of its own, in place of Derby in the server's folder."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

from dbt.adapters.sparkstream.redaction import is_secret, redacted
from dbt.adapters.sparkstream.server.errors import ServerError
from dbt.adapters.sparkstream.session_conf import METASTORE_URL

DRIVERS = {
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
}
"""Kind of database, as its JDBC address has it -> the class of its driver."""

PASSWORD = "spark.hadoop.javax.jdo.option.ConnectionPassword"
_CONNECTION = "spark.hadoop.javax.jdo.option.Connection"


def metastore_conf(url: str, driver_jar: Path | None) -> dict[str, str]:
    """The Spark settings of a catalog in a database.

    Args:
        url: its JDBC address, such as `jdbc:postgresql://HOST:5432/DATABASE?user=hive`. The password is the setting
            `PASSWORD`, in a properties file.
        driver_jar: the database's driver; None where Spark has it already, in its folder `jars`.

    Raises:
        ServerError: the address is of no database that is known here, it has a password in it, or there is no such jar.
    """
    kind = url.removeprefix("jdbc:").partition(":")[0]
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
    # Without it, Hive gives a user of its own, which wins over the one in the address.
    if "user" in parameters:
        settings[f"{_CONNECTION}UserName"] = parameters["user"][0]
    if driver_jar is not None:
        if not driver_jar.is_file():
            raise ServerError(f"there is no driver {driver_jar}\n  name the jar of the database's JDBC driver")
        settings["spark.driver.extraClassPath"] = str(driver_jar.absolute())
    return settings
