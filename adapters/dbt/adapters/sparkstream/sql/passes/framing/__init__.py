"""Frames written in Spark SQL: the windows of OpenMLDB and of SQLstream, which a Spark statement may have as well."""

from dbt.adapters.sparkstream.sql.passes.framing.query import Frames

__all__ = ["Frames"]
