"""Rows of values as Flink SQL writes them: `(1, 2)`, `ROW(1, 2)` and, in VALUES, `1`."""

from __future__ import annotations

from sqlglot import exp


def is_row(node: exp.Expr | None) -> bool:
    """Whether a value is written `ROW(1, 2)`."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"


def row_values(row: exp.Expr) -> list[exp.Expr] | None:
    """The values of `(a, b)` or `ROW(a, b)`; None for anything else."""
    return row.expressions if isinstance(row, exp.Tuple) or is_row(row) else None


def cells(row: exp.Expr) -> list[exp.Expr]:
    """The values of a row of VALUES: `(1, 2)`, `ROW(1, 2)` or `1`."""
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    return values[0].expressions if len(values) == 1 and is_row(values[0]) else values
