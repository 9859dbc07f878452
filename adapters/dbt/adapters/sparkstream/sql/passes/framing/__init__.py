"""Frames lowered to Spark SQL: OpenMLDB's windows, SQLstream's windows, and the same in Spark SQL."""

from dbt.adapters.sparkstream.sql.passes.framing.query import Frames

__all__ = ["Frames"]
