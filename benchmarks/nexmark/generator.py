"""NEXMark's events: people, auctions and bids of an online auction house, the same for the same arguments.

    python benchmarks/nexmark/generator.py DIR --events 100000

writes person, auction, bid and side_input (the lookup table of query 13) to DIR, as CSV with a header or as JSON, one
object a line. A run with fewer events is a prefix of a run with more, at the same rate, start and seed.

What the numbers follow is the benchmark's public description: of 50 events one is a person, 3 are auctions, 46 are
bids; half of the bids go to a hot auction, three quarters come from a hot bidder, three quarters of the auctions from
a hot seller; people and auctions may be named a little before they exist. The benchmark sends 10,000 events a second,
so 100,000 events are one window of ten seconds; here it is 5 a second, which spreads them over five and a half hours.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import string
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TextIO

PEOPLE, AUCTIONS, BIDS = 1, 3, 46
"""Of every 50 events: first the person, then the auctions, then the bids."""
CYCLE = PEOPLE + AUCTIONS + BIDS

FIRST_PERSON = FIRST_AUCTION = 1000
FIRST_CATEGORY, CATEGORIES = 10, 5

HOT_BATCH = 100
"""One person, one bidder and one auction of every 100 is hot, until the next 100 begin."""
HOT_AUCTION_BIDS = 2
"""All but one in so many bids go to the hot auction; below likewise."""
HOT_BIDDER_BIDS = 4
HOT_SELLER_AUCTIONS = 4
HOT_CHANNEL_BIDS = 2

ACTIVE_PEOPLE = 1000
"""Those who came last bid and sell, the others have left."""
AUCTIONS_IN_FLIGHT = 100
LEAD = 10
"""Bids and auctions name people and auctions up to so many ids before they exist."""

PERSON_BYTES, AUCTION_BYTES, BID_BYTES = 200, 500, 100
"""Mean size of an event; `extra` fills it up."""

CITIES = {
    "AZ": ("Phoenix", "Tucson"),
    "CA": ("Los Angeles", "Oakland", "San Diego"),
    "ID": ("Boise", "Moscow"),
    "OR": ("Portland", "Eugene", "Salem"),
    "WA": ("Seattle", "Spokane"),
    "WY": ("Cheyenne", "Laramie"),
}
FIRST_NAMES = ("Ada", "Alan", "Barbara", "Edgar", "Frances", "Grace", "Jim", "Kathleen", "Niklaus", "Tony", "Yukihiro")
LAST_NAMES = ("Allen", "Booth", "Codd", "Dahl", "Floyd", "Gray", "Hopper", "Iverson", "Knuth")
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
CHANNELS = 10_000

SIDE_INPUT_ROWS = 10_000

START = datetime(2024, 2, 29, 18, 55)
"""An evening on which 20,000 events pass 19 and 20 o'clock, and 100,000 midnight and the end of the month."""
EVENTS = 100_000
RATE = 5.0
SEED = 1


@dataclass(frozen=True)
class Person:
    id: int
    name: str
    emailAddress: str
    creditCard: str
    city: str
    state: str
    dateTime: datetime
    extra: str


@dataclass(frozen=True)
class Auction:
    id: int
    itemName: str
    description: str
    initialBid: int
    reserve: int
    dateTime: datetime
    expires: datetime
    seller: int
    category: int
    extra: str


@dataclass(frozen=True)
class Bid:
    auction: int
    bidder: int
    price: int
    channel: str
    url: str
    dateTime: datetime
    extra: str


@dataclass(frozen=True)
class SideInput:
    key: int
    value: str


Event = Person | Auction | Bid

TABLES: dict[str, type[Event] | type[SideInput]] = {
    "person": Person,
    "auction": Auction,
    "bid": Bid,
    "side_input": SideInput,
}


