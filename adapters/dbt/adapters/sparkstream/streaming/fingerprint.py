"""Fingerprint of a streaming table: its query and settings, in a form that can be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.streaming.form import differences, form
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource

STATE_VERSION = 1
"""Version of the translation; raised by a change after which state of earlier runs can't be read."""


@dataclass(frozen=True)
class Definition:
    """Query, sources, columns and settings that the state of a streaming table depends on.

    Attributes:
        sql: the query as written, with the streams by name.
        flush: True if the query has an input for flushing.
        zone: the time zone whose clock windows follow.
        keeps: names of data that is kept outside Spark's state, as in `StreamPlan.keeps`.
        lateness: how long late rows correct closed windows; part of each stream's watermark.
    """

    sql: str
    dialect: str
    sources: tuple[StreamSource, ...]
    columns: tuple[tuple[str, str], ...]
    flush: bool
    zone: str
    keeps: tuple[str, ...] = ()
    lateness: Interval | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the definition; changes that a formatter makes in the query don't change it."""
        columns = [(name.casefold(), type_.casefold()) for name, type_ in self.columns]
        return self._hash(form(self.sql, self.dialect), columns)

    @cached_property
    def fingerprint_of_0_2(self) -> str:
        """The hash that versions up to 0.2.0 have recorded: the case of keywords and each AS make a difference."""
        tokens = [token.text for token in DIALECTS[self.dialect]().tokenize(self.sql)]
        return self._hash(tokens, list(self.columns))

    def _hash(self, query: Sequence[Any], columns: Sequence[tuple[str, str]]) -> str:
        streams = sorted(
            (
                s.view,
                s.relation,
                s.event_time or "",
                s.watermark.micros if s.watermark else -1,
                json.dumps(s.state_depends_on),
                *([s.seen.query.sql, *s.seen.columns] if s.seen else []),
            )
            for s in self.sources
        )
        keeps = (*self.keeps, *([] if self.lateness is None else [str(self.lateness.micros)]))
        facts = json.dumps([STATE_VERSION, self.dialect, query, streams, columns, self.flush, self.zone, *keeps])
        return hashlib.sha256(facts.encode()).hexdigest()[:32]

    def is_of(self, recorded: str) -> bool:
        """True if a table was made for this definition, by the hash in its ledger."""
        return recorded in (self.fingerprint, self.fingerprint_of_0_2)

    def recorded(self) -> list[str]:
        """Lines that `changes` compares; secrets are left out, and options are there as hashes."""
        facts = {
            "sql": redacted(self.sql),
            "dialect": self.dialect,
            "streams": {source.view: self._stream(source) for source in self.sources},
            "columns": dict(self.columns),
            "settings": {
                "the time zone": self.zone,
                "flush": str(self.flush).lower(),
                "lateness": _words(self.lateness),
                "what is kept of windows": ", ".join(self.keeps) or "nothing",
            },
        }
        return [json.dumps(facts)]

    def _stream(self, source: StreamSource) -> dict[str, str]:
        """Facts that tell a stream from others: name for people -> value."""
        watermark = source.watermark
        if watermark is not None and self.lateness is not None:
            watermark = Interval(watermark.micros - self.lateness.micros)
        facts = {
            "the table": source.relation,
            "the event time": source.event_time or "none",
            "the watermark": _words(watermark),
        }
        for key, value in source.state_depends_on.items():
            if isinstance(value, Mapping):
                facts |= {f"{key}'s {name}": _digest(its) for name, its in value.items()}
            else:
                facts[str(key)] = redacted(str(value))
        if source.seen:
            facts["the view"] = redacted(source.seen.query.sql)
        return facts

    def changes(self, lines: Sequence[str]) -> list[str]:
        """Changes since the recorded definition, a line each for people; empty if none was recorded."""
        if not lines:
            return []
        before, now = json.loads(lines[0]), json.loads(self.recorded()[0])
        return [
            *_of_streams(before["streams"], now["streams"]),
            *_pairs(before["columns"], now["columns"], of="the column ", are_listed=True),
            *_pairs(before["settings"], now["settings"]),
            *self._of_query(before),
        ]

    def other_rows(self, lines: Sequence[str]) -> list[str]:
        """Changes after which the streams are others or have read other rows; lines as of `changes`."""
        if not lines:
            return []
        streams = json.loads(lines[0])["streams"], json.loads(self.recorded()[0])["streams"]
        kept = [{view: _places(stream) for view, stream in each.items()} for each in streams]
        return list(_of_streams(*kept))

    def _of_query(self, before: Mapping[str, Any]) -> Iterator[str]:
        if before["dialect"] != self.dialect:
            yield f"the dialect: {before['dialect']} before, {self.dialect} now"
            return
        if json.dumps(form(before["sql"], self.dialect)) == json.dumps(form(redacted(self.sql), self.dialect)):
            return
        for was, is_ in differences(before["sql"], redacted(self.sql), self.dialect):
            yield f"the query: {_quoted(was)} before, {_quoted(is_)} now"


_OF_ROWS = ("schema", "select", "value_format", "value_options", "the event time", "the watermark", "the view")
"""Facts of a stream that are about its rows, and not about the place where they are."""


def _places(stream: Mapping[str, str]) -> dict[str, str]:
    return {name: fact for name, fact in stream.items() if name.partition("'s ")[0] not in _OF_ROWS}


def _of_streams(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for view, stream in now.items():
        if view not in before:
            yield f"the stream of {stream['the table']} is new"
    for view, stream in before.items():
        if view not in now:
            yield f"the stream of {stream['the table']} is gone"
        else:
            yield from _pairs(stream, now[view], f" of {stream['the table']}")


def _pairs(
    before: Mapping[str, str], now: Mapping[str, str], whose: str = "", *, of: str = "", are_listed: bool = False
) -> Iterator[str]:
    """Changes of facts by name, a line each for people; a fact that is listed may be new or gone."""
    for name in dict.fromkeys([*before, *now]):
        was, is_ = before.get(name), now.get(name)
        is_option = "'s " in name  # its value is a hash
        if was == is_:
            continue
        if (is_option or are_listed) and (was is None or is_ is None):
            how = " is new" if was is None else " is gone"
        else:
            how = " has another value" if is_option else f": {was or 'none'} before, {is_ or 'none'} now"
        yield f"{of}{name}{whose}{how}"


def _quoted(line: str) -> str:
    return f"`{line if len(line) <= 160 else line[:157] + '...'}`" if line else "nothing"


def _words(interval: Interval | None) -> str:
    return "none" if interval is None else interval.words()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def digest(names: Iterable[str]) -> str:
    """A hash of names in any order, with their number."""
    ordered = sorted(names)
    return f"{len(ordered)}:{hashlib.sha256(chr(10).join(ordered).encode()).hexdigest()[:24]}"
