"""Refuses constants that Flink can't read: dates, lengths of time and numbers; Spark would give NULL, or an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from math import isinf

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.clocks import is_time_of_day
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_KNOWN = (*_UNITS, "WEEK", "QUARTER")
_BEFORE = {"MONTH": "-", "HOUR": " +", "MINUTE": ":", "SECOND": ":"}
"""What stands before a unit's number where another unit is before it."""
_MONTHS = ("YEAR", "MONTH")
_MOST = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
"""The most that stands of a unit behind a larger one."""
_LARGEST = 2**63 - 1
_DAY = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})( \d{1,2}:\d{1,2}(:\d{1,2}(\.\d*)?)?)?\s*")


class Constants(Rewriter):
    """Checks DATE '...', TIMESTAMP '...', INTERVAL '...', x'...' and numbers."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            exp.Cast: self._time,
            exp.Interval: self._interval,
            exp.HexString: self._bytes,
            exp.Literal: self._number,
            exp.DataType: self._type,
        }

    def _time(self, node: exp.Expr) -> Iterable[Edit]:
        """`DATE '2024-13-01'` is no date; a text in CAST is read when the query runs."""
        assert isinstance(node, exp.Cast)
        value, start = node.this, self.source.span(node)[0]
        if not (isinstance(value, exp.Literal) and value.is_string) or self.source.text[start:].upper().startswith(
            "CAST"
        ):
            return ()
        if node.to.is_type("time"):
            self._time_of_day(node, value.name)
        if not node.to.is_type("date", "timestampntz", "timestamp"):
            return ()
        found = _DAY.fullmatch(value.name)
        if found is None or not _is_day(*map(int, found.groups()[:3])) or (node.to.is_type("date") and found[4]):
            self.refuse(node, f"'{value.name}' is none", "write DATE '2024-01-31' or TIMESTAMP '2024-01-31 10:00:00'")
        return ()

    def _time_of_day(self, node: exp.Cast, text: str) -> None:
        if self.source.tokens_in(self.source.span(node))[1].token_type == TokenType.L_PAREN:
            self.refuse(node, "TIME '...' has the digits that are written", f"write TIME '{text}'")
        if not is_time_of_day(text):
            self.refuse(node, f"'{text}' is no time of day", "write TIME '10:20:30'")

    def _interval(self, node: exp.Expr) -> Iterable[Edit]:
        unit, value = node.args.get("unit"), node.this
        if unit is None or not (isinstance(value, exp.Literal) and value.is_string):
            return ()
        parts = [unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit]
        first, last = (str(part.name or part.sql()).upper().removesuffix("S") for part in (parts[0], parts[-1]))
        if first not in _KNOWN or last not in _KNOWN:
            self.refuse(
                node, f"there is no unit {first if first not in _KNOWN else last}", f"one of {', '.join(_UNITS)}"
            )
        if first not in _UNITS or last not in _UNITS:
            return ()
        ordered = _UNITS.index(first) < _UNITS.index(last) and (first in _MONTHS) is (last in _MONTHS)
        if isinstance(unit, exp.IntervalSpan) and not ordered:
            self.refuse(
                node, f"an interval goes from a unit to a smaller one, not from {first} to {last}", "DAY TO SECOND"
            )
        units = _UNITS[_UNITS.index(first) : _UNITS.index(last) + 1]
        pattern = "".join(("" if i == 0 else _BEFORE.get(u, "")) + r"\d+" for i, u in enumerate(units))
        pattern += r"(\.\d+)?" if last == "SECOND" else ""
        if not re.fullmatch(rf"\s*[+-]?{pattern}\s*", value.name):
            self.refuse(node, f"'{value.name}' is no length of {' TO '.join(dict.fromkeys((first, last)))}")
        numbers = re.findall(r"\d+", value.name)
        for number, each in zip(numbers[1:], units[1:], strict=False):
            if int(number) > _MOST[each]:
                self.refuse(
                    node, f"{number} is too much for a {each} in '{value.name}'", f"write at most {_MOST[each]}"
                )
        return ()

    def _bytes(self, node: exp.Expr) -> Iterable[Edit]:
        if len(str(node.this)) % 2 and self.source.written(node).upper().startswith("X"):
            self.refuse(node, "each byte has two hexadecimal digits", "write such as x'04'")
        return ()

    def _number(self, node: exp.Expr) -> Iterable[Edit]:
        if node.is_string or not node.meta:
            return ()
        text = node.name
        if text[-1:].upper() == "E":
            self.refuse(node, f"{text} is no number", "write such as 1e0")
        if (int(text) > _LARGEST + 1) if text.isdecimal() else ("E" in text.upper() and isinf(float(text))):
            self.refuse(node, f"{text} is too large for a number of Flink's", "write CAST('...' AS DECIMAL(38, 0))")
        return ()

    def _type(self, node: exp.Expr) -> Iterable[Edit]:
        sizes = [size.this.name for size in node.expressions if isinstance(size, exp.DataTypeParam)]
        if (
            node.is_type("decimal")
            and len(sizes) == 2
            and all(map(str.isdecimal, sizes))
            and int(sizes[1]) > int(sizes[0])
        ):
            self.refuse(
                node.parent or node, f"DECIMAL has {sizes[0]} digits, of which {sizes[1]} can't be behind the point"
            )
        return ()


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(max(year, 1), month, day)
    except ValueError:
        return False
    return True
