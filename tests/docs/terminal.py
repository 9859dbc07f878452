"""A program at a terminal, with somebody who answers its questions."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.lib.support import PATIENCE


def answer(
    command: Sequence[str],
    answers: Sequence[str | Callable[[str], str]],
    folder: Path,
    environment: Mapping[str, str],
    patience: float = PATIENCE,
) -> tuple[int, str]:
    """Runs a program and answers each of its questions, which end with a colon and a space.

    Args:
        command: program and arguments.
        answers: what to type, in order, or what makes it of the screen.
        folder: where it runs.
        environment: its environment.
        patience: seconds that it may be silent.

    Returns:
        Its exit code, and what was on the screen.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], list(command), dict(environment))
    screen, asked, left = b"", 0, list(answers)
    while select.select([terminal], [], [], patience)[0]:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # Linux's way to say that the program has ended
            break
        if not read:
            break
        screen += read
        # What was typed comes back in pieces, of which one may end with a colon, and none with the space.
        if left and screen[asked:].endswith(b": ") and not select.select([terminal], [], [], 0.2)[0]:
            asked = len(screen)
            typed = left.pop(0)
            os.write(terminal, (typed if isinstance(typed, str) else typed(screen.decode())).encode() + b"\n")
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), screen.decode().replace("\r\n", "\n")
