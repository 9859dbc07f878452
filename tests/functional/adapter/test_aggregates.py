"""Aggregates along time in models: the tables of docs/aggregates.md, on dbt-spark, with the adapter and on a stream."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.docs.tables import TABLES
from tests.functional.adapter.project import ROOT, Project, with_package
from tests.lib.support import sampled

PAGE = ROOT / "docs" / "aggregates.md"
WINDOWS, CANDLES, MERGED, SKETCHES = (block.text for block in blocks("docs/aggregates.md") if block.language == "sql")
MACROS = sorted(path.stem for path in (ROOT / "macros" / "aggregates").glob("*.sql"))


def tables_of(page: Path) -> list[list[tuple[str, ...]]]:
    """The rows of a page's tables, without bold and code."""
    found: list[list[tuple[str, ...]]] = [[]]
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            found[-1].append(tuple(cell.strip(" *`") for cell in line.strip("|").split("|")))
        elif found[-1]:
            found.append([])
    return [rows[2:] for rows in found if rows]


@pytest.mark.parametrize("type_", sampled(["sparkstream", "spark"], share=2))
def test_the_tables_of_the_page(make_project: Callable[..., Project], type_: str) -> None:
    files = {
        "models/readings.sql": TABLES["readings"],
        "models/trades.sql": TABLES["trades"],
        "models/windows.sql": WINDOWS,
        "models/candles.sql": CANDLES,
        "models/merged.sql": MERGED,
        "models/sketches.sql": SKETCHES,
        "models/direct.sql": CANDLES.replace("'1 minute'", "'1 hour'"),
    }
    if type_ == "spark":
        files = {name: re.sub(r"\{\{ (?!config|ref)", "{{ sparkstream.", text) for name, text in files.items()}
        project = make_project(with_package(files), type=type_, host="none")
        project.dbt("deps")
    else:
        project = make_project(files, type=type_)
    project.dbt("run")
    minutes = "date_format(window_start, 'HH:mm'), date_format(window_end, 'HH:mm')"
    found = project.rows(
        f"select {minutes}, sensor, plain, weighted, first, last, int(packets), int(seconds_heating) from {{}}.windows"
    )
    assert [tuple(map(str, row)) for row in found] == tables_of(PAGE)[1]
    columns = "sym, open, high, low, close, volume"
    assert project.rows(f"select {columns} from {{}}.candles where sym = 'A'") == [("A", 1.5, 1.6, 1.2, 1.2, 120)]
    assert project.rows(f"select {columns} from {{}}.merged") == project.rows(f"select {columns} from {{}}.direct")
    [(symbols,)] = project.rows("select count(distinct sym) from {}.trades")
    assert project.rows("select max(symbols) from {}.sketches") == [(symbols,)]


@pytest.mark.full
def test_a_stream(make_project: Callable[..., Project]) -> None:
    stream = "{{ config(materialized='streaming_incremental', event_time='ts', watermark='0 seconds') }}\n"
    streamed = stream + WINDOWS.replace("ref('readings')", "stream(ref('readings'))")
    shop = make_project({"models/readings.sql": TABLES["readings"], "models/windows.sql": streamed})
    shop.dbt("run")
    # The window of 08:10 is still open.
    found = shop.rows("select weighted, first, last, packets, seconds_heating from {}.windows")
    assert found == [(21.4, 20.0, 21.0, 70.0, 240.0)]


def test_every_macro_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in MACROS if f"`{name}" not in page and f"{name}(" not in page] == []
