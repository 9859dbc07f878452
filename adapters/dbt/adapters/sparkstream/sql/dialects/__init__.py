"""The dialects that the translator reads, each a table of what differs from Spark SQL."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.dialects.flink import Flink
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream

DIALECTS: dict[str, type[SparkStream]] = {"spark": SparkStream, "flink": Flink}
"""Name of a dialect as users write it -> its class."""
