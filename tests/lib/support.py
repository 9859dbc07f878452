"""Helpers that several suites share."""

from __future__ import annotations

import cProfile
import os
import pstats
import random
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet
    from pyspark.sql import SparkSession


class Done(Protocol):
    """What dbt says of a command that it ran; what the result is depends on the command."""

    success: bool
    exception: BaseException | None
    result: Any


TARGETS = ("session", "thrift", "connect", "cluster")
"""Where tests of dbt projects run; `make test` takes the first, `make test-long` the second."""

MARKS: dict[str, tuple[pytest.MarkDecorator, ...]] = {
    "session": (),
    "thrift": (pytest.mark.long,),
    "connect": (pytest.mark.full,),
    "cluster": (pytest.mark.full,),
}


def _only_on(target: str) -> pytest.MarkDecorator:
    marks = {name: MARKS[name] if name == target else (pytest.mark.full,) for name in TARGETS}
    return pytest.mark.parametrize(
        "target", [pytest.param(name, marks=mark) for name, mark in marks.items()], indirect=True
    )


ON_THE_SESSION = _only_on("session")
"""For tests whose Spark is all the same, as they are about what comes before it: `make test-all` alone asks others."""

ON_THE_SERVER = _only_on("thrift")
"""For tests that have others like them on the embedded Spark: `make test-long` asks the server."""


def sampled(values: Iterable[Any], share: int = 3) -> list[ParameterSet]:
    """Parameters for `pytest.mark.parametrize`: of `share`, one is for `make test`, one for `make test-long`.

    A tuple is the values of several parameters.
    """
    marks = [(), (pytest.mark.long,), *[(pytest.mark.full,)] * (share - 2)]
    return [pytest.param(*_several(value), marks=marks[i % share]) for i, value in enumerate(values)]


def seldom(values: Iterable[Any]) -> list[ParameterSet]:
    """Parameters for `pytest.mark.parametrize` that only `make test-all` tries: others fail of most faults, too."""
    return [pytest.param(*_several(value), marks=pytest.mark.full) for value in values]


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""Options of Java for the tests, which end before it would win by compiling in two steps.

Java has a fifth of the room for code where it compiles in one step, and a run of many models fills that.
"""


@contextmanager
def java_options(options: str) -> Iterator[None]:
    """Java that is started here gets more options."""
    before = os.environ.get("JDK_JAVA_OPTIONS")
    os.environ["JDK_JAVA_OPTIONS"] = f"{before or ''} {options}".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ["JDK_JAVA_OPTIONS"]
        else:
            os.environ["JDK_JAVA_OPTIONS"] = before


def without_waiting_for_the_disk() -> AbstractContextManager[None]:
    """A Spark that is started here doesn't wait for the disk when its catalog changes. Not for one that is killed."""
    return java_options("-Dderby.system.durability=test")


@contextmanager
def embedded_spark(profile: Mapping[str, Any], folder: Path) -> Iterator[SparkSession]:
    """The Spark that `method: session` makes for a profile, until it is stopped."""
    from dbt.adapters.sparkstream.spark.session import spark_session

    with without_waiting_for_the_disk():
        session = spark_session(profile["server_side_parameters"], folder, profile.get("accelerator"))
    yield session
    session.stop()


PATIENCE = 300.0
"""Seconds to wait for what takes one or two on an idle machine. A test that has to wait so long fails."""


def wait_for(happened: Callable[[], object], what: Callable[[], str] = lambda: "this did not happen") -> None:
    """Waits until something holds.

    Args:
        happened: True if it holds; may raise what else is wrong.
        what: words for the failure.
    """
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


_ports = random.SystemRandom()


def calls(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls in this thread: how much it is, whatever else the machine has to do."""
    profile = cProfile.Profile()
    try:
        profile.runcall(work)
    finally:
        count: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return count


def free_port() -> int:
    """A port on this machine that nobody listens on, for a server that starts in a while.

    The system gives ports of its own range to every connection that is opened meanwhile: this one is below the range.
    """
    while True:
        port = _ports.randrange(12_000, 32_000)
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port


def quick_session(spark: SparkSession) -> SparkSession:
    """A session of its own, with temporary views and settings of its own, for thousands of tiny queries.

    It behaves as under the adapter (ANSI off, fast frames), in UTC. Queries are interpreted, as compiling one takes
    longer than running it.
    """
    session = spark.newSession()
    for key, value in {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.window.segmentTree.enabled": "true",
        "spark.sql.window.segmentTree.minPartitionRows": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }.items():
        session.conf.set(key, value)
    return session
