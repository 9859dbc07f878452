"""The lease of a run that slept: another run may have the model by then."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming import lease as module
from dbt.adapters.sparkstream.streaming.lease import EXPIRES, Lease
from dbt.adapters.sparkstream.streaming.ledger import Holder, Ledger
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from tests.lib.support import wait_for
from tests.unit.streaming.test_decide import LEDGER


class Table:
    """A table that is its ledger."""

    def __init__(self) -> None:
        self.now: Ledger | None = replace(LEDGER, holder=None)
        self.recorded: list[Any] = []

    def ledger(self) -> Ledger | None:
        return self.now

    def record(self, **changes: Any) -> None:
        assert self.now is not None
        self.recorded.append(changes)
        self.now = replace(self.now, **changes)

    def give_to(self, holder: Holder | None) -> None:
        assert self.now is not None
        self.now = replace(self.now, holder=holder)
        self.recorded.clear()


class Engine:
    def java(self) -> None:
        return None

    def session(self) -> None:
        return None


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def lease(table: Table, monkeypatch: pytest.MonkeyPatch) -> Lease:
    monkeypatch.setattr(module, "LOOKS", 0.01)
    monkeypatch.setattr(module, "SETTLES", 0.0)
    held = Lease(table, Engine(), lambda line: None)  # type: ignore[arg-type]
    held.take(LEDGER)
    return held


ANOTHER = Holder.mine()


def test_a_right_is_given_back(lease: Lease, table: Table) -> None:
    lease.confirm()
    lease.release()
    assert table.recorded[-1] == {"holder": None}


@pytest.mark.parametrize("holder", [ANOTHER, None], ids=["another run goes on", "another run has ended"])
def test_a_right_that_is_lost_isnt_given_back(holder: Holder | None, lease: Lease, table: Table) -> None:
    lease.confirm()
    table.give_to(holder)
    wait_for(lambda: lease.is_told_to_end)
    lease.release()
    assert table.recorded == [] and table.now is not None and table.now.holder == holder


def test_a_table_that_is_being_replaced_says_nothing(lease: Lease, table: Table) -> None:
    before = lease.confirm()
    table.now = None
    time.sleep(0.1)
    assert not lease.is_told_to_end
    table.now = before
    lease.end()


def test_the_end_of_a_run_that_slept(lease: Lease, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKS", 60.0)
    lease.confirm()
    table.give_to(ANOTHER)
    lease._looked -= EXPIRES
    with pytest.raises(StreamingError, match="another run of this model has taken it over"):
        lease.end()
    lease.release()
    assert table.recorded == []
