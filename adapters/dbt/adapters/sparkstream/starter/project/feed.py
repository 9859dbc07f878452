"""Write one more hour of bids into incoming/, which models/items_10min.sql reads as a stream: `python feed.py`."""

from __future__ import annotations

import csv
import random
from datetime import datetime, timedelta
from pathlib import Path

INCOMING = Path(__file__).parent / "incoming"
FIRST_HOUR = datetime(2026, 1, 1, 8)


def bids(number: int) -> list[tuple[datetime, str, str]]:
    """The bids of an hour, one a minute; after the first hour, the last bid is more than an hour late."""
    chance = random.Random(number)
    hour = FIRST_HOUR + timedelta(hours=number)
    times = [hour + timedelta(minutes=minute, seconds=chance.randrange(60)) for minute in range(60)]
    if number:
        times.append(hour - timedelta(hours=1))
    return [(time, f"{chance.uniform(1, 50):.2f}", chance.choice("ABC")) for time in times]


def main() -> None:
    """Write the hour after the hours that are there."""
    INCOMING.mkdir(exist_ok=True)
    number = len(list(INCOMING.glob("bids-*.csv")))
    rows = bids(number)
    file = INCOMING / f"bids-{rows[0][0]:%Y-%m-%d-%H}.csv"
    partial = file.with_name(f".{file.name}")  # the stream doesn't read a file whose name begins with a dot
    with partial.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["bidtime", "price", "item"])
        writer.writerows(rows)
    partial.replace(file)
    print(f"{len(rows)} bids from {rows[0][0]:%H:%M} to {rows[59][0]:%H:%M}: {file.relative_to(INCOMING.parent)}")


if __name__ == "__main__":
    main()
