"""Python models: run in this process, on its own Spark or through Spark Connect."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import PythonJobHelper
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.spark.environments.cancelling import CANCELLED, Cancellable

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.credentials import SparkStreamCredentials
    from dbt.adapters.sparkstream.spark.environments import Environment


class PythonModels:
    """The Python models of a dbt run.

    Args:
        environment: the Spark that the profile leads to.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._lock = threading.Lock()
        self._running: list[Cancellable] = []

    def helper(self, submission_method: str) -> Callable[..., PythonModel]:
        """Factory of a `PythonModel`, which dbt calls for each model with this submission method."""
        return partial(PythonModel, self, submission_method)

    @contextmanager
    def running(self, work: Cancellable) -> Iterator[None]:
        """Runs a model's work so that `cancel` ends it."""
        with self._lock:
            self._running.append(work)
        try:
            with work.running():
                yield
        finally:
            with self._lock:
                self._running.remove(work)

    def cancel(self) -> None:
        """Cancels the models' running work on Spark."""
        with self._lock:
            for work in self._running:
                work.cancel()


class PythonModel(PythonJobHelper):
    """A Python model as dbt has compiled it: the user's `model(dbt, session)`, and code that saves its result.

    Args:
        models: the models of the dbt run.
        submission_method: `session` or `connect`.
        parsed_model: dbt's node of the model.
        credentials: the profile.
    """

    def __init__(
        self,
        models: PythonModels,
        submission_method: str,
        parsed_model: Mapping[str, Any],
        credentials: SparkStreamCredentials,
    ) -> None:
        self._models = models
        self._submission_method = submission_method
        self._model = parsed_model

    def submit(self, compiled_code: str) -> None:
        """Runs the model.

        Raises:
            DbtRuntimeError: there is no Spark for it, it was cancelled, or it has failed (with the user's lines).
        """
        path = self._model["original_file_path"]
        with self._models.environment.python_session(self._submission_method) as (spark, work):
            try:
                # The user's text comes first, after white space of dbt's, so line numbers are line numbers of the file.
                code = compile(compiled_code.lstrip(), path, "exec")
                with self._models.running(work):
                    exec(code, {"__name__": self._model["name"], "spark": spark})  # noqa: S102 - the user's own model
            except (Exception, SystemExit) as error:  # by the latter dbt's thread would end, and dbt wait for it
                if isinstance(error, DbtDatabaseError) and error.msg == CANCELLED:
                    raise
                lines = self._model["raw_code"].count("\n") + 1
                raise DbtRuntimeError(_described(error, path, lines)) from error


def _described(error: Exception | SystemExit, path: str, lines: int) -> str:
    """Message of an error, with its frames in the user's file of `lines` lines, without those of pyspark and dbt."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg}\n  {path}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path and (frame.lineno or 0) <= lines]
    places = [f"\n  {path}:{frame.lineno} in {frame.name}" for frame in own]
    return f"{type(error).__name__}: {readable(error)}{''.join(places)}"
