"""The ledger of a streaming table: its properties as a value, and back."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from dbt.adapters.sparkstream.streaming.ledger import GRACE, Holder, Ledger, Stage, is_over, properties

HOLDER = {"id": "r1", "host": "h", "pid": 7, "alive": 5.5, "place": "here", "born": "b", "java": [8, "c"]}
OF_0_2_0 = {
    "table": "4d2",
    "kept": "bids-4d2",
    "query": "9f0",
    "sources": '{"__stream_1": "file:/w/bid of Sat Nov 28 05:00:00 UTC 2026"}',
    "batch": "12",
    "files": "a1b2",
    "ended": "12",
    "run": json.dumps({**HOLDER, "session": None}),
    "stop": "r1",
    "aside": "/w/bids__rebuilt-1",
    "leaves": '{"/w/bids__compacted": 1732770000, "/w/old": 0}',
    "left_files": "1732770001",
    "updates": "true",
    "compacts": "true",
    "swaps": "true",
    "compaction_of": "`db`.`bids`",
    "whole": "4d2",
    "rebuilt_of": "db.bids",
    "rebuilt_whole": "4d1",
    "backfill_of": "db.bids",
    "backfill_whole": "4d2",
}
"""Every property that version 0.2.0 wrote, by its key without the prefix."""


def test_each_property_of_0_2_0_is_read_and_written_as_it_was() -> None:
    ledger = Ledger.read(OF_0_2_0)
    assert ledger is not None
    assert (ledger.generation, ledger.sidecars, ledger.query, ledger.batch, ledger.ended) == (
        "4d2",
        "bids-4d2",
        "9f0",
        12,
        12,
    )
    assert ledger.holder == Holder("r1", "h", 7, 5.5, "here", "b", (8, "c"))
    assert (ledger.left, ledger.files_left) == ({"/w/bids__compacted": 1732770000, "/w/old": 0}, 1732770001)
    assert ledger.of == {
        Stage.COMPACTION: "`db`.`bids`",
        Stage.REBUILD: "db.bids",
        Stage.BACKFILL: "db.bids",
    }
    assert ledger.whole == {Stage.COMPACTION: "4d2", Stage.REBUILD: "4d1", Stage.BACKFILL: "4d2"}
    assert ledger.properties() == OF_0_2_0


def test_a_table_of_others_has_no_ledger() -> None:
    assert Ledger.read({}) is None
    assert Ledger.read({"run": json.dumps(HOLDER)}) is None
    for key in ("table", "query", "kept"):  # without a folder's name, its folder would be the one of all
        assert Ledger.read({**OF_0_2_0, key: ""}) is None


def test_a_table_of_0_1_0_is_made_again() -> None:
    assert Ledger.read({"table": "4d2", "query": "9f0", "batch": "3", "files": ""}) is None


def test_an_empty_property_is_none() -> None:
    new = Ledger("4d2", "9f0", "bids-4d2", {"s": "x"}, -1, "")
    emptied = dict.fromkeys(OF_0_2_0.keys() - new.properties().keys(), "")
    assert Ledger.read({**emptied, **new.properties()}) == new


@pytest.mark.parametrize("ended", ["", "soon", "1.5", "--1"])
def test_an_end_that_is_no_number_is_none(ended: str) -> None:
    ledger = Ledger.read({**OF_0_2_0, "ended": ended, "run": "{"})
    assert ledger is not None
    assert (ledger.ended, ledger.holder) == (None, None)


def test_a_new_table_has_the_properties_that_each_table_has() -> None:
    made = Ledger("4d2", "9f0", "bids-4d2", {}, -1, "").properties()
    assert made == {"table": "4d2", "query": "9f0", "kept": "bids-4d2", "sources": "{}", "batch": "-1", "files": ""}
    zero = replace(Ledger("4d2", "9f0", "bids-4d2", {}, 0, ""), ended=0)
    assert zero.properties() == {**made, "batch": "0", "ended": "0"}


def test_changes_are_written_under_their_keys() -> None:
    assert properties(holder=None, files_left=None, left={}, updates=False) == {
        "run": "",
        "left_files": "",
        "leaves": "{}",
        "updates": "",
    }
    assert properties(whole={Stage.REBUILD: ""}, files_left=2.6) == {"rebuilt_whole": "", "left_files": "3"}
    with pytest.raises(KeyError):
        properties(kept="x")


def test_files_are_kept_for_those_who_read_them() -> None:
    now = time.time()
    assert [is_over(since) for since in (None, 0, now - GRACE - 1, now - GRACE + 60)] == [False, True, True, False]
