"""Checks of `dbt debug`: versions, and the needs of a method of the profile."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.spark.environments import Environment

logger = AdapterLogger("SparkStream")

OLDEST_CLIENT = (4, 0)
"""The oldest pyspark that this adapter is made for, as `pyproject.toml` says."""

OLDEST_SERVER = (4, 0)
"""The oldest Spark with all SQL that windows are translated to."""


def check(environment: Environment, spark_version: Callable[[], str]) -> None:
    """Checks Spark's versions and a profile's needs; writes Spark's version and passed checks to the terminal.

    Args:
        environment: the Spark that the profile leads to.
        spark_version: returns Spark's version.

    Raises:
        DbtRuntimeError: something is missing; with what to do.
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
    logger.info(f"Spark {found}")
    environment.check(logger.info)


def version(text: str) -> tuple[int, ...]:
    """The first two numbers of a version: (4, 2) for `4.2.0-SNAPSHOT`."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _written(found: tuple[int, ...]) -> str:
    return ".".join(map(str, found))
