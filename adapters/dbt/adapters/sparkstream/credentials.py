"""The keys of a profile with `type: sparkstream`."""

from __future__ import annotations

import copy
import getpass
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.dataclass_schema import StrEnum, ValidationError
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.messages import profilekeys
from dbt.adapters.sparkstream.relation import catalog_of
from dbt.adapters.sparkstream.secrecy import dbtlog
from dbt.adapters.sparkstream.secrecy.names import is_harmless
from dbt.adapters.sparkstream.secrecy.redaction import learn, learn_environment, redacted
from dbt.adapters.sparkstream.spark import connect
from dbt.adapters.sparkstream.spark.accelerators import check_name
from dbt.adapters.sparkstream.spark.session_conf import SUBSTITUTE
from dbt.adapters.sparkstream.sql.core.limits import MOST_PARTIAL_MATCHES, MOST_WINDOWS

ANSI = "spark.sql.ansi.enabled"
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
"""Setting of Spark 4.2 and newer, off by default: a sliding frame costs the logarithm of its length, not the length."""


class Method(StrEnum):
    """Connection from dbt to Spark: one of dbt-spark's methods, or Spark Connect."""

    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"
    SESSION = "session"
    CONNECT = "connect"


@dataclass
class SparkStreamCredentials(SparkCredentials):
    """Every key of dbt-spark's profile, and these.

    Attributes:
        method: `session`, `thrift`, `connect`, `http` or `odbc`.
        database: the [catalog](../catalogs.md) of tables and sources whose configs name none, such as `lake` in
            `lake.shop.bids`; None for the catalog that sessions are in.
        connect_url: address of Spark Connect, such as `sc://127.0.0.1:15002`; with `method: connect`, `host`, `port`,
            `token`, `use_ssl` and `user` are the same in pieces.
        optimize: True to rewrite window queries to faster ones with the same rows, and to switch Spark's fast frames
            on.
        max_windows: most windows of `hop` or `cumulate` that a row may be in: many of them fill Spark's memory.
        max_partial_matches: most partial matches that a `MATCH_RECOGNIZE` may hold: each row is compared with all.
        accelerator: a native engine for a Spark of `method: session`, such as [`comet`](../accelerators.md); None for
            Spark alone.
        target_type: value of `target.type` in Jinja, such as `spark` for packages that test for it.
    """

    method: Method = None  # type: ignore[assignment]
    database: str | None = None
    connect_url: str | None = field(default=None, repr=False)
    optimize: bool = True
    max_windows: int = MOST_WINDOWS
    max_partial_matches: int = MOST_PARTIAL_MATCHES
    accelerator: str | None = None
    target_type: Literal["sparkstream", "spark"] = "sparkstream"

    @classmethod
    def validate(cls, data: Any) -> None:
        """Checks the keys of a profile and their values.

        Raises:
            ValidationError: a key that is a known one misspelt, or a value of the wrong kind.
        """
        _learn(data)
        profilekeys.check(data, {f.name for f in fields(cls) if not f.name.startswith("_")} | {*cls._ALIASES})
        try:
            super().validate(data)
        except ValidationError as error:
            raise ValidationError(redacted(profilekeys.message(error, [str(m) for m in Method]))) from None

    @classmethod
    def translate_aliases(cls, kwargs: dict[str, Any], recurse: bool = False) -> dict[str, Any]:
        """A profile, or one level of a node's configs, with aliases replaced and our configs of `meta` added."""
        from dbt.adapters.sparkstream.compiling.configs import with_those_of_meta

        given = super().translate_aliases(kwargs, recurse)
        return with_those_of_meta(given) if "meta" in given and not recurse else given

    @classmethod
    def __pre_deserialize__(cls, data: Any) -> Any:
        _learn(data)
        data = super().__pre_deserialize__(data)
        method = data.get("method")
        # A Spark in this process has no host, which dbt-spark asks for nevertheless.
        if method == Method.SESSION or (method == Method.CONNECT and data.get("connect_url")):
            data.setdefault("host", "localhost")
        if method == Method.CONNECT:
            data.setdefault("port", connect.DEFAULT_PORT)
        return data

    def __post_init__(self) -> None:
        ansi = {key: str(value) for key, value in self.server_side_parameters.items() if key == ANSI}
        if self.method == Method.CONNECT:
            self._read_connect_url()
        database, self.database = catalog_of(self.database, self.schema), None  # dbt-spark refuses one
        super().__post_init__()
        self.database = database
        # dbt-spark switches ANSI mode off, even where the profile says otherwise.
        self.server_side_parameters.update(ansi)
        if self.optimize and self.method in (Method.SESSION, Method.THRIFT, Method.CONNECT):
            self.server_side_parameters.setdefault(SEGMENT_TREE, "true")
        if self.method in (Method.SESSION, Method.THRIFT, Method.CONNECT):
            self.server_side_parameters.setdefault(SUBSTITUTE, "false")
        for key in ("max_windows", "max_partial_matches"):
            most = getattr(self, key)
            if isinstance(most, bool) or most < 1:
                raise DbtRuntimeError(f"{key} is a number from 1 on, and not {most!r}")
        if self.accelerator is not None:
            self._check_accelerator(self.accelerator)
        if self.method == Method.THRIFT and self.user is None:
            self.user = _system_user()

    def _check_accelerator(self, name: str) -> None:
        try:
            check_name(name)
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from None
        if self.method != Method.SESSION:
            raise DbtRuntimeError(
                f"accelerator: {name} is for method: session, as Spark gets it at its start\n"
                f"  take it out of the profile; a server gets it by sparkstream server start --accelerator {name}"
            )

    def _read_connect_url(self) -> None:
        """Takes host and port from the address, so that messages can name them."""
        if self.connect_url is None:
            return
        try:
            self.host, self.port = connect.host_and_port(self.connect_url)
        except ValueError as error:
            raise DbtRuntimeError(f"connect_url is {redacted(self.connect_url)}\n  {error}") from error

    def connect_address(self) -> str:
        """The address of Spark Connect of a profile with `method: connect`; it may hold a token."""
        parameters = {"user_id": self.user, "token": self.token, "use_ssl": "true" if self.use_ssl else None}
        given = {name: value for name, value in parameters.items() if value is not None}
        if self.connect_url is not None:
            return connect.with_parameters(self.connect_url, given)
        return connect.address(str(self.host), self.port, given)

    def for_thrift(self) -> SparkStreamCredentials:
        """The same profile, with its parameters under the names that a Thrift server needs: it ignores plain names."""
        credentials = copy.copy(self)
        credentials.server_side_parameters = {
            f"set:hiveconf:{name}": value for name, value in self.server_side_parameters.items()
        }
        return credentials

    @property
    def type(self) -> str:
        return "sparkstream"

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """The profile's items without secrets, for `dbt debug`, and for `target` in Jinja and compiled SQL."""
        for key, value in super().connection_info(with_aliases=with_aliases):
            if key == "database" and value is None:
                continue
            yield key, redacted(value) if isinstance(value, str) else value

    def _connection_keys(self) -> tuple[str, ...]:
        # dbt parses all files again where these keys are others than before.
        return (*self._method_keys(), *(["target_type"] if self.target_type != self.type else []))

    def _method_keys(self) -> tuple[str, ...]:
        if self.method == Method.SESSION:
            accelerator = () if self.accelerator is None else ("accelerator",)
            return ("method", "database", "schema", "optimize", *accelerator)
        if self.method == Method.CONNECT:
            return ("method", "host", "port", "use_ssl", "database", "schema", "connect_url", "optimize")
        if self.method == Method.THRIFT:
            return ("method", "host", "port", "auth", "database", "schema", "connect_url", "optimize")
        return ("method", "database", *super()._connection_keys(), "connect_url", "optimize")


def _learn(profile: Mapping[str, Any]) -> None:
    """Records the secrets in a profile, before dbt prints or logs any of it."""
    dbtlog.install()
    learn_environment()
    learn(profile)
    # A login before the host (`me:...@server`) is one also where the address has no scheme. Spark's error repeats it.
    learn({"host": f"thrift://{profile.get('host')}"})
    parameters = profile.get("server_side_parameters")
    if isinstance(parameters, Mapping):
        learn(parameters, is_harmless)


def _system_user() -> str:
    """The name that PyHive would give to the server, or `dbt` for a user without a name (as in some containers)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "dbt"
