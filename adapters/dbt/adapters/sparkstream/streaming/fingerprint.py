"""What a streaming table was made from, in a form that can be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.streaming.reader import state_depends_on
from dbt.adapters.sparkstream.streaming.source import StreamSource

LOWERING = 1
"""Counts the changes of the translation after which state of earlier runs can't be read any more."""


def fingerprint(
    sql: str,
    dialect: str,
    sources: Iterable[StreamSource],
    columns: Sequence[tuple[str, str]],
    flush: bool,
    zone: str,
    *,
    keeps: Sequence[str] = (),
) -> str:
    """A hash of all that state depends on; comments, white space and the case of keywords make no difference.

    Args:
        sql: the query as written, with the streams by name.
        dialect: what it is written in.
        sources: its streams.
        columns: names and types of the columns it gives.
        flush: whether the query has an input for flushing.
        zone: the time zone whose clock windows follow.
        keeps: what is kept in another way than as Spark's state.
    """
    tokens = [token.text for token in DIALECTS[dialect]().tokenize(sql)]
    streams = sorted(
        (
            s.view,
            s.relation,
            s.event_time or "",
            s.watermark.micros if s.watermark else -1,
            json.dumps(state_depends_on(s.as_written)),
            *([s.seen.query.sql, *s.seen.columns] if s.seen else []),
        )
        for s in sources
    )
    facts = json.dumps([LOWERING, dialect, tokens, streams, list(columns), flush, zone, *keeps])
    return hashlib.sha256(facts.encode()).hexdigest()[:32]


def digest(names: Iterable[str]) -> str:
    """A hash of names in any order, with their number."""
    ordered = sorted(names)
    return f"{len(ordered)}:{hashlib.sha256(chr(10).join(ordered).encode()).hexdigest()[:24]}"
