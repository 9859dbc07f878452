"""Writes docs/adapter-suites.md from the output of a run.

python -m pytest tests/suites -v > suites.txt
python -m tests.suites.report suites.txt
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from tests.suites.reasons import reason

PAGE = Path(__file__).parents[2] / "docs" / "adapter-suites.md"
STATES = {"PASSED": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped"}
TARGETS = ("session", "thrift")

HEAD = """\
# dbt's test suites

dbt-tests-adapter is what dbt has for adapters to test themselves with. Each suite runs on both ways to Spark, with
tables in Parquet: `python -m pytest tests/suites`. `python -m tests.suites.report` writes this page from such a run.

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
    for (suite, target, _), state in states.items():
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
    for suite, states in sorted(found.items()):
        cells = [_cell(states.get(target, [])) for target in TARGETS]
        lines.append(f"| {suite} | {cells[0]} | {cells[1]} | {reason(suite) or ''} |")
    return HEAD + "\n".join(lines) + "\n"


def _cell(states: list[str]) -> str:
    if "failed" in states:
        return "fails"
    passed = states.count("passed")
    return str(passed) if passed else "–" if states else "not run"


if __name__ == "__main__":
    PAGE.write_text(page(results([Path(name) for name in sys.argv[1:]])), encoding="utf-8")
