"""The line at the foot of the terminal, in a real (pseudo) terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from io import StringIO
from typing import TextIO

import pytest
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.events.base_types import EventLevel
from dbt_common.events.event_manager_client import get_event_manager
from dbt_common.events.logger import LineFormat, LoggerConfig

from dbt.adapters.sparkstream.streaming.reports.terminal import ProgressLine
from dbt.adapters.sparkstream.streaming.spark.progress import MicroBatch, Progress, batch_line
from tests.lib.terminal import Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    manager = get_event_manager()
    before = list(manager.loggers)
    manager.loggers.clear()
    add_logger("terminal_log", terminal.stream)
    yield terminal
    manager.loggers[:] = before


def add_logger(name: str, stream: TextIO) -> None:
    get_event_manager().add_logger(
        LoggerConfig(name=name, level=EventLevel.INFO, line_format=LineFormat.PlainText, output_stream=stream)
    )


def test_an_earlier_commands_stream_is_closed(terminal: Terminal) -> None:
    closed = StringIO()
    add_logger("stdout_log", closed)
    closed.close()
    with ProgressLine(terminal.stream).of("bids") as show:
        assert show is not None
        show("reading")
    terminal.lines()
    assert "bids: reading" in terminal.seen


def test_two_models_of_one_name(terminal: Terminal) -> None:
    line = ProgressLine(terminal.stream)
    with line.of("bids") as first, line.of("bids") as second:
        assert first is not None and second is not None
        first("reading")
        second("waiting")
    terminal.lines()
    assert "bids: waiting  (and 1 more)" in terminal.seen


def test_dbts_lines_are_whole(terminal: Terminal) -> None:
    say, line = AdapterLogger("Test").info, ProgressLine(terminal.stream)
    say("before")
    with line.of("bids") as show:
        assert show is not None
        show("reading")
        say("while it runs")
        for number in range(200):
            show(f"{number} rows in 1 micro-batch, and much more than fits into a line of a terminal, which is short")
            if number % 50 == 0:
                say(f"line {number}")
    say("after")
    lines = terminal.lines()
    printed = [text.split("  ")[-1].removeprefix("Test adapter: ") for text in lines if text]
    assert printed == ["before", "while it runs", "line 0", "line 50", "line 100", "line 150", "after"]
    assert "bids: 199 rows" in terminal.seen


def test_several_models_share_the_line(terminal: Terminal) -> None:
    line = ProgressLine(terminal.stream)
    say = AdapterLogger("Test").info

    def run(name: str) -> None:
        with line.of(name) as show:
            assert show is not None
            for number in range(50):
                show(f"{number} rows")
                say(f"{name} {number}")

    threads = [threading.Thread(target=run, args=(name,)) for name in ("bids", "asks")]
    with line.of("best") as show:
        assert show is not None
        show("waiting")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        show("1 row")
    lines = [text.split("Test adapter: ")[-1] for text in terminal.lines() if text]
    assert sorted(lines) == sorted(f"{name} {number}" for name in ("bids", "asks") for number in range(50))
    assert "(and 1 more)" in terminal.seen


def test_no_terminal_no_line() -> None:
    out = StringIO()
    with ProgressLine(out).of("bids") as show:
        assert show is None
    assert out.getvalue() == ""


def test_progress_in_words() -> None:
    at = datetime(2020, 4, 15, 8, 20, tzinfo=timezone.utc)
    first = MicroBatch(0, at, 2000, 1234, None, 12, 3072)
    second = MicroBatch(1, at, 500, 0, at, 1, 256)
    assert batch_line(first, "open window") == "micro-batch 0: 1,234 rows (617/s), 12 open windows, 3 KB of state"
    assert batch_line(second, "row waiting") == (
        "micro-batch 1: 0 rows (0/s), watermark 2020-04-15 08:20:00 UTC, 1 row waiting, 256 B of state"
    )
    assert Progress().line("Getting offsets", "open window") == "getting offsets"
    both = Progress()
    both.add(first)
    both.add(second)
    assert both.line("Waiting for data to arrive", "open window") == (
        "1,234 rows in 2 micro-batches (493/s), watermark 2020-04-15 08:20:00 UTC, 1 open window, 256 B of state, "
        "waiting for data to arrive"
    )
