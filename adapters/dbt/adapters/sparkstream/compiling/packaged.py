"""The macros that the adapter ships, as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

_INCLUDE = Path(__file__).parents[3] / "include" / "sparkstream"


def documented() -> Iterator[Path]:
    """The YAML files of the macros and generic tests that users call."""
    project = yaml.safe_load((_INCLUDE / "dbt_project.yml").read_text(encoding="utf-8"))
    for path in project["macro-paths"]:
        yield from sorted((_INCLUDE / path).glob("*/*.yml"))
