"""The NEXMark project gives what DuckDB recorded; its generator makes the benchmark's kind of events."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.nexmark import generator
from benchmarks.nexmark.generator import Auction, Bid, Event, Generator, Person
from benchmarks.nexmark.record import computed, generated
from benchmarks.nexmark.results import recorded, result
from benchmarks.nexmark.run import PROJECT, differences, found

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.functional.adapter.project import Project

MakeProject = Callable[..., "Project"]

SOURCES = {
    str(path.relative_to(PROJECT)): path.read_text()
    for part in ("models", "macros", "tests")
    for path in (PROJECT / part).rglob("*.*")
}


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return list(islice(Generator(), 20_000))


def nexmark(make_project: MakeProject) -> Project:
    """The benchmark's project, with the profile that the tests' Spark runs under."""
    return make_project({**SOURCES, "dbt_project.yml": (PROJECT / "dbt_project.yml").read_text()})


def built(project: Project, events: int) -> None:
    generator.write(project.folder / "data", events)
    data = json.dumps({"data": str(project.folder / "data")})
    here = os.getcwd()
    try:
        project.dbt("build", "--profile", "shop", "--vars", data)
    finally:
        os.chdir(here)


@pytest.mark.full
@pytest.mark.parametrize(
    "events",
    [pytest.param(20_000, id="20,000 events"), pytest.param(100_000, id="100,000 events")],
)
def test_results_are_those_recorded(make_project: MakeProject, embedded: SparkSession, events: int) -> None:
    project = nexmark(make_project)
    built(project, events)
    expected = recorded(events)
    wrong = differences(found(embedded, project.schema, expected), expected)
    assert not wrong, "\n".join(wrong)


def test_every_query_but_12_is_built_and_recorded(make_project: MakeProject) -> None:
    project = nexmark(make_project)
    project.dbt("parse", "--profile", "shop")
    models = {node["name"] for node in project.manifest()["nodes"].values() if node["resource_type"] == "model"}
    queries = {f"q{number}" for number in range(23)} - {"q12"}
    assert models == queries | set(generator.TABLES)
    assert models == set(recorded(20_000)) == set(recorded(100_000))


def test_query_12_is_refused(make_project: MakeProject) -> None:
    project = nexmark(make_project)
    text = SOURCES["models/queries/q12.sql"]
    assert "enabled=false" in text
    project.write({"models/queries/q12.sql": text.replace("enabled=false", "enabled=true")})
    generator.write(project.folder / "data", 50)
    data = json.dumps({"data": str(project.folder / "data")})
    project.dbt("run", "--profile", "shop", "--vars", data, "--select", "bid")
    message = project.failure("run", "--profile", "shop", "--vars", data, "--select", "q12")
    assert "PROCTIME(), which has no meaning in batch" in message
    assert "models/queries/q12.sql:12:46" in message


def test_events_are_those_recorded() -> None:
    expected = recorded(20_000)
    assert generated(20_000) == {name: expected[name] for name in generator.TABLES}


def test_recorded_results_are_those_of_duckdb() -> None:
    pytest.importorskip("duckdb")
    assert {**generated(20_000), **dict(computed(20_000))} == recorded(20_000)


def test_a_run_begins_as_a_longer_one_does(events: list[Event]) -> None:
    assert events[:500] == list(islice(Generator(), 500))
    assert events[:500] != list(islice(Generator(seed=2), 500))


def test_mix_is_1_to_3_to_46(events: list[Event]) -> None:
    assert Counter(map(type, events)) == {Person: 400, Auction: 1200, Bid: 18_400}
    people = [event.id for event in events if isinstance(event, Person)]
    auctions = [event.id for event in events if isinstance(event, Auction)]
    assert people == list(range(1000, 1400))
    assert auctions == list(range(1000, 2200))


def test_hot_ones_get_their_share(events: list[Event]) -> None:
    bids = [event for event in events if isinstance(event, Bid)]
    auctions = [event for event in events if isinstance(event, Auction)]

    def share(hot: Iterable[bool], of: Sequence[Event]) -> float:
        return sum(hot) / len(of)

    # A hot one is also drawn among all the others now and then.
    assert 0.49 < share((bid.auction % 100 == 0 for bid in bids), bids) < 0.52
    assert 0.74 < share((bid.bidder % 100 == 1 for bid in bids), bids) < 0.77
    assert 0.72 < share((auction.seller % 100 == 0 for auction in auctions), auctions) < 0.78
    assert 0.49 < share((bid.channel in generator.HOT_CHANNELS for bid in bids), bids) < 0.52


def test_auctions_stay_open_for_those_in_flight(events: list[Event]) -> None:
    auctions = [event for event in events if isinstance(event, Auction)]
    mean = sum((auction.expires - auction.dateTime).total_seconds() for auction in auctions) / len(auctions)
    # 100 auctions come in 1,666 events.
    assert mean == pytest.approx(1666 / generator.RATE, rel=0.05)
    assert all(auction.expires > auction.dateTime and auction.reserve > auction.initialBid for auction in auctions)


def test_events_have_their_size(events: list[Event]) -> None:
    bids = [event for event in events if isinstance(event, Bid)]
    assert sum(32 + len(bid.extra) for bid in bids) / len(bids) == pytest.approx(generator.BID_BYTES, rel=0.02)


@pytest.mark.parametrize(("rate", "last"), [(1.0, 199), (1000.0, 0.199)])
def test_rate_spaces_the_events(rate: float, last: float) -> None:
    start = datetime(2030, 1, 1)
    times = [event.dateTime for event in islice(Generator(rate, start), 200)]
    assert times[0] == start
    assert times[-1] == start + timedelta(seconds=last)
    assert times == sorted(times)


def test_span_is_a_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generator.main([str(tmp_path / "span"), "--events", "500", "--span", "50"]) == 0
    assert "bid.csv: 460 rows" in capsys.readouterr().out
    generator.main([str(tmp_path / "rate"), "--events", "500", "--rate", "10"])
    assert (tmp_path / "span" / "bid.csv").read_text() == (tmp_path / "rate" / "bid.csv").read_text()


def test_json_holds_what_csv_does(tmp_path: Path) -> None:
    for file_format in ("csv", "json"):
        generator.write(tmp_path, 100, file_format=file_format)
    for name in generator.TABLES:
        with open(tmp_path / f"{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = (tmp_path / f"{name}.json").read_text().splitlines()
        assert [{key: str(value) for key, value in json.loads(line).items()} for line in lines] == rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--events", "-1"], "--events can't be negative"),
        (["--rate", "0"], "--rate must be positive"),
        (["--span", "0"], "--span must be positive"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        generator.main([str(tmp_path / "none"), *arguments])
    assert refused.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_checksum_sees_values_names_and_repeats_but_no_order() -> None:
    rows: list[tuple[int, str | None]] = [(1, "a"), (2, None)]
    base = result(["k", "v"], rows)
    assert result(["K", "v"], reversed(rows)) == base
    assert result(["k", "w"], rows) != base
    assert result(["k", "v"], [(1, "a"), (2, "")]) != base
    assert result(["k", "v"], [(1, "a"), (3, None)]) != base
    assert result(["k", "v"], [*rows, rows[0]]) != base
    with pytest.raises(TypeError, match="float"):
        result(["x"], [(0.1,)])
