"""A new dbt project: a batch model, a streaming model and the program that feeds it."""

from __future__ import annotations

import re
from pathlib import Path

_TEMPLATE = Path(__file__).parent / "project"
_NAME = re.compile(r"[^\W\d]\w*", re.ASCII)
_TAKEN = ("dbt", "dbt_spark", "dbt_sparkstream", "sparkstream")


def name_fault(name: str) -> str | None:
    """Fault of a project's name, with a name to write instead; None if dbt accepts the name."""
    if not _NAME.fullmatch(name):
        proposal = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        proposal = proposal if _NAME.fullmatch(proposal) else f"project_{proposal}".rstrip("_")
        return (
            f"a project's name has letters, digits and _, and begins with no digit\n  write a name such as {proposal}"
        )
    if name in _TAKEN:
        return f"{name} is the name of a package of dbt's own\n  write another name, such as my_{name}"
    return None


def project_files(name: str) -> dict[str, str]:
    """Path within the folder of a project -> content."""
    files = (path for path in sorted(_TEMPLATE.rglob("*")) if path.is_file() and path.suffix != ".pyc")
    return {
        path.relative_to(_TEMPLATE).as_posix(): path.read_text(encoding="utf-8").replace("PROJECT", name)
        for path in files
    }
