"""No expression over text that data can fill is more than linear."""

from __future__ import annotations

import importlib
import multiprocessing
import pkgutil
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

import dbt.adapters.sparkstream as package
from dbt.adapters.sparkstream.redaction import redacted

PIECES = [
    *("-D", "spark.", "LoginModule ", "a", " ", "[", "'", '"', ";", "://", "a@", "sc://", "x://a@", "://a:", "\\", "="),
    *("password=", "password='", "password=\\", "password ", "jdbc:oracle:x:", "jdbc:oracle:x:a/", "token:", ":", "\n"),
    *("[LOCATION_ALREADY_EXISTS] Cannot name the managed table as ", "[A] ", "Caused by: ", "a.b: ", ";\n'", "\tat a("),
    *("Error running query: [A] ", "terminated with exception: ", "org.apache.kafka.a: ", "SPARKSTREAM_SCHEMA 1 <"),
    *("<", "(", "1", "&"),
]
SIZE = 1_000_000
SECONDS = 120.0
"""For all pieces: seconds for what is linear, hours for what isn't."""

OVER_MESSAGES = (
    "errors",
    "faults",
    "leftovers",
    "redaction",
    "mistakes",
    "streaming.errors",
    "streaming.values",
    "server.log",
)
"""The modules that read what Spark, Kafka or a server say."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The expressions of these modules: of their own, and in their lists and tables."""

    def within(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
        if isinstance(value, re.Pattern):
            yield name, value
        elif depth < 4 and isinstance(value, dict):
            yield from within([*value.keys(), *value.values()], name, depth + 1)
        elif depth < 4 and isinstance(value, (list, tuple, set, frozenset)):
            for i, item in enumerate(value):
                yield from within(item, f"{name}[{i}]", depth + 1)

    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        short = found.name.removeprefix(package.__name__ + ".")
        if short in OVER_MESSAGES:
            for name, value in vars(importlib.import_module(found.name)).items():
                yield from within(value, f"{short}.{name}")


EXPRESSIONS = dict(patterns())


def _search(name: str) -> None:
    for piece in PIECES:
        text = (piece * (SIZE // len(piece) + 1))[:SIZE]
        EXPRESSIONS[name].search(text)


def _within(seconds: float, what: Any, *arguments: Any) -> None:
    process = multiprocessing.get_context("fork").Process(target=what, args=arguments)
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        pytest.fail(f"takes more than {seconds:g} seconds for texts of {SIZE:,} characters")
    assert process.exitcode == 0


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_each_expression(name: str) -> None:
    _within(SECONDS, _search, name)


def test_redaction_of_a_megabyte() -> None:
    def every() -> None:
        for piece in PIECES:
            redacted((piece * (SIZE // len(piece) + 1))[:SIZE])

    begun = time.monotonic()
    _within(3 * SECONDS, every)
    assert time.monotonic() - begun < 3 * SECONDS
