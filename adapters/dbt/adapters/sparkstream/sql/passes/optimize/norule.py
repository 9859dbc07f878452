"""Reasons why a rule leaves a query as it is."""

from __future__ import annotations


class NoRule(Exception):
    """A query that a rule doesn't apply to; the message says why, in words for the person who wrote it."""
