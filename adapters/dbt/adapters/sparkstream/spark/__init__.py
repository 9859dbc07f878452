"""Spark as dbt needs it: its start, its sessions, and its descriptions of tables."""
