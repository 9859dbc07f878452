"""Spark's errors, as errors of a streaming model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.sparkstream.messages.faults import STREAM_FAILED, STREAMING_QUERY
from dbt.adapters.sparkstream.messages.readable import readable
from dbt.adapters.sparkstream.streaming.refusals import StreamingError

logger = AdapterLogger("SparkStream")


@contextmanager
def spark_errors(doing: str = "") -> Iterator[None]:
    """Turns what Spark raises into a StreamingError that can be read."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise StreamingError(f"{doing}{': ' if doing else ''}{said(error)}") from error


def said(error: BaseException) -> str:
    """What Spark says is wrong, without the query's plan behind and its name in front."""
    logger.debug(f"Spark's error in full: {error}")
    text = readable(error).split(STREAMING_QUERY)[0]
    _, failed, cause = text.partition("terminated with exception: ")
    return (cause if failed else text).rstrip().removesuffix(STREAM_FAILED).strip()
