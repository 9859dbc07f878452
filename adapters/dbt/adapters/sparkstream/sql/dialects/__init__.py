"""The dialects that the translator reads, each a table of what differs from Spark SQL."""

from __future__ import annotations

from dbt.adapters.sparkstream.sql.dialects.flink import Flink
from dbt.adapters.sparkstream.sql.dialects.openmldb import OpenMLDB
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.dialects.sqlstream import SQLStream

DIALECTS: dict[str, type[SparkStream]] = {
    "spark": SparkStream,
    "flink": Flink,
    "openmldb": OpenMLDB,
    "sqlstream": SQLStream,
}
"""Name of a dialect as users write it -> its class."""
