"""Paths as Spark reads them. Runs where the sink does."""

from __future__ import annotations

import re


def exactly(path: str) -> str:
    """A path of which Spark takes nothing for a wildcard: `a[b]` is no `ab`."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)
