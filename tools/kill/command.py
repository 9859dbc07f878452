"""A dbt that runs as a process, and what it has said so far."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.lib.support import QUICK_JAVA

QUICK = {"JDK_JAVA_OPTIONS": QUICK_JAVA}

_TOLD = re.compile(r"\d+ of \d+ (START|OK|ERROR|SKIP)\b.* model \w+\.(\w+)")

# The lines of a message go on until one that begins with the time.
_REASON = re.compile(r"Error in model (\w+) \(.*\)\n((?:(?!\d\d:\d\d:\d\d).*\n)*)")


def told_of_model(line: str) -> tuple[str, str] | None:
    """How a model does (`START`, `OK`, `ERROR`, `SKIP`) and its name, where a line of dbt says so."""
    told = _TOLD.search(line)
    return (told[1], told[2]) if told else None


def told_errors(log: str) -> dict[str, str]:
    """Model -> why it failed, by the text of a log of dbt."""
    return {name: text.strip() for name, text in reversed(_REASON.findall(log))}


class Command:
    """The process.

    Args:
        folder: of the project.
        log: a folder for what it says.
        arguments: for dbt.
        waits_before: a table, and a part of a statement that names it, before which it waits; None for no statement.
    """

    def __init__(self, folder: Path, log: Path, *arguments: str, waits_before: tuple[str, str] | None = None) -> None:
        log.mkdir(parents=True)
        self.log = log
        self._mark = log / "waits"
        program = ["-m", "dbt.cli.main"]
        if waits_before is not None:
            program = [str(Path(__file__).with_name("held.py")), *waits_before, str(self._mark)]
        self.begun = time.monotonic()
        self.lines: list[str] = []
        self.starts: dict[str, float] = {}
        """Model -> when it began."""
        self.ends: dict[str, tuple[str, float]] = {}
        """Model -> how it went (`OK`, `ERROR`, `SKIP`), and when."""
        here = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
        flags = ["--no-use-colors", "--no-version-check", "--log-path", str(log)]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-u",
                "-W",
                "ignore::RuntimeWarning:runpy",
                *program,
                *flags,
                *arguments,
                *here,
            ],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **QUICK},
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with open(self.log / "stdout", "w") as log:
            for line in self._process.stdout:
                now = time.monotonic()
                log.write(f"{now - self.begun:7.2f} {line}")
                log.flush()
                self.lines.append(line)
                told = told_of_model(line)
                if told and told[0] == "START":
                    self.starts[told[1]] = now
                elif told:
                    self.ends[told[1]] = (told[0], now)

    @property
    def waits(self) -> bool:
        """Whether it has come to the statement before which it waits."""
        return self._mark.exists()

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    @property
    def code(self) -> int | None:
        return self._process.poll()

    @property
    def at_work(self) -> list[str]:
        """The models that have begun and not ended."""
        return [name for name in list(self.starts) if name not in self.ends]

    @property
    def failed(self) -> list[str]:
        return [name for name, (how, _) in list(self.ends.items()) if how == "ERROR"]

    @property
    def output(self) -> str:
        return "".join(list(self.lines))

    def reason(self, model: str) -> str:
        """Why a model failed, from dbt's log, which knows it before dbt prints it."""
        log = self.log / "dbt.log"
        told = told_errors(log.read_text(errors="replace")) if log.exists() else {}
        return told.get(model, "no reason given")

    def wait(self, seconds: float) -> bool:
        """Waits for its end. Whether it came."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, seconds))
        if self.runs:
            return False
        self._reader.join(5)  # a child may hold the pipe still
        return True

    def kill(self) -> None:
        """Kills dbt alone; what it has started goes on."""
        self._process.kill()
        self.gone()

    def gone(self) -> None:
        """Waits for the end of dbt, which somebody has killed."""
        self._process.wait()
        self._reader.join(1)

    def sweep(self) -> None:
        """Kills whatever is left of it and of what it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
