"""Python models: run in this process, on its own Spark or through Spark Connect."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import PythonJobHelper
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.errors import readable

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials

SESSION = "session"
CONNECT = "connect"
"""The values of `config(submission_method=...)` that are this module's."""

_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_lock = threading.Lock()
_users = 0


class PythonModel(PythonJobHelper):
    """A Python model as dbt has compiled it: the user's `model(dbt, session)`, and what saves its result."""

    def __init__(self, project: Path, parsed_model: Mapping[str, Any], credentials: SparkStreamCredentials) -> None:
        self._project = project
        self._model = parsed_model
        self._credentials = credentials

    def submit(self, compiled_code: str) -> None:
        """Runs it.

        Raises:
            DbtRuntimeError: there is no Spark for it, or what the model raised, with its lines.
        """
        path = self._model["original_file_path"]
        with self._spark() as spark:
            try:
                # The user's text comes first, after white space of dbt's, so line numbers are those of the file.
                code = compile(compiled_code.lstrip(), path, "exec")
                exec(code, {"__name__": self._model["name"], "spark": spark})
            except Exception as error:
                lines = self._model["raw_code"].count("\n") + 1
                raise DbtRuntimeError(_described(error, path, lines)) from error

    @contextmanager
    def _spark(self) -> Iterator[Any]:
        """The session that the model gets."""
        raise NotImplementedError


class SessionPythonModel(PythonModel):
    """Runs on the Spark of this process."""

    @contextmanager
    def _spark(self) -> Iterator[Any]:
        if self._credentials.method != SESSION:
            raise DbtRuntimeError(
                "submission_method='session' needs a Spark in this process, and the profile has "
                f"method: {self._credentials.method}\n"
                "  write submission_method='connect', and connect_url in the profile"
            )
        from dbt.adapters.sparkstream.session import spark_session

        yield spark_session(self._credentials.server_side_parameters, self._project)


class ConnectPythonModel(PythonModel):
    """Runs through the Spark Connect port of the server, with a session of its own."""

    @contextmanager
    def _spark(self) -> Iterator[Any]:
        from dbt.adapters.sparkstream.streaming.connect import connect_url, opened

        url = connect_url(self._credentials, self._project)
        if not url:
            raise DbtRuntimeError(
                "a Python model runs over Spark Connect here, and the profile doesn't say where that is\n"
                "  write connect_url: sc://HOST:15002 in the profile, of the same Spark as host and port"
            )
        with _connect_mode():
            spark = opened(url, self._set, DbtRuntimeError)
            try:
                yield spark
            finally:
                spark.stop()

    def _set(self, spark: Any) -> None:
        for name, value in self._credentials.server_side_parameters.items():
            if spark.conf.isModifiable(name):
                spark.conf.set(name, value)


@contextmanager
def _connect_mode() -> Iterator[None]:
    """Makes pyspark.sql.functions those of Connect, as long as some thread needs them: pyspark looks at a variable."""
    global _users
    with _lock:
        _users += 1
        os.environ[_CONNECT_MODE] = "1"
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                del os.environ[_CONNECT_MODE]


def _described(error: Exception, path: str, lines: int) -> str:
    """What went wrong and where in the user's file, of so many lines, without the frames of pyspark and dbt."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg}\n  {path}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path and (frame.lineno or 0) <= lines]
    places = [f"\n  {path}:{frame.lineno} in {frame.name}" for frame in own]
    return f"{type(error).__name__}: {readable(error)}{''.join(places)}"
