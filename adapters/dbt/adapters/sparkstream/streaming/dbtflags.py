"""What dbt was asked for on its command line."""

from __future__ import annotations

from typing import Any


def _flag(name: str, otherwise: Any) -> Any:
    try:
        from dbt.flags import get_flags

        return getattr(get_flags(), name, otherwise)
    except ImportError:
        return otherwise


def which() -> str:
    """dbt's command, such as `run`."""
    return str(_flag("WHICH", "run"))


def is_quiet() -> bool:
    """Whether dbt was asked to say nothing but errors (`--quiet`)."""
    return bool(_flag("QUIET", False))


def is_empty() -> bool:
    """Whether dbt was asked to read no rows (`--empty`)."""
    return bool(_flag("EMPTY", False))


def is_full_refresh() -> bool:
    """Whether dbt was asked to build incremental models anew (`--full-refresh`)."""
    return bool(_flag("FULL_REFRESH", False))
