"""Each record once in the table, whatever is killed while models run."""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas
import yaml

from tests.functional.adapter.project import PARAMETERS
from tests.kill.command import Command
from tests.kill.moments import STREAM, Moment, paths
from tests.parts.kafka.broker import Broker, wait_until
from tests.parts.kafka.conftest import JARS
from tests.parts.kafka.shop import BIDS, ROWS, sources
from tests.parts.kafka.test_sink import model

KILLS = int(os.environ.get("SPARKSTREAM_KILLS", "10"))
"""How often something is killed; each takes a start of Spark."""

RECORDS = 400
"""Records that come before each kill."""

START = 1_586_937_600
"""Seconds since the epoch of the first record."""

PROFILE = {
    "type": "sparkstream",
    "method": "session",
    "schema": "shop",
    "threads": 2,
    "server_side_parameters": {
        **PARAMETERS,
        "spark.jars": ",".join(JARS),
        "spark.sql.session.timeZone": "UTC",
    },
}


def records(number: int, chance: random.Random) -> list[tuple[str, Any]]:
    """The records before a kill: bids, a second apart, out of order, and among them what can't be read."""
    found: list[tuple[str, Any]] = []
    for i in range(number * RECORDS, (number + 1) * RECORDS):
        at = START + i + chance.randrange(-30, 30)
        moment = datetime.fromtimestamp(at, timezone.utc).isoformat()
        value = {"id": i, "at": moment, "item": "abc"[i % 3], "price": i}
        found.append((str(i % 7), b"broken %d" % i if i % 50 == 7 else value))
    return found


def run_until(folder: Path, log: Path, moment: Moment, delay: float) -> bool:
    """Runs dbt and kills it: at a moment, or some seconds after its models have started. Whether that came in time."""
    command = Command(folder, log, "run")
    try:
        wait_until(lambda: bool(command.starts) or not command.runs, 300)
        begun, seen = time.monotonic(), None
        warehouse = next((folder / ".sparkstream").rglob("shop.db"), folder)
        while command.runs:
            now = {path for table in ("rows", "bids", "copies") for path in paths(warehouse, table)}
            new = now ^ (now if seen is None else seen)
            seen = now
            if moment.seen is None and time.monotonic() - begun > delay:
                break
            if moment.seen is not None and any(map(moment.seen, new)):
                delay -= 1  # not always the first one
                if delay <= 0:
                    break
            time.sleep(0.005)
        return command.runs
    finally:
        command.sweep()


def table(folder: Path, name: str) -> pandas.DataFrame:
    [path] = (folder / ".sparkstream").rglob(f"shop.db/{name}")
    return pandas.read_parquet(path)


def test_each_record_once_after_kills(tmp_path: Path, broker: Broker, topic: Callable[..., str]) -> None:
    bids, copies, chance = topic(partitions=3), topic(partitions=2), random.Random(8)
    folder = tmp_path / "shop"
    rows = ROWS.replace("select *", "select id, place, at_offset")
    select = ["*", "kafka_partition AS place", "kafka_offset AS at_offset"]
    files = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nconfig-version: 2\nprofile: shop\n",
        "profiles.yml": yaml.safe_dump({"shop": {"target": "test", "outputs": {"test": PROFILE}}}),
        "models/rows.sql": rows,
        "models/bids.sql": BIDS.replace("'at', '10 minutes'", "'at', '1 minute'"),
        "models/copies.sql": model("select id from {{ stream(source('kafka', 'bid')) }}", broker, copies, key="id"),
        "models/schema.yml": sources(broker, bids, {"maxOffsetsPerTrigger": 150}, select=select),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sent: list[tuple[str, Any]] = []
    killed, moments = 0, _moments(chance)
    for number in range(2 * KILLS):
        new = records(number, chance)
        broker.send(bids, new)
        sent += new
        moment, delay = next(moments)
        killed += run_until(folder, tmp_path / f"log{number}", moment, delay)
        if killed == KILLS:
            break
    assert killed == KILLS
    for name in ("last", "nothing"):
        command = Command(folder, tmp_path / name, "run")
        assert command.wait(600), "dbt doesn't end"
        assert command.code == 0, command.output
    assert len(re.findall("nothing new", command.output)) == 3

    values = [value for _, value in sent if isinstance(value, dict)]
    found = table(folder, "rows")
    assert sorted(found["id"]) == [value["id"] for value in values]
    assert len(set(zip(found["place"], found["at_offset"], strict=True))) == len(values)
    assert sorted(table(folder, "copies")["id"]) == [value["id"] for value in values]
    # A micro-batch whose sending was interrupted, or not noted, is in the topic twice.
    sent_copies = Counter((int(key or ""), headers["sparkstream_batch"]) for key, _, headers in broker.read(copies))
    assert sorted(number for number, _ in sent_copies) == [value["id"] for value in values]
    assert len({batch for (_, batch), times in sent_copies.items() if times > 1}) <= KILLS
    broken = sorted(value for _, value in sent if isinstance(value, bytes))
    for name in ("rows__unreadable", "bids__unreadable"):
        assert sorted(table(folder, name)["value"]) == broken

    until = max(_seconds(value) for value in values) - 600
    of_window = Counter((_seconds(value) // 60 * 60, value["item"], 60) for value in values)
    closed = table(folder, "bids")
    begins, ends = (pandas.to_datetime(closed[name], utc=True) for name in ("window_start", "window_end"))
    counted = [
        ((int(begin.timestamp()), item, (end - begin).seconds), n)
        for begin, end, item, n in zip(begins, ends, closed["item"], closed["n"], strict=True)
    ]
    assert sorted(counted) == sorted((key, n) for key, n in of_window.items() if key[0] + 60 <= until)


def _moments(chance: random.Random) -> Iterator[tuple[Moment, float]]:
    """What to aim at, and how many seconds, or how many times, to let pass before."""
    while True:
        moment = chance.choice(STREAM)
        yield moment, chance.uniform(0, 8) if moment.seen is None else chance.randrange(1, 4)


def _seconds(value: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(value["at"]).timestamp())
