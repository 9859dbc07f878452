"""A Thrift server that understands windows: it is in front of Spark's, and translates each statement on its way."""

from dbt.adapters.sparkstream.gateway.gateway import Gateway

__all__ = ["Gateway"]
