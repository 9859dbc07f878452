"""Errors of Spark's as values: the error condition, and the message.

Data can stand in every message: `raise_error`, a failed cast and a Python function quote it. So decisions are made from
the condition alone, and a message is read only where its condition says how it begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_CONDITION = r"\[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\] "
_BY_CLASS = r"(?:[\w$]+\.)+[\w$]+: "
_THRIFT = re.compile(
    rf"(?:org\.apache\.hive\.service\.cli\.HiveSQLException: )?Error running query: (?:{_CONDITION})?(?:{_BY_CLASS})?"
)
"""The words of the Thrift server before Spark's own: the condition of the error, and its Java class."""
_BEGINNING = re.compile(_CONDITION)
PYTHON_TRACE = "Traceback (most recent call last):"
"""The first line of a trace of Python's."""
_IN_PYTHON = re.compile(
    r"(?:\(STREAM_FAILED\) )?(?:An exception was raised by the Python Proxy\. Return Message: "
    r"|\[PYTHON_EXCEPTION\] [^\n]{0,500}?Found error inside foreachBatch Python process: )"
    rf"(?={re.escape(PYTHON_TRACE)}\n)"
)
"""The words of py4j, and of Spark Connect, before the trace of an error in a sink."""
_PYTHON_FAILED = "SQLSTATE: 38000"
"""The end of Spark's words about a trace of Python's, which has no place in SQL."""
_RAISED = re.compile(r"^(?:\w+\.)*\w+: .*", re.MULTILINE | re.DOTALL)
"""The exception below a trace of Python's, whose other lines are indented."""
CLASS = r"(?:[\w.$]{1,200}: )?"
"""The Java class that may stand before a message."""
OF_TASK = (
    r"Job aborted due to stage failure: Task \d{1,9} in stage [\d.]{1,20} failed \d{1,4} times, most recent "
    r"failure: Lost task [\d.]{1,20} in stage [\d.]{1,20} \(TID \d{1,19}\) \([^)\n]{1,300}\): "
)
"""Spark's words before the error of a task."""
OF_PY4J = r"(?:An error occurred while calling [\w.]{1,100}\n: )?"
OF_JAVA = rf"{OF_PY4J}(?:\([\w.$]{{1,200}}\) )?{CLASS}(?:{OF_TASK})?{CLASS}"
"""All that py4j, Spark Connect and Spark put before the message of an error in Java; data can't be there."""
_OF_JAVA = re.compile(OF_JAVA)
_WORD = re.compile(r"[\w.`]*")
_NO_TEXT = "org.apache.spark.SparkThrowableHelper.getMessage"
"""The call in which pyspark fails, as it asks Spark for the text of another library's error, such as Delta's."""


STREAMING_QUERY = "\n=== Streaming Query ==="
"""The beginning of Spark's words on the query, after the error of a stream."""
STREAM_FAILED = "SQLSTATE: XXKST"
"""The end of a stream's error."""
_SPOT = (
    r"(?:; line (\d{1,9}) pos (\d{1,9})| \(line (\d{1,9}), pos (\d{1,9})\)"
    r"|\n== SQL \(line (\d{1,9}), position (\d{1,9})\) ==\n([^\n]*)\n *(\^+))"
)
"""The place of an error of the analyser, the parser, or at run time, behind the SQLSTATE that ends Spark's message."""
_SPOTS = re.compile(rf"SQLSTATE: [0-9A-Z]{{5}}{_SPOT}?")
_LAST_SPOT = re.compile(rf"(SQLSTATE: [0-9A-Z]{{5}})(?:{_SPOT}|\n+== SQL).*\Z", re.DOTALL)
_OF_VIEW = "getviewcolumnbynameandordinal("
"""Part of the plan of a query on a view whose own query is at fault."""


_NAMED = {
    condition: re.compile(rf"\[{condition}\] {words}")
    for condition, words in (
        ("MISSING_AGGREGATION", r'The non-aggregating expression "(\w{1,200})" is'),
        ("UNRESOLVED_USING_COLUMN_FOR_JOIN", r"USING column `(\w{1,200})` "),
        ("FIELD_NOT_FOUND", r"No such struct field `(\w{1,200})` "),
        ("WINDOW_FUNCTION_FRAME_NOT_ORDERED", r"Window function (\w{1,200}) "),
    )
}
"""Beginnings of messages of the analyser that name the column, field or function at fault, and have no place."""


@dataclass(frozen=True)
class Spot:
    """The place of an error in the text that Spark got.

    Attributes:
        line: a line, from 1.
        start: characters from the beginning of this line; they may reach into later ones.
        width: number of characters; 0 if unknown.
        piece: the text there; empty if unknown.
    """

    line: int
    start: int
    width: int = 0
    piece: str = ""

    def within(self, text: str) -> tuple[int, int] | None:
        """Its place in the text, in characters, and its width; None where the text is too short to have it."""
        lines = text.split("\n", self.line - 1)
        at = len(text) - len(lines[-1]) + self.start
        if len(lines) < self.line or at > len(text):
            return None
        at = min(at, max(0, len(text) - 1))  # the end, where Spark misses something
        return at, self.width or _WORD.match(text, at).end() - at or 1  # type: ignore[union-attr]


