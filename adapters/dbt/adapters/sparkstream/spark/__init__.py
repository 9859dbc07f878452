"""Spark as dbt needs it: its start, its sessions, and what it says of tables."""
