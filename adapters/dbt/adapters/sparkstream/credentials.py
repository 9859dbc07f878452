"""The keys of a profile with `type: sparkstream`."""

from __future__ import annotations

import copy
import getpass
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark.connections import SparkConnectionMethod, SparkCredentials

from dbt.adapters.sparkstream.redaction import redacted

ANSI = "spark.sql.ansi.enabled"
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
"""Lets a sliding frame cost the logarithm of its length and not the length; from Spark 4.2 on, and off there."""


@dataclass
class SparkStreamCredentials(SparkCredentials):
    """Every key of dbt-spark's profile, and these.

    Attributes:
        connect_url: address of the Spark Connect port of the same server, such as `sc://127.0.0.1:15002`.
        optimize: whether window queries are rewritten to faster ones with the same rows, and Spark's fast frames are
            on.
    """

    connect_url: str | None = field(default=None, repr=False)
    optimize: bool = True

    @classmethod
    def __pre_deserialize__(cls, data: Any) -> Any:
        data = super().__pre_deserialize__(data)
        # A Spark in this process has no host, which dbt-spark asks for nevertheless.
        if data.get("method") == SparkConnectionMethod.SESSION:
            data.setdefault("host", "localhost")
        return data

    def __post_init__(self) -> None:
        ansi = {key: str(value) for key, value in self.server_side_parameters.items() if key == ANSI}
        super().__post_init__()
        # dbt-spark switches ANSI mode off, even where the profile says otherwise.
        self.server_side_parameters.update(ansi)
        if self.optimize and self.method in (SparkConnectionMethod.SESSION, SparkConnectionMethod.THRIFT):
            self.server_side_parameters.setdefault(SEGMENT_TREE, "true")
        if self.method == SparkConnectionMethod.THRIFT and self.user is None:
            self.user = _system_user()

    def for_thrift(self) -> SparkStreamCredentials:
        """The same profile, with its parameters named as a Thrift server takes them: it ignores plain names."""
        credentials = copy.copy(self)
        credentials.server_side_parameters = {
            f"set:hiveconf:{name}": value for name, value in self.server_side_parameters.items()
        }
        return credentials

    @property
    def type(self) -> str:
        return "sparkstream"

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """What `dbt debug` prints and `target` has in Jinja, so that it is in compiled SQL: without secrets."""
        for key, value in super().connection_info(with_aliases=with_aliases):
            yield key, redacted(value) if isinstance(value, str) else value

    def _connection_keys(self) -> tuple[str, ...]:
        if self.method == SparkConnectionMethod.SESSION:
            return ("method", "schema", "optimize")
        if self.method == SparkConnectionMethod.THRIFT:
            return ("method", "host", "port", "auth", "schema", "connect_url", "optimize")
        return ("method", *super()._connection_keys(), "connect_url", "optimize")


def _system_user() -> str:
    """The name that PyHive would give to the server, or `dbt` for a user without a name (as in some containers)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "dbt"
