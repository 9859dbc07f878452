"""Mutants are translated or refused; a sample here, more by `python -m tools.garbage`."""

from __future__ import annotations

from typing import NoReturn

import pytest
from tools.garbage.__main__ import outcomes
from tools.garbage.corpus import corpus
from tools.garbage.mutants import mutant
from tools.garbage.trial import Outcome


def _check(seed: int, count: int) -> None:
    found = list(outcomes(seed, range(count)))
    wrong = [o for o in found if o.end in ("failed", "by the net")]
    assert not wrong, "\n".join(f"--seed {seed} --only {o.number}: {o.fault}" for o in wrong[:10])
    assert sum(o.end == "translated" for o in found) > count / 20, "hardly one is translated: the mutants are no test"


def test_mutants() -> None:
    _check(1, 1500)


@pytest.mark.full
def test_many_mutants() -> None:
    _check(2, 40_000)


def test_mutants_are_the_same_every_time() -> None:
    assert [mutant(5, n) for n in range(50)] == [mutant(5, n) for n in range(50)]
    assert mutant(5, 1) != mutant(6, 1)


def test_corpus_has_all_dialects() -> None:
    assert {sample.dialect for sample in corpus()} == {"spark", "flink", "openmldb", "sqlstream"}
    assert len(corpus()) > 400


def test_a_failure_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.garbage import trial

    def fail(mutant: object, schema: object) -> NoReturn:
        raise KeyError("x")

    monkeypatch.setattr(trial, "_DOORS", dict.fromkeys(trial._DOORS, fail))
    assert isinstance(trial.attempt(0, mutant(1, 0)), Outcome)
    assert trial.attempt(0, mutant(1, 0)).end == "failed"
