"""Writes docs/adapter-suites.md.

python -m tests.suites.report                  runs the suites on both targets, for half an hour
python -m tests.suites.report a.txt b.txt      reads what runs of `python -m pytest tests/suites -v` have printed
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suites.adaptations import ADAPTATIONS
from tests.suites.discovery import suites
from tests.suites.reasons import PARTS, reason

PAGE = Path(__file__).parents[2] / "docs" / "adapter-suites.md"
STATES = {"PASSED": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped"}
TARGETS = ("session", "thrift")

HEAD = """\
# dbt's test suites

[dbt-tests-adapter](https://pypi.org/project/dbt-tests-adapter/) is what dbt has for adapters to test themselves with.
All of its suites run here, on an embedded Spark (`session`) and on a local server (`thrift`), both with tables in
Parquet. A suite is left out only where something that it needs can't be had there. `make suites` runs them and writes
this page.

The numbers are those of the tests that pass; "–" is for those left out. Suites with a star take PostgreSQL's SQL for
granted, or something else that is another way in Spark; `tests/suites/adaptations.py` says what is written instead.

"""


def results(files: list[Path]) -> dict[str, dict[str, list[str]]]:
    """Suite -> target -> what became of each of its tests: passed, skipped or failed.

    Args:
        files: of several runs; what a later one says of a test counts.
    """
    states: dict[tuple[str, str, str], str] = {}
    for line in (line for file in files for line in file.read_text().splitlines()):
        node, _, outcome = line.partition("] ")
        if "::Test_" not in node or outcome.partition(" ")[0] not in STATES:
            continue
        cls, test = node.split("::")[1:3]
        folder, _, name = cls.removeprefix("Test_").rpartition("_")
        target, _, parameter = test.partition("[")[2].partition("-")
        key = (f"{folder}.{name}", target, test.partition("[")[0] + parameter)
        states[key] = STATES[outcome.partition(" ")[0]]
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    known = suites()
    for (suite, target, _), state in states.items():
        if suite in known:
            found[suite][target].append(state)
    return found


def page(found: dict[str, dict[str, list[str]]]) -> str:
    """The page."""
    counts = {target: sum(states[target].count("passed") for states in found.values()) for target in TARGETS}
    lines = [
        f"Tests that pass: {counts['session']} on `session`, {counts['thrift']} on `thrift`.",
        "",
        "| suite | session | thrift | why not |",
        "|---|---|---|---|",
    ]
    for suite in suites():
        states = found.get(suite, {})
        cells = ["–" if reason(suite) else _cell(states.get(target, [])) for target in TARGETS]
        star = r"\*" if suite in ADAPTATIONS else ""
        lines.append(f"| {suite}{star} | {cells[0]} | {cells[1]} | {_why_not(suite)} |")
    return HEAD + "\n".join(lines) + "\n"


def _why_not(suite: str) -> str:
    test, why = PARTS.get(suite, ("", ""))
    return reason(suite) or (f"all but `{test}`: {why}" if test else "")


def _cell(states: list[str]) -> str:
    if "failed" in states:
        return "fails"
    passed = states.count("passed")
    return str(passed) if passed else "–" if states else "not run"


def run(to: Path) -> list[Path]:
    """Runs the suites, and says where what they print is."""
    with open(to / "suites.txt", "w", encoding="utf-8") as output:
        subprocess.run([sys.executable, "-m", "pytest", "tests/suites", "-v"], stdout=output, check=False)
    return [to / "suites.txt"]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        files = [Path(name) for name in sys.argv[1:]] or run(Path(folder))
        found = results(files)
    PAGE.write_text(page(found), encoding="utf-8")
    sys.exit(any("failed" in states for targets in found.values() for states in targets.values()))
