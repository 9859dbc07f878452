"""Lengths of time: one value type, read from every spelling and written for Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.errors import RefusedError

MICROS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""Microseconds in each unit of fixed length."""

TIME_UNITS = (*MICROS, "MONTH", "QUARTER", "YEAR")
"""The units that Spark rounds times to, and counts between times, the shortest first."""

VARIABLE_UNITS = frozenset({"MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY"})
"""Units without a fixed length: no window can have them as its size."""

_SHORT = {
    "US": "MICROSECOND",
    "MS": "MILLISECOND",
    **dict.fromkeys(("S", "SEC", "SECS"), "SECOND"),
    **dict.fromkeys(("M", "MIN", "MINS"), "MINUTE"),
    **dict.fromkeys(("H", "HR", "HRS"), "HOUR"),
    "D": "DAY",
    "W": "WEEK",
}
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_PER_LARGER = {"HOUR": 24, "MINUTE": 60, "SECOND": 60}


class IntervalError(RefusedError):
    """A text that is no interval; `hint` says how to write it."""


def unit_name(word: str) -> str:
    """The singular, upper-case name of a unit: `minutes`, `MIN`, `m` -> `MINUTE`.

    Raises:
        IntervalError: an unknown unit, or one without a fixed length.
    """
    upper = word.upper()
    name = _SHORT.get(upper) or (upper[:-1] if upper.endswith("S") and upper[:-1] not in _SHORT else upper)
    name = _SHORT.get(name, name)
    if name in MICROS:
        return name
    if name in VARIABLE_UNITS or upper == "CENTURIES":
        raise IntervalError(
            f"a window can't be sized in {upper}: a month or year has no fixed length",
            "use days or smaller units, or group by date_trunc('month', ...)",
        )
    raise IntervalError(f"unknown unit of time {word!r}", "use milliseconds, seconds, minutes, hours, days or weeks")


LONGEST_TEXT = 200
"""Characters of an interval: more can't be one, and would only make numbers that take long."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_LONGEST = 2**63
"""Microseconds from which on Spark has no interval."""


def _number(text: str) -> Fraction:
    if not _NUMBER.fullmatch(text.strip()):
        raise IntervalError(f"{text!r} is not a number", "write a number and a unit, such as '10 minutes'")
    return Fraction(text.strip())


@dataclass(frozen=True, order=True)
class Interval:
    """A length of time, in whole microseconds; may be negative."""

    micros: int

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.micros + other.micros)

    def __mul__(self, times: int) -> Interval:
        return Interval(self.micros * times)

    def __mod__(self, other: Interval) -> Interval:
        return Interval(self.micros % other.micros)

    def __floordiv__(self, other: Interval) -> int:
        return self.micros // other.micros

    def __bool__(self) -> bool:
        return self.micros != 0

    @classmethod
    def of(cls, amount: str, unit: str) -> Interval:
        """Length from an amount and a unit: `of('10', 'minutes')`; fractions are fine down to a microsecond."""
        micros = _number(amount) * MICROS[unit_name(unit)]
        if micros.denominator != 1:
            raise IntervalError(f"{amount} {unit} is finer than a microsecond", "write microseconds or larger units")
        if abs(micros) >= _LONGEST:
            raise IntervalError(f"{amount} {unit} is longer than any interval of Spark", "write 106751991 days or less")
        return cls(int(micros))

    @classmethod
    def parse(cls, text: str) -> Interval:
        """Reads `10 minutes`, `10m`, `1 hour 30 minutes`, `-2 min`.

        Raises:
            IntervalError: the text is none of these.
        """
        if len(text) > LONGEST_TEXT:
            raise IntervalError("this is too long for an interval", "write a number and a unit, such as '10 minutes'")
        total = cls(0)
        rest = " ".join(text.split())
        if rest[:9].lower() == "interval ":
            rest = rest[9:].lstrip()
        if not rest:
            raise IntervalError("empty interval", "write a number and a unit, such as '10 minutes'")
        while rest:
            digits = len(rest) - len(rest.lstrip("+-0123456789. "))
            amount, rest = rest[:digits], rest[digits:]
            letters = next((i for i, c in enumerate(rest) if not c.isalpha()), len(rest))
            unit, rest = rest[:letters], rest[letters:].lstrip()
            if not amount.strip() or not unit:
                raise IntervalError(f"{text!r} is not an interval", "write a number and a unit, such as '10 minutes'")
            sign, number = (amount[0], amount[1:]) if amount[0] in "+-" else ("", amount)
            if " " in number.strip():
                raise IntervalError(
                    f"{amount.strip()!r} is not a number", "write its digits together, such as '10 minutes'"
                )
            total += cls.of(sign + number.strip(), unit)
        return total

    @classmethod
    def span(cls, text: str, first: str, last: str) -> Interval:
        """Reads a day-time literal, such as `'1 02:03:04.5' DAY TO SECOND` or `'0:25' HOUR TO MINUTE`."""
        fields = [unit_name(first), unit_name(last)]
        if fields[0] not in _FIELDS or fields[1] not in _FIELDS or _FIELDS.index(fields[0]) >= _FIELDS.index(fields[1]):
            raise IntervalError(f"there is no interval {first} TO {last}")
        names = _FIELDS[_FIELDS.index(fields[0]) : _FIELDS.index(fields[1]) + 1]
        body = text.strip()
        sign = -1 if body.startswith("-") else 1
        body = body.lstrip("+-")
        parts = body.replace(" ", ":", 1).split(":") if names[0] == "DAY" else body.split(":")
        fits = len(parts) == len(names) and all(
            not p.strip().startswith("-") and (i == 0 or _number(p) < _PER_LARGER[n])
            for i, (p, n) in enumerate(zip(parts, names, strict=True))
        )
        if not fits:
            raise IntervalError(f"{text!r} is no interval {first} TO {last}", "write such as '1:30' HOUR TO MINUTE")
        return cls(sign * sum(cls.of(p, n).micros for p, n in zip(parts, names, strict=True)))

    def _in_unit(self, other: int = 0) -> tuple[str, str]:
        """The value in the largest unit that keeps it and `other` whole; days at most (Spark has no week literal)."""
        for unit in ("DAY", "HOUR", "MINUTE", "SECOND"):
            if self.micros and self.micros % MICROS[unit] == 0 and other % MICROS[unit] == 0:
                return str(self.micros // MICROS[unit]), unit
        amount = f"{Decimal(self.micros) / MICROS['SECOND']:f}"
        return amount.rstrip("0").rstrip(".") if "." in amount else amount, "SECOND"

    def sql(self, other: Interval | None = None) -> str:
        """Spark literal, such as `INTERVAL '10' MINUTE`, in a unit in which `other` is whole, too."""
        amount, unit = self._in_unit(other.micros if other else 0)
        return f"INTERVAL '{amount}' {unit}"

    def words(self) -> str:
        """Text for people, which Spark's `window()` takes, too: `10 minutes`."""
        amount, unit = self._in_unit()
        return f"{amount} {unit.lower()}{'' if amount in ('1', '-1') else 's'}"