class Generator:
    """An endless row of events, evenly spaced in time.

    Args:
        rate: events a second.
        start: time of the first event.
        seed: another seed gives other events of the same kind.

    Raises:
        ValueError: the rate is not positive.
    """

    def __init__(self, rate: float = RATE, start: datetime = START, seed: int = SEED) -> None:
        if not rate > 0:
            raise ValueError(f"the rate must be positive, in events a second; it is {rate}")
        self._rate = rate
        self._start = start
        # Of all that Random offers, only random() is promised to give the same numbers in every version of Python.
        self._random = random.Random(seed).random
        self._urls: dict[str, str] = {}

    def __iter__(self) -> Iterator[Event]:
        number = 0
        while True:
            yield self._event(number)
            number += 1

    def _event(self, number: int) -> Event:
        cycle, place = divmod(number, CYCLE)
        time = self._time(number)
        if place < PEOPLE:
            return self._person(cycle * PEOPLE + place, time)
        people = (cycle + 1) * PEOPLE
        place -= PEOPLE
        if place < AUCTIONS:
            return self._auction(cycle * AUCTIONS + place, people, number, time)
        return self._bid((cycle + 1) * AUCTIONS, people, time)

    def _person(self, index: int, time: datetime) -> Person:
        state = self._one_of(tuple(CITIES))
        text = (
            f"{self._one_of(FIRST_NAMES)} {self._one_of(LAST_NAMES)}",
            f"{self._word(4, 7)}@{self._word(3, 5)}.com",
            " ".join(f"{self._below(10_000):04}" for _ in range(4)),
            self._one_of(CITIES[state]),
            state,
        )
        return Person(FIRST_PERSON + index, *text, time, self._extra(PERSON_BYTES, *text, numbers=2))

    def _auction(self, index: int, people: int, number: int, time: datetime) -> Auction:
        seller = self._hot(people) if self._is_hot(HOT_SELLER_AUCTIONS) else self._active(people, ACTIVE_PEOPLE)
        first_bid = self._price()
        # So that on average as many are open as shall be.
        mean = self._time(number + AUCTIONS_IN_FLIGHT * CYCLE // AUCTIONS) - time
        length = timedelta(milliseconds=1 + self._below(max(1, 2 * (mean // timedelta(milliseconds=1)))))
        text = (self._phrase(20), self._phrase(100))
        return Auction(
            FIRST_AUCTION + index,
            *text,
            first_bid,
            first_bid + self._price(),
            time,
            time + length,
            FIRST_PERSON + seller,
            FIRST_CATEGORY + self._below(CATEGORIES),
            self._extra(AUCTION_BYTES, *text, numbers=7),
        )

    def _bid(self, auctions: int, people: int, time: datetime) -> Bid:
        auction = (
            self._hot(auctions) if self._is_hot(HOT_AUCTION_BIDS) else self._active(auctions, AUCTIONS_IN_FLIGHT + 1)
        )
        # The hot bidder is the person after the hot seller, so nobody is both.
        bidder = self._hot(people) + 1 if self._is_hot(HOT_BIDDER_BIDS) else self._active(people, ACTIVE_PEOPLE)
        channel = self._one_of(HOT_CHANNELS) if self._is_hot(HOT_CHANNEL_BIDS) else f"channel-{self._below(CHANNELS)}"
        return Bid(
            FIRST_AUCTION + auction,
            FIRST_PERSON + bidder,
            self._price(),
            channel,
            self._url(channel),
            time,
            self._extra(BID_BYTES, numbers=4),
        )

    def _time(self, number: int) -> datetime:
        return self._start + timedelta(milliseconds=int(number * 1000 / self._rate))

    def _url(self, channel: str) -> str:
        """The page of a channel, always the same; of those that are not hot, one in ten does not tell its id."""
        url = self._urls.get(channel)
        if url is None:
            folders = "/".join(self._word(3, 5) for _ in range(3))
            url = f"https://www.nexmark.com/{folders}/item.htm?query=1"
            if channel not in HOT_CHANNELS and self._is_hot(10):
                url += f"&channel_id={self._below(2**31)}"
            self._urls[channel] = url
        return url

    def _is_hot(self, one_in: int) -> bool:
        return self._below(one_in) > 0

    @staticmethod
    def _hot(count: int) -> int:
        """The hot one of the first `count` people or auctions."""
        return (count - 1) // HOT_BATCH * HOT_BATCH

    def _active(self, count: int, last: int) -> int:
        """One of the `last` of the first `count` people or auctions, or of the `LEAD` that follow."""
        active = min(count, last)
        return count - active + self._below(active + LEAD)

    def _price(self) -> int:
        """In cents, from 1 to a million dollars: as many between 1 and 10 as between 10 and 100, and so on."""
        return round(10 ** (6 * self._random()) * 100)

    def _below(self, limit: int) -> int:
        return int(self._random() * limit)

    def _one_of(self, values: Sequence[str]) -> str:
        return values[self._below(len(values))]

    def _letters(self, length: int) -> str:
        return "".join(string.ascii_lowercase[self._below(26)] for _ in range(length))

    def _word(self, shortest: int, longest: int) -> str:
        return self._letters(shortest + self._below(longest - shortest + 1))

    def _phrase(self, longest: int) -> str:
        """Words of at least three letters, with one space between them."""
        words = [self._word(3, 12)]
        length = 3 + self._below(longest - 2)
        while (left := length - sum(map(len, words)) - len(words)) >= 3:
            words.append(self._word(3, min(12, left)))
        return " ".join(words)

    def _extra(self, size: int, *text: str, numbers: int) -> str:
        """Letters that bring an event to `size` bytes, give or take a fifth of them; numbers and times count 8."""
        left = max(0, size - 8 * numbers - sum(map(len, text)))
        return self._letters(left - left // 5 + self._below(2 * (left // 5) + 1))


def side_input() -> Iterator[SideInput]:
    """The lookup table of query 13: numbers from 0, and themselves as text."""
    return (SideInput(key, str(key)) for key in range(SIDE_INPUT_ROWS))


def write(
    folder: Path,
    events: int = EVENTS,
    rate: float = RATE,
    start: datetime = START,
    seed: int = SEED,
    file_format: str = "csv",
) -> dict[str, int]:
    """Writes the four files; the folder is made if it is not there.

    Args:
        events: how many people, auctions and bids together.
        rate: events a second.
        file_format: `csv` or `json`, also the ending of the files.

    Returns:
        The number of rows of each file, by its name without the ending.

    Raises:
        ValueError: events is negative, the rate is not positive.
    """
    if events < 0:
        raise ValueError(f"the number of events can't be negative; it is {events}")
    stream = iter(Generator(rate, start, seed))
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        tables: dict[type[Event] | type[SideInput], _Table] = {}
        for name, row_type in TABLES.items():
            file = stack.enter_context(open(folder / f"{name}.{file_format}", "w", encoding="utf-8", newline=""))
            tables[row_type] = _Table(file, [field.name for field in fields(row_type)], file_format)
        for _ in range(events):
            event = next(stream)
            tables[type(event)].add(event)
        for row in side_input():
            tables[SideInput].add(row)
    return {name: tables[row_type].rows for name, row_type in TABLES.items()}


class _Table:
    """A file that rows are added to."""

    def __init__(self, file: TextIO, columns: list[str], file_format: str) -> None:
        self.rows = 0
        self._columns = columns
        self._file = file
        self._csv = csv.writer(file, lineterminator="\n") if file_format == "csv" else None
        if self._csv:
            self._csv.writerow(columns)

    def add(self, row: Event | SideInput) -> None:
        values = [_plain(getattr(row, column)) for column in self._columns]
        if self._csv:
            self._csv.writerow(values)
        else:
            self._file.write(json.dumps(dict(zip(self._columns, values, strict=True))) + "\n")
        self.rows += 1


def _plain(value: int | str | datetime) -> int | str:
    return value.isoformat(" ", "milliseconds") if isinstance(value, datetime) else value


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="generator.py", description="Write NEXMark's events: person, auction, bid, and side_input."
    )
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--events", type=int, default=EVENTS, help="people, auctions and bids together (%(default)s)")
    spacing = parser.add_mutually_exclusive_group()
    spacing.add_argument("--rate", type=float, default=RATE, metavar="R", help="events a second (%(default)s)")
    spacing.add_argument("--span", type=float, metavar="SECONDS", help="time of all events, instead of a rate")
    parser.add_argument(
        "--start",
        type=datetime.fromisoformat,
        default=START,
        metavar="TIME",
        help="time of the first event (%(default)s)",
    )
    parser.add_argument("--seed", type=int, default=SEED, help="another seed gives other events (%(default)s)")
    parser.add_argument("--format", choices=("csv", "json"), default="csv", help="(%(default)s)")
    chosen = parser.parse_args(arguments)
    if chosen.events < 0:
        parser.error("--events can't be negative")
    if chosen.span is not None and not chosen.span > 0:
        parser.error("--span must be positive")
    if not chosen.rate > 0:
        parser.error("--rate must be positive")
    rate = chosen.rate if chosen.span is None else max(chosen.events, 1) / chosen.span
    rows = write(chosen.folder, chosen.events, rate, chosen.start, chosen.seed, chosen.format)
    for name, count in rows.items():
        print(f"{chosen.folder / name}.{chosen.format}: {count:,} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
