"""Writes docs/adapter-suites.md from the results of a run.

python -m pytest tests/suites --junitxml=suites.xml
python -m tests.suites.report suites.xml
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

from tests.suites.reasons import reason

PAGE = Path(__file__).parents[2] / "docs" / "adapter-suites.md"
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
    for file in files:
        for case in ElementTree.parse(file).iter("testcase"):
            folder, _, name = case.get("classname", "").rpartition(".Test_")[2].rpartition("_")
            suite = f"{folder}.{name}"
            test, _, parameters = case.get("name", "").partition("[")
            target, _, parameter = parameters.rstrip("]").partition("-")
            outcome = {child.tag for child in case}
            state = "skipped" if "skipped" in outcome else "failed" if outcome & {"failure", "error"} else "passed"
            states[suite, target, f"{test}-{parameter}"] = state
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
    return str(passed) if passed else "–"


if __name__ == "__main__":
    PAGE.write_text(page(results([Path(name) for name in sys.argv[1:]])), encoding="utf-8")
