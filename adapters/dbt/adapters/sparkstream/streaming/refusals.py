"""Errors of streaming models."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.sparkstream.messages.faults import CLASS, OF_PY4J, OF_TASK, STREAM_FAILED, STREAMING_QUERY, Fault
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.streaming.worker.sink import NOT_SENT

REBUILD = "run it with --full-refresh to rebuild the table from all rows that the sources have now"

ONLY_ADDED = "a stream reads what is only ever added to"

_REPEATED = re.compile(
    r'Cannot invoke "scala\.collection\.IterableOps\.map\([^\n]{0,200}"scala\.Option\.get\(\)" is null'
)
"""Error of Spark 4.1 after a repeated micro-batch: it compares what it has read with what
Kafka has, which it hasn't asked for yet. Spark 4.2 doesn't."""

UNKNOWN_SCHEMA = f"SPARKSTREAM_SCHEMA_{secrets.token_hex(8)}"
"""Word at the beginning of a query's error about an unknown schema, before the schema's number and the source. It is
random in each process, so no row has it."""

_UNKNOWN_SCHEMA = re.compile(rf"\[USER_RAISED_EXCEPTION\] {UNKNOWN_SCHEMA} (\d{{1,18}}) <([^>\n]*)>")

_IN_DELTA = re.compile(r"\[DELTA_SOURCE_(?:TABLE_IGNORE_CHANGES|IGNORE_DELETE)\] ([^\n]*)")
_IN_ICEBERG = re.compile(CLASS + r"Cannot process (overwrite|delete) snapshot: (\d+)")
"""Errors of Delta and Iceberg about a source with commits that don't only add rows."""

_RESHAPED = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE"
"""The beginning of Delta's condition for a source with mapped names that has lost a column, or the name of one."""

_GONE = re.compile(CLASS + r"Cannot load current offset at snapshot (\d+), the snapshot was expired or removed")
"""Error of Iceberg if the last snapshot that a stream has read is gone."""

DAMAGES = (
    "[BATCH_METADATA_NOT_FOUND]",
    "[CANNOT_LOAD_STATE_STORE",
    "[CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED]",
    "[MALFORMED_LOG_FILE]",
    "[STREAMING_CHECKPOINT_MISSING_METADATA_FILE]",
    "Incomplete log file",
    "does not exist. Please check if the checkpoint",
)
"""Parts of Spark's errors about a checkpoint of which files are missing or incomplete."""

_UNREADABLE = "FAILED_READ_FILE"
"""The beginning of Spark's conditions for a file that it can't read, be it of a source or of the checkpoint."""

_ABORTED = "Job aborted due to "

_SPARKS = (
    r"org\.apache\.(?:kafka|spark\.sql)\.|java\.(?:util\.concurrent|io)\.|org\.apache\.spark\.SparkException"
    r"|java\.lang\.(?:IllegalState|NullPointer)Exception"
)

_OF_OTHERS = re.compile(
    rf"{OF_PY4J}{CLASS}(?:(?:{OF_TASK})?\(?(?!{_SPARKS})(?:[\w$]{{1,100}}\.){{1,20}}[\w$]{{1,100}}(?:\) |: |\n|\Z)"
    rf"|{_ABORTED}(?!{OF_TASK.removeprefix(_ABORTED)}))"
)
"""The beginning of a message whose exception is neither Spark's nor Kafka's, and may quote data."""

_OF_SPARK = (
    *("BATCH_METADATA_NOT_FOUND", "CANNOT_LOAD_STATE_STORE", "CHECKPOINT_FILE", "MALFORMED_LOG_FILE"),
    *("STREAMING_CHECKPOINT", "FAILED_READ_FILE", "KAFKA", "FOREACH", "STREAM_FAILED", "CANNOT_READ", "INTERNAL_ERROR"),
)
"""Beginnings of the conditions in which Spark speaks of files, topics and its own state, and quotes no values."""

LOST = re.compile(r"KAFKA_DATA_LOSS|Some data may have been lost because they are not available in Kafka")
"""Part of Spark's error if Kafka doesn't have the next records any more."""

NO_TOPIC = "UnknownTopicOrPartitionException"
"""Part of Spark's error about a topic that doesn't exist."""

