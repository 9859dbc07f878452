"""Errors of an export: models that plain Spark SQL can't express."""

from __future__ import annotations


class Unwritable(Exception):
    """Error of a part of a project that plain Spark SQL can't express; the message is for the user."""
