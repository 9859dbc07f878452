"""Ratios of engines' seconds with their spread, and the questions on which another engine is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.windows.queries import HAND, OURS, SPARK

IN_SPARK = (SPARK, HAND)
"""The ways to write a question in Spark's own SQL."""
Seconds = Mapping[str, Sequence[float]]
"""Engine -> the seconds of its runs; the n-th runs of all stand beside each other."""


@dataclass(frozen=True)
class Ratio:
    """How many times as long as another engine ours takes: the median of the runs, the least and the most."""

    median: float
    least: float
    most: float

    @property
    def certain(self) -> bool:
        """Whether all runs say which of both is faster."""
        return self.least > 1 or self.most < 1

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}–{self.most:.2f})"


@dataclass(frozen=True)
class Loss:
    """A question that another engine answers faster."""

    question: str
    engine: str
    ratio: Ratio


def ratio(seconds: Seconds, engine: str) -> Ratio:
    """Ours to an engine, run by run; runs that only one of both has don't count.

    Raises:
        ValueError: one of both has no run.
    """
    of_runs = [ours / its for ours, its in zip(seconds[OURS], seconds[engine], strict=False)]
    if not of_runs:
        raise ValueError(f"no run of {OURS} beside one of {engine}")
    return Ratio(median(of_runs), min(of_runs), max(of_runs))


def best_by_hand(seconds: Seconds) -> str | None:
    """The faster way to write the question in Spark's own SQL, by its median; None where there is none."""
    ways = [engine for engine in IN_SPARK if engine in seconds]
    return min(ways, key=lambda engine: median(seconds[engine]), default=None)


def others(seconds: Seconds) -> list[str]:
    """The engines that ours stands beside; of the ways in Spark the best alone."""
    best = best_by_hand(seconds)
    return [engine for engine in seconds if engine != OURS and (engine == best or engine not in IN_SPARK)]


def losses(measured: Mapping[str, Seconds]) -> list[Loss]:
    """Where another engine is faster than ours, the largest ratio first.

    Args:
        measured: question -> seconds.
    """

    def each() -> Iterator[Loss]:
        for question, seconds in measured.items():
            for engine in others(seconds):
                found = ratio(seconds, engine)
                if found.median > 1:
                    yield Loss(question, engine, found)

    return sorted(each(), key=lambda loss: -loss.ratio.median)
