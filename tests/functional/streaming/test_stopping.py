"""`sparkstream streams stop`: what it does to runs on a server, whose catalog both processes see."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.streaming.ledger import Holder
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.operations.stopping import ENDED, KILLED, NO_RUN, Announced, OnServer, stopped
from dbt.adapters.sparkstream.streaming.reports.overview import StreamModel
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from tests.functional.streaming.feed import Feed
from tests.functional.streaming.test_once import ROWS, TUMBLE
from tests.lib.support import PATIENCE, quick_session, wait_for


def recorded(feed: Feed) -> OnServer:
    runs = f"{feed.schema}.sparkstream_runs"
    model = StreamModel("model.test.model", "model", f"{feed.schema}.model", runs, StreamConfig())
    return OnServer(Engine(quick_session(feed.spark)), model)


def test_a_run_that_is_left_running_ends(feed: Feed) -> None:
    assert stopped({"model": recorded(feed)}, 0) == {"model": NO_RUN}  # and no table
    feed.add("bid", [(1, 1005, "a", 1)])
    outcomes = []
    run = threading.Thread(
        target=lambda: outcomes.append(feed.run(ROWS, interval=Interval.parse("1 second"))), daemon=True
    )
    run.start()
    wait_for(lambda: feed.spark.catalog.tableExists(f"{feed.schema}.model") and feed.table())
    assert stopped({"model": recorded(feed)}, PATIENCE) == {"model": ENDED}
    run.join(PATIENCE)
    assert [outcome.rows for outcome in outcomes] == [1]
    assert stopped({"model": recorded(feed)}, 0) == {"model": NO_RUN}
    # The wish was for that run alone.
    feed.add("bid", [(2, 1006, "a", 2)])
    feed.run(ROWS)
    assert feed.table() == [(1, 1), (2, 2)]


def test_a_run_that_is_gone_and_one_that_goes_on(feed: Feed) -> None:
    feed.run(ROWS)
    mine = Holder.mine()
    for holder, told in ((replace(mine, born="another"), {"model": KILLED}), (mine, {})):
        note = json.dumps(asdict(holder))
        feed.spark.sql(f"ALTER TABLE {feed.schema}.model SET TBLPROPERTIES ('sparkstream.run' = '{note}')")
        assert stopped({"model": recorded(feed)}, 1) == told


@pytest.mark.long
def test_a_flush_waits_for_a_run_that_reads_all(feed: Feed) -> None:
    feed.add("bid", [(1, 1005, "a", 1)])
    feed.add("bid", [(2, 1045, "a", 2)])
    feed.run(TUMBLE, flush=True, max_files_per_trigger=1, stopping=lambda: True)
    assert len(feed.table()) < 2
    assert feed.run(TUMBLE, flush=True, max_files_per_trigger=1).late == 0
    assert len(feed.table()) == 2


def test_runs_in_this_process_are_known_by_files(tmp_path: Path) -> None:
    other = Announced(tmp_path, "model.shop.bids")
    assert stopped({"bids": other}, 0) == {"bids": NO_RUN}
    told = threading.Event()

    def work() -> None:
        with Announced(tmp_path, "model.shop.bids") as run:
            wait_for(run.is_told)
            told.set()

    thread = threading.Thread(target=work)
    thread.start()
    wait_for(other.holder)
    assert stopped({"bids": other}, PATIENCE) == {"bids": ENDED}
    thread.join()
    assert told.is_set()
    folder = tmp_path / ".sparkstream" / "running"
    assert [path.name for path in folder.iterdir()] == [".gitignore"]
    # A wish that came too late for a run isn't one for the next.
    (folder / "model.shop.bids.stop").write_text("another run's id")
    with Announced(tmp_path, "model.shop.bids") as run:
        assert not run.is_told()
        with Announced(tmp_path, "model.shop.bids") as second:  # in another target
            assert stopped({"bids": other}, 0) == {}
            assert (run.is_told(), second.is_told()) == (False, True)
        assert run.holder() is None
    (folder / "model.shop.bids.json").write_text(json.dumps(asdict(replace(Holder.mine(), born="another"))))
    assert stopped({"bids": other}, 0) == {"bids": KILLED}


@pytest.mark.parametrize("arguments", [["stop"], ["stop", "nothing-but-options", "--patience", "-1"]])
def test_what_the_command_takes(arguments: list[str]) -> None:
    from click.testing import CliRunner

    from dbt.adapters.sparkstream.cli import main

    assert CliRunner().invoke(main, ["streams", *arguments]).exit_code == 2
