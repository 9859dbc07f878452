"""Dotted names: `t.r.v` is the field v of the row r of the input t."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def names_of(node: exp.Expr | None) -> list[str] | None:
    """The parts of a dotted name: t, r and v of `t.r.v`. None for other expressions, such as `f(x).v`."""
    if isinstance(node, exp.Column):
        return [part.name for part in node.parts]
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        before = names_of(node.this)  # sqlglot takes the first four for a column, and the rest for fields
        return None if before is None else [*before, node.expression.name]
    return None


_DEFAULT = ("default_catalog", "default_database")


def default_qualifiers(names: Sequence[str]) -> int:
    """Number of leading parts of a name that are nothing but Flink's own catalog and database.

    Spark has no such catalog: there, a name without them is one of the model's schema.
    """
    before = tuple(name.casefold() for name in names[:-1])
    return next((len(known) for known in (_DEFAULT, _DEFAULT[1:]) if before[: len(known)] == known), 0)


def output_name(projection: exp.Expr) -> str:
    """The name that a column of a SELECT has from its author: of its alias, its column or its field; else empty."""
    if isinstance(projection, exp.Alias):
        return projection.alias
    names = names_of(projection.unnest())  # of `(a)`, too
    return names[-1] if names else ""


def unused_name(name: str, taken: set[str]) -> str:
    """An unused name: `a`, else `a0`, `a1` and so on; it is added to the taken names."""
    given, number = name, 0
    while given in taken:
        given = f"{name}{number}"
        number += 1
    taken.add(given)
    return given


def is_called(relation: exp.Expr, names: Sequence[str]) -> bool:
    """True if a dotted name is a relation's: its alias, or else its own name, where `t` and `db.t` match each other."""
    if len(names) == 1 or relation.alias or not isinstance(relation, exp.Table):
        return len(names) == 1 and relation.alias_or_name.casefold() == names[0].casefold()
    own, asked = [part.name.casefold() for part in relation.parts], [name.casefold() for name in names]
    return own[-len(asked) :] == asked[-len(own) :]
