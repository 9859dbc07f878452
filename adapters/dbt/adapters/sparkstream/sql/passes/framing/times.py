"""Columns that may be times or numbers, as nobody knows their types here: SQL that is right for both.

Both sides of a CASE need one type in Spark; `from_csv` takes the type of its result as a text, which may come from
`typeof`.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, LastJoin, OrderKey
from dbt.adapters.sparkstream.sql.passes.framing.scalars import Around

_LONG = 1000
"""From so many on, a number beside a column may be milliseconds."""


def order_keys(tree: exp.Expr) -> frozenset[str]:
    """The names of columns that order a window or a LAST JOIN, in lower case: they are times or whole numbers."""
    keys: list[OrderKey] = []
    for node in tree.walk():
        if isinstance(node, FramedWindow):
            keys.extend(node.value.order)
        elif isinstance(node, LastJoin) and node.args.get("order"):
            keys.append(node.args["order"])
    return frozenset(key.expression.name.lower() for key in keys if isinstance(key.expression, exp.Column))


def is_shift(column: exp.Expr, number: exp.Expr, keys: frozenset[str]) -> bool:
    """Whether `column + number`, of a column whose type isn't known, may be a time and milliseconds."""
    if not (isinstance(column, exp.Column) and isinstance(number, exp.Literal)):
        return False
    whole = not number.is_string and number.name.isdecimal() and int(number.name) < 2**63
    return whole and (column.name.lower() in keys or int(number.name) >= _LONG)


def shift(column: str, number: exp.Literal) -> Around:
    """The SQL around a number that is added to a column: an interval beside a time, and the number beside a number."""
    days, millis = divmod(int(number.name), 86_400_000)
    hours, rest = divmod(millis, 3_600_000)
    minutes, left = divmod(rest, 60_000)
    interval = f"{days} {hours:02}:{minutes:02}:{Decimal(left) / 1000:06.3f}"
    type_ = "int" if int(number.name) < 2**31 else "bigint"
    timed = f"typeof({column}) LIKE 'timestamp%'"
    return (
        f"from_csv(IF({timed}, '{interval}', '",
        f"'), IF({timed}, 'n interval day to second', 'n {type_}')).n",
    )


def zero(column: str) -> str:
    """Midnight of 1970-01-01 of a column of times, and 0 of a column of numbers."""
    timed = f"typeof({column}) LIKE 'timestamp%'"
    return f"from_csv(IF({timed}, '1970-01-01T00:00:00', '0'), 'n ' || typeof({column})).n"
