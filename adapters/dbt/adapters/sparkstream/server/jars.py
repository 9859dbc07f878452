"""Jars of a server that Spark has not, such as Delta's: on the class path of its Java.

Spark gives `spark.jars` a class loader of their own, and its Thrift server has Hive close it when the first client
goes: `SessionState.close` closes the class loader that `SparkExecuteStatementOperation` has set, and the loaders above
it, up to the loader of Java's class path. From then on, a class of these jars that was not used before is a
NoClassDefFoundError.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.server.failures import ServerError

JARS = "spark.jars"
PACKAGES = "spark.jars.packages"

CLASS_PATH = "SPARK_DIST_CLASSPATH"
"""Environment variable with jars that Spark's scripts put behind Spark's own on the class path.

`spark.driver.extraClassPath` puts them before: the older Jackson that Delta needs would take the place of Spark's.
"""


def absolute(jars: str) -> str:
    """A value of `spark.jars` whose paths don't depend on the folder of the process that reads them."""
    return ",".join(
        name if urlsplit(name).scheme else os.path.abspath(Path(name).expanduser()) for name in _names(jars)
    )


def files(conf: Mapping[str, str], *, thrift: bool = True) -> list[str]:
    """The paths of the jars that `spark.jars` names, with `*` and the like written out.

    Args:
        conf: Spark settings.
        thrift: True if the server has a port for SQL.

    Raises:
        ServerError: one isn't there, or isn't a file of this machine; or Spark is to fetch them for a Thrift server.
    """
    if thrift and conf.get(PACKAGES, "").strip():
        raise ServerError(
            f"{PACKAGES} can't be set here: Spark's Thrift server loses the classes of jars that Spark has fetched\n"
            "  fetch them with Maven (mvn dependency:copy-dependencies), and give their paths: --jars 'FOLDER/*.jar'"
        )
    found: list[str] = []
    for name in _names(conf.get(JARS, "")):
        address = urlsplit(name)
        if address.scheme not in ("", "file", "local") or address.netloc:
            raise ServerError(
                f"{JARS}: {redacted(name)} is not a file on this machine\n  download it, and give its path"
            )
        path = unquote(address.path) if address.scheme else name
        matches = [match for match in sorted({path, *glob.glob(path)}) if Path(match).is_file()]
        if not matches:
            raise ServerError(f"{JARS}: {path} isn't there; write the path of a jar, or of several with commas between")
        found += matches
    for path in found:
        if os.pathsep in path:
            raise ServerError(f"Java's class path takes no '{os.pathsep}' in a path; rename or move {path}")
    return found


def _names(jars: str) -> list[str]:
    return [name for name in map(str.strip, jars.split(",")) if name]
