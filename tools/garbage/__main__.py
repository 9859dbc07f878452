"""`python -m tools.garbage`: makes mutants, translates them, and says what became of them."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool

from tools.garbage.mutants import mutant
from tools.garbage.trial import Outcome, _through, attempt

_CHUNK = 200


def tried(seed: int, number: int) -> Outcome:
    """What becomes of one mutant."""
    return attempt(number, mutant(seed, number))


def outcomes(seed: int, numbers: range, jobs: int = 1) -> Iterator[Outcome]:
    """What becomes of mutants, in the order of their numbers."""
    if jobs == 1:
        yield from (tried(seed, number) for number in numbers)
        return
    with Pool(jobs) as pool:
        yield from pool.imap(partial(tried, seed), numbers, chunksize=_CHUNK)


def report(seed: int, found: list[Outcome]) -> list[str]:
    """The closing table, and each kind of fault with the first mutant that shows it."""
    ends = Counter(outcome.end for outcome in found)
    slowest = max(found, key=lambda o: o.seconds)
    lines = [f"{'mutants':<12}{len(found):>9,}"]
    lines += [f"{end:<12}{ends[end]:>9,}" for end in ("translated", "refused", "by the net", "failed")]
    lines.append(f"{'slowest':<12}{slowest.seconds:>7.2f} s  mutant {slowest.number}")
    kinds: dict[str, list[Outcome]] = {}
    for outcome in found:
        if outcome.fault:
            kinds.setdefault(outcome.end + ": " + outcome.fault.partition(": ")[0], []).append(outcome)
    for kind, group in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        numbers = " ".join(str(o.number) for o in group[:4])
        lines.append(f"  {len(group):>6}  {kind}  {group[0].fault.partition(': ')[2]}  --seed {seed} --only {numbers}")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; 1 if a mutant failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.garbage", description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000, help="how many, from --first on (2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (0)")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other mutants (1)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--only", type=int, nargs="*", help="show these mutants, and what becomes of them")
    chosen = parser.parse_args(arguments)
    if chosen.only:
        for number in chosen.only:
            _show(chosen.seed, number)
        return 0
    numbers = range(chosen.first, chosen.first + chosen.mutants)
    found = []
    for outcome in outcomes(chosen.seed, numbers, chosen.jobs):
        found.append(outcome)
        if len(found) % 10_000 == 0:
            print(f"{len(found):,} mutants, {sum(o.end == 'failed' for o in found)} failed", file=sys.stderr)
    print("\n".join(report(chosen.seed, found)))
    return int(any(o.end == "failed" for o in found))


def _show(seed: int, number: int) -> None:
    one = mutant(seed, number)
    print(f"-- mutant {number}: {one.door}, {one.dialect}, optimize={one.optimize}, known={one.known}, {one.arrival!r}")
    print(one.sql.encode("utf-8", "backslashreplace").decode())
    print(attempt(number, one))
    try:
        print(_through(one))
    except Exception:
        print(traceback.format_exc().encode("utf-8", "backslashreplace").decode())


if __name__ == "__main__":
    sys.exit(main())
