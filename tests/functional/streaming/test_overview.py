"""`sparkstream streams`: what is known of a project's streaming models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt.adapters.sparkstream.cli import main
from tests.functional.adapter.project import Project

WINDOWS = """\
{{ config(materialized='streaming_incremental', event_time='at', watermark='0 seconds') }}
select window_start, window_end, count(*) as n
from {{ tumble(stream(source('raw', 'bid')), 'at', '10 minutes') }}
group by window_start, window_end
"""


SOURCES = """\
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables:
      - name: bid
"""


@pytest.fixture(scope="module")
def shop(make_project: Callable[..., Project]) -> Project:
    """A model that has run, one that hasn't, and one that is no stream."""
    shop = make_project(
        {
            "models/bids.sql": WINDOWS,
            "models/later.sql": WINDOWS,
            "models/plain.sql": "select 1 as x",
            "models/schema.yml": SOURCES,
        }
    )
    shop.sql("create schema if not exists {}")
    minutes = ", ".join(f"(timestamp'2020-04-15 08:{minute:02}:00')" for minute in (1, 2, 11, 25))
    shop.sql(f"create table {{}}.bid using parquet as select * from values {minutes} as v (at)")
    shop.dbt("run", "--select", "bids")
    return shop


def streams(shop: Project, *arguments: str) -> Any:
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    return CliRunner().invoke(main, ["streams", *arguments, *here])


def told(shop: Project, *models: str) -> dict[str, dict[str, Any]]:
    """Model -> what is said of it."""
    done = streams(shop, "--format", "json", *models)
    assert done.exit_code == 0, done.output
    return {stream["model"]: stream for stream in map(json.loads, done.stdout.splitlines())}


def test_what_has_run_and_what_has_not(shop: Project) -> None:
    found = told(shop)
    assert list(found) == ["bids", "later"]
    assert found["later"]["status"] == "not built"
    bids = found["bids"]
    assert bids["status"] == "stopped"
    assert (bids["rows_read"], bids["rows_appended"], bids["windows_closed"], bids["windows_corrected"]) == (4, 2, 2, 0)
    assert bids["watermark"] == 1_586_939_100  # 08:25
    [(ended,)] = shop.rows("select max(unix_millis(started_at) + duration_ms) from {}.sparkstream_runs")
    assert bids["ended_at"] == ended / 1000


def test_one_model(shop: Project) -> None:
    assert list(told(shop, "later")) == ["later"]


def test_for_people_and_for_prometheus(shop: Project, tmp_path: Path) -> None:
    head, bids, later = streams(shop).stdout.splitlines()
    assert head.startswith("model")
    assert bids.startswith("bids") and "stopped" in bids
    assert later.startswith("later") and "not built" in later
    file = tmp_path / "sparkstream.prom"
    file.write_text("old")
    done = streams(shop, "--format", "prometheus", "--output", str(file))
    assert (done.exit_code, done.stdout) == (0, "")
    assert f'sparkstream_rows_read_total{{model="bids",relation="{shop.schema}.bids"}} 4\n' in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["sparkstream.prom"]


def test_a_run_that_was_killed(shop: Project) -> None:
    from dbt.adapters.sparkstream.streaming.ledger import Holder

    mine = Holder.mine()
    for born, status in ((mine.born, "running"), ("another process", "killed")):
        note = json.dumps({**vars(mine), "born": born})
        shop.sql(f"alter table {{}}.bids set tblproperties ('sparkstream.run' = '{note}')")
        bids = told(shop, "bids")["bids"]
        assert (bids["status"], bids["process"], bids["rows_read"]) == (status, mine.pid, 4)
    shop.sql("alter table {}.bids set tblproperties ('sparkstream.run' = '')")


def test_totals_are_those_of_the_table_that_is_there(shop: Project) -> None:
    """And not of those before it."""
    for _ in range(2):
        shop.dbt("run", "--select", "bids", "--full-refresh")
    assert told(shop, "bids")["bids"]["rows_read"] == 4
    shop.sql("refresh table {}.sparkstream_runs")
    assert shop.rows("select sum(rows_read) from {}.sparkstream_runs") == [(12,)]
    assert shop.rows("select count(distinct made) from {}.sparkstream_runs") == [(3,)]


@pytest.mark.parametrize(
    ("model", "words"),
    [("plain", "plain is no streaming model"), ("bidz", "bidz"), ("later,bids", "later,bids")],
)
def test_names_of_no_stream(shop: Project, model: str, words: str) -> None:
    done = streams(shop, model)
    assert done.exit_code == 1
    assert words in done.stderr


@pytest.mark.long
def test_a_backfill(shop: Project) -> None:
    """`sparkstream backfill`, of a row that came too late; figures of micro-batches stay as they are."""
    here = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]

    def backfill(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["backfill", *arguments, *here])

    before = told(shop, "bids")
    done = backfill("bids", "--from", "2020-04-15", "--to", "2020-04-15 09:00")
    assert (done.exit_code, done.stdout.startswith("bids: ")) == (0, True), done.output
    assert told(shop, "bids") == before
    for arguments, words in (
        (("plain", "--from", "2020-04-15", "--to", "2020-04-16"), "plain is no streaming model"),
        (("bids", "--from", "Tuesday", "--to", "2020-04-16"), "--from is no time: Tuesday"),
        (("bids", "--from", "2020-04-15T00:00Z", "--to", "2020-04-16"), "--from has an offset"),
        (("later", "--from", "2020-04-15", "--to", "2020-04-16"), "there is no table"),
    ):
        done = backfill(*arguments)
        assert done.exit_code == 1
        assert words in done.stderr
