"""Writes docs/appendix/adapter-suites.md.

python -m tests.suites.report                  runs the suites on all targets, for an hour and a half
python -m tests.suites.report a.txt b.txt      reads what runs of `python -m pytest -v` have printed, of the folders
                                               tests/suites and, in the environments of `make parts`, tests/parts/suites
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suites.discovery import suites
from tests.suites.formats import adaptation_of
from tests.suites.reasons import part_left_out, reason

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "appendix" / "adapter-suites.md"
STATES = {"PASSED": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped"}
FORMATS = {"session": "parquet", "thrift": "parquet", "delta": "delta", "iceberg": "iceberg"}
"""Target -> the format of its tables."""

HEAD = """\
# dbt's test suites

[dbt-tests-adapter](https://pypi.org/project/dbt-tests-adapter/) is what dbt has for adapters to test themselves with.
All of its suites run here: on an embedded Spark (`session`) and on a local server (`thrift`) with tables in Parquet,
and on an embedded Spark with tables in Delta and in Iceberg. A suite is left out only where something that it needs
can't be had there. `make suites` runs them and writes this page.

A row has the suites of a folder that have one outcome, with the number of their tests that pass; "–" is for those left
out. Suites with a star take PostgreSQL's SQL for granted, or something else that is another way in Spark;
`tests/suites/adaptations.py` and `formats.py` have what is written instead.

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
    counts = {target: sum(states[target].count("passed") for states in found.values()) for target in FORMATS}
    lines = [
        f"Tests that pass: {', '.join(f'{count} on `{target}`' for target, count in counts.items())}.",
        "",
        f"| suites | {' | '.join(FORMATS)} | why not |",
        f"|---{'|---' * len(FORMATS)}|---|",
    ]
    for (folder, _, why), of in groups(map(_row, suites(), map(found.get, suites()))).items():
        names = ", ".join(row.name for row in of)
        cells = (_sum(cells) for cells in zip(*(row.cells for row in of), strict=True))
        lines.append(f"| **{folder}**: {names} | {' | '.join(cells)} | {why} |")
    return HEAD + "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Row:
    """A suite on the page.

    Attributes:
        folder: of the suite.
        name: of the suite, with a star where something else is written in it.
        cells: for each target the number of tests that pass, or a word.
        why: why tests are left out; "" where none are.
    """

    folder: str
    name: str
    cells: tuple[str, ...]
    why: str


def groups(rows: Iterable[Row]) -> dict[tuple[str, tuple[str, ...], str], list[Row]]:
    """Rows of one folder with one outcome on each target, for one reason."""
    found: dict[tuple[str, tuple[str, ...], str], list[Row]] = {}
    for row in rows:
        outcome = tuple("passed" if cell.isdigit() else cell for cell in row.cells)
        found.setdefault((row.folder, outcome, row.why), []).append(row)
    return found


def _row(suite: str, states: Mapping[str, list[str]] | None) -> Row:
    cells = tuple(
        "–" if reason(suite, file_format) else _cell((states or {}).get(target, []))
        for target, file_format in FORMATS.items()
    )
    star = r"\*" if any(adaptation_of(suite, file_format) for file_format in FORMATS.values()) else ""
    folder, _, name = suite.rpartition(".")
    return Row(folder, name + star, cells, _why_not(suite))


def _sum(cells: Sequence[str]) -> str:
    return str(sum(map(int, cells))) if cells[0].isdigit() else cells[0]


def _why_not(suite: str) -> str:
    formats = list(dict.fromkeys(FORMATS.values()))
    reasons = {file_format: _why_not_in(suite, file_format) for file_format in formats}
    if len(set(reasons.values())) == 1:
        return reasons["parquet"]
    return "; ".join(f"{name.capitalize()}: {why}" for name, why in reasons.items() if why)


def _why_not_in(suite: str, file_format: str) -> str:
    test, why = part_left_out(suite, file_format) or ("", "")
    return reason(suite, file_format) or (f"all but `{test}`: {why}" if test else "")


def _cell(states: list[str]) -> str:
    if "failed" in states:
        return "fails"
    passed = states.count("passed")
    return str(passed) if passed else "–" if states else "not run"


RUNS = (
    ("tests/suites", Path(sys.executable)),
    ("tests/parts/suites", ROOT / "parts" / ".venv" / "bin" / "python"),
    ("tests/parts/suites", ROOT / "parts" / ".venv-iceberg" / "bin" / "python"),
)
"""What to run, and with which Python."""


def run(to: Path) -> list[Path]:
    """Runs the suites, and says where what they print is."""
    files = []
    for number, (tests, python) in enumerate(RUNS):
        files.append(to / f"{number}.txt")
        with open(files[-1], "w", encoding="utf-8") as output:
            subprocess.run([python, "-m", "pytest", tests, "-v"], stdout=output, check=False, cwd=ROOT)
    return files


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        files = [Path(name) for name in sys.argv[1:]] or run(Path(folder))
        found = results(files)
    PAGE.write_text(page(found), encoding="utf-8")
    sys.exit(any("failed" in states for targets in found.values() for states in targets.values()))
