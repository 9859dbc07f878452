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
_RAISED = re.compile(r"^(?:\w+\.)*\w+: ([^\n]*)", re.MULTILINE)
"""The exception below a trace of Python's, whose other lines are indented."""
_NO_TEXT = "org.apache.spark.SparkThrowableHelper.getMessage"
"""The call in which pyspark fails, as it asks Spark for the text of an error that is another's, such as Delta's."""


@dataclass(frozen=True)
class Fault:
    """An error of Spark's.

    Attributes:
        condition: the error condition, such as `LOCATION_ALREADY_EXISTS`; empty where Spark gives none.
        message: what Spark says, without what a server puts before it.
    """

    condition: str
    message: str

    @classmethod
    def of(cls, error: BaseException | str) -> Fault:
        """The fault in what pyspark, PyHive or dbt-spark has raised, or in the text of a Thrift server."""
        message = error if isinstance(error, str) else _message(error)
        if hasattr(error, "getCondition"):
            condition = _condition(error)
            if not condition and type(error).__name__ == "StreamingQueryException":
                condition = "STREAM_FAILED"
            return cls(condition, message)
        # No fields: the server's own words come first, so that data can't stand there.
        wrapped = _THRIFT.match(message)
        if wrapped:
            return cls(wrapped[1] or "", message[wrapped.end() :])
        begins = _BEGINNING.match(message)
        return cls(begins[1] if begins else "", message)

    @property
    def root(self) -> Fault:
        """The fault below those that Spark gives each stream, and each sink in Python, which fails."""
        if self.condition == "STREAM_FAILED":
            _, failed, cause = self.message.partition("terminated with exception: ")
            return Fault.of(cause).root if failed else self
        if self.condition.startswith("FOREACH_BATCH"):
            raised = _RAISED.search(self.message)
            return Fault.of(raised[1]) if raised else self
        return self


def _condition(error: Any) -> str:
    try:
        return error.getCondition() or ""
    except Exception:  # Java is gone, or doesn't know the condition of another's error
        return ""


def _message(error: BaseException) -> str:
    if _NO_TEXT in str(error) and error.__context__ is not None:
        return _message(error.__context__)
    # PyHive's errors hold the server's answer.
    status = getattr(error.args[0], "status", None) if error.args else None
    return getattr(status, "errorMessage", None) or str(error) or type(error).__name__
