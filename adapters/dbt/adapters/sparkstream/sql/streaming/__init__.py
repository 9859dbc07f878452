"""Queries on streams: what Spark runs as a stream, and what it runs on the closed rows of each micro-batch."""

from dbt.adapters.sparkstream.sql.streaming.plan import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.planning import plan
from dbt.adapters.sparkstream.sql.streaming.stages import Arrivals, Stage
from dbt.adapters.sparkstream.sql.streaming.views import RowView

__all__ = ["Arrivals", "RowView", "Stage", "StreamPlan", "plan"]
