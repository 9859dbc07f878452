"""Columns that may be times or numbers, as their types aren't known here: SQL that is right for both.

Both sides of a CASE need one type in Spark; `from_csv` takes the type of its result as a text, which may come from
`typeof`.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow, LastJoin, OrderKey
from dbt.adapters.sparkstream.sql.passes.framing.conversions import Around
from dbt.adapters.sparkstream.sql.passes.framing.scalars import TIME_FUNCTIONS

_LONG = 1000
"""Least number that, added to a column, may be milliseconds."""
_DAY = 86_400_000
"""Least number that, added to a column, makes the column a likely time in the whole statement."""

_OF_THEIR_ARGUMENT = frozenset(("MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "LAG", "AT"))
"""Functions over windows whose results have the type of their argument."""


def likely_times(tree: exp.Expr) -> frozenset[str]:
    """The names of columns that may well be times, in lower case, going by what a statement does with them.

    They order a window or a LAST JOIN, are the argument of a function of times such as HOUR, are compared with a
    number that can only be milliseconds, or are shifted by a day or more in milliseconds. Each of them may be a whole
    number as well.
    """
    found: list[exp.Expr] = []
    for node in tree.walk():
        if isinstance(node, FramedWindow):
            found.extend(key.expression for key in node.value.order)
        elif isinstance(node, LastJoin) and node.args.get("order"):
            key: OrderKey = node.args["order"]
            found.append(key.expression)
        elif isinstance(node, exp.Anonymous) and node.name.upper() in TIME_FUNCTIONS:
            found.extend(node.expressions[:1])
        elif isinstance(node, exp.Predicate):
            operands = list(node.iter_expressions())
            if any(is_millis(each) for each in operands):
                found.extend(operands)
        elif isinstance(node, (exp.Add, exp.Sub)):
            sides = (node.left, node.right)
            if any(isinstance(each, exp.Literal) and is_whole(each) and int(each.name) >= _DAY for each in sides):
                found.extend(sides)
    return frozenset(each.name.lower() for each in found if isinstance(each, exp.Column))


def is_millis(node: exp.Expr) -> bool:
    """True for a literal of more than ten digits: it can only be milliseconds since 1970, or a BIGINT."""
    return isinstance(node, exp.Literal) and node.is_number and node.name.isdecimal() and len(node.name) > 10


def is_whole(number: exp.Literal) -> bool:
    """True if a literal is a whole number that BIGINT holds."""
    return not number.is_string and number.name.isdecimal() and int(number.name) < 2**63


def is_shift(column: exp.Expr, number: exp.Expr, times: frozenset[str]) -> bool:
    """True if `column + number`, of a column whose type isn't known, may be a time and milliseconds.

    Args:
        times: the columns that may well be times.
    """
    if not (isinstance(column, exp.Column) and isinstance(number, exp.Literal)):
        return False
    return is_whole(number) and (column.name.lower() in times or int(number.name) >= _LONG)


def shifted_column(node: exp.Expr) -> exp.Expr:
    """The column whose type an operand has: itself, or x of a call over a window such as `min(x) OVER w`."""
    call = node.this if isinstance(node, exp.Window) else None
    if isinstance(call, exp.Anonymous) and call.name.upper() in _OF_THEIR_ARGUMENT and call.expressions:
        return call.expressions[0]
    return node


def may_be_time(node: exp.Expr, times: frozenset[str]) -> bool:
    """True if an expression is a column that may well be a time, or a column shifted by milliseconds (`is_shift`)."""
    if isinstance(node, exp.Paren):
        return may_be_time(node.this, times)
    if isinstance(node, (exp.Add, exp.Sub)):
        sides = ((node.left, node.right), (node.right, node.left))
        return any(is_shift(column, number, times) for column, number in sides)
    return isinstance(node, exp.Column) and node.name.lower() in times


def shift(column: str, number: exp.Literal) -> Around:
    """The SQL around a number that is added to a column: an interval for a time, the number itself for a number."""
    days, millis = divmod(int(number.name), 86_400_000)
    hours, rest = divmod(millis, 3_600_000)
    minutes, left = divmod(rest, 60_000)
    interval = f"{days} {hours:02}:{minutes:02}:{Decimal(left) / 1000:06.3f}"
    type_ = "int" if int(number.name) < 2**31 else "bigint"
    timed = f"typeof({column}) LIKE 'timestamp%'"
    return (f"from_csv(IF({timed}, '{interval}', '", f"'), IF({timed}, 'n interval day to second', 'n {type_}')).n")


def zero(column: str) -> str:
    """Midnight of 1970-01-01 of a column of times, and 0 of a column of numbers."""
    timed = f"typeof({column}) LIKE 'timestamp%'"
    return f"from_csv(IF({timed}, '1970-01-01T00:00:00', '0'), 'n ' || typeof({column})).n"
