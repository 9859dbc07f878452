"""Types, by their Spark names, and how types combine: `decimal(10,2)` and `int` to `decimal(12,2)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

NTZ = "timestamp_ntz"
"""The type of a time on the wall clock."""
LTZ = "timestamp"
"""The type of an instant, which the clock of a zone shows."""

INTEGERS = ("tinyint", "smallint", "int", "bigint")
BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
TIMES = ("timestamp", NTZ)
_CLOCK_DIGITS = 6
"""Digits behind the second of Spark's TIME."""
MOST_DIGITS = 38
"""Digits of the longest DECIMAL."""


def is_decimal(type_: str | None) -> bool:
    """True if a type is DECIMAL(p, s)."""
    return type_ is not None and type_.startswith("decimal")


def decimal_parts(type_: str) -> tuple[int, int]:
    """Precision and scale of `decimal(p,s)`."""
    inner = type_.partition("(")[2].rstrip(")")
    if not inner:
        return 10, 0
    precision, _, scale = inner.partition(",")
    return int(precision), int(scale or 0)


def is_numeric(type_: str | None) -> bool:
    """True if a type is a number."""
    return type_ in INTEGERS or type_ in ("float", "double") or is_decimal(type_)


def is_string(type_: str | None) -> bool:
    """True if a type is text."""
    return type_ is not None and type_.startswith(("string", "varchar", "char"))


def is_clock(type_: str | None) -> bool:
    """True if a type is TIME(p), a time of day."""
    return type_ is not None and type_.startswith("time(")


def clock_digits(type_: str) -> int:
    """The digits behind the second of `time(p)`."""
    return int(type_.partition("(")[2].rstrip(")"))


def wider(one: str, other: str) -> str:
    """The larger of two integer types."""
    return max(one, other, key=INTEGERS.index)


@dataclass(frozen=True)
class Numbers:
    """Rules by which a dialect combines numbers and times, where dialects differ.

    Attributes:
        digits: digits of each integer type beside a DECIMAL.
        is_flink: True for Flink's rules. An integer literal beside a DECIMAL has the digits of its type there, in Spark
            those that are written. A type of more than 38 digits is cut to 38, and a FLOAT and an integer give a FLOAT;
            in Spark a setting decides both. Where a FLOAT meets a DOUBLE in CASE, a set operation and the like, or a
            time with a zone one without, the first one's type counts; in Spark a DOUBLE, and a time with a zone.
            COALESCE of a date and a TIMESTAMP gives a date.
    """

    digits: Mapping[str, int]
    is_flink: bool = False

    def as_decimal(self, type_: str, operand: exp.Expr | None = None) -> tuple[int, int]:
        """Precision and scale of a number in arithmetic with a DECIMAL: (10, 0) for an INT.

        Args:
            operand: the expression, where an operator stands between it and the DECIMAL.
        """
        if type_ not in INTEGERS:
            return decimal_parts(type_)
        literal = operand.unnest() if operand is not None else None
        if not self.is_flink and isinstance(literal, exp.Neg):
            literal = literal.this
        if not self.is_flink and isinstance(literal, exp.Literal):
            return len(literal.name.lstrip("0")) or 1, 0
        return self.digits[type_], 0

    def common(self, types: Iterable[str | None]) -> str | None:
        """The type that all branches of CASE, COALESCE or a set operation take, or None where it isn't known."""
        branches = [t for t in types if t != "void"]
        known = [t for t in branches if t is not None]
        if not known or len(known) < len(branches):
            return None
        if len(set(known)) == 1:
            return known[0]
        if all(is_string(t) for t in known):
            return "string"
        if all(map(is_clock, known)):
            return max(known, key=clock_digits)
        if set(known) == set(TIMES):
            return known[0] if self.is_flink else "timestamp"
        if not all(is_numeric(t) for t in known):
            return None
        if "float" in known and not self.is_flink:
            return None
        if "float" in known and all(t in INTEGERS or t == "float" for t in known):
            return "float"
        if {"float", "double"} <= set(known) and not any(map(is_decimal, known)):
            return next(t for t in known if t in ("float", "double"))
        if "float" in known or "double" in known:
            return "double"
        if all(t in INTEGERS for t in known):
            return max(known, key=INTEGERS.index)
        parts = [self.as_decimal(t) for t in known]
        scale = max(s for _, s in parts)
        precision = max(p - s for p, s in parts) + scale
        if precision > MOST_DIGITS and not self.is_flink:
            return None
        return f"decimal({min(MOST_DIGITS, precision)},{scale})"

    def common_of_arguments(self, types: Iterable[str | None]) -> str | None:
        """The type that all arguments of COALESCE, GREATEST and the like take, or None where it isn't known."""
        given = list(types)
        if {"float", "double"} <= set(given) and None not in given:
            given = [t for t in given if t != "float"]
        if self.is_flink and set(given) - {"void"} == {"date", NTZ}:
            return "date"
        return "timestamp" if set(given) - {"void"} == set(TIMES) else self.common(given)

    def decimal_arithmetic(self, node: exp.Binary, left: str, right: str) -> str | None:
        """The type of + - * / or % between a DECIMAL and another DECIMAL or an integer."""
        (p1, s1), (p2, s2) = self.as_decimal(left, node.left), self.as_decimal(right, node.right)
        if isinstance(node, exp.Mul):
            precision, scale = p1 + p2 + 1, s1 + s2
        elif isinstance(node, exp.Div):
            scale = max(6, s1 + p2 + 1)
            precision = p1 - s1 + s2 + scale
        elif isinstance(node, exp.Mod):
            scale = max(s1, s2)
            precision = min(p1 - s1, p2 - s2) + scale
        else:
            scale = max(s1, s2)
            precision = max(p1 - s1, p2 - s2) + scale + 1
        if precision > MOST_DIGITS:
            if not self.is_flink:
                return None
            scale = max(MOST_DIGITS - (precision - scale), min(scale, 6))
            precision = MOST_DIGITS
        return f"decimal({precision},{scale})"


