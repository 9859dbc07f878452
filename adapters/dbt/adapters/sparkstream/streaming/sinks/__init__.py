"""Sinks of a run: the table, and a topic."""
