"""Request mode: the result of a query for one row that is given, and isn't stored in the query's table."""

from dbt.adapters.sparkstream.sql.requests.query import request_sql

__all__ = ["request_sql"]
