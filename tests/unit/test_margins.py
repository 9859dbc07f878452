"""`read` and `in_batch`: the rows of a microbatch model's inputs around a batch."""

from __future__ import annotations

import datetime as datetime_module
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.lib.macros import CompilerError, Macros

ROOT = Path(__file__).parents[2]
START, END = (datetime(2024, 1, day, tzinfo=timezone.utc) for day in (2, 3))
CUT = SimpleNamespace(start=START, end=END, field_name="ts")
BID = SimpleNamespace(identifier="bid", event_time_filter=CUT, render=lambda: "db.bid")


BEFORE = (
    "least(TIMESTAMP_NTZ'2024-01-02 00:00:00' - INTERVAL '90' MINUTE, "
    "CAST(CAST(TIMESTAMP_NTZ'2024-01-02 00:00:00' AS TIMESTAMP) - INTERVAL '90' MINUTE AS TIMESTAMP_NTZ))"
)
PLACEHOLDER = "what dbt 2 has for a batch where none runs"


class OfDbt2:
    """A relation that dbt 2 cuts to a batch: only its text says so."""

    identifier = "bid"

    def __init__(self, column: str = "ts") -> None:
        self.column = column

    def __str__(self) -> str:
        start, end = START.isoformat(), END.isoformat()
        return f"(select * from db.bid where {self.column} >= '{start}' and {self.column} < '{end}')"


CONFIG = {"materialized": "incremental", "incremental_strategy": "microbatch", "event_time": "ts"}


def macros(adapter: str = "sparkstream", batch: Any = True, **config: str) -> Macros:
    context = SimpleNamespace(
        id="20240102" if batch is not PLACEHOLDER else "", event_time_start=START, event_time_end=END
    )
    given = {**CONFIG, **config}
    return Macros(
        adapter,
        modules=SimpleNamespace(datetime=datetime_module),
        model=SimpleNamespace(resource_type="model", batch=context if batch else None),
        config=SimpleNamespace(get=lambda name, default=None: given.get(name, default)),
    )


@pytest.mark.parametrize("adapter", ["sparkstream", "spark"])
@pytest.mark.parametrize(
    ("margins", "where"),
    [
        ({}, "ts >= TIMESTAMP_NTZ'2024-01-02 00:00:00' AND ts < TIMESTAMP_NTZ'2024-01-03 00:00:00'"),
        (
            {"before": "90 minutes", "after": "2 days"},
            f"ts >= {BEFORE} - INTERVAL '3' HOUR AND CAST(ts AS TIMESTAMP_NTZ) - ({BEFORE}) >= INTERVAL '0' SECOND AND "
            "ts < greatest(TIMESTAMP_NTZ'2024-01-03 00:00:00' + INTERVAL '2' DAY, "
            "CAST(CAST(TIMESTAMP_NTZ'2024-01-03 00:00:00' AS TIMESTAMP) + INTERVAL '2' DAY AS TIMESTAMP_NTZ))",
        ),
        ({"before": "Unbounded"}, "ts < TIMESTAMP_NTZ'2024-01-03 00:00:00'"),
        ({"before": "unbounded", "after": "unbounded"}, None),
    ],
)
def test_the_rows_around_a_batch(adapter: str, margins: dict[str, str], where: str | None) -> None:
    found = macros(adapter).call("read", BID, **margins)
    assert found == f"(/* the batch and more */ SELECT * FROM db.bid{f' WHERE {where}' if where else ''})"


@pytest.mark.parametrize("column", ["ts", "`my ts`"])
def test_a_batch_of_dbt_2(column: str) -> None:
    found = macros("spark").call("read", OfDbt2(column), before="90 minutes", after="unbounded")
    where = (
        f"{column} >= {BEFORE} - INTERVAL '3' HOUR AND CAST({column} AS TIMESTAMP_NTZ) - ({BEFORE})"
        " >= INTERVAL '0' SECOND"
    )
    assert found == f"(/* the batch and more */ SELECT * FROM db.bid WHERE {where})"


def test_windows_at_the_edges_of_a_batch_of_dbt_2() -> None:
    """They are what dbt 1 gives for the same batch."""
    of_a_day = macros("spark", event_time="window_start")
    for macro, lengths in (("tumble", ["7 minutes"]), ("hop", ["5 minutes", "2 hours"]), ("session", ["1 hour"])):
        assert of_a_day.call(macro, OfDbt2(), "ts", *lengths) == of_a_day.call(macro, BID, "ts", *lengths)
    assert "ts < TIMESTAMP_NTZ'2024-01-03 00:0" in of_a_day.call("tumble", OfDbt2(), "ts", "7 minutes")


@pytest.mark.parametrize(
    "elsewhere",
    [{"batch": None}, {"batch": PLACEHOLDER}, {"materialized": "view"}, {"incremental_strategy": "insert_overwrite"}],
)
def test_without_a_batch_all_rows_are_read(elsewhere: dict[str, Any]) -> None:
    found = macros(**elsewhere)
    assert found.call("read", BID, before="1 hour") is BID
    assert found.call("read", "bid", before="1 hour") == "bid"
    assert found.call("in_batch", "ts") == "TRUE"


@pytest.mark.parametrize(("given", "column"), [((), "ts"), (("o.bidtime",), "o.bidtime")])
def test_the_rows_of_the_batch(given: tuple[str, ...], column: str) -> None:
    edges = (f"{sign} TIMESTAMP_NTZ'2024-01-0{day} 00:00:00'" for sign, day in ((">=", 2), ("<", 3)))
    first, last = (f"{column} {edge}" for edge in edges)
    assert macros().call("in_batch", *given) == f"(/* rows of the batch */ {first} AND {last})"


@pytest.mark.parametrize(
    ("relation", "margins", "message"),
    [
        ("bid", {}, "read takes a ref or source, not bid\n  write read(ref('...'))"),
        (BID, {"before": "-1 hour"}, "read's before is negative: '-1 hour'"),
        (BID, {"after": "soon"}, "read's after is no interval: 'soon'"),
        (BID, {"after": 3}, "read's after is not a text: 3"),
        (
            SimpleNamespace(identifier="names", event_time_filter=None),
            {"before": "1 hour"},
            "read can't tell which rows of names are near the batch: it has no event_time\n  write event_time in the",
        ),
    ],
)
def test_what_read_refuses(relation: Any, margins: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilerError) as error:
        macros().call("read", relation, **margins)
    assert str(error.value).startswith(message)


def test_what_in_batch_refuses() -> None:
    for column, message in ((3, "in_batch's timecol is no column: 3"), ("ts) or (1 = 1", "in_batch's timecol")):
        with pytest.raises(CompilerError) as error:
            macros().call("in_batch", column)
        assert str(error.value).startswith(message)


@pytest.mark.parametrize("limit", [{}, {"limit": None}])
def test_a_batch_of_dbt_2_is_widened_to_whole_windows(limit: dict[str, Any]) -> None:
    """There a relation has no `limit`, and `default(none)` gives no none."""
    relation = OfDbt2()
    vars(relation).update(limit)
    sql = macros("spark", event_time="window_start").call("tumble", relation, "ts", "7 minutes")
    assert sql.startswith("(/* windows of the batch */")
    assert relation.__str__() not in sql


@pytest.mark.parametrize("path", sorted((ROOT / "macros").rglob("*.sql")), ids=lambda path: path.stem)
def test_nothing_defaults_to_none(path: Path) -> None:
    """dbt 2 takes `default(none)` as a default that isn't given, so that `is none` is false behind it."""
    assert "default(none)" not in path.read_text(encoding="utf-8")
