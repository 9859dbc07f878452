"""MATCH_RECOGNIZE of Flink as Spark SQL: a partition's rows as an array, and Flink's automaton as an `aggregate()`."""

from dbt.adapters.sparkstream.sql.passes.match.lowering import Matches

__all__ = ["Matches"]
