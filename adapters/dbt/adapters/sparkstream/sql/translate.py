"""From a statement to Spark SQL: parse, check, edit in place."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dbt.adapters.sparkstream.sql.errors import TranslationError, TranslationWarning

if TYPE_CHECKING:
    from dbt.adapters.sparkstream.sql.batches import Batch

Schema = Mapping[str, Mapping[str, str]]
"""Table, as the SQL names it -> column -> Spark type, such as `decimal(10,2)`."""
Describe = Callable[[list[str]], Schema]
"""Gives the Schema of tables, as far as it can."""
Warn = Callable[[TranslationWarning], None]
"""Takes a warning."""

_FUNCTIONS = ("tumble", "hop", "cumulate", "session")
_SUFFIXES = ("", "_start", "_end", "_rowtime", "_proctime")
"""A window function is one of these words with one of these suffixes, and a parenthesis; in any case."""
_COMMENTS = ("--", "/*")
"""What may stand between two words beside white space."""
_CLOSINGS = {"'": "'", '"': '"', "`": "`", "--": "\n", "/*": "*/"}
"""What begins a string, a quoted name or a comment -> what ends it."""


def translate(
    sql: str,
    dialect: str = "spark",
    *,
    optimize: bool = True,
    mode: str = "batch",
    arrival: str | None = None,
    schema: Schema | Describe | None = None,
    warn: Warn = warnings.warn,
    batch: Batch | None = None,
) -> str:
    """Translates a statement to Spark SQL.

    What is outside our constructs stays as it is, character for character; a Spark statement without any of them
    is returned as the same object.

    Args:
        sql: one or more statements.
        dialect: `spark` (Spark SQL plus window functions, frames and islands), `flink`, `openmldb` or `sqlstream`.
        optimize: whether the optimiser may rewrite a query to a faster one with the same rows.
        mode: `batch`; or `stream` for the plan of a query whose tables are streams, as text: what runs as a stream,
            and in a comment and behind it what runs on the rows that a micro-batch has closed.
        arrival: the column that numbers rows in order of arrival; breaks ties in frames.
        schema: table -> column -> Spark type, as far as known: lets the translator check columns and drop casts. Or a
            function that gives it for the tables it is asked for; it is called once, and only if it would help.
        warn: what takes a TranslationWarning; by default Python's warnings.
        batch: the batch of a microbatch model whose SQL this is: what dbt cuts relations to.

    Raises:
        TranslationError: what is wrong, where and how to write it.
        ValueError: an unknown dialect or mode, or a key of `schema` that is no table's name.
    """
    if mode == "stream":
        from dbt.adapters.sparkstream.sql.streaming import plan

        if callable(schema):
            names = tables(sql, dialect, whole=True)
            schema = schema(names) if names else None
        return plan(sql, dialect, streams=None, schema=schema, optimize=optimize, arrival=arrival, warn=warn).describe()
    if dialect == "spark" and not may_hold_windows(sql):
        return sql
    from dbt.adapters.sparkstream.sql.net import net
    from dbt.adapters.sparkstream.sql.statement import Statement

    warnings_: list[TranslationWarning] = []

    def translated(schema: Schema | None) -> str:
        with _gc_paused(), net(sql):
            return statement.translated(schema, arrival=arrival, warn=warnings_.append, optimize=optimize, batch=batch)

    with _gc_paused(), net(sql):
        statement = Statement.parse(sql, dialect, mode=mode, optimize=optimize)
        names = statement.tables() if callable(schema) else []
    if callable(schema):
        schema = schema(names) if names else None  # may ask a server, which takes its time
    text = translated(schema)
    for warning in warnings_:
        warn(warning)
    return text


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
        whole: whether a plain statement needs one too, as in mode `stream`.

    Raises:
        TranslationError: the statement can't be parsed.
    """
    if dialect == "spark" and not whole and not may_hold_windows(sql):
        return []
    from dbt.adapters.sparkstream.sql.net import net
    from dbt.adapters.sparkstream.sql.statement import Statement

    with net(sql):
        return Statement.parse(sql, dialect, whole=whole).tables()


def may_hold_windows(sql: str) -> bool:
    """Whether a Spark statement may hold one of our constructs; a quick test that never misses one."""
    text = sql.lower()
    if not (_holds_words(text) or "<<" in text):
        return False
    code = _code(text)
    return _holds_words(code) or _holds_island(code)


def _holds_words(text: str) -> bool:
    return (
        any(_followed(text, word, _SUFFIXES, ("(", *_COMMENTS)) for word in _FUNCTIONS)
        or may_hold_frames(text)
        or _followed(text, "last", ("",), ("join", *_COMMENTS))
    )


def may_hold_frames(text: str) -> bool:
    """Whether a text in lower case may hold a frame that Spark doesn't know; a quick test that never misses one."""
    return (
        "rows_range" in text
        or "instance_not_in_window" in text
        or "maxsize" in text
        or ("preceding" in text and ("open" in text or "exclude" in text or "union" in text))
    )


def _holds_island(text: str) -> bool:
    """Whether a << stands where a relation does: an island, be its function's name right or not."""
    before, *rest = text.split("<<")
    for following in rest:
        before = before.rstrip()
        if before.endswith((",", "(", "from", "join", "*/")):
            return True
        before = following
    return False


def _followed(text: str, word: str, suffixes: tuple[str, ...], by: tuple[str, ...]) -> bool:
    """Whether a word, with one of the suffixes, stands in a text with one of some texts behind it."""
    at = text.find(word)
    while at >= 0:
        if not (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
            for suffix in suffixes:
                end = at + len(word) + len(suffix)
                if text.startswith(suffix, at + len(word)) and _after_blank(text, end).startswith(by):
                    return True
        at = text.find(word, at + 1)
    return False


def _code(text: str) -> str:
    """A text without its strings, quoted names and comments; or all of it where it takes a tokenizer to find them."""
    if "\\" in text or "\r" in text:
        return text
    text += "\n"
    code, at = [], 0
    starts = {opening: start for opening in _CLOSINGS if (start := text.find(opening)) >= 0}
    while starts:
        opening = min(starts, key=starts.__getitem__)
        inside = starts[opening] + len(opening)
        end = text.find(_CLOSINGS[opening], inside)
        if end < 0 or (opening == "/*" and "/*" in text[inside:end]):
            return text
        code.append(text[at : starts[opening]])
        at = end + len(_CLOSINGS[opening])
        starts = {o: new for o, old in starts.items() if (new := old if old >= at else text.find(o, at)) >= 0}
    return " ".join((*code, text[at:]))


def _after_blank(text: str, at: int) -> str:
    """The next few characters that are no white space."""
    while at < len(text) and text[at].isspace():
        at += 1
    return text[at : at + 8]


__all__ = ["Schema", "TranslationError", "TranslationWarning", "may_hold_windows", "tables", "translate"]
