"""`python -m tools.mutation --sample 100 --seed 1`: faults in the translator that no test finds."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path

from tools.mutation import trial
from tools.mutation.mutants import Mutant, count, mutant

PASSES = trial.PACKAGE / "sql" / "passes"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument("paths", nargs="*", default=["optimize", "framing", "windows/lower.py"], help="in sql/passes")
    parser.add_argument("--sample", type=int, default=100, help="how many mutants, as many of each path")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    paths = {
        faulty: path
        for path in given.paths
        for faulty in sampled(path, -(-given.sample // len(given.paths)), given.seed)
    }
    survived: Counter[str] = Counter()

    def report(faulty: Mutant, tests: int, found: bool) -> None:
        survived[paths[faulty]] += not found
        print("found   " if found else f"SURVIVED {tests} tests  ", faulty, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        data = trial.measure(Path(folder))
        trial.run(trial.Trials(list(paths), report, data))
    for path, total in Counter(paths.values()).items():
        print(f"{path}: {survived[path]} of {total} mutants survived ({survived[path] / total:.0%})")
    return 0


def sampled(path: str, size: int, seed: int) -> list[Mutant]:
    """Mutants of a folder or file, drawn by chance."""
    files = sorted((PASSES / path).glob("*.py")) or [PASSES / path]
    every = [(file, number) for file in files for number in range(count(file))]
    drawn = random.Random(f"{seed}/{path}").sample(every, min(len(every), size))
    return [mutant(file, number) for file, number in sorted(drawn)]


if __name__ == "__main__":
    raise SystemExit(main())
