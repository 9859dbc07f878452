"""Errors of an export: models that plain Spark SQL can't express."""

from __future__ import annotations


class Unwritable(Exception):
    """Why something of a project can't be written in plain Spark SQL; the message is for the user."""
