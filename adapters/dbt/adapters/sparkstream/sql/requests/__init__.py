"""Request mode: what a query gives for one row that isn't stored."""

from dbt.adapters.sparkstream.sql.requests.query import request_sql

__all__ = ["request_sql"]
