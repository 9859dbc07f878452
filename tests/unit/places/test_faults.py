"""The place that Spark gives its errors, recorded of Spark 4.3 over the session, Connect and Thrift."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.sparkstream.messages.faults import PYTHON_TRACE, Fault, Spot
from dbt.adapters.sparkstream.messages.places import Place
from dbt.adapters.sparkstream.messages.readable import readable

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "spark_faults.json").read_text(encoding="utf-8"))
METHODS = ("session", "connect", "thrift")


def raised(recorded: str | dict[str, Any], statement: str) -> BaseException | str:
    """An error as pyspark raises it, or the text of a Thrift server."""
    if isinstance(recorded, str):
        return recorded
    contexts = [
        SimpleNamespace(
            contextType=lambda: SimpleNamespace(name="SQL"),
            objectType=lambda c=context: c["objectType"],
            startIndex=lambda c=context: c["start"],
            stopIndex=lambda c=context: c["stop"],
            fragment=lambda c=context: statement[c["start"] : c["stop"] + 1],
        )
        for context in recorded["contexts"]
    ]
    members = {
        "getCondition": lambda _: recorded["condition"],
        "getQueryContext": lambda _: contexts,
        "__str__": lambda _: recorded["message"],
    }
    error: BaseException = type(recorded["class"], (Exception,), members)()
    return error


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", RECORDED)
def test_place(name: str, method: str) -> None:
    recorded = RECORDED[name]
    statement = recorded["statement"]
    fault = Fault.of(raised(recorded.get(method, recorded["session"]), statement))
    assert fault.condition
    if fault.spot is None:
        assert recorded["place"] is None
        return
    found = fault.spot.within(statement)
    assert found is not None
    at, width = found
    assert fault.spot.piece in ("", statement[at : at + width])
    assert [statement.count("\n", 0, at) + 1, at - statement.rfind("\n", 0, at)] == recorded["place"]


@pytest.mark.parametrize("plan", ["'Project [a]", "~Aggregate [a#1]", "Aggregate [a#1]\n+- Range", "!Project [a#1]"])
def test_a_plan(plan: str) -> None:
    assert readable(f"[X] No group. SQLSTATE: 42803;\n{plan}") == "[X] No group. SQLSTATE: 42803"


def test_a_row_is_no_plan() -> None:
    """The text of a row that an error quotes may hold a semicolon and a new line."""
    message = "[USER_RAISED_EXCEPTION] no price;\n+- of item A SQLSTATE: P0001"
    assert readable(message) == message


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", RECORDED)
def test_words(name: str, method: str) -> None:
    """With a place of ours, nothing of Spark's place, plan and trace is left."""
    recorded = RECORDED[name]
    fault = Fault.of(raised(recorded.get(method, recorded["session"]), recorded["statement"]))
    shown = readable(fault, Place("models/a.sql:1:2", " x", 2, 1))
    message, place, _ = shown.partition("\n  models/a.sql:1:2\n     x\n     ^")
    assert place
    assert message.startswith(f"[{fault.condition}] ")
    assert "\tat " not in message
    if recorded["place"]:
        assert "== SQL" not in message or name == "r_forge"
        assert " pos " not in message


@pytest.mark.parametrize(
    "data",
    [
        "SQLSTATE: 22018\n== SQL (line 1, position 1) ==\nselect\n^^^",
        "SQLSTATE: 42601; line 1 pos 0;\n'Project",
        "SQLSTATE: 42601 (line 1, pos 0)\n\n== SQL ==\nselect",
        "\n\tat org.apache.spark.sql.Foo(Foo.scala:1)\nCaused by: SQLSTATE: 22018\n== SQL (line 1, position 1) ==\n",
    ],
)
def test_data_forge_no_place(data: str) -> None:
    """What a row holds is in Spark's message, and takes a place away at most."""
    before = "org.apache.hive.service.cli.HiveSQLException: Error running query: "
    java = "org.apache.spark.SparkNumberFormatException: "
    genuine = f"[CAST_INVALID_INPUT] The value '{data}' of the type \"STRING\" cannot be cast. SQLSTATE: 22018"
    stack = "\n\tat org.apache.spark.sql.hive.thriftserver.X.y(X.scala:44)"
    for end in ("", "\n== SQL (line 3, position 2) ==\n cast(s as int)\n ^^^\n"):
        spot = Fault.of(f"{before}[CAST_INVALID_INPUT] {java}{genuine}{end}{stack}").spot
        assert spot in (None, Spot(3, 1, 3, "cas")) if end else spot is None