_NAMES = {
    **{exp.DType[name.upper()]: name for name in (*INTEGERS, "float", "double", "boolean", "date", "binary")},
    exp.DType.VARBINARY: "binary",
    **dict.fromkeys((exp.DType.TEXT, exp.DType.CHAR, exp.DType.NCHAR, exp.DType.VARCHAR), "string"),
    **dict.fromkeys((exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME), NTZ),
    **dict.fromkeys((exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ), LTZ),
}


def spark_type(to: exp.DataType) -> str | None:
    """The Spark type that a type in CAST means, or None for one without a counterpart."""
    if to.this == exp.DType.DECIMAL:
        sizes = [p.this.name for p in to.expressions if isinstance(p, exp.DataTypeParam)]
        if not all(size.isdecimal() for size in sizes):
            return None
        # Flink takes more digits than there are, and has the most that there are.
        precision = min(int(sizes[0]), MOST_DIGITS) if sizes else 10
        return f"decimal({precision},{sizes[1] if len(sizes) > 1 else 0})"
    if to.this == exp.DType.TIME:
        digits = to.expressions[0].this.name if to.expressions else str(_CLOCK_DIGITS)
        return f"time({digits})" if digits.isdecimal() else None
    return _NAMES.get(to.this)


def plain_type(type_: str) -> str | None:
    """A type of a schema without NOT NULL, a timestamp without its precision; None for an empty text.

    A row, an array or a map stays as written: it holds names of fields.
    """
    plain = type_.strip()
    if plain.lower().endswith(" not null"):
        plain = plain[: -len(" not null")].strip()
    if "<" in plain:
        return plain
    plain = plain.lower()
    if plain.startswith("timestamp"):
        plain = plain.partition("(")[0]
    return {"timestamp_ltz": "timestamp", "time": f"time({_CLOCK_DIGITS})"}.get(plain, plain) or None