ZERO = Interval(0)
MILLISECOND = Interval(1_000)


MISREAD_WEEK = "WEEK is no unit that Flink can be trusted with (2.2 reads it as one hour)"


def read_interval(tokens: list[Token], *, flink: bool = False) -> Interval:
    """Reads the tokens of a constant interval.

    `INTERVAL '10' MINUTES`, `INTERVAL '1:30' HOUR TO MINUTE`, `INTERVAL -'2' MINUTE`, `'10 minutes'`, `'10m'`,
    `INTERVAL 10 MINUTES` and `INTERVAL 1 HOUR 30 MINUTES`.

    Args:
        flink: True if it is Flink's, which takes a WEEK for an hour.

    Raises:
        IntervalError: the tokens are no constant interval.
    """
    hint = "write a constant such as INTERVAL '10' MINUTES"
    if not tokens:
        raise IntervalError("an interval is missing", hint)
    if tokens[-1].end - tokens[0].start > LONGEST_TEXT:
        raise IntervalError("this is too long for an interval", hint)
    texts = [t.text for t in tokens]
    types = [t.token_type for t in tokens]
    if types == [TokenType.STRING]:
        return Interval.parse(texts[0])
    if types[0] != TokenType.INTERVAL or len(tokens) == 1:
        raise IntervalError("a window takes a constant interval here", hint)
    rest, kinds = texts[1:], types[1:]
    sign = ""
    if kinds[0] == TokenType.DASH:
        sign, rest, kinds = "-", rest[1:], kinds[1:]
    if not kinds or kinds[0] not in (TokenType.STRING, TokenType.NUMBER):
        raise IntervalError("a window takes a constant interval here", hint)
    if kinds[0] == TokenType.NUMBER or len(kinds) == 1:
        return Interval.parse(sign + " ".join(rest))
    value, units = sign + rest[0], _units(rest[1:], kinds[1:], hint)
    if flink and units[0].upper() in ("WEEK", "WEEKS"):
        raise IntervalError(MISREAD_WEEK, "write '7' DAY")
    if len(units) == 2:
        return Interval.span(value, *units)
    return Interval.of(value, units[0])


def _units(texts: list[str], kinds: list[TokenType], hint: str) -> list[str]:
    """The units of `DAY(3)`, `SECOND(2, 3)`, `DAY(3) TO SECOND(3)`."""
    units: list[str] = []
    position = 0
    while position < len(texts):
        units.append(texts[position])
        position += 1
        if kinds[position : position + 1] == [TokenType.L_PAREN]:
            digits = (
                kinds[position + 1 : kinds.index(TokenType.R_PAREN, position)]
                if TokenType.R_PAREN in kinds[position:]
                else []
            )
            if digits not in ([TokenType.NUMBER], [TokenType.NUMBER, TokenType.COMMA, TokenType.NUMBER]):
                break
            position += len(digits) + 2
        if position == len(texts):
            return units
        if len(units) == 2 or texts[position].upper() != "TO":
            break
        position += 1
    raise IntervalError("a window takes a constant interval here", hint)
