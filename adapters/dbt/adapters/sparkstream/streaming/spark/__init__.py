"""The seam to Spark's streams: queries, checkpoints, folders."""
