"""Result of a query: its number of rows, and a checksum that is the same in every engine and order of rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recorded"
"""A file for each number of events, named after it. The events are those of the generator's other defaults."""

_BITS = 64


@dataclass(frozen=True)
class Result:
    """The shape of a table.

    Attributes:
        rows: how many.
        checksum: the sum of the rows' hashes and of that of the column names, as 16 hexadecimal digits.
    """

    rows: int
    checksum: str

    def __str__(self) -> str:
        return f"{self.rows:,} rows, checksum {self.checksum}"


def result(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Result:
    """Counts and adds up the rows of a table.

    Column names count without their case. Numbers count by value, whatever their type; times to the microsecond.

    Raises:
        TypeError: a value is of a type that engines write down differently, such as a float.
    """
    total = _hash(name.lower() for name in columns)
    count = 0
    for row in rows:
        total += _hash(map(_text, row))
        count += 1
    return Result(count, f"{total % 2**_BITS:0{_BITS // 4}x}")


def _hash(values: Iterable[str]) -> int:
    return int.from_bytes(hashlib.blake2b("\x1f".join(values).encode(), digest_size=_BITS // 8).digest(), "big")


def _text(value: Any) -> str:
    if value is None:
        return "\x00"
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"no checksum for {value!r}, a {type(value).__name__}")


def recorded(events: int) -> dict[str, Result]:
    """The results that a run on so many events must give, by table.

    Raises:
        FileNotFoundError: nobody has recorded them.
    """
    tables = json.loads((FOLDER / f"{events}.json").read_text(encoding="utf-8"))
    return {name: Result(**values) for name, values in tables.items()}


def record(events: int, results: Mapping[str, Result]) -> Path:
    """Writes the file that `recorded` reads, a line for each table."""
    lines = [f"{json.dumps(name)}: {json.dumps(asdict(values))}" for name, values in results.items()]
    path = FOLDER / f"{events}.json"
    path.write_text("{\n  " + ",\n  ".join(lines) + "\n}\n", encoding="utf-8")
    return path
