"""From a statement to Spark SQL: parse, check, edit in place."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.core.errors import ArgumentError, TranslationError, TranslationWarning, Warn
from dbt.adapters.sparkstream.sql.core.limits import at_most
from dbt.adapters.sparkstream.sql.core.schema import Describe, Schema
from dbt.adapters.sparkstream.sql.grammar.words import may_hold_windows

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.core.source import Traced
    from dbt.adapters.sparkstream.sql.passes.batches import Microbatch
    from dbt.adapters.sparkstream.sql.passes.flink.names import EventTimeOf


def translate(
    sql: str,
    dialect: str = "spark",
    *,
    optimize: bool = True,
    skewed: bool = False,
    max_windows: int | None = None,
    max_partial_matches: int | None = None,
    mode: str = "batch",
    arrival: str | None = None,
    schema: Schema | Describe | None = None,
    warn: Warn = warnings.warn,
    batch: Microbatch | None = None,
) -> str:
    """Translates a statement to Spark SQL.

    What is outside our constructs stays as it is, character for character; a Spark statement without any of them
    is returned as the same object.

    Args:
        sql: one or more statements.
        dialect: `spark` (Spark SQL plus window functions, frames and islands), `flink`, `openmldb` or `sqlstream`.
        optimize: True if the optimiser may rewrite a query to a faster one with the same rows.
        skewed: True if one key has most of the rows: its frames are split by time, where they can be, and
            a warning says where they can't. Not for streams, nor without `optimize`.
        max_windows: in how many windows a row may be; a million unless it is set.
        max_partial_matches: how many partial matches a MATCH_RECOGNIZE may hold at once; 10,000 unless it is set.
        mode: `batch`; or `stream` for the plan of a query whose tables are streams, as text: what runs as a stream,
            and in a comment and behind it what runs on the rows that a micro-batch has closed.
        arrival: the column that numbers rows in order of arrival; breaks ties in frames.
        schema: table -> column -> Spark type, as far as known: lets the translator check columns and drop casts. Or a
            function that gives it for the tables it is asked for; it is called once, and only if it would help.
        warn: what takes a TranslationWarning; by default Python's warnings.
        batch: the batch of a microbatch model whose SQL this is: what dbt cuts relations to.

    Raises:
        TranslationError: what is wrong, where and how to write it.
        ValueError: an unknown dialect or mode, `skewed` where it can't be, or a key of `schema` that names no table.
    """
    if mode not in ("batch", "stream"):
        raise ArgumentError(f"unknown mode {mode!r}; there are batch, stream")
    if skewed and (mode == "stream" or not optimize):
        raise ArgumentError("skewed is for batch, with the optimizer on: leave it out")
    with at_most(max_windows, max_partial_matches):
        if mode != "stream":
            found = traced(
                sql, dialect, optimize=optimize, skewed=skewed, arrival=arrival, schema=schema, warn=warn, batch=batch
            )
            return sql if found is None else found.text
        from dbt.adapters.sparkstream.sql.streaming import plan

        if callable(schema):
            names = tables(sql, dialect, whole=True)
            schema = schema(names) if names else None
        return plan(sql, dialect, streams=None, schema=schema, optimize=optimize, arrival=arrival, warn=warn).describe()


def traced(
    sql: str,
    dialect: str,
    *,
    optimize: bool,
    arrival: str | None,
    schema: Schema | Describe | None,
    warn: Warn,
    batch: Microbatch | None,
    skewed: bool = False,
    event_time_of: EventTimeOf | None = None,
) -> Traced | None:
    """Result of `translate`, with the place in the statement of each of its pieces; None where nothing is translated.

    Args:
        event_time_of: gives the event time of a table, by its name: what Confluent's `$rowtime` is.
    """
    if dialect == "spark" and not may_hold_windows(sql, skewed):
        return None
    from dbt.adapters.sparkstream.sql.core.source import blamed_on
    from dbt.adapters.sparkstream.sql.grammar.net import netted
    from dbt.adapters.sparkstream.sql.statement import Statement

    named = with_event_times(sql, event_time_of) if event_time_of and may_name_rowtime(sql, dialect) else None
    given = sql if named is None else named.text

    def read() -> tuple[Statement, list[str]]:
        statement = Statement.parse(given, dialect, whole=skewed)
        return statement, statement.tables(skewed=skewed) if callable(schema) else []

    def written() -> tuple[list[TranslationWarning], Traced]:
        found = list(statement.warnings(known, batch))
        text = statement.traced(known, arrival=arrival, optimize=optimize, skewed=skewed, batch=batch)
        return [*found, *statement.unsplit], text

    with nullcontext() if named is None else blamed_on(sql, named):
        with _gc_paused():
            statement, names = netted(given, dialect, read)
        # A function for the schema may ask a server, which takes its time.
        known = (schema(names) if names else None) if callable(schema) else schema
        with _gc_paused():
            found, text = netted(given, dialect, written)
    for warning in found:
        warn(warning)
    return text if named is None else text.after(named)


def may_name_rowtime(sql: str, dialect: str) -> bool:
    """True if a statement may name the event time as Confluent does."""
    return dialect == "flink" and "$rowtime" in sql.lower()


def with_event_times(sql: str, event_time_of: EventTimeOf) -> Traced:
    """A statement of dialect `flink` with `$rowtime` as the column that it is, where that is known.

    Raises:
        TranslationError: it can't be parsed.
    """
    from dbt.adapters.sparkstream.sql.grammar.net import netted
    from dbt.adapters.sparkstream.sql.statement import Statement

    return netted(sql, "flink", lambda: Statement.parse(sql, "flink", whole=True).with_event_times(event_time_of))


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Spares the garbage collector the thousands of nodes of a syntax tree while it grows: half of the slowest runs."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def tables(sql: str, dialect: str = "spark", *, whole: bool = False) -> list[str]:
    """The tables, as the statement names them, whose columns `translate` would like to know in `schema`.

    Empty for a statement that needs no translation.

    Args:
        whole: True if tables of a statement without our constructs are given, too, as mode `stream` needs.

    Raises:
        TranslationError: the statement can't be parsed.
    """
    if dialect == "spark" and not whole and not may_hold_windows(sql):
        return []
    from dbt.adapters.sparkstream.sql.grammar.net import netted
    from dbt.adapters.sparkstream.sql.statement import Statement

    return netted(sql, dialect, lambda: Statement.parse(sql, dialect, whole=whole).tables())


__all__ = ["Schema", "TranslationError", "TranslationWarning", "may_hold_windows", "tables", "translate"]
