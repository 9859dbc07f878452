"""No expression over text that data can fill is more than linear."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Callable

import pytest

from dbt.adapters.sparkstream.secrecy.redaction import redacted
from tests.security.expressions import Expression, expressions

SIZE = 1_000_000
SECONDS = 120.0
"""For all texts: seconds for what is linear, hours for what isn't."""

EXPRESSIONS = expressions()

PIECES = [
    *("-D", "spark.", "LoginModule ", "a", " ", "[", "'", '"', ";", "://", "a@", "sc://", "x://a@", "://a:", "\\", "="),
    *(
        "password=",
        "password='",
        "password='a\n",
        "password=\\",
        'password=\\"',
        "password ",
        "--password ",
        "token:",
        "\n",
    ),
    *(
        "jdbc:oracle:x:",
        "jdbc:oracle:x:a/",
        "Bearer ",
        "Basic ",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n-----END ",
        "'password', ",
        "/password: ",
    ),
]


def _within(seconds: float, what: Callable[[], object]) -> None:
    process = multiprocessing.get_context("fork").Process(target=what)
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        pytest.fail(f"takes more than {seconds:g} seconds for texts of {SIZE:,} characters")
    assert process.exitcode == 0


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_each_expression(name: str) -> None:
    expression = EXPRESSIONS[name]

    def read() -> None:
        for text in expression.texts(SIZE):
            expression.read(text)

    _within(SECONDS, read)


def test_the_texts_find_a_slow_one() -> None:
    texts = list(Expression(re.compile(r"a(b*)c|x[^y]*y"), "search").texts(6))
    assert texts == ["ababab", "abbbbbb", "xaxaxa", "xaaaaaa"]


def test_redaction_of_a_megabyte() -> None:
    def every() -> None:
        for piece in PIECES:
            redacted((piece * (SIZE // len(piece) + 1))[:SIZE])

    _within(3 * SECONDS, every)
