"""Each record once in the table, whatever is killed while models run, and whatever the table is stored as."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.kill.command import Command
from tools.kill.formats import FORMATS
from tools.kill.method import Session
from tools.kill.moments import COMMITS, COMMITTED, MOVED, OFFSETS, RECORDED, STREAM, WHENEVER, Moment, paths

from tests.parts.kafka.broker import Broker, wait_until
from tests.parts.kafka.conftest import JARS
from tests.parts.kafka.shop import BIDS, ROWS, sources
from tests.parts.kafka.test_sink import model
from tests.parts.parameters import reason_to_skip

KILLS = int(os.environ.get("SPARKSTREAM_KILLS", "6"))
"""How often something is killed; each takes a start of Spark."""

RECORDS = 400
"""Records that come before each kill."""

START = 1_586_937_600
"""Seconds since the epoch of the first record."""

MOMENTS = {
    "parquet": STREAM,
    "delta": (WHENEVER, OFFSETS, COMMITTED, COMMITTED, RECORDED, COMMITS),
    "iceberg": (WHENEVER, OFFSETS, MOVED, COMMITTED, COMMITTED, RECORDED, COMMITS),
}
"""Format -> what to aim at: files that its tables have."""

DUMPED = {
    "rows": "id, place, at_offset",
    "copies": "id",
    "bids": "unix_seconds(window_start) as begin, unix_seconds(window_end) as until, item, n",
    "rows__unreadable": "cast(value as string) as value",
    "bids__unreadable": "cast(value as string) as value",
}
"""Table -> what is compared of it."""

DUMP = """\
{% macro dump(tables, folder) %}
  {% for table, columns in tables.items() %}
    {% do run_query("insert overwrite directory '" ~ folder ~ "/" ~ table ~ "' using json select " ~ columns
                    ~ " from shop." ~ table) %}
  {% endfor %}
{% endmacro %}
"""


def records(number: int, chance: random.Random) -> list[tuple[str, Any]]:
    """The records before a kill: bids, a second apart, out of order, and among them what can't be read."""
    found: list[tuple[str, Any]] = []
    for i in range(number * RECORDS, (number + 1) * RECORDS):
        at = START + i + chance.randrange(-30, 30)
        moment = datetime.fromtimestamp(at, timezone.utc).isoformat()
        value = {"id": i, "at": moment, "item": "abc"[i % 3], "price": i}
        found.append((str(i % 7), b"broken %d" % i if i % 50 == 7 else value))
    return found


def run_until(folder: Path, log: Path, moment: Moment, delay: float, victim: str, method: Session) -> bool:
    """Runs dbt and kills it, its Spark, or both: at a moment, or some seconds after its models have started.

    Returns:
        Whether that came in time.
    """
    command = Command(folder, log, "run")
    try:
        wait_until(lambda: bool(command.starts) or not command.runs, 300)
        begun, seen = time.monotonic(), None
        while command.runs:
            now = {path for table in ("rows", "bids", "copies") for path in paths(method.tables, table)}
            new = now ^ (now if seen is None else seen)
            seen = now
            if moment.seen is None and time.monotonic() - begun > delay:
                break
            if moment.seen is not None and any(map(moment.seen, new)):
                delay -= 1  # not always the first one
                if delay <= 0:
                    break
            time.sleep(0.005)
        in_time = command.runs
        if in_time:
            method.kill(command, victim)
            if victim == "server":
                assert command.wait(300), "dbt goes on though its Spark was killed"
        else:
            assert command.wait(10)
            assert command.code == 0, command.output
        return in_time
    finally:
        if victim != "client":  # else its Spark goes on for a moment, as it would anywhere
            command.sweep()


def dumped(folder: Path, log: Path) -> dict[str, list[dict[str, Any]]]:
    """Table -> what is compared of it."""
    there = folder / "dump"
    command = Command(
        folder, log, "run-operation", "dump", "--args", json.dumps({"tables": DUMPED, "folder": str(there)})
    )
    assert command.wait(600), "dbt doesn't end"
    assert command.code == 0, command.output
    assert all((there / table / "_SUCCESS").exists() for table in DUMPED)
    return {
        table: [json.loads(line) for file in (there / table).glob("part-*") for line in file.read_text().splitlines()]
        for table in DUMPED
    }


