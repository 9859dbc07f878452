"""Types, by their Spark names, and Flink's rules for combining them (measured; see docs/flink.md)."""

from __future__ import annotations

from sqlglot import exp

NTZ = "timestamp_ntz"
"""The type of a time on the wall clock."""

INTEGERS = ("tinyint", "smallint", "int", "bigint")
BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
INTEGER_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
TIMES = ("timestamp", "timestamp_ntz")


def is_decimal(type_: str | None) -> bool:
    """Whether a type is DECIMAL(p, s)."""
    return type_ is not None and type_.startswith("decimal")


def decimal_parts(type_: str) -> tuple[int, int]:
    """Precision and scale of `decimal(p,s)`."""
    inner = type_.partition("(")[2].rstrip(")")
    if not inner:
        return 10, 0
    precision, _, scale = inner.partition(",")
    return int(precision), int(scale or 0)


def is_numeric(type_: str | None) -> bool:
    """Whether a type is a number."""
    return type_ in INTEGERS or type_ in ("float", "double") or is_decimal(type_)


def is_string(type_: str | None) -> bool:
    """Whether a type is text."""
    return type_ is not None and type_.startswith(("string", "varchar", "char"))


def mixed(one: str | None, other: str | None) -> bool:
    """Whether one type is a number and the other text, which Flink never converts by itself."""
    return (is_numeric(one) and is_string(other)) or (is_string(one) and is_numeric(other))


def as_decimal(type_: str) -> tuple[int, int]:
    """Precision and scale that a number has beside a DECIMAL."""
    return (INTEGER_DIGITS[type_], 0) if type_ in INTEGERS else decimal_parts(type_)


def average_type(type_: str | None) -> str | None:
    """The type of AVG, STDDEV and VAR over a type: integers stay, a DECIMAL gets at least six digits."""
    if is_decimal(type_):
        return f"decimal(38,{max(6, decimal_parts(type_ or '')[1])})"
    return type_


def sum_type(type_: str | None) -> str | None:
    """The type of SUM: integers stay (and wrap), a DECIMAL gets all digits."""
    return f"decimal(38,{decimal_parts(type_ or '')[1]})" if is_decimal(type_) else type_


def common_type(types: list[str | None]) -> str | None:
    """The type that all of CASE, COALESCE or a set operation take, or None where it isn't known."""
    known = [t for t in types if t != "void"]
    if not known or any(t is None for t in known):
        return None
    if len(set(known)) == 1:
        return known[0]
    if all(is_string(t) for t in known):
        return "string"
    if not all(is_numeric(t) for t in known):
        return None
    if "double" in known or "float" in known:
        return "double"
    if all(t in INTEGERS for t in known):
        return max((t for t in known if t), key=INTEGERS.index)
    parts = [as_decimal(t or "") for t in known]
    scale = max(s for _, s in parts)
    return f"decimal({min(38, max(p - s for p, s in parts) + scale)},{scale})"


def arithmetic_type(operator: type[exp.Expr], left: str | None, right: str | None) -> str | None:
    """The type of `left operator right` for + - * / %."""
    if left is None or right is None:
        return None
    if operator in (exp.Add, exp.Sub):
        for one, other in ((left, right), (right, left)):
            if one in (*TIMES, "date") and other.startswith("interval"):
                return one
    if not (is_numeric(left) and is_numeric(right)):
        return None
    if "double" in (left, right) or "float" in (left, right):
        if {left, right} == {"float", "double"}:
            return left  # as measured: the left operand decides
        return "double" if "double" in (left, right) or is_decimal(left) or is_decimal(right) else "float"
    if left in INTEGERS and right in INTEGERS:
        return right if operator is exp.Mod else common_type([left, right])
    return _decimal_arithmetic(operator, as_decimal(left), as_decimal(right))


def _decimal_arithmetic(operator: type[exp.Expr], left: tuple[int, int], right: tuple[int, int]) -> str:
    (p1, s1), (p2, s2) = left, right
    if operator is exp.Mul:
        precision, scale = p1 + p2 + 1, s1 + s2
    elif operator is exp.Div:
        scale = max(6, s1 + p2 + 1)
        precision = p1 - s1 + s2 + scale
    elif operator is exp.Mod:
        scale = max(s1, s2)
        precision = min(p1 - s1, p2 - s2) + scale
    else:
        scale = max(s1, s2)
        precision = max(p1 - s1, p2 - s2) + scale + 1
    if precision > 38:
        whole = precision - scale
        scale = max(38 - whole, min(scale, 6))
        precision = 38
    return f"decimal({precision},{scale})"


_NAMES = {
    exp.DType.TINYINT: "tinyint",
    exp.DType.SMALLINT: "smallint",
    exp.DType.INT: "int",
    exp.DType.BIGINT: "bigint",
    exp.DType.FLOAT: "float",
    exp.DType.DOUBLE: "double",
    exp.DType.BOOLEAN: "boolean",
    exp.DType.DATE: "date",
    exp.DType.BINARY: "binary",
    exp.DType.VARBINARY: "binary",
    exp.DType.TEXT: "string",
    exp.DType.CHAR: "string",
    exp.DType.NCHAR: "string",
    exp.DType.VARCHAR: "string",
    exp.DType.TIMESTAMP: "timestamp_ntz",
    exp.DType.TIMESTAMPNTZ: "timestamp_ntz",
    exp.DType.DATETIME: "timestamp_ntz",
    exp.DType.TIMESTAMPTZ: "timestamp",
    exp.DType.TIMESTAMPLTZ: "timestamp",
}


def spark_type(to: exp.DataType) -> str | None:
    """The Spark type that a type in CAST means, or None for one without a counterpart."""
    if to.this == exp.DType.DECIMAL:
        sizes = [p.this.name for p in to.expressions if isinstance(p, exp.DataTypeParam)]
        return f"decimal({sizes[0] if sizes else 10},{sizes[1] if len(sizes) > 1 else 0})"
    return _NAMES.get(to.this)
