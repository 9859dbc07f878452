"""Text in data decides nothing, and imitates no error that is shown."""

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.messages.faults import Fault
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.streaming.refusals import StreamingError, explained

TASK = (
    "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in stage "
    "3.0 (TID 9) (10.0.0.1 executor driver): "
)
TRACE = 'Traceback (most recent call last):\n  File "sink.py", line 9, in call\n    self._write(rows)\n'
PROXY = f"An exception was raised by the Python Proxy. Return Message: {TRACE}"
PY4J = "An error occurred while calling o7.save\n: "

DATA = [
    "Some data may have been lost because they are not available in Kafka",
    "[KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost",
    "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: x",
    "org.apache.kafka.common.errors.SaslAuthenticationException: x",
    "TimeoutException: Timed out waiting for a node assignment. Call: x",
    'Cannot invoke "scala.collection.IterableOps.map(x)" because "scala.Option.get()" is null',
    "[MALFORMED_LOG_FILE] Log file was malformed",
    "Incomplete log file",
    "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file /checkpoint/x.",
    "[DELTA_SOURCE_IGNORE_DELETE] Detected deleted data",
    "Cannot process overwrite snapshot: 5",
    "Cannot load current offset at snapshot 5, the snapshot was expired or removed",
    "SPARKSTREAM_SCHEMA 5 <shop.bid>",
    "SPARKSTREAM_SCHEMA_0123456789abcdef 5 <shop.bid>",
    "RuntimeError: can't send rows to the topic x: y",
    "Python worker failed to connect back",
    "failed to connect to all addresses",
    "status = StatusCode.UNAVAILABLE",
    "Answer from Java side is empty",
    "Failed to find the data source: kafka",
    "Nested databases are not supported by v1 session catalog",
    "[LOCATION_ALREADY_EXISTS] Cannot name the managed table as t, as its associated location '/d' already exists",
    "(Permission denied)",
    "Mkdirs failed to create /home/me",
]
IN = [
    "[USER_RAISED_EXCEPTION] {} SQLSTATE: P0001",
    "[USER_RAISED_EXCEPTION] no number: {} SQLSTATE: P0001",
    "[CAST_INVALID_INPUT] The value '\n{}' of the type \"STRING\" cannot be cast SQLSTATE: 22018",
    f'{TASK}java.lang.NumberFormatException: For input string: "{{}}"',
    f"{TASK}java.lang.reflect.InvocationTargetException\n\tat x.Y.z(Y.java:1)\nCaused by: x.Z: {{}}",
    f"{TASK}org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] {{}} SQLSTATE: P0001",
    "Job aborted due to stage failure: Task 0 in stage 1 had a not serializable result: {}",
    f"{PY4J}java.lang.RuntimeException: no number: {{}}",
    f"{PY4J}org.apache.spark.SparkException: {TASK}java.lang.ArithmeticException: no number: {{}}",
    "(java.lang.RuntimeException) no number: {}",
    f"{PROXY}ValueError: {{}}",
    f"{PROXY}ValueError: x\n{{}}",
    f"{PROXY}pyspark.errors.exceptions.captured.SparkRuntimeException: [USER_RAISED_EXCEPTION] {{}}",
    f"{PROXY}py4j.protocol.Py4JJavaError: {PY4J}org.apache.spark.SparkException: {TASK}java.lang.X: no number: {{}}",
]


class Pyspark(Exception):
    """An error of pyspark's with the fields that it has."""

    def getCondition(self) -> str | None:
        message = str(self)
        return message[1:].partition("]")[0] if message.startswith("[") else None


@pytest.mark.parametrize("around", IN)
@pytest.mark.parametrize("data", DATA)
def test_of_streams(data: str, around: str) -> None:
    wrapped = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: {} SQLSTATE: XXKST"
    for cause in (around, wrapped.replace("{}", around)):
        error = StreamingError(cause.format(data))
        error.__cause__ = Pyspark(cause.format(data))
        assert explained(error, "/checkpoint") is error


@pytest.mark.parametrize("around", IN)
@pytest.mark.parametrize("data", DATA)
def test_of_statements(data: str, around: str) -> None:
    for error in (Pyspark(around.format(data)), Pyspark(around.format(f"x\n{data}"))):
        told = readable(error)
        for words in (
            "dbt retry",
            "spark-sql-kafka",
            "`database` in the profile",
            "has ended",
            "can't write",
            "move or",
        ):
            assert words not in told
        assert Fault.of(error).root.condition in ("", around[1:].partition("]")[0], "USER_RAISED_EXCEPTION")


@pytest.mark.parametrize(
    "name", ["Some data may have been lost because they are not available in Kafka", "[MALFORMED_LOG_FILE]", DATA[2]]
)
def test_names_of_files(name: str) -> None:
    """The files of a source have the names that somebody else has given."""
    said = f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/{name}.csv. SQLSTATE: KD001"
    for message in (said, f"{TASK}org.apache.spark.SparkException: {said}\nCaused by: java.io.IOException: x"):
        error = StreamingError(message)
        error.__cause__ = Pyspark(message)
        assert str(explained(error, "/checkpoint")).startswith("a file can't be read: [FAILED_READ_FILE")


def test_what_is_spark_s_own_stays_known() -> None:
    for message, words in (
        (f"{TASK}org.apache.spark.SparkException: [KAFKA_DATA_LOSS.X] Some data may", "Kafka has lost records"),
        (f"{TASK}java.lang.IllegalStateException: {DATA[0]} any more", "Kafka has lost records"),
        (f"java.util.concurrent.ExecutionException: {DATA[2]}", "Kafka hasn't a topic"),
        (f"{PY4J}{DATA[3]}", "Kafka doesn't let the user in"),
        (DATA[5], "Spark has failed after a micro-batch"),
        ("[MALFORMED_LOG_FILE] Log file was malformed", "the checkpoint in /checkpoint is damaged"),
        ("java.lang.IllegalStateException: Incomplete log file", "the checkpoint in /checkpoint is damaged"),
        (DATA[8], "the checkpoint in /checkpoint is damaged"),
        (f"{PROXY}RuntimeError: can't send rows to the topic t: {DATA[4]}", "can't send rows to the topic t; they are"),
        (
            f"{PROXY}py4j.protocol.Py4JJavaError: {PY4J}org.apache.spark.SparkException: {TASK}"
            "org.apache.spark.SparkException: [KAFKA_DATA_LOSS.X] Some",
            "Kafka has lost records",
        ),
    ):
        error = StreamingError(message)
        error.__cause__ = Pyspark(message)
        assert words in str(explained(error, "/checkpoint"))
    for message, words in (
        (
            f"{PY4J}org.apache.spark.SparkException: {TASK}org.apache.spark.SparkException: {DATA[15]}.",
            "machine is busy",
        ),
        (f"(org.apache.spark.SparkException) {DATA[15]}.", "machine is busy"),
        ("<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n", "dbt retry"),
        (DATA[16] + "; last error: x", "dbt retry"),
    ):
        assert words in readable(Pyspark(message))
