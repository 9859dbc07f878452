"""No expression over text that data can fill is more than linear."""

from __future__ import annotations

import multiprocessing
import re
import resource
from collections.abc import Callable

import pytest

from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, explained
from tests.security.expressions import Expression, expressions

SIZE = 300_000
SECONDS = 10
"""Of a processor, for all texts of an expression: one for what is linear, close to a minute for what isn't."""

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
        *(
            "(password,",
            "<password>",
            "<password ",
            "password: |\n ",
            "password={",
            "password={}}",
            "password=(",
            "-p ",
        ),
        *("password for ", "password=digest ", "identified by ", "-u a", "mysql ", "mysql -p", "eyJaaaaaaaa.", "eyJ-"),
        *("spark.password ", "password&quot;", "%22password%22", "pass is "),
    ),
]


def _within(seconds: int, what: Callable[[], object]) -> None:
    """Calls a function in a process of its own, which may have so many seconds of a processor."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        what()

    process = multiprocessing.get_context("fork").Process(target=limited)
    process.start()
    process.join()
    assert process.exitcode == 0, f"ended by {process.exitcode} in {seconds} seconds for texts of {SIZE:,} characters"


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


def test_redaction_of_a_long_text() -> None:
    def every() -> None:
        for piece in PIECES:
            redacted((piece * (SIZE // len(piece) + 1))[:SIZE])

    _within(3 * SECONDS, every)


MESSAGES = [
    *(
        "Caused by: a.B: {}\n",
        "a.B: {} ",
        "a.b(c{})\n",
        "\n    at a.b(c{}.d:1)",
        "[A{}] ",
        "SQLSTATE: 22012; line {} pos 1\n",
    ),
    *(
        "SQLSTATE: 22012\n== SQL (line {}, position 1) ==\n",
        "Error running query: [A] a.B{}: ",
        "terminated with exception: ",
    ),
    *(
        "\n=== Streaming Query ===",
        " Did you mean one of the following? [`__a{}`, ",
        "`__a`.`b{}`, ",
        "\n\nJVM stacktrace:\n",
    ),
    *("/a{} (Permission denied)", "/a{}", ";\n+", "Traceback (most recent call last):\n", "org.apache.kafka.a{}: "),
]
BEFORE = [
    "[A] ",
    "[STREAM_FAILED] Query x terminated with exception: ",
    "An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):\n",
]


def test_errors_of_a_long_text() -> None:
    def every() -> None:
        for before in BEFORE:
            for piece in MESSAGES:
                text = before + "".join(piece.format(i) for i in range(SIZE // 5 // len(piece)))
                readable(text)
                explained(StreamingError(text), "/checkpoint")

    _within(2 * SECONDS, every)
