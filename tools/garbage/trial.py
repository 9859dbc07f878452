"""Outcome of a mutant: text, a TranslationError with its place, or a failure."""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dbt.adapters.sparkstream.sql import TranslationError, explain, translate
from dbt.adapters.sparkstream.sql.core.errors import RequestError, TranslatorFault
from dbt.adapters.sparkstream.sql.membership import find
from dbt.adapters.sparkstream.sql.requests import request_sql
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.translate import tables
from tools.garbage.mutants import Mutant

LIMIT = 5.0
"""Seconds of processor time that a translation may take: what else the machine does counts for nothing."""
HANGS = 20
"""Seconds after which one is ended."""


class Hang(BaseException):
    """A translation that doesn't end; no Exception, so that nothing catches it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        end: `translated`, `refused`, `by the net` (refused by the outermost function, for want of a check) or `failed`.
        seconds: how long it took.
        fault: what is wrong with it; empty where nothing is.
    """

    number: int
    end: str
    seconds: float
    fault: str = ""


def attempt(number: int, mutant: Mutant) -> Outcome:
    """Gives a mutant to its door."""
    start = time.process_time()
    end, fault = "translated", ""
    try:
        with _ended_after(HANGS):
            given = _through(mutant)
        if isinstance(given, str) and not given and mutant.sql.strip():
            end, fault = "failed", "nothing is left of it"
    except TranslatorFault as error:
        end, fault = "by the net", _last_place(error.__cause__)
    except TranslationError as error:
        end, fault = "refused", _misplaced(error, mutant.sql)
    except RequestError:
        end = "refused"
    except Hang:
        fault = f"more than {HANGS} s"
    except BaseException as error:
        end, fault = "failed", _last_place(error)
    seconds = time.process_time() - start
    if seconds > LIMIT:
        fault = fault or f"{seconds:.1f} s"
    return Outcome(number, "failed" if fault and end != "by the net" else end, seconds, fault)


def _through(mutant: Mutant) -> Any:
    schema: Mapping[str, Mapping[str, str]] | None = mutant.schema if mutant.known else None
    return _DOORS[mutant.door](mutant, schema)


def _translate(mutant: Mutant, schema: Any, mode: str = "batch") -> str:
    return translate(
        mutant.sql,
        mutant.dialect,
        optimize=mutant.optimize,
        mode=mode,
        arrival=mutant.arrival,
        schema=schema,
        warn=lambda warning: None,
    )


_DOORS: dict[str, Callable[[Mutant, Any], Any]] = {
    "translate": _translate,
    "stream": lambda m, schema: _translate(m, schema, "stream"),
    "plan": lambda m, schema: plan(
        m.sql, m.dialect, streams=list(m.schema)[:1], schema=schema, utc=m.known, optimize=m.optimize
    ),
    "explain": lambda m, schema: explain(m.sql, m.dialect, schema=schema, arrival=m.arrival, optimize=m.optimize),
    "tables": lambda m, schema: tables(m.sql, m.dialect),
    "find": lambda m, schema: find(m.sql, m.dialect, schema=schema, arrival=m.arrival),
    "request": lambda m, schema: request_sql(
        m.sql, m.dialect, dict.fromkeys(next(iter(m.schema.values()))), schema=m.schema, arrival=m.arrival
    ),
}


def _misplaced(error: TranslationError, sql: str) -> str:
    """What is wrong with the place of an error; empty if it is in the text."""
    lines = sql.split("\n")
    if not 1 <= error.line <= len(lines) or not 1 <= error.column <= len(lines[error.line - 1]) + 1:
        return f"its place {error.line}:{error.column} is not in the text: {error.message}"
    if error.source_line and error.source_line != lines[error.line - 1].rstrip("\r"):
        return f"it shows a line that isn't in the text: {error.source_line!r}"
    str(error)
    return ""


def _last_place(error: BaseException | None) -> str:
    """An exception and where it was raised, in one line."""
    if error is None:
        return "no cause"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/sparkstream/" in f.filename]
    where = f"{frames[-1].filename.rpartition('/sparkstream/')[2]}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:100]!r}"


@contextmanager
def _ended_after(seconds: int) -> Iterator[None]:
    """Raises Hang in a block that takes longer; only on the main thread of a system that has alarms."""

    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
