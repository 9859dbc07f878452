"""Reports of a query that is left running."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.progress import Running
from tests.lib.support import PATIENCE


class Report:
    def __init__(self, number: int, ran: bool) -> None:
        self.json = json.dumps(
            {
                "batchId": number,
                "timestamp": "2020-04-15T08:00:00.000Z",
                "durationMs": {"addBatch": 1} if ran else {"triggerExecution": 1},
            }
        )


class Query:
    """A query with a script: the reports that come before each look. It ends with the last look."""

    def __init__(self, looks: list[list[Report]]) -> None:
        self._looks = looks
        self._reports: list[Report] = []
        self.read_all = 0

    @property
    def isActive(self) -> bool:
        self._reports += self._looks.pop(0)
        return bool(self._looks)

    @property
    def lastProgress(self) -> Report | None:
        return self._reports[-1] if self._reports else None

    @property
    def recentProgress(self) -> list[Report]:
        self.read_all += 1
        return self._reports

    def awaitTermination(self, seconds: int) -> None:
        pass

    def exception(self) -> None:
        return None


def seen(query: Any) -> list[list[int]]:
    return [[batch.number for batch in new] for new in Running(query).batches()]


def test_one_report_at_a_time_is_read_alone() -> None:
    query = Query([[Report(0, True)], [], *([Report(n, True)] for n in range(1, 300))])
    assert seen(query) == [[0], [], *([n] for n in range(1, 300))]
    assert query.read_all == 0


def test_reports_between_two_looks_are_all_read() -> None:
    query = Query([[Report(7, True), Report(8, True)], [Report(9, True)], [Report(n, True) for n in range(10, 13)]])
    assert seen(query) == [[7, 8], [9], [10, 11, 12]]
    assert query.read_all == 2


def test_a_report_of_nothing_to_do_hides_no_micro_batch() -> None:
    query = Query([[Report(0, True)], [Report(1, False)], [Report(1, True), Report(2, False)], [Report(2, True)]])
    assert seen(query) == [[0], [], [1], [2]]


class Busy:
    """A query that has always more to read, and fails where it is interrupted."""

    status: ClassVar[dict[str, bool]] = {"isTriggerActive": True}

    def __init__(self) -> None:
        self.isActive = True
        self._looks = 0

    @property
    def lastProgress(self) -> Report:
        self._looks += 1
        assert self._looks < 40, "it isn't ended with its micro-batch"
        return Report(self._looks // 4, True)

    @property
    def recentProgress(self) -> list[Report]:
        return [self.lastProgress]

    def stop(self) -> None:
        self.isActive = False

    def exception(self) -> Exception:
        return RuntimeError("interrupted")


def test_a_query_ends_with_the_micro_batch_that_runs() -> None:
    """And not when it has read all; how the next micro-batch fails is nobody's concern."""
    query: Any = Busy()
    running = Running(query)
    running.stop(patience=PATIENCE)
    assert not query.isActive
    assert [[batch.number for batch in new] for new in running.batches()] == [[1]]
    query = Busy()
    query.isActive = False
    with pytest.raises(StreamingError, match="interrupted"):
        list(Running(query).batches())
