"""EXTRACT, FLOOR, CEIL, INTERVAL and sums of TIMESTAMP_LTZ of Flink SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.interval import MICROS, Interval, IntervalError
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nodes import Difference
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.grammar.intervals import read_interval
from dbt.adapters.sparkstream.sql.passes.flink import instants
from dbt.adapters.sparkstream.sql.passes.flink.datetime import ceil_to, floor_to, months_between
from dbt.adapters.sparkstream.sql.passes.flink.families import MONTHS, family
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter


def _field(name: str) -> Callable[[str, str | None], str]:
    return lambda time, _: f"CAST(EXTRACT({name} FROM {time}) AS BIGINT)"


def _epoch(time: str, type_: str | None) -> str:
    if type_ == "timestamp":
        return f"UNIX_SECONDS({time})"
    # Without a zone the clock itself counts, whatever the session's zone.
    return f"((CAST({time} AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ '1970-01-01') DIV INTERVAL '1' SECOND)"


_EXTRACTED: dict[str, Callable[[str, str | None], str]] = {
    **{name: _field(name) for name in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DOW", "HOUR", "MINUTE")},
    "ISODOW": _field("DAYOFWEEK_ISO"),
    "ISOYEAR": _field("YEAROFWEEK"),
    "CENTURY": lambda time, _: f"CAST(CEIL(YEAR({time}) / 100) AS BIGINT)",
    "MILLENNIUM": lambda time, _: f"CAST(CEIL(YEAR({time}) / 1000) AS BIGINT)",
    "DECADE": lambda time, _: f"CAST(YEAR({time}) DIV 10 AS BIGINT)",
    "SECOND": lambda time, _: f"CAST(FLOOR(EXTRACT(SECOND FROM {time})) AS BIGINT)",
    "MILLISECOND": lambda time, _: f"CAST(FLOOR(EXTRACT(SECOND FROM {time}) * 1000) % 1000 AS BIGINT)",
    "MICROSECOND": lambda time, _: f"CAST(EXTRACT(SECOND FROM {time}) % 1 * 1000000 AS BIGINT)",
    "NANOSECOND": lambda time, _: f"CAST(EXTRACT(SECOND FROM {time}) % 1 * 1000000000 AS BIGINT)",
    "EPOCH": _epoch,
}
"""Fields of EXTRACT -> Spark SQL from the time and its type; all BIGINT and whole in Flink."""


class TimeExpressions(Rewriter):
    """Edits what takes a time apart or rounds it, and lengths of time."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Extract: self._extract,
            exp.Floor: self._round,
            exp.Ceil: self._round,
            exp.Interval: self._interval,
            Difference: self._difference,
            **dict.fromkeys((exp.Add, exp.Sub), self._sum),
        }

    def _extract(self, node: exp.Expr) -> Iterator[Edit]:
        unit = node.this.name.upper()
        if unit not in _EXTRACTED:
            self.refuse(node, f"EXTRACT({unit} FROM ...) has no counterpart", f"one of {', '.join(_EXTRACTED)}")
        type_ = self.type(node.expression)
        whole = "YEAR TO MONTH" if unit in ("YEAR", "MONTH") else "DAY TO SECOND"

        def text() -> str:
            time = self.text(node.expression)
            if family(type_) == "interval":  # else Spark takes only units that it is written with
                time = f"CAST({time} AS INTERVAL {whole})"
            return _EXTRACTED[unit](time, type_)

        yield self.edit(node, text)

    def _difference(self, node: exp.Expr) -> Iterator[Edit]:
        """`(a - b) DAY`: all of the time between, whatever the unit; in months or years, the whole months of it."""
        first, last = node.this.right, node.this.left
        for side in (first, last):
            if family(self.type(side)) not in (None, "date", "time", "clock"):
                self.refuse(side, f"a {self.type(side)} is no time", "write such as (t2 - t1) DAY")
        kinds = {family(self.type(side)) for side in (first, last)}
        if "clock" in kinds and (len(kinds - {None}) > 1 or node.args["unit"] in ("MONTH", "YEAR")):
            self.refuse(node, "there are hours and seconds between two TIMEs", "write such as (t2 - t1) SECOND")
        if node.args["unit"] in ("MONTH", "YEAR"):
            months = lambda: months_between(self.text(first), self.text(last))  # noqa: E731
            yield self.edit(node, lambda: f"MAKE_YM_INTERVAL(0, {months()})")
        else:
            yield self.edit(node, lambda: f"({self.text(node.this)})")

    def _sum(self, node: exp.Expr) -> Iterator[Edit]:
        """A TIMESTAMP plus or minus a length of time, which elapses in Flink."""
        assert isinstance(node, exp.Binary)
        added = isinstance(node, exp.Add)
        for time, length in ((node.left, node.right), *([(node.right, node.left)] if added else [])):
            if self.type(time) == "timestamp" and family(self.type(length)) == "interval":
                yield from self._later(node, time, "+" if added else "-", length)

    def _later(self, node: exp.Expr, time: exp.Expr, sign: str, length: exp.Expr) -> Iterator[Edit]:
        constant = self._constant(length)
        if self.type(length) == MONTHS:
            yield self.edit(node, lambda: instants.months_later(self.text(time), sign, self.text(length)))
        elif constant is None:
            yield self.edit(node, lambda: instants.later_by(self.text(time), sign, self.text(length)))
        elif instants.is_long(constant):
            yield self.edit(node, lambda: instants.later(self.text(time), sign, constant))

    def _constant(self, node: exp.Expr) -> Interval | None:
        """The length of a constant interval."""
        try:
            return read_interval(self.source.tokens_in(self.source.span(node)), strict=False)
        except IntervalError:
            return None

    def _round(self, node: exp.Expr) -> Iterator[Edit]:
        to = node.args.get("to")
        type_ = self.type(node.this)
        name = type(node).__name__.upper()
        if to is None:
            if type_ in ("double", "float") or type_ in types.INTEGERS:
                yield self.edit(node, lambda: f"CAST({name}({self.text(node.this)}) AS {(type_ or '').upper()})")
            return
        convert = floor_to if isinstance(node, exp.Floor) else ceil_to

        def text() -> str:
            try:
                return convert(self.text(node.this), to.name.upper(), type_)
            except ValueError as error:
                raise self.source.error(self.source.span(node), str(error)) from None

        yield self.edit(node, text)

    def _interval(self, node: exp.Expr) -> Iterator[Edit]:
        unit = node.args.get("unit")
        if unit is None or node.this is None:  # the type INTERVAL DAY
            return
        names = [
            str(u.name or u.sql()).upper()
            for u in ([unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit])
        ]
        if names[0] in ("WEEK", "WEEKS"):
            self.refuse(
                node, "WEEK is no unit that Flink can be trusted with (2.2 reads it as one hour)", "write '7' DAY"
            )
        if names[0] in ("QUARTER", "QUARTERS"):
            self.refuse(node, "Flink reads a QUARTER as one month", "write '3' MONTH")
        days = self._days_of_date(node)
        if days is not None:
            yield self.edit(node, lambda: f"INTERVAL '{days}' DAY")
            return
        if self.source.tokens_in(self.source.span(node))[1].token_type in (TokenType.NUMBER, TokenType.DASH):
            return  # INTERVAL 1 DAY, which Spark has as well
        # Spark takes no precision: DAY(3), SECOND(3), SECOND(1, 3).
        places = self.source.tokens.within((self.source.span(node.this)[1], self.source.span(node)[1]))
        for i in places:
            token = self.source.tokens[i]
            if token.token_type == TokenType.L_PAREN:
                behind = self.source.tokens.behind(i)
                yield Edit((token.start, self.source.tokens[behind - 1].end + 1), lambda: "")

    def _days_of_date(self, node: exp.Expr) -> int | None:
        """The whole days of a length of time that is added to a date: Flink's result is a date, whatever the hours."""
        sum_ = node.parent
        if not isinstance(sum_, (exp.Add, exp.Sub)):
            return None
        other = sum_.left if node.arg_key == "expression" else sum_.right
        if self.type(other) != "date":
            return None
        length = self._constant(node)
        if length is None:
            return None
        days = abs(length.micros) // MICROS["DAY"]
        return None if abs(length.micros) == days * MICROS["DAY"] else days if length.micros > 0 else -days
