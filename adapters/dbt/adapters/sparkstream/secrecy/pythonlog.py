"""Log lines that pyspark and py4j write to the terminal by themselves."""

from __future__ import annotations

import logging
import warnings


def silence_python_log() -> None:
    """Keeps pyspark from writing each error, with Java's or Python's stack trace, to the terminal: dbt reports it."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    # Of a server that answers no more, the client of Spark Connect warns with a line of its own code.
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]", UserWarning)
    # What fails in a streaming model's sink, which Spark calls in this process.
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL + 1)
    # Of Ctrl-C during a call to Java, py4j writes a stack trace to the root logger.
    root = logging.getLogger()
    if _is_logged not in root.filters:
        root.addFilter(_is_logged)


def _is_logged(record: logging.LogRecord) -> bool:
    return not str(record.msg).endswith(" while sending command.")
