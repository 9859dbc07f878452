"""EXTRACT, FLOOR, CEIL, lengths of time and differences of Flink SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.interval import MICROS, MISREAD_WEEK, Interval, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.nodes import Difference
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.datetime import ceil_to, floor_to, months_between, rounds_to
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, cast, handles
from dbt.adapters.sparkstream.sql.passes.flink.typenames import family


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
    """Edits EXTRACT, FLOOR and CEIL, differences of times, and lengths of time."""

    @handles(exp.Extract)
    def _extract(self, node: exp.Extract) -> Iterator[Edit]:
        unit = node.this.name.upper()
        if unit not in _EXTRACTED:
            return
        type_ = self.type(node.expression)
        whole = "YEAR TO MONTH" if unit in ("YEAR", "MONTH") else "DAY TO SECOND"

        def text() -> str:
            time = self.text(node.expression)
            if family(type_) == "interval":  # else Spark takes only units that it is written with
                time = f"CAST({time} AS INTERVAL {whole})"
            return _EXTRACTED[unit](time, type_)

        yield self.edit(node, text)

    @handles(Difference)
    def _difference(self, node: Difference) -> Iterator[Edit]:
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

    @handles(exp.Floor, exp.Ceil)
    def _round(self, node: exp.Floor | exp.Ceil) -> Iterator[Edit]:
        to, type_ = node.args.get("to"), self.type(node.this)
        if to is None:
            name = type(node).__name__.upper()
            if types.is_decimal(type_) and types.decimal_parts(type_ or "")[1] > 1:  # Spark drops all digits behind it
                yield self.edit(node, lambda: cast(self.text(node), self.type(node) or ""), level=1)
            elif type_ in types.INTEGERS:
                yield self.edit(node, lambda: cast(f"{name}({self.text(node.this)})", type_ or ""))
            elif type_ in ("double", "float"):
                yield self.edit(node, lambda: _rounded(name, self.text(node.this), type_ or ""))
            return
        convert, unit = floor_to if isinstance(node, exp.Floor) else ceil_to, to.name.upper()
        if rounds_to(unit, type_):
            yield self.edit(node, lambda: convert(self.text(node.this), unit, type_))

    @handles(exp.Interval)
    def _interval(self, node: exp.Interval) -> Iterator[Edit]:
        unit = node.args.get("unit")
        if unit is None or node.this is None:  # the type INTERVAL DAY
            return
        yield from self._constant(node, unit)
        if is_computed(node) and not (isinstance(node.this, exp.Neg) and node.this.this.is_string):
            yield from self._computed(node, unit)  # INTERVAL -'1' DAY is a constant to Spark, too

    def _constant(self, node: exp.Interval, unit: exp.Expr) -> Iterator[Edit]:
        """Refuses units that Flink misreads, and leaves precisions out: DAY(3), SECOND(3), SECOND(1, 3)."""
        first = unit.this if isinstance(unit, exp.IntervalSpan) else unit
        name = str(first.name or first.sql()).upper()
        if name in ("WEEK", "WEEKS"):
            self.refuse(node, MISREAD_WEEK, "write '7' DAY")
        if name in ("QUARTER", "QUARTERS"):
            self.refuse(node, "Flink reads a QUARTER as one month", "write '3' MONTH")
        days = self._days_of_date(node)
        if days is not None:
            yield self.edit(node, lambda: f"INTERVAL '{days}' DAY")
            return
        if self.source.tokens_in(self.source.span(node))[1].token_type in (TokenType.NUMBER, TokenType.DASH):
            return  # INTERVAL 1 DAY, which Spark has as well
        places = self.source.tokens.within((self.source.span(node.this)[1], self.source.span(node)[1]))
        for i in places:
            token = self.source.tokens[i]
            if token.token_type == TokenType.L_PAREN:
                behind = self.source.tokens.behind(i)
                yield Edit.to((token.start, self.source.tokens[behind - 1].end + 1), "")

    def _computed(self, node: exp.Interval, unit: exp.Expr) -> Iterator[Edit]:
        """`INTERVAL n DAY` as a multiple of a constant length."""
        number = node.this
        if isinstance(unit, exp.IntervalSpan):
            self.refuse(node, "a number of units has one unit", "write INTERVAL '1:30' HOUR TO MINUTE for a constant")
        factor = "({})" if isinstance(number, (exp.Binary, exp.Neg)) else "{}"
        yield self.edit(node, lambda: f"({factor.format(self.text(number))} * INTERVAL '1' {unit.name.upper()})")

    def _days_of_date(self, node: exp.Expr) -> int | None:
        """The whole days of a length of time that is added to a date: Flink's result is a date, whatever the hours."""
        sum_ = node.parent
        if not isinstance(sum_, (exp.Add, exp.Sub)):
            return None
        other = sum_.left if node.arg_key == "expression" else sum_.right
        if self.type(other) != "date":
            return None
        length = constant_length(self.source, node)
        if length is None:
            return None
        days = abs(length.micros) // MICROS["DAY"]
        return None if abs(length.micros) == days * MICROS["DAY"] else days if length.micros > 0 else -days


def _rounded(name: str, x: str, type_: str) -> str:
    """FLOOR or CEIL of a DOUBLE, whose BIGINT in Spark holds no infinities and no NaN; from 2^53 on all are whole."""
    return f"CASE WHEN ABS({x}) < 9E15 THEN {cast(f'{name}({x})', type_)} ELSE {x} END"


def constant_length(source: Source, node: exp.Expr) -> Interval | None:
    """The length of a constant interval; None for any other expression."""
    try:
        return read_interval(source.tokens_in(source.span(node)))
    except IntervalError:
        return None


def is_computed(interval: exp.Expr) -> bool:
    """True for a length other than `INTERVAL '1' DAY` and `INTERVAL 1 DAY`, whose 1 sqlglot makes a text."""
    return not (isinstance(interval.this, exp.Literal) and interval.this.is_string)
