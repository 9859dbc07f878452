"""Description of the machine that measured the figures."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from benchmarks.windows.engines import Engines

_CPU, _MEMORY = Path("/proc/cpuinfo"), Path("/proc/meminfo")


def described(engines: Engines, cores: int, memory: str) -> dict[str, str]:
    """The machine and the engines: what -> its value.

    Args:
        cores: that engines may use.
        memory: of a JVM.
    """
    system = engines.spark._jvm.java.lang.System  # type: ignore[union-attr]
    java = f"{system.getProperty('java.version')} ({system.getProperty('java.vendor')})"
    return {
        "CPU": f"{_cpu()}, {os.cpu_count()} cores, of which engines use {cores}",
        "Memory": f"{_gigabytes()}; {memory} for each JVM",
        "System": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Load before": f"{os.getloadavg()[0]:.1f} processes, the mean of a minute",
        "Java": java,
        "Python": platform.python_version(),
        **engines.versions(),
    }


def _cpu() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", _CPU.read_text(encoding="utf-8"), re.M) if _CPU.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def _gigabytes() -> str:
    found = re.search(r"^MemTotal:\s*(\d+) kB", _MEMORY.read_text(encoding="utf-8"), re.M) if _MEMORY.exists() else None
    return f"{int(found[1]) / 2**20:.0f} GB" if found else "unknown"
