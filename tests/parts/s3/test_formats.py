"""Delta and Iceberg in an object store: streaming models into them, killed again and again."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.kill.command import Command

from tests.parts.parameters import HIVE, LAKE

KILLS = 2
FILES = 8
"""Files of the source: each is a micro-batch, and half of them come before each kill."""

WINDOWS = "select window_start, window_end, k, count(*) as n, sum(v) as s\nfrom {} group by window_start, window_end, k"
PLACES: dict[str, dict[str, str]] = {
    "delta": {"file_format": "delta"},
    "hadoop": {"file_format": "iceberg", "database": LAKE},
    # A schema of its own: that of `spark_catalog` is the same one in Hive, and Delta's catalog can't write to Iceberg.
    "hive": {"file_format": "iceberg", "database": HIVE, "schema": "ice"},
}


def model(config: dict[str, str]) -> str:
    given: dict[str, Any] = {"materialized": "streaming_incremental", "event_time": "ts", "watermark": "5 seconds"}
    given |= {"max_files_per_trigger": 1, **config}
    return f"{{{{ config(**{given!r}) }}}}\n" + WINDOWS.format(
        "{{ tumble(stream(source('raw', 'bid')), 'ts', '10 seconds') }}"
    )


def project(folder: Path, parameters: dict[str, str], bids: Path) -> Path:
    """A project with a model for each place, which all read a folder of files."""
    stream = {"format": "json", "path": str(bids), "schema": "id bigint, ts timestamp, k string, v bigint"}
    sources = [{"name": "raw", "tables": [{"name": "bid", "config": {"meta": {"stream": stream}}}]}]
    output = {"type": "sparkstream", "method": "session", "schema": "shop", "threads": 3}
    profile = {"target": "test", "outputs": {"test": {**output, "server_side_parameters": parameters}}}
    files = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n",
        "profiles.yml": yaml.safe_dump({"shop": profile}),
        "models/schema.yml": yaml.safe_dump({"sources": sources}),
        **{f"models/{name}.sql": model(config) for name, config in PLACES.items()},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def add(bids: Path, number: int) -> list[tuple[int, str, int]]:
    """Adds a file with twenty rows, about a second apart. None is as late as the watermark is.

    Returns:
        Seconds since eight o'clock, key and value of each.
    """
    chance = random.Random(number)
    rows = [(i + chance.randrange(4), "abc"[i % 3], i) for i in range(20 * number, 20 * number + 20)]
    lines = [
        json.dumps({"id": v, "ts": f"2020-04-15T08:{at // 60:02}:{at % 60:02}Z", "k": k, "v": v}) for at, k, v in rows
    ]
    beside = bids.with_name("beside")
    beside.write_text("\n".join(lines))
    os.utime(beside, (1_600_000_000 + number,) * 2)  # Spark reads them in the order of these times
    beside.rename(bids / f"{number:03}.json")
    return rows


def committed(keys: Callable[[str], list[str]]) -> Counter[str]:
    """How many micro-batches each model has done, by what is in the store."""
    found = (re.search(r"_sparkstream/(\w+)-[^/]*/checkpoint/commits/\d+$", key) for key in keys("formats/"))
    return Counter(one[1] for one in found if one)


@pytest.mark.slow
def test_no_window_is_lost_or_doubled(
    formats: dict[str, str], keys: Callable[[str], list[str]], tmp_path: Path
) -> None:
    """Spark and dbt are killed while all three models are in the middle of their micro-batches."""
    bids, chance = tmp_path / "bids", random.Random(3)
    bids.mkdir()
    folder = project(tmp_path / "shop", formats, bids)
    rows: list[tuple[int, str, int]] = []
    for turn in range(KILLS):
        for number in range(turn * FILES // KILLS, (turn + 1) * FILES // KILLS):
            rows += add(bids, number)
        before, more = committed(keys), chance.randrange(1, 3)
        command = Command(folder, tmp_path / f"log{turn}", "run")
        try:
            deadline = time.monotonic() + 600
            while any(committed(keys)[name] < before[name] + more for name in PLACES):
                assert command.runs and time.monotonic() < deadline, command.output
                time.sleep(0.05)
            assert command.at_work, command.output
        finally:
            command.sweep()
    for name in ("last", "nothing"):
        command = Command(folder, tmp_path / name, "run")
        assert command.wait(900) and command.code == 0, command.output
    assert command.output.count("nothing new") == len(PLACES), command.output

    of_each = " union all ".join(
        f"select '{name}' as place, unix_seconds(window_start) % 3600 as begin, k, n, s from {{{{ ref('{name}') }}}}"
        for name in PLACES
    )
    show = Command(
        folder, tmp_path / "show", "--quiet", "show", "--inline", of_each, "--limit", "-1", "--output", "json"
    )
    assert show.wait(900) and show.code == 0, show.output
    found = [tuple(row.values()) for row in json.loads(show.output[show.output.index("{") :])["show"]]
    until = max(at for at, _, _ in rows) - 5
    windows: dict[tuple[int, str], list[int]] = {}
    for at, k, v in rows:
        windows.setdefault((at // 10 * 10, k), []).append(v)
    expected = [(begin, k, len(vs), sum(vs)) for (begin, k), vs in sorted(windows.items()) if begin + 10 <= until]
    for name in PLACES:
        assert sorted(row[1:] for row in found if row[0] == name) == expected, name
