"""Values as Spark SQL writes them."""

from __future__ import annotations


def string_literal(text: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
