"""The examples of the page: of Flink's pages as in the gallery, and one each of OpenMLDB and SQLstream."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def examples() -> list[dict[str, Any]]:
    """The examples: `title`, `dialect`, `sql`, `tables`, and the recorded `case` that each one is."""
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / "examples.json").read_text(encoding="utf-8"))
    return found
