"""Streaming incremental models: each run processes what is new, once, and appends what is final."""

MATERIALIZATION = "streaming_incremental"
