"""Notation of translator tests: a statement and its translation, one line for each.

self.spark("SELECT * FROM tumble(t, ts, '5m')", spark=f"SELECT * FROM {tumble('t')}")
self.refused("SELECT * FROM tumble(t, ts, '0m')", "must be positive", at="'0m'", hint="'10 minutes'")
"""

from __future__ import annotations

import re

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from dbt.adapters.sparkstream.sql.core.schema import Schema


class Pairs:
    """Base of test classes: assertions on what `translate` makes of a statement, layout and comments aside."""

    def spark(self, sql: str, *, spark: str, schema: Schema | None = None) -> None:
        """Spark SQL with our window functions becomes `spark`."""
        assert flat(translate(sql, schema=schema, optimize=False)) == flat(spark)

    def flink(self, sql: str, *, spark: str, schema: Schema | None = None) -> None:
        """Flink SQL becomes `spark`."""
        assert flat(translate(sql, "flink", schema=schema, optimize=False)) == flat(spark)

    def unchanged(self, *statements: str) -> None:
        """Spark SQL comes back as the same object."""
        for sql in statements:
            assert translate(sql) is sql, f"not returned as it is: {sql}"

    def refused(
        self,
        sql: str,
        message: str,
        *,
        at: str,
        hint: str | None = None,
        dialect: str = "spark",
        schema: Schema | None = None,
    ) -> TranslationError:
        """A statement is refused with an error that points at the last place where `at` stands in it.

        Args:
            message: part of the message.
            at: what the error underlines, exactly.
            hint: part of the hint, or None for an error without one.
        """
        with pytest.raises(TranslationError) as raised:
            translate(sql, dialect, schema=schema)
        error = raised.value
        assert message in error.message
        start = sql.rindex(at)
        line = sql.count("\n", 0, start) + 1
        column = start - (sql.rfind("\n", 0, start) + 1) + 1
        first_line = at.split("\n")[0].rstrip("\r")
        assert (error.line, error.column, error.width) == (line, column, len(first_line)), str(error)
        assert error.source_line == sql.split("\n")[line - 1].rstrip("\r")
        if hint is None:
            assert error.hint is None
        else:
            assert error.hint is not None and hint in error.hint, str(error)
        return error

    def refused_flink(
        self, sql: str, message: str, *, at: str, hint: str | None = None, schema: Schema | None = None
    ) -> TranslationError:
        """Like `refused`, for Flink SQL."""
        return self.refused(sql, message, at=at, hint=hint, dialect="flink", schema=schema)


def flat(sql: str) -> str:
    """A statement on one line, without block comments and without space inside parentheses."""
    sql = re.sub(r"/\*(?!\+).*?\*/", " ", sql, flags=re.S)
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", sql)).strip()


# -- the Spark SQL of window functions, when the type of the time column isn't known -----------------------------------
def _columns(start: str, end: str, last: str, ts: str, flink: bool) -> str:
    """The window columns; `last` is the end less a millisecond. Flink's bounds have no zone."""
    if flink:
        return f"{start} AS window_start, {end} AS window_end, coalesce({last}, {ts}) AS window_time"
    return f"""coalesce({start}, {ts}) AS window_start, coalesce({end}, {ts}) AS window_end,
        coalesce({end}, {ts}) - INTERVAL '0.001' SECOND AS window_time"""


def tumble(relation: str = "t", ts: str = "ts", window: str = "'5 minutes'", *, flink: bool = False) -> str:
    """TUMBLE; `window` is what Spark's `window()` takes after the time."""
    start, end = "__window.start", "__window.end"
    return f"""(
        SELECT * EXCEPT (__window), {_columns(start, end, f"{end} - INTERVAL '0.001' SECOND", ts, flink)}
        FROM (SELECT *, window(CAST({ts} AS TIMESTAMP_NTZ), {window}) AS __window FROM {relation}))"""


