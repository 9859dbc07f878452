"""Real dbt processes and real kills: a sample for each way to Spark, and a long series."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tools.kill.kinds import KINDS
from tools.kill.method import METHODS
from tools.kill.report import keep, table
from tools.kill.series import Series, Told


def killed(folder: Path, method: str, kinds: Sequence[str], kills: int, seed: int, **options: object) -> Told:
    """Kills dbt and Spark at work on some kinds; nothing may be lost, doubled, half or stuck."""
    series = Series(folder, [KINDS[name] for name in kinds], METHODS[method](folder), seed, say=print, **options)  # type: ignore[arg-type]
    told = series(kills)
    print(table(told.tallies))
    again = f"python -m tools.kill --method {method} --kinds {','.join(kinds)} --seed {seed} --kills {kills}"
    assert not told.failures, keep(folder, told, again).read_text()
    assert told.kills == kills
    assert all(tally.rows for tally in told.tallies.values()), "a kind had no rows to compare"
    return told


@pytest.mark.long
def test_a_few_kills_of_a_session(tmp_path: Path) -> None:
    killed(tmp_path, "session", ("rows", "hop"), 1, seed=3, moments=("moved", "whenever"))


@pytest.mark.full
def test_a_few_kills_on_a_server(tmp_path: Path) -> None:
    killed(tmp_path, "thrift", ("hop", "table", "window_replace"), 1, seed=5, moments=("moved", "commits"))
    assert list(tmp_path.glob("**/_sparkstream/hop-*/checkpoint_history/kept_*")), "the state of hop isn't slices"


@pytest.mark.full
def test_a_kill_between_the_two_statements_of_a_swap(tmp_path: Path) -> None:
    killed(tmp_path, "session", ("swapped",), 1, seed=9, moments=("between",))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_many_kills(tmp_path: Path, method: str) -> None:
    """Twenty kills of each of three projects, which have all kinds between them."""
    seed = int(os.environ.get("SPARKSTREAM_SEED", random.randrange(1_000_000)))
    print(f"SPARKSTREAM_SEED={seed}")
    names = list(KINDS)
    for number in range(3):
        told = killed(tmp_path / str(number), method, names[number::3], 20, seed + number)
        assert told.missed < 15, "too many processes were killed when no model was at work"