_NOT_SENT = re.compile(rf"RuntimeError: {NOT_SENT} (\S+):")

_KAFKAS_REASON = re.compile(r"org\.apache\.kafka\.[\w.$]{1,200}: (.+)")

_REASON = re.compile(
    r"(Partition \S{1,300} offset was changed from \d{1,19} to \d{1,19}|Could not read records in offset .*"
    r"|Starting offset for .*|Cannot find initial offsets for partitions .*|Partitions .{1,500} have been deleted"
    r"|Added partition .{1,500} starts from .*)"
)

NO_BROKER = "look whether Kafka runs there and this network leads to it, and at kafka.bootstrap.servers"
"""Advice if no broker answers."""

_CONNECTION_ERRORS = (
    (
        re.compile(r"TimeoutException: (Timed out waiting for a node assignment[^\n]*)"),
        "no broker of Kafka answers",
        NO_BROKER + " in the options of the source or the sink",
    ),
    (
        re.compile(r"SaslAuthenticationException: ([^\n]+)"),
        "Kafka doesn't let the user in",
        "look at kafka.sasl.mechanism in the options, and at user and password in kafka.sasl.jaas.config",
    ),
    (
        re.compile(r"SslAuthenticationException: ([^\n]+)"),
        "Kafka and this Spark don't agree about TLS",
        "kafka.ssl.truststore.location in the options must vouch for the broker's certificate, and the certificate "
        "for the host's name",
    ),
)
"""Errors of Kafka's client if Kafka doesn't answer or refuses it: pattern, meaning, and advice."""

logger = AdapterLogger("SparkStream")


class StreamingError(Exception):
    """Error of a streaming model; further lines of its message say what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(redacted(text))

    @property
    def fault(self) -> Fault:
        """Spark's error that caused this error; for another cause, this error's text, without a condition."""
        cause = self.__cause__
        if isinstance(cause, StreamingError):
            return cause.fault
        of_spark = hasattr(cause, "getCondition") or hasattr(cause, "java_exception")
        return Fault.of(cause) if cause is not None and of_spark else Fault("", str(self))


class SourceChanged(StreamingError):
    """A source has not only got more rows, so the table has to be rebuilt: by `on_source_change`, or by its user."""

    @classmethod
    def of(cls, relation: str, what: str, accepting: str | None = None) -> SourceChanged:
        """Error about a source that no stream can follow; `accepting`: when `on_source_change='accept'` is right."""
        return cls(
            f"{relation} {what}\n  {ONLY_ADDED}; {REBUILD}, or write config(on_source_change='rebuild')"
            + (f"\n  {accepting}, write config(on_source_change='accept')" if accepting else "")
        )


class UnknownSchema(StreamingError):
    """A value is written with a schema that wasn't read from the registry yet."""

    def __init__(self, id_: int, relation: str) -> None:
        super().__init__(f"{relation} has values with the schema {id_}, which came when the run had begun")
        self.id = id_
        self.relation = relation


class EndedAfterRepeat(StreamingError):
    """Spark 4.1 has done an interrupted micro-batch of Kafka again, and failed when it reported that."""


def _connection_error(text: str) -> str | None:
    """Message about a Kafka that doesn't answer or refuses this Spark; None for another text."""
    for pattern, meaning, advice in _CONNECTION_ERRORS:
        if reason := pattern.search(text):
            return f"{meaning}\n  {advice}\n  Kafka says: {reason[1]}"
    return None


def _changed(text: str) -> str | None:
    """Delta's or Iceberg's words about a source with changed or deleted rows; None for another message."""
    if found := _IN_DELTA.match(text):
        said = found[1].partition(" This is currently")[0]
        return said[:1].lower() + said[1:].rstrip(".")
    if found := _IN_ICEBERG.match(text):
        return f"snapshot {found[2]} in Iceberg {'deletes' if found[1] == 'delete' else 'changes or deletes'} rows"
    return None


