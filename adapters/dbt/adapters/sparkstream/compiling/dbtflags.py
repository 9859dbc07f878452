"""Flags of dbt's command line."""

from __future__ import annotations

import sys
from pathlib import Path
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
"""dbt's commands that don't use Spark, or use it at once."""


def will_need_spark() -> bool:
    """True if this thread runs a command of dbt's command line that reads the project first and then uses Spark."""
    context = click.get_current_context(silent=True)
    dbt = sys.modules.get("dbt.cli.main")  # loaded where its command runs
    if context is None or dbt is None or context.find_root().command is not dbt.cli:
        return False
    return context.info_name not in _WITHOUT_SPARK and context.params.get("populate_cache", True) is not False


def project() -> Path:
    """The project's folder, which `dbt debug` doesn't give to the adapter; the working directory if it isn't known."""
    return Path(_flag("PROJECT_DIR", None) or Path.cwd())


def is_quiet() -> bool:
    """True if dbt prints nothing but errors (`--quiet`)."""
    return bool(_flag("QUIET", False))


def is_empty() -> bool:
    """True if dbt reads no rows (`--empty`)."""
    return bool(_flag("EMPTY", False))


def is_full_refresh() -> bool:
    """True if dbt rebuilds incremental models (`--full-refresh`)."""
    return bool(_flag("FULL_REFRESH", False))