def hop(
    relation: str,
    ts: str,
    slide: str,
    *,
    window: str,
    size: str,
    last: str,
    back: str,
    uneven: bool = False,
    flink: bool = False,
) -> str:
    """HOP.

    Args:
        slide: as interval literal without INTERVAL, such as `'5' MINUTE`.
        window: what Spark's `window()` takes after the time.
        size: like slide.
        last: the size less a millisecond, like slide.
        back: from the last window of a row to the first, like slide; empty when it is in one only.
        uneven: True if the size is no multiple of the slide.
    """
    first = f"__rows.__slide.start - INTERVAL {back}" if back else "__rows.__slide.start"
    where = f" WHERE CAST(__rows.{ts} AS TIMESTAMP_NTZ) < __hop.start + INTERVAL {size}" if uneven else ""
    start, end, last = (f"__hop.start{shift}" for shift in ("", f" + INTERVAL {size}", f" + INTERVAL {last}"))
    return f"""(
        SELECT __rows.* EXCEPT (__slide), {_columns(start, end, last, f"__rows.{ts}", flink)}
        FROM (SELECT *, window(CAST({ts} AS TIMESTAMP_NTZ), {window}) AS __slide FROM {relation}) AS __rows
        LATERAL VIEW explode(sequence({first}, __rows.__slide.start, INTERVAL {slide})) __hop AS start{where})"""


def cumulate(relation: str, ts: str, step: str, *, window: str, micros: int, flink: bool = False) -> str:
    """CUMULATE.

    Args:
        window: what Spark's `window()` takes after the time, for the largest window.
        micros: the step in microseconds.
    """
    block, end = "__rows.__block", "__step.end"
    steps = f"(CAST(__rows.{ts} AS TIMESTAMP_NTZ) - {block}.start) DIV INTERVAL {step} + 1"
    shown = f"CAST(coalesce({end}, __rows.{ts}) AS TIMESTAMP_NTZ)"
    where = f"""WHERE current_timezone() IN ('UTC', 'Etc/UTC', 'GMT') OR NOT (
        {shown} > {end} AND {shown} <= {block}.end
        AND pmod(({shown} - {end}) DIV INTERVAL '0.000001' SECOND, {micros}) = 0)"""
    return f"""(
        SELECT __rows.* EXCEPT (__block),
            {_columns(f"{block}.start", end, f"{end} - INTERVAL '0.001' SECOND", f"__rows.{ts}", flink)}
        FROM (SELECT *, window(CAST({ts} AS TIMESTAMP_NTZ), {window}) AS __block FROM {relation}) AS __rows
        LATERAL VIEW explode(sequence({block}.start + INTERVAL {step} * ({steps}), {block}.end, INTERVAL {step}))
            __step AS end {"" if flink else where})"""


def session(
    relation: str = "t",
    ts: str = "ts",
    gap: str = "'2' MINUTE",
    last: str = "'119.999' SECOND",
    keys: str = "",
    *,
    flink: bool = False,
) -> str:
    """SESSION; `last` is the gap less a millisecond, `keys` is what stands in PARTITION BY."""
    per_key = f"PARTITION BY {keys} " if keys else ""
    start, end = (f"{bound}(__time) OVER __same" for bound in ("min", "max"))
    return f"""(
        SELECT * EXCEPT (__time, __opens, __session),
            {_columns(start, f"{end} + INTERVAL {gap}", f"{end} + INTERVAL {last}", ts, flink)}
        FROM (SELECT *, count_if(__opens) OVER ({per_key}ORDER BY __time) AS __session
            FROM (SELECT *,
                    coalesce(__time - lag(__time) OVER ({per_key}ORDER BY __time) > INTERVAL {gap}, TRUE) AS __opens
                FROM (SELECT *, window(CAST({ts} AS TIMESTAMP_NTZ), '0.001 seconds').start AS __time
                    FROM {relation})))
        WINDOW __same AS (PARTITION BY {f"{keys}, " if keys else ""}__session))"""
