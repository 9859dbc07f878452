"""The Spark of a profile: a class for each method, and nothing of the methods elsewhere."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.sparkstream.credentials import Method, SparkStreamCredentials
from dbt.adapters.sparkstream.spark.environments.base import CONNECT, SESSION, Environment
from dbt.adapters.sparkstream.spark.environments.connect import Connect
from dbt.adapters.sparkstream.spark.environments.embedded import Embedded
from dbt.adapters.sparkstream.spark.environments.remote import Remote, Thrift

METHODS: dict[Method, type[Environment]] = {
    Method.SESSION: Embedded,
    Method.THRIFT: Thrift,
    Method.CONNECT: Connect,
    Method.HTTP: Remote,
    Method.ODBC: Remote,
}
"""Value of `method` in the profile -> its class."""


def environment_of(credentials: SparkStreamCredentials, project: Path) -> Environment:
    """The environment of a profile, by its `method`.

    Args:
        credentials: the profile.
        project: the folder of the dbt project.
    """
    return METHODS[credentials.method](credentials, project)


__all__ = ["CONNECT", "SESSION", "Environment", "environment_of"]