def explained(error: StreamingError, checkpoint: str) -> StreamingError:
    """Error of a run, with advice if Spark couldn't go on with a file, a source or a topic; else the same error."""
    text, fault = str(error), error.fault.root
    if changed := _changed(fault.message):
        accepting = "if such commits may be left out, with all rows that they add"
        return SourceChanged.of("a source", f"has changed: {changed}", accepting)
    if fault.condition.startswith(_RESHAPED):
        return SourceChanged(
            "a source has changed: a column of it was renamed or dropped, or has another type, and Delta's streams "
            f"don't go on after that\n  {REBUILD}, or write config(on_source_change='rebuild')"
        )
    if gone := _GONE.match(fault.message):
        return SourceChanged(
            f"a source has changed: snapshot {gone[1]}, the last that this model has read, is not in Iceberg any more\n"
            f"  keep snapshots for longer than between two runs; {REBUILD}, or write config(on_source_change='rebuild')"
        )
    if unknown := _UNKNOWN_SCHEMA.match(fault.message):
        return UnknownSchema(int(unknown[1]), unknown[2])
    unsent = _NOT_SENT.match(fault.raised or "")
    of_others = _OF_OTHERS.match(fault.message) or (fault.raised and not unsent)
    if (fault.condition and not fault.condition.startswith(_OF_SPARK)) or of_others:
        return error  # it may quote data, in which all of the words below can stand
    if fault.condition.startswith(_UNREADABLE):
        return _unreadable(fault.message.splitlines()[0], checkpoint)
    whole = f"{text}\n{error.__cause__}"
    if _REPEATED.search(whole):
        return EndedAfterRepeat("Spark has failed after a micro-batch that it did again, which is in the table")
    if unsent:
        reason = _KAFKAS_REASON.search(whole)
        advice = _connection_error(whole) or (
            "look for the topic in Kafka, and for where Kafka is in the options of sink\n"
            f"  Kafka says: {reason[1] if reason else text}"
        )
        return StreamingError(f"{NOT_SENT} {unsent[1]}; they are in the table, and the next run sends them\n  {advice}")
    if shut_out := _connection_error(whole):
        return StreamingError(shut_out)
    if LOST.search(whole):
        reason = _REASON.search(whole)
        return StreamingError(
            "Kafka has lost records that this model has not read: retention has removed them, or the topic was "
            "deleted, and perhaps made again\n"
            f"  {REBUILD}; what the model has of records that are gone is lost then, so copy its table first\n"
            f"  Spark says: {reason[0] if reason else text}"
        )
    if NO_TOPIC in whole:
        return StreamingError(
            "Kafka hasn't a topic, or a partition of one, that this model reads\n"
            "  look for its name in the options of the source's meta, and in Kafka\n"
            f"  if it was deleted: make it again, and {REBUILD}"
        )
    return _damaged(text.splitlines()[0], checkpoint) if any(words in text for words in DAMAGES) else error


def _damaged(said: str, checkpoint: str) -> StreamingError:
    return StreamingError(
        f"the checkpoint in {checkpoint} is damaged: files of it are missing, or were cut off\n"
        "  put its folder back from a copy, with all files of one moment, if there is one\n"
        f"  else {REBUILD}\n"
        f"  Spark says: {said}"
    )


def _unreadable(said: str, checkpoint: str) -> StreamingError:
    if checkpoint in said:
        return _damaged(said, checkpoint)
    return StreamingError(
        f"a file can't be read: {said}\n"
        "  mend it, or put a right one in its place under the same name\n"
        "  or, if its rows may be left out, remove it and write config(on_source_change='accept')"
    )


@contextmanager
def spark_errors(doing: str = "") -> Iterator[None]:
    """Turns an error of Spark into a StreamingError with a readable message."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise StreamingError(f"{doing}{': ' if doing else ''}{spark_text(error)}") from error


@contextmanager
def ignored(*conditions: str) -> Iterator[None]:
    """Ignores Spark's errors with some conditions."""
    try:
        yield
    except StreamingError as error:
        if error.fault.condition.partition(".")[0] not in conditions:
            raise


def spark_text(error: BaseException) -> str:
    """Text of Spark's error, without the query's plan after it and its name before it."""
    logger.debug(f"Spark's error in full: {error}")
    text = readable(error).split(STREAMING_QUERY)[0]
    _, failed, cause = text.partition("terminated with exception: ")
    return (cause if failed else text).rstrip().removesuffix(STREAM_FAILED).strip()
