"""A call of a function in Flink SQL, as the rewrites see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.types import Numbers

NUMBERS = Numbers(
    digits={"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19},
    literals_by_digits=False,
    capped=True,
    beside_float="float",
    first_of_floats=True,
    first_of_times=True,
)
"""How numbers, and times with and without a zone, combine in Flink."""


@dataclass(frozen=True)
class FlinkCall:
    """A function call as the rewrites see it.

    Attributes:
        name: as written.
        args: Spark SQL of the arguments; DISTINCT is not among them.
        types: their Spark types, None where unknown.
        literals: for each argument its text, if it is a string literal such as `'a'`, else None.
        distinct: whether DISTINCT stands before the arguments.
        suffix: what follows the call: ` FILTER (...)`, ` OVER w`, or nothing.
        nested: for each argument, whether it is a JSON_OBJECT(...) or JSON_ARRAY(...), which is JSON and no text.
        skips_nulls: whether IGNORE NULLS stands in it.
        nullable: for each argument, whether it can be NULL, or None where nobody knows; a column is said to.
    """

    name: str
    args: tuple[str, ...]
    types: tuple[str | None, ...]
    literals: tuple[str | None, ...]
    distinct: bool = False
    suffix: str = ""
    nested: tuple[bool, ...] = ()
    skips_nulls: bool = False
    nullable: tuple[bool | None, ...] = ()

    def to(self, function: str, *more: str) -> str:
        """The call under another name, with more arguments and the same DISTINCT and suffix."""
        distinct = "DISTINCT " if self.distinct else ""
        return f"{function}({distinct}{', '.join((*self.args, *more))}){self.suffix}"

    def with_argument(self, place: int, sql: str) -> FlinkCall:
        """The call with another argument in a place."""
        return replace(self, args=(*self.args[:place], sql, *self.args[place + 1 :]))

    def same(self) -> str:
        """The call as it stands."""
        return self.to(self.name)

    def by(self, rewrite: Rewrite) -> str:
        """Spark SQL for the call."""
        return rewrite.format(*self.args, same=self.same()) if isinstance(rewrite, str) else rewrite(self)


Rewrite = Callable[[FlinkCall], str] | str
"""Spark SQL for a call: a function; or a text with `{0}` for the first argument and `{same}` for the call as it is."""


class UntypedError(LookupError):
    """A rewrite needs an argument of a known type: without it, the call stays, and Spark judges it."""


def known(call: FlinkCall) -> str:
    """The type of the first argument.

    Raises:
        UntypedError: nobody knows it.
    """
    if not call.types or call.types[0] is None:
        raise UntypedError(call.name)
    return call.types[0]


def cast(sql: str, type_: str) -> str:
    return f"CAST({sql} AS {type_.upper()})"


def number(call: FlinkCall) -> str:
    """The type of the first argument.

    Raises:
        UntypedError: nobody knows it, or it is no number.
    """
    type_ = known(call)
    if not types.is_numeric(type_):
        raise UntypedError(call.name)
    return type_


def row_fields(values: Iterable[str]) -> list[str]:
    """Values with the names that Flink gives them in a ROW."""
    return [part for i, value in enumerate(values) for part in (f"'EXPR${i}'", value)]
