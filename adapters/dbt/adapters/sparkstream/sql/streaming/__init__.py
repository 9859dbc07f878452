"""Queries on streams: what Spark runs as a stream, and what it runs on the closed rows of each micro-batch."""

from dbt.adapters.sparkstream.sql.streaming.plan import CLOSED, KEPT, NEW, SO_FAR, UNTIL, Stage, StreamPlan, plan
from dbt.adapters.sparkstream.sql.streaming.stages import Arrivals
from dbt.adapters.sparkstream.sql.streaming.views import RowView

__all__ = ["CLOSED", "KEPT", "NEW", "SO_FAR", "UNTIL", "Arrivals", "RowView", "Stage", "StreamPlan", "plan"]
