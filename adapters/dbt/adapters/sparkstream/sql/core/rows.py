"""Rows of values as Flink SQL writes them: `(1, 2)`, `ROW(1, 2)` and, in VALUES, `1`."""

from __future__ import annotations

from sqlglot import exp


def is_row(node: exp.Expr | None) -> bool:
    """Whether a value is written `ROW(1, 2)`."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"


def row_values(row: exp.Expr) -> list[exp.Expr] | None:
    """The values of `(a, b)` or `ROW(a, b)`; None for anything else."""
    return row.expressions if isinstance(row, exp.Tuple) or is_row(row) else None


def row_pairs(left: exp.Expr, right: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]] | None:
    """The values of two rows such as `(a, b)`, each beside its counterpart; None for anything else."""
    one, other = row_values(left), row_values(right)
    if one is None or other is None or len(one) != len(other):
        return None
    return list(zip(one, other, strict=True))


def is_written_by_values(row: exp.Expr) -> bool:
    """Whether Spark SQL has the values of a ROW, and no row: in VALUES, and where it is compared with another row."""
    around = row.parent
    if isinstance(around, exp.EQ):
        return row_pairs(around.left, around.right) is not None
    if isinstance(around, exp.In):
        return bool(around.args.get("query")) or all(row_pairs(around.this, value) for value in around.expressions)
    return isinstance(around, exp.Tuple) and len(around.expressions) == 1 and isinstance(around.parent, exp.Values)


def cells(row: exp.Expr) -> list[exp.Expr]:
    """The values of a row of VALUES: `(1, 2)`, `ROW(1, 2)` or `1`."""
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    return values[0].expressions if len(values) == 1 and is_row(values[0]) else values
