"""Helpers of several tests: a terminal, macros without dbt, a schema registry."""
