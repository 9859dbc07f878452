"""Microbatch models: their edges, and the batches that are empty, missing or stale."""