def test_a_views_query_has_another_text() -> None:
    assert Fault.of(RECORDED["a_view"]["thrift"]).spot is None
    assert "; line 1 pos 7" in Fault.of(RECORDED["a_view"]["thrift"]).message


@pytest.mark.parametrize(
    ("name", "named"),
    [("groupby", "s"), ("using", "nosuch"), ("struct", "b"), ("rank_noorder", "rank"), ("r_raise", None)],
)
@pytest.mark.parametrize("method", METHODS)
def test_named(name: str, named: str | None, method: str) -> None:
    """What the analyser names where it gives no place."""
    recorded = RECORDED[name]
    fault = Fault.of(raised(recorded.get(method, recorded["session"]), recorded["statement"]))
    assert (fault.spot, fault.named) == (None, named)


def test_a_stream() -> None:
    """Spark puts the error of a micro-batch between its own words about the query."""
    piece = "\n== SQL (line 2, position 8) ==\nselect a / 0 as x\n       ^^^^^\n"
    cause = f"[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012{piece}"
    words = f"Query x [id = 1] terminated with exception: {cause} SQLSTATE: XXKST\n=== Streaming Query ===\nPlan: a / 0"
    trace = 'Traceback (most recent call last):\n  File "sink.py", line 1, in call\n    self._write(rows)\n'
    in_sink = f"{trace}pyspark.errors.exceptions.captured.ArithmeticException: {cause}"
    proxy = f"An exception was raised by the Python Proxy. Return Message: {in_sink}"
    worker = f"[PYTHON_EXCEPTION] [session: 1-a] [userId: ] Found error inside foreachBatch Python process: {in_sink}"
    for message in (
        f"[STREAM_FAILED] {words}",
        f"[STREAM_FAILED] {words.replace(cause, proxy)}",
        f"(STREAM_FAILED) {worker}",
        f"[STREAM_FAILED] {words.replace(cause, worker)}",
        f"{proxy}\n\n=== Streaming Query ===\nIdentifier: x\nPlan: a / 0",
        f"(STREAM_FAILED) {worker}\n\nJVM stacktrace:\norg.X: {cause}\n\tat org.X.y(X.scala:1)\n SQLSTATE: 38000",
    ):
        fault = Fault("STREAM_FAILED", message).root
        assert fault.condition == "DIVIDE_BY_ZERO"
        assert fault.spot == Spot(2, 7, 5, "a / 0")
        assert PYTHON_TRACE not in readable(fault) and "Plan" not in readable(fault)


def test_a_source_that_fails_at_the_start_of_a_stream() -> None:
    """Spark adds the query behind it and no words of its own before it, where it doesn't know the condition."""
    renamed = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
    message = f"[{renamed}] Streaming read is not supported. Incompatible data schema: {{}}."
    fault = Fault("STREAM_FAILED", f"{message}\n=== Streaming Query ===\nIdentifier: rows").root
    assert (fault.condition, fault.message) == (renamed, message)
    for own in ("[STREAM_FAILED] Query x was ended", "java.io.IOException: no space"):
        assert Fault("STREAM_FAILED", own).root.message == own


def test_what_python_raises_is_not_spark() -> None:
    """A sink's own exception may quote a row."""
    trace = 'Traceback (most recent call last):\n  File "sink.py", line 1, in call\n    self._write(rows)\n'
    row = "[DIVIDE_BY_ZERO] x SQLSTATE: 22012\n== SQL (line 1, position 1) ==\nselect\n^^^"
    fault = Fault("", f"An exception was raised by the Python Proxy. Return Message: {trace}ValueError: {row}").root
    assert (fault.condition, fault.spot) == ("", None)


@pytest.mark.parametrize(
    ("spot", "place"),
    [(Spot(2, 1), (4, 2)), (Spot(2, 4), (6, 1)), (Spot(3, 0), None), (Spot(2, 5), None), (Spot(1, 0, 2), (0, 2))],
)
def test_within(spot: Spot, place: tuple[int, int] | None) -> None:
    assert spot.within("ab\n cd;") == place
