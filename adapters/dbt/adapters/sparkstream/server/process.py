"""Processes by their pid, for Linux and macOS."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

_PROC = Path("/proc")
# Seconds for which the system may show an empty command line: a process has none while it turns into another program.
_EXEC = 2.0


def birth(pid: int) -> str | None:
    """Start of the process, in the system's own words; None if there is no such process.

    Two processes that have had the same pid differ in it. A process that has ended and waits to be collected by
    its parent counts as gone.
    """
    if pid < 1:  # to the system, these are groups of processes
        return None
    if (_PROC / "self" / "stat").exists():
        try:
            stat = (_PROC / str(pid) / "stat").read_text()
            boot = boot_id()
        except OSError:
            return None
        # "pid (name) state ...": the name may hold blanks and brackets. Field 22 is the start in clock ticks.
        state, *fields = stat.rpartition(")")[2].split()
        return None if state in "ZX" else f"{boot}/{fields[18]}"
    told = _ps(pid, "state=,lstart=").split(maxsplit=1)
    return told[1] if len(told) == 2 and not told[0].startswith("Z") else None


def boot_id() -> str:
    """Identifier of this machine's last start, which no other start or machine has.

    Raises:
        OSError: the system is no Linux.
    """
    return (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()


def resident_bytes(pid: int) -> int | None:
    """Memory that the process holds, or None where that can't be known."""
    try:
        status = (_PROC / str(pid) / "status").read_text()
    except OSError:
        told = _ps(pid, "rss=")
        return int(told) * 1024 if told.isdigit() else None
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return None


def is_alive(pid: int, born: str) -> bool:
    """True if the process that began at `born` still runs."""
    return bool(born) and birth(pid) == born


def is_spark(pid: int) -> bool:
    """True if a process is Spark's, by its command line; also True on a system without /proc, which shows none."""
    deadline = time.monotonic() + _EXEC
    try:
        while not (line := (_PROC / str(pid) / "cmdline").read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.01)
    except OSError:
        return not _PROC.exists()
    return b"org.apache.spark.deploy.SparkSubmit" in line


def end(pid: int, born: str, grace: float) -> None:
    """Ends a process: asks it to, and after `grace` seconds kills it. Leaves a later process with its pid alone."""
    for request, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        if not is_alive(pid, born):
            return
        os.kill(pid, request)
        deadline = time.monotonic() + patience
        while is_alive(pid, born) and time.monotonic() < deadline:
            time.sleep(0.1)


def _ps(pid: int, columns: str) -> str:
    told = subprocess.run(["ps", "-o", columns, "-p", str(pid)], capture_output=True, text=True)
    return told.stdout.strip()
