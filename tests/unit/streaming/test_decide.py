"""Decisions of runs: a table of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dbt.adapters.sparkstream.streaming.decide import Decision, Due, Standing, Wanted, check_replaceable, decide
from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.ledger import Holder, Ledger
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import SourceChanged, StreamingError
from dbt.adapters.sparkstream.streaming.sources.reader import source_of
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import NOTHING_YET, Offsets, Recorded

DONE = Recorded(4, 4, NOTHING_YET)
BID = source_of("bid", "db.bid")
MADE_FOR = Definition("SELECT id FROM bid", "spark", (BID,), (("id", "int"),), False, "UTC")
OTHER = replace(MADE_FOR, sql="SELECT id FROM bid WHERE id > 1")
WANTED = Wanted("db.t", MADE_FOR, {"bid": "here"}, has_state=False)
LEDGER = Ledger("g", MADE_FOR.fingerprint, "t-g", {"bid": "here"}, batch=4, files="f", ended=4)


@dataclass
class Answers(Standing):
    """What Spark says, with what a run finds in which nothing is new."""

    recorded: Recorded = DONE
    made_for: Sequence[str] = tuple(MADE_FOR.recorded())
    becomes: str | None = None
    rows: bool | StreamingError = True
    as_read: bool = True
    as_left: bool = True
    kept_state: bool = False
    table: Sequence[tuple[str, str]] = (("id", "int"),)
    staging: bool = False

    def another(self, source: StreamSource, before: str) -> str | None:
        return self.becomes or (None if before == "here" else "is another")

    def has_rows_to_read(self) -> bool:
        if isinstance(self.rows, StreamingError):
            raise self.rows
        return self.rows

    def are_sources_as_read(self) -> bool:
        return self.as_read

    def is_table_as_left(self) -> bool:
        return self.as_left

    def has_kept_state(self) -> bool:
        return self.kept_state

    def columns(self) -> Sequence[tuple[str, str]]:
        return self.table

    def has_staging(self) -> bool:
        return self.staging


def due(
    has_lease: bool = True,
    answers: Answers | None = None,
    ledger: dict[str, Any] | None = None,
    wanted: dict[str, Any] | None = None,
    **config: Any,
) -> Decision:
    given = replace(LEDGER, **ledger or {}), replace(WANTED, **wanted or {}), StreamConfig.read(config)
    return decide(*given, answers or Answers(), has_lease=has_lease)


RUN = Holder("r", "h", 1, 0.0)
UNREAD = {"answers": Answers(recorded=Recorded(-1, -1, NOTHING_YET)), "ledger": {"batch": -1}}
BEGUN = Recorded(5, 4, NOTHING_YET)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Due.NOTHING),
        ({"ledger": {"holder": RUN}}, Due.LEASE),
        ({"ledger": {"ended": None}}, Due.LEASE),
        ({"ledger": {"ended": 3}}, Due.LEASE),
        ({"ledger": {"query": "of another"}}, Due.LEASE),
        ({"ledger": {"query": MADE_FOR.fingerprint_of_0_2}}, Due.LEASE),
        ({"ledger": {"sources": {"bid": "elsewhere"}}}, Due.LEASE),
        ({"ledger": {"sources": {}}}, Due.LEASE),
        ({"answers": Answers(recorded=BEGUN)}, Due.LEASE),
        ({"answers": Answers(recorded=Recorded(5, 5, NOTHING_YET))}, Due.LEASE),
        ({"answers": Answers(as_read=False)}, Due.LEASE),
        ({"answers": Answers(as_left=False)}, Due.LEASE),
        ({"wanted": {"order": Due.REBUILD}}, Due.LEASE),
        ({"wanted": {"is_empty": True}}, Due.LEASE),
        ({"trigger": {"processing_time": "10 seconds"}}, Due.LEASE),
        ({"flush": True}, Due.LEASE),
    ],
)
def test_without_the_lease_only_nothing_is_certain(given: dict[str, Any], expected: Due) -> None:
    assert due(has_lease=False, **given).due is expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Due.MORE),
        ({"answers": Answers(rows=False)}, Due.NOTHING),
        ({"ledger": {"query": MADE_FOR.fingerprint_of_0_2}}, Due.MORE),
        ({"wanted": {"order": Due.REBUILD}}, Due.REBUILD),
        ({"wanted": {"order": Due.SWAP}}, Due.SWAP),
        ({"wanted": {"order": Due.REBUILD}, "answers": Answers(staging=True), "on_query_change": "swap"}, Due.REBUILD),
        # A staged rebuild that was stopped goes on, where the configs still ask for one.
        ({"answers": Answers(staging=True)}, Due.MORE),
        ({"answers": Answers(staging=True), "on_query_change": "swap"}, Due.SWAP),
        ({"answers": Answers(staging=True, rows=False), "on_source_change": "swap"}, Due.SWAP),
        # Another query.
        ({"wanted": {"definition": OTHER}, "on_query_change": "rebuild"}, Due.REBUILD),
        ({"wanted": {"definition": OTHER}, "on_query_change": "swap"}, Due.SWAP),
        ({"wanted": {"definition": OTHER}, "on_query_change": "continue"}, Due.MORE),
        # Nothing was read, so nothing is lost.
        ({"wanted": {"definition": OTHER}, **UNREAD}, Due.REBUILD),
        ({"wanted": {"definition": OTHER}, **UNREAD, "on_query_change": "continue"}, Due.REBUILD),
        ({**UNREAD, "ledger": {"batch": -1, "sources": {"bid": "elsewhere"}}}, Due.REBUILD),
        (UNREAD, Due.MORE),
    ],
)
def test_with_the_lease(given: dict[str, Any], expected: Due) -> None:
    assert due(**given).due is expected


def test_another_query_is_told() -> None:
    assert "in staging" in due(wanted={"definition": OTHER}, on_query_change="swap").told
    assert "rows of the new one" in due(wanted={"definition": OTHER}, on_query_change="continue").told
    assert due().told == ""


def test_another_query_is_refused_with_what_has_changed() -> None:
    with pytest.raises(StreamingError, match=r"these have changed .*rows of the old query\n  .*id > 1") as refused:
        due(wanted={"definition": OTHER})
    assert "on_query_change='continue'" in str(refused.value)
    with pytest.raises(StreamingError, match="these have changed") as refused:
        due(wanted={"definition": replace(OTHER, sources=(source_of("bid", "db.ask"),))})
    assert "'continue'" not in str(refused.value)
    with pytest.raises(StreamingError, match="half done by the old query") as refused:
        due(wanted={"definition": OTHER, "has_state": True})
    assert "'continue'" not in str(refused.value)
    with pytest.raises(StreamingError, match=r"the query, its columns, .* have changed"):
        due(wanted={"definition": OTHER}, answers=Answers(made_for=()))


TWO = Recorded(4, 4, Offsets(0, 0, (1, 2)))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"wanted": {"has_state": True}}, "the new query keeps rows or windows"),
        ({"wanted": {"definition": replace(OTHER, flush=True)}}, "the new query keeps rows or windows"),
        ({"answers": Answers(kept_state=True)}, "the old query has kept rows or windows"),
        ({"answers": Answers(recorded=TWO)}, "several streams are read"),
        ({"wanted": {"definition": replace(OTHER, sources=(BID, BID))}}, "several streams are read"),
        ({"answers": Answers(becomes="is another")}, "it reads another source"),
        ({"ledger": {"sources": {}}}, "it reads another source"),
        ({"answers": Answers(table=(("id", "int"), ("x", "int")))}, "the table has a column x"),
        ({"answers": Answers(table=(("ID", "BIGINT"),))}, "the column ID is BIGINT in the table, and int"),
        ({"wanted": {"definition": replace(OTHER, sources=(source_of("bid", "db.ask"),))}}, "db.ask"),
    ],
)
def test_a_query_that_can_t_go_on(given: dict[str, Any], why: str) -> None:
    given = {**given, "wanted": {"definition": OTHER, **given.get("wanted", {})}}
    with pytest.raises(StreamingError, match="can't go on with it") as refused:
        due(**given, on_query_change="continue")
    assert why in str(refused.value)


def test_a_source_that_is_another_one() -> None:
    with pytest.raises(SourceChanged, match=r"db\.bid is another\n  a stream reads what is only ever added to"):
        due(ledger={"sources": {"bid": "elsewhere"}}, on_source_change="rebuild")
    with pytest.raises(SourceChanged, match="lacks files"):
        due(answers=Answers(rows=SourceChanged("db.bid lacks files")))


def test_a_table_of_others_is_replaced_by_a_full_refresh_alone() -> None:
    check_replaceable(replace(WANTED, order=Due.REBUILD))
    for order, way in ((None, "--full-refresh"), (Due.SWAP, "on_full_refresh='rebuild'")):
        with pytest.raises(StreamingError, match=way):
            check_replaceable(replace(WANTED, order=order))
