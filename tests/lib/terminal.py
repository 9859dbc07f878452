"""A pseudo terminal for tests of what people see."""

from __future__ import annotations

import os
import pty
import threading
from typing import TextIO

from tests.lib.support import PATIENCE, wait_for

#: A byte that no program writes: whatever came before it was read.
END = "\0"


class Terminal:
    """A terminal, with what can be read on it.

    Attributes:
        slave: the file descriptor that programs write to.
        seen: all that they have written so far.
    """

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        self.stream: TextIO = os.fdopen(self.slave, "w")
        self.seen = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 4096):
                self.seen += data.decode()
        except OSError:
            pass

    def lines(self) -> list[str]:
        """The lines that stand there at the end."""
        # Linux may drop what waits in a terminal that its last writer closes: close it when all was read.
        self.stream.write(END)
        self.stream.flush()
        wait_for(lambda: END in self.seen)
        self.stream.close()
        self._reader.join(PATIENCE)
        return screen(self.seen.partition(END)[0])


def screen(text: str) -> list[str]:
    """What a terminal shows for a text: it knows line feeds, returns, and clearing to the end of the line."""
    lines, column = [""], 0
    while text:
        if text.startswith("\x1b[K"):
            lines[-1], text = lines[-1][:column], text[3:]
            continue
        char, text = text[0], text[1:]
        if char == "\n":
            lines.append("")
        elif char == "\r":
            column = 0
            continue
        else:
            lines[-1] = lines[-1][:column].ljust(column) + char + lines[-1][column + 1 :]
            column += 1
            continue
        column = 0
    return lines
