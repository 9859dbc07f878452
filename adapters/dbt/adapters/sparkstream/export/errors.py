"""What can't be written."""

from __future__ import annotations


class Unwritable(Exception):
    """Why something of a project can't be written in plain Spark SQL; the message is for the user."""
