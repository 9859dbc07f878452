"""Asks engines questions in turn, run after run, so that a busy machine is busy for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.windows.data import Auctions, Data
from benchmarks.windows.engines import Engines
from benchmarks.windows.queries import FLINK, Question

Times = dict[str, float]

WARM_UPS = 3
"""Runs before those that count: a JVM compiles what is run often, in the background."""
WARM = 4.0
"""Seconds of a run after which there is nothing left to warm up."""


@dataclass(frozen=True)
class Measured:
    """What each engine took for a question on a table.

    Attributes:
        seconds: engine -> the seconds of its runs; the n-th runs of all engines stand beside each other. An engine out
            of patience has the runs before.
    """

    question: Question
    data: Data | Auctions
    seconds: dict[str, tuple[float, ...]]

    @property
    def times(self) -> Times:
        """The median of each engine."""
        return {engine: median(taken) for engine, taken in self.seconds.items()}


class Bench:
    """Measures questions, each engine in turn."""

    def __init__(
        self,
        engines: Engines,
        folder: Path,
        runs: int,
        patience: float,
        text: bool = False,
        warm_ups: int = WARM_UPS,
    ) -> None:
        self._warm_ups = warm_ups
        self._engines = engines
        self._folder = folder
        self._runs = runs
        self._patience = patience
        self._text = text
        self.measured: list[Measured] = []

    def run(self, data: Data | Auctions, questions: Iterable[Question], skip: Iterable[str] = ()) -> list[Measured]:
        """Measures questions on a table; an engine that is out of patience once isn't asked again."""
        self.read(data, text=self._text or (self._engines.has(FLINK) and FLINK not in skip))
        return self.measure(
            data,
            [
                q.only(*(e for e in q.queries if self._engines.has(e) and e not in skip and self._hopeful(e, q, data)))
                for q in questions
            ],
        )

    def read(self, data: Data | Auctions, *, text: bool) -> None:
        """Makes the names of tables be those of the data, written on first use."""
        self._engines.read(data.tables(self._engines.spark, self._folder), text=text)

    def measure(self, data: Data | Auctions, questions: Sequence[Question]) -> list[Measured]:
        """Measures questions on the table that has been read, one after another, each in all its engines."""
        found = [self._measured(data, question) for question in questions]
        self.measured += found
        return found

    def _measured(self, data: Data | Auctions, question: Question) -> Measured:
        seconds: dict[str, list[float]] = {engine: [] for engine in question.queries}
        before = 0.0
        for run in range(-self._warm_ups, self._runs):
            for engine in in_turn(list(question.queries), run):
                taken = seconds[engine]
                if taken and (taken[-1] > self._patience or (run < 0 and taken[-1] > WARM)):
                    continue
                ask = partial(self._engines.seconds, engine, question.queries[engine], question.conf.get(engine, {}))
                if before > WARM and run >= 0 and taken[-1] < WARM:
                    ask()  # a long query leaves caches cold and garbage behind, which the next would pay for
                before = ask()
                taken.append(before)
        one = Measured(question, data, {engine: tuple(taken[-self._runs :]) for engine, taken in seconds.items()})
        print(f"{question.name:22} {question.x:6} {data.name:48}", _words(one.times), flush=True)
        return one

    def peak(self, question: Question, engine: str) -> int:
        """Bytes of execution memory that a question takes at most."""
        return self._engines.peak_memory(question.queries[engine], question.conf.get(engine, {}))

    def _hopeful(self, engine: str, question: Question, data: Data | Auctions) -> bool:
        same = (m for m in self.measured if m.question.name == question.name and m.data == data)
        before = [m for m in same if m.question.x <= question.x]
        return all(m.times.get(engine, 0) < self._patience for m in before)


def in_turn(names: list[str], run: int) -> list[str]:
    """The order of engines in a run: who begins differs, and each second run goes backwards.

    A Spark that is asked behind another Spark finds its code warm and the files read. `[ours, Spark, Polars]` in that
    order alone would give Spark what ours had warmed: 1.11 between two equal queries.
    """
    first = run // 2 % len(names)
    turned = names[first:] + names[:first]
    return turned[::-1] if run % 2 else turned


def _words(times: Times) -> str:
    return ", ".join(f"{engine} {seconds:.2f}" for engine, seconds in times.items())
