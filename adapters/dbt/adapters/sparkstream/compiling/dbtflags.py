"""Flags of dbt's command line."""

from __future__ import annotations

import sys
from typing import Any

import click


def _flag(name: str, otherwise: Any) -> Any:
    try:
        from dbt.flags import get_flags

        return getattr(get_flags(), name, otherwise)
    except ImportError:
        return otherwise


def which() -> str:
    """dbt's command, such as `run`."""
    return str(_flag("WHICH", "run"))


_WITHOUT_SPARK = frozenset({"clean", "debug", "deps", "init", "list", "ls", "parse", "serve"})
"""dbt's commands that ask Spark nothing, or at once."""


def will_need_spark() -> bool:
    """Whether this thread runs a command of dbt's command line that reads the project first, and asks Spark then."""
    context = click.get_current_context(silent=True)
    dbt = sys.modules.get("dbt.cli.main")  # loaded where its command runs
    if context is None or dbt is None or context.find_root().command is not dbt.cli:
        return False
    return context.info_name not in _WITHOUT_SPARK and context.params.get("populate_cache", True) is not False


def is_quiet() -> bool:
    """Whether dbt was asked to say nothing but errors (`--quiet`)."""
    return bool(_flag("QUIET", False))


def is_empty() -> bool:
    """Whether dbt was asked to read no rows (`--empty`)."""
    return bool(_flag("EMPTY", False))


def is_full_refresh() -> bool:
    """Whether dbt was asked to build incremental models from nothing (`--full-refresh`)."""
    return bool(_flag("FULL_REFRESH", False))
