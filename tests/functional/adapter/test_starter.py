"""A project of `sparkstream init`: it builds before its stream has any rows, and after."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from dbt.adapters.sparkstream.starter import project_files
from tests.functional.adapter.project import Project


def test_the_project_builds_and_streams(make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch) -> None:
    files = project_files("shop")
    del files["profiles.yml"]  # this one has a Spark of its own
    shop = make_project(files)
    monkeypatch.chdir(shop.folder)  # where a stream's folder is looked for

    def feed() -> None:
        subprocess.run([sys.executable, "feed.py"], cwd=shop.folder, check=True, capture_output=True)

    shop.dbt("build")
    assert shop.rows("select sum(total_price) from {}.bids_10min")[0][0] == 21
    assert shop.rows("select * from {}.items_10min") == []
    feed()
    shop.dbt("build", "--select", "items_10min")
    bids = "select date_format(max(window_end), 'HH:mm'), sum(bids) from {}.items_10min"
    assert shop.rows(bids) == [("08:50", 50)]
    feed()
    [streamed, _] = shop.dbt("build", "--select", "items_10min").results
    assert "1 late row" in streamed.message
    assert shop.rows(bids) == [("09:50", 110)]
    assert shop.rows("select date_format(bidtime, 'HH:mm') < '09:00' from {}.items_10min__late") == [(True,)]