@pytest.mark.parametrize("file_format", FORMATS)
def test_each_record_once_after_kills(
    tmp_path: Path, broker: Broker, topic: Callable[..., str], file_format: str
) -> None:
    if file_format != "parquet" and (reason := reason_to_skip(file_format)):
        pytest.skip(reason)
    bids, copies = topic(partitions=3), topic(partitions=2)
    chance = random.Random(int(os.environ.get("SPARKSTREAM_SEED", "8")))
    folder = tmp_path / "shop"
    parameters = dict(FORMATS[file_format]().parameters)
    parameters["spark.jars"] = ",".join([*filter(None, parameters.get("spark.jars", "").split(",")), *JARS])
    method = Session(folder, parameters)
    output = {**method.output(), "schema": "shop", "threads": 3}
    project: dict[str, Any] = {"name": "shop", "version": "1.0", "config-version": 2, "profile": "shop"}
    project |= {"models": {"+file_format": file_format}, "flags": {"send_anonymous_usage_stats": False}}
    rows = ROWS.replace("select *", "select id, place, at_offset")
    select = ["*", "kafka_partition AS place", "kafka_offset AS at_offset"]
    files = {
        "dbt_project.yml": yaml.safe_dump(project),
        "profiles.yml": yaml.safe_dump({"shop": {"target": "test", "outputs": {"test": output}}}),
        "macros/dump.sql": DUMP,
        "models/rows.sql": rows,
        "models/bids.sql": BIDS.replace("'at', '10 minutes'", "'at', '1 minute'"),
        "models/copies.sql": model("select id from {{ stream(source('kafka', 'bid')) }}", broker, copies, key="id"),
        "models/schema.yml": sources(broker, bids, {"maxOffsetsPerTrigger": 200}, select=select),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sent: list[tuple[str, Any]] = []
    killed, moments = 0, _moments(chance, MOMENTS[file_format])
    for number in range(3 * KILLS):
        new = records(number, chance)
        broker.send(bids, new)
        sent += new
        moment, delay = next(moments)
        victim = chance.choice(("client", "server", "both"))
        in_time = run_until(folder, tmp_path / f"log{number}", moment, delay, victim, method)
        print(f"{number}: {moment.name} {delay:.1f}, {victim}: {'killed' if in_time else 'it had ended'}")
        killed += in_time
        if killed == KILLS:
            break
    assert killed == KILLS
    for name in ("last", "nothing"):
        command = Command(folder, tmp_path / name, "run")
        assert command.wait(600), "dbt doesn't end"
        assert command.code == 0, command.output
    assert len(re.findall("nothing new", command.output)) == 3

    values = [value for _, value in sent if isinstance(value, dict)]
    ids = [value["id"] for value in values]
    tables = dumped(folder, tmp_path / "dump")
    assert sorted(row["id"] for row in tables["rows"]) == ids
    assert len({(row["place"], row["at_offset"]) for row in tables["rows"]}) == len(values)
    assert sorted(row["id"] for row in tables["copies"]) == ids
    # A micro-batch whose sending was interrupted, or not recorded, is in the topic twice.
    sent_copies = Counter((int(key or ""), headers["sparkstream_batch"]) for key, _, headers in broker.read(copies))
    assert sorted(number for number, _ in sent_copies) == ids
    assert len({batch for (_, batch), times in sent_copies.items() if times > 1}) <= KILLS
    broken = sorted(value.decode() for _, value in sent if isinstance(value, bytes))
    for name in ("rows__unreadable", "bids__unreadable"):
        assert sorted(row["value"] for row in tables[name]) == broken

    until = max(_seconds(value) for value in values) - 600
    of_window = Counter((_seconds(value) // 60 * 60, value["item"]) for value in values)
    counted = [((row["begin"], row["until"], row["item"]), row["n"]) for row in tables["bids"]]
    expected = [((begin, begin + 60, item), n) for (begin, item), n in of_window.items() if begin + 60 <= until]
    assert sorted(counted) == sorted(expected)


def _moments(chance: random.Random, all_: tuple[Moment, ...]) -> Iterator[tuple[Moment, float]]:
    """What to aim at, and how many seconds, or how many times, to let pass before."""
    while True:
        moment = chance.choice(all_)
        yield moment, chance.uniform(0, 8) if moment.seen is None else chance.randrange(1, 4)


def _seconds(value: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(value["at"]).timestamp())
