"""Base of the rewriters of Flink SQL, each kind of node with one of them as its owner; and a call as they see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nested import fields
from dbt.adapters.sparkstream.sql.core.source import Edit, Span
from dbt.adapters.sparkstream.sql.core.types import Numbers
from dbt.adapters.sparkstream.sql.passes.editor import Editor

NUMBERS = Numbers({"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}, is_flink=True)
"""Common types of numbers, and of times with and without a zone, in Flink."""


@dataclass(frozen=True)
class FlinkCall:
    """A function call as the rewrites see it.

    Attributes:
        name: as written.
        args: Spark SQL of the arguments; DISTINCT is not among them.
        types: their Spark types, None where unknown.
        literals: for each argument its text, if it is a string literal such as `'a'`, else None.
        distinct: True if DISTINCT stands before the arguments.
        suffix: what follows the call: ` FILTER (...)`, ` OVER w`, or nothing.
        is_over: True if that has OVER.
        nested: for each argument, whether it is a JSON_OBJECT(...) or JSON_ARRAY(...), which is JSON and no text.
        skips_nulls: True if it has IGNORE NULLS.
        nullable: for each argument, True if it can be NULL, as any column can, or None if that isn't known.
    """

    name: str
    args: tuple[str, ...]
    types: tuple[str | None, ...]
    literals: tuple[str | None, ...]
    distinct: bool = False
    suffix: str = ""
    is_over: bool = False
    nested: tuple[bool, ...] = ()
    skips_nulls: bool = False
    nullable: tuple[bool | None, ...] = ()

    def to(self, function: str, *more: str) -> str:
        """The call under another name, with more arguments and the same DISTINCT and suffix."""
        distinct = "DISTINCT " if self.distinct else ""
        return f"{function}({distinct}{', '.join((*self.args, *more))}){self.suffix}"

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
        UntypedError: it isn't known.
    """
    if not call.types or call.types[0] is None:
        raise UntypedError(call.name)
    return call.types[0]


def cast(sql: str, type_: str) -> str:
    return f"CAST({sql} AS {type_ if '<' in type_ else type_.upper()})"


def number(call: FlinkCall) -> str:
    """The type of the first argument.

    Raises:
        UntypedError: it isn't known, or is no number.
    """
    type_ = known(call)
    if not types.is_numeric(type_):
        raise UntypedError(call.name)
    return type_


def row_fields(values: Iterable[str]) -> list[str]:
    """Values with the names that Flink gives them in a ROW."""
    return [part for i, value in enumerate(values) for part in (f"'EXPR${i}'", value)]


_Handler = TypeVar("_Handler", bound=Callable[..., Iterable[Edit]])
Common = Callable[[Iterable["str | None"]], "str | None"]
"""Function from the types of several values to their common type."""


def handles(*kinds: type[exp.Expr]) -> Callable[[_Handler], _Handler]:
    """Decorator: registers a method of a Rewriter for kinds of nodes, whose edits it gives, or which it refuses."""

    def registered(method: _Handler) -> _Handler:
        vars(method)["kinds"] = kinds
        return method

    return registered


class Rewriter(Editor):
    """Edits some kinds of nodes.

    Attributes:
        handlers: kind of node -> name of the method that edits it.
    """

    handlers: ClassVar[dict[type[exp.Expr], str]] = {}

    def __init_subclass__(cls) -> None:
        methods = vars(cls).items()
        cls.handlers = {kind: name for name, method in methods for kind in getattr(method, "kinds", ())}

    def alike(self, values: Sequence[exp.Expr], common: Common = NUMBERS.common) -> Iterator[Edit]:
        """Casts of values of which one is the result, to the type that Flink gives the result."""
        kinds = [self.type(value) for value in values]
        result, row = common(kinds), next(filter(fields, kinds), None)
        for value, kind in zip(values, kinds, strict=True):
            # Fields have the names of the first row; Spark finds no type for rows whose fields have other names.
            renames = row is not None and kind != row and _types_of_fields(kind) == _types_of_fields(row)
            yield from self.as_type(value, row if renames else widened(kind, result))

    def as_type(self, value: exp.Expr, type_: str | None) -> Iterator[Edit]:
        """Casts a value to a type, on top of the value's own edits; None leaves its type."""
        if type_ is not None and (type_ == "float" or not isinstance(value, exp.Literal)):
            yield self.edit(value, lambda: cast(self.text(value), type_), level=2)

    def as_floats(self, left: exp.Expr, values: Iterable[exp.Expr]) -> Iterator[Edit]:
        """DOUBLEs on the right of a FLOAT, which Flink compares and computes as FLOATs, and Spark as DOUBLEs."""
        for value in values if self.type(left) == "float" else ():
            if self.type(value) == "double":
                yield from self.as_type(value, "float")

    def join_start(self, relation: Span) -> int:
        """Start of the join whose relation has a span: at LEFT, INNER or JOIN."""
        tokens = self.source.tokens
        at = tokens.at(relation[0]) - 1
        while tokens[at - 1].text.upper() in ("LEFT", "OUTER", "INNER"):
            at -= 1
        return tokens[at].start


def _types_of_fields(row: str | None) -> list[str | None] | None:
    return [type_ for _, type_ in fields(row) or ()] or None


def widened(type_: str | None, result: str | None) -> str | None:
    """The type to cast a value to, so that Spark finds the type `result` for several values; None without a cast.

    Beside a DECIMAL, a BIGINT has 19 digits in Flink and 20 in Spark. Spark makes a DOUBLE of an integer and a FLOAT,
    and of a FLOAT and a DOUBLE. Of a TIMESTAMP_LTZ beside a TIMESTAMP, Flink reads the former on the session's clock,
    where Spark gives the latter a zone. Of a TIMESTAMP beside a date, COALESCE has the date.
    """
    if (type_, result) in (("timestamp", types.NTZ), (types.NTZ, "date")):
        return result
    if type_ == "bigint" and types.is_decimal(result):
        return f"decimal({NUMBERS.digits[type_]},0)"
    return "float" if type_ in (*types.INTEGERS, "double") and result == "float" else None


def constant(node: exp.Expr | None) -> float | None:
    """The value of a number such as `2` or `-(2)`; None for any other expression."""
    if isinstance(node, (exp.Neg, exp.Paren)):
        inner = constant(node.this)
        return None if inner is None else -inner if isinstance(node, exp.Neg) else inner
    return float(node.name) if isinstance(node, exp.Literal) and node.is_number else None


def text_constant(node: exp.Expr | None) -> str | None:
    """The text `a` of a constant `'a'`; None for any other expression."""
    return node.name if isinstance(node, exp.Literal) and node.is_string else None