@dataclass(frozen=True)
class Fault:
    """An error of Spark's.

    Attributes:
        condition: the error condition, such as `LOCATION_ALREADY_EXISTS`; empty where Spark gives none.
        message: Spark's message, without the words that a server puts before it.
        spot: its place in the statement; None where Spark gives none, or that of a view's query.
    """

    condition: str
    message: str
    spot: Spot | None = None

    @classmethod
    def of(cls, error: BaseException | str) -> Fault:
        """The fault of an exception of pyspark, PyHive or dbt-spark, or of the text of a Thrift server."""
        error = _captured(_given(error))
        message = error if isinstance(error, str) else _message(error)
        if hasattr(error, "getCondition"):
            # The last one: data in the message may imitate it, and is in Java's trace as well.
            message = message.rpartition("\n\nJVM stacktrace:\n")[0] or message
            condition = _condition(error)
            if not condition and type(error).__name__ == "StreamingQueryException":
                condition = "STREAM_FAILED"
            return cls(condition, message, _spot(error, condition, message))
        # No fields: the server's own words come first, so that data can't stand there.
        wrapped = _THRIFT.match(message)
        if wrapped:
            condition, message = wrapped[1] or "", message[wrapped.end() :]
            return cls(condition, message, _spot_in(condition, message))
        begins = _BEGINNING.match(message)
        condition = begins[1] if begins else ""
        return cls(condition, message, _spot_in(condition, message))

    @property
    def named(self) -> str | None:
        """Name of the column, field or function at fault, in an analyser's error without a place; else None."""
        words = _NAMED.get(self.condition)
        named = words.match(self.message.lstrip()) if words is not None else None
        return named[1] if named else None

    @property
    def root(self) -> Fault:
        """The cause of a fault, below Spark's own errors for a stream that fails and a sink in Python that fails."""
        if self.condition == "STREAM_FAILED":
            _, failed, cause = self.message.partition("terminated with exception: ")
            cause = cause if failed else self.message  # of a source that fails at its start, as Delta's do
            cause = cause.rpartition(STREAMING_QUERY)[0] or cause
            below = Fault.of(cause.rstrip().removesuffix(STREAM_FAILED))
            if failed or below.condition not in ("", self.condition) or below.raised is not None:
                return below.root
        if (raised := self.raised) is not None:
            exception, _, words = raised.partition(": ")
            if not exception.startswith(("pyspark.errors.exceptions.", "py4j.protocol.Py4JJavaError")):
                return self
            return Fault.of(words.replace(_PYTHON_FAILED, "").strip()).root
        if not self.condition:
            below = Fault.of(self.message[words_at(self.message) :])
            return below if below.condition else self
        return self

    @property
    def raised(self) -> str | None:
        """Exception of a sink in Python, below its trace; None for another fault."""
        traced = _IN_PYTHON.match(self.message)
        if not (traced or self.condition.startswith("FOREACH_BATCH")):
            return None
        found = _RAISED.search(self.message, traced.end() + 1 if traced else 0)
        return found[0] if found else None


def words_at(message: str) -> int:
    """Offset at which an error's own message begins, after all that py4j, Spark Connect and Spark put before it."""
    found = _OF_JAVA.match(message)
    return found.end() if found else 0


def without_spot(message: str) -> str:
    """A message of Spark's without the place of the error, and the piece of SQL, at its end."""
    return _LAST_SPOT.sub(r"\1", message)


def _spot(error: Any, condition: str, message: str) -> Spot | None:
    """The place of an error that has fields."""
    try:
        contexts = [context for context in error.getQueryContext() if context.contextType().name == "SQL"]
        for context in contexts:
            start, stop = context.startIndex(), context.stopIndex()
            if start >= 0 and not context.objectType():
                return Spot(1, start, stop - start + 1, context.fragment())
    except Exception:  # Java is gone
        return None
    # The parser leaves the fields empty.
    return _spot_in(condition, message) if type(error).__name__ == "ParseException" and not contexts else None


def _spot_in(condition: str, message: str) -> Spot | None:
    """The place of an error in its message.

    Data may imitate one, but not take away what Spark itself writes behind the SQLSTATE. So all of them must agree.
    """
    found = {match.groups() for match in _SPOTS.finditer(message)}
    if not condition or len(found) != 1 or _OF_VIEW in message:
        return None
    [(*analysed, line, position, text, carets)] = found
    if line:  # at run time; it counts positions from 1
        start, width = int(position) - 1, len(carets)
        return Spot(int(line), start, width, text[start : start + width])
    numbers = [int(number) for number in analysed if number]
    return Spot(numbers[0], numbers[1]) if numbers else None


def _captured(error: BaseException | str) -> BaseException | str:
    """An error with Spark's fields for an error of py4j that pyspark passes on; another error as it is."""
    origin = getattr(error, "java_exception", None)
    if origin is None:
        return error
    try:
        from pyspark.errors.exceptions.captured import CapturedException

        captured = CapturedException(origin=origin)
        return captured if captured.getCondition() else error
    except Exception:  # Java is gone
        return error


def _condition(error: Any) -> str:
    try:
        return error.getCondition() or ""
    except Exception:  # Java is gone, or doesn't know the condition of another's error
        return ""


def _given(error: BaseException | str) -> BaseException | str:
    """The error that pyspark had when it failed to find its text, in Java's words; any other as it is."""
    if isinstance(error, str) or error.__context__ is None or _NO_TEXT not in str(error).partition("\n")[0]:
        return error
    below = error.__context__
    try:
        return str(below.java_exception.getMessage())  # type: ignore[attr-defined]
    except Exception:  # Java is gone
        return below


def _message(error: BaseException) -> str:
    # PyHive's errors hold the server's answer.
    status = getattr(error.args[0], "status", None) if error.args else None
    return getattr(status, "errorMessage", None) or str(error) or type(error).__name__
