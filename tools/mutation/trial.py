"""Trial of a mutant: whether a test fails for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from coverage import CoverageData

from tools.mutation.mutants import Mutant
from tools.mutation.swap import faulty

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "adapters" / "dbt" / "adapters" / "sparkstream"
UNIT = ("tests/unit/sql",)
LONGEST = 300
"""Seconds after which a mutant counts as found, as it doesn't end."""


def measure(folder: Path) -> CoverageData:
    """Which lines of the translator each test without Spark runs; in a process of its own."""
    settings, data = folder / "settings", folder / "coverage"
    settings.write_text(f"[run]\nsource = {PACKAGE / 'sql'}\ndata_file = {data}\n", encoding="utf-8")
    options = ("--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=", "-p", "no:cacheprovider")
    subprocess.run([sys.executable, "-m", "pytest", *UNIT, "-q", *options], cwd=ROOT, check=True)
    return read(data)


def read(data: Path) -> CoverageData:
    """What `measure` recorded."""
    found = CoverageData(str(data))
    found.read()
    return found


class Trials:
    """Plugin of pytest: for each mutant, runs those of the tests that run the faulty statement, until one fails."""

    def __init__(self, mutants: list[Mutant], report: Callable[[Mutant, int, bool], None], data: CoverageData) -> None:
        """Takes what is to be tried.

        Args:
            report: takes a mutant, the number of its tests, and whether one fails.
            data: which lines a test runs.
        """
        self._mutants = mutants
        self._report = report
        self._data = data

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Takes the place of pytest's own loop."""
        for mutant in self._mutants:
            wanted = _tests_of(mutant, self._data)
            items = [item for item in session.items if item.nodeid in wanted]
            self._report(mutant, len(items), _in_a_child(mutant, items))
        return True


def run(trials: Trials, files: tuple[str, ...] = UNIT) -> None:
    """Collects tests and tries the mutants on them."""
    code = pytest.main([*files, "-p", "no:cacheprovider", "-p", "no:terminal"], plugins=[trials])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"pytest didn't collect the tests: {code!r}")


def _tests_of(mutant: Mutant, data: CoverageData) -> set[str]:
    """The tests that run the faulty statement; where the import runs it, all tests that run its module."""
    by_line = data.contexts_by_lineno(str(mutant.path))
    lines = by_line if mutant.at_import else range(*mutant.lines)
    found = {test for line in lines for test in by_line.get(line, ())} - {""}
    return {test.rpartition("|")[0] for test in found}


def _in_a_child(mutant: Mutant, items: list[pytest.Item]) -> bool:
    """Whether a test fails, in a child of this process, so that nothing of the mutant stays."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        signal.alarm(LONGEST)  # ends the child
        with faulty(mutant):
            failed = any(map(_fails, items))
    except BaseException:  # the fault keeps the module from being imported
        failed = True
    os._exit(failed)


def _fails(item: pytest.Item) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False))
