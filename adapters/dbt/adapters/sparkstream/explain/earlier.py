"""Another version of a model: its text in a file, or as git has it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError


def text_of(against: str, root: Path, path: str) -> str:
    """The text of a model in another version.

    Args:
        against: a file, relative to the working directory, or a revision that git knows, such as `HEAD` or `main`.
        root: the project's folder.
        path: the model's file in it.

    Raises:
        DbtRuntimeError: there is neither such a file nor such a revision with the model in it.
    """
    if Path(against).is_file():
        return Path(against).read_text(encoding="utf-8")
    command = ["git", "show", "--end-of-options", f"{against}:./{path}"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8", timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DbtRuntimeError(f"there is no file {against}, and git can't be asked for a revision: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise DbtRuntimeError(
            f"there is no file {against}, and no revision {against} with {path}\n  git says: {said[0]}\n"
            "  name a file with another text of the model, or a revision such as HEAD or main"
        )
    return done.stdout
