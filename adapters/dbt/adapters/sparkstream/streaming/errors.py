"""What goes wrong with a streaming model."""

from __future__ import annotations


class StreamingError(Exception):
    """A fault of a streaming model: what is wrong, and in further lines what to do."""
