"""What `dbt debug` looks at beside a statement that runs: versions, and the Spark Connect port."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionMethod
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.redaction import redacted

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

logger = AdapterLogger("SparkStream")

OLDEST_CLIENT = (4, 2)
"""The oldest pyspark that this adapter is made for, as `pyproject.toml` says."""

OLDEST_SERVER = (4, 0)
"""The oldest Spark whose SQL has what windows are translated to."""


def check(credentials: SparkStreamCredentials, project: Path, spark_version: Callable[[], str]) -> None:
    """Looks at what a profile needs; what is good is written to the terminal.

    Args:
        credentials: the profile.
        project: the folder of the dbt project.
        spark_version: asks Spark for its version.

    Raises:
        DbtRuntimeError: what is missing, and what to do.
    """
    import pyspark

    if version(pyspark.__version__) < OLDEST_CLIENT:
        raise DbtRuntimeError(
            f"pyspark {pyspark.__version__} is installed, and {_written(OLDEST_CLIENT)} or newer is needed\n"
            f"  write pip install 'pyspark>={_written(OLDEST_CLIENT)}'"
        )
    found = spark_version()
    if version(found) < OLDEST_SERVER:
        raise DbtRuntimeError(
            f"the server is Spark {found}, and window queries need {_written(OLDEST_SERVER)} or newer\n"
            "  connect to a newer one, or start one here: sparkstream server start"
        )
    _note(f"Spark {found}")
    if credentials.method == SparkConnectionMethod.SESSION:
        from dbt.adapters.sparkstream.java import find_java

        java = find_java()
        _note(f"Java {java.version} ({java.executable})")
    elif credentials.method == SparkConnectionMethod.THRIFT:
        _check_connect(credentials, project)


def _check_connect(credentials: SparkStreamCredentials, project: Path) -> None:
    """Python models and streams need Spark Connect; SQL doesn't, so only an address in the profile has to answer."""
    from dbt.adapters.sparkstream.streaming.connect import connect_session, connect_url
    from dbt.adapters.sparkstream.streaming.errors import StreamingError

    url = connect_url(credentials, project)
    if url is None:
        _note("Spark Connect: no connect_url in the profile; streaming and Python models would need one")
        return
    try:
        session = connect_session(credentials, project)
    except StreamingError as error:
        if credentials.connect_url is None:
            _note(f"Spark Connect, for streaming and Python models: {error}")
            return
        raise DbtRuntimeError(
            f"SQL works, but streaming and Python models won't: {error}\n"
            "  or take connect_url out of the profile if you have no such models"
        ) from error
    try:
        _note(f"Spark Connect at {redacted(url)}: Spark {session.version}")
    finally:
        session.stop()


def version(text: str) -> tuple[int, ...]:
    """(4, 2) for `4.2.0-SNAPSHOT`."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _written(found: tuple[int, ...]) -> str:
    return ".".join(map(str, found))


def _note(text: str) -> None:
    logger.info(text)
