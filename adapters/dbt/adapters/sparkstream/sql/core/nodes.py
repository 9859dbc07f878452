"""Nodes of a syntax tree that sqlglot has not, and rows of values: `CASE x WHEN 1, 2`, `(a - b) DAY`, `ROW(1, 2)`."""

from __future__ import annotations

from sqlglot import exp


class Opaque(exp.Select):
    """Query that sqlglot can't parse and that has no construct of ours, such as `FROM t SELECT a`: it stays unchanged.

    It is a Select, as a query is where it stands. `queries` are the queries within it, in parentheses of its text, as
    far as they can be parsed: they may hold constructs of ours.
    """

    arg_types = {**exp.Select.arg_types, "queries": False}


class Unknown(exp.Expression):
    """`UNKNOWN`, the BOOLEAN that is neither TRUE nor FALSE; behind IS it is a word of the grammar."""

    arg_types = {}


class WhenValues(exp.Expression):
    """The values `1, 2` of `WHEN 1, 2 THEN y`."""

    arg_types = {"expressions": True}


def compared(case: exp.Expr) -> list[exp.Expr]:
    """Values behind each WHEN of a CASE: `1`, `2` and `3` of `CASE x WHEN 1, 2 THEN y WHEN 3 THEN z END`."""
    found = [branch.this for branch in case.args.get("ifs") or []]
    return [value for each in found for value in (each.expressions if isinstance(each, WhenValues) else [each])]


def results(node: exp.Case | exp.If) -> list[exp.Expr]:
    """Values of which a CASE or IF gives one: `y` and `z` of `CASE WHEN x THEN y ELSE z END`."""
    branches, last = (node.args.get("ifs") or [], "default") if isinstance(node, exp.Case) else ([node], "false")
    otherwise = node.args.get(last)
    return [*(branch.args["true"] for branch in branches), *([] if otherwise is None else [otherwise])]


def excepted(star: exp.Expr) -> list[exp.Expr]:
    """The columns that `*` or `t.*` leaves out: `a` and `b` of `* EXCEPT (a, b)`."""
    bare = star.this if isinstance(star, exp.Column) else star
    return bare.args.get("except_") or []


class Difference(exp.Expression):
    """`(a - b) DAY`.

    Attributes:
        this: the subtraction.
        unit: the unit in upper case; the first one of DAY TO SECOND.
    """

    arg_types = {"this": True, "unit": True}


SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)
"""Items of GROUP BY that group rows in several ways."""
UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
"""Units of a difference."""


class JsonPath(exp.Expression, exp.Func):
    """JSON_VALUE, JSON_QUERY or JSON_EXISTS: what a path finds in a text.

    Attributes:
        this: the text.
        path: the path.
        kind: VALUE, QUERY or EXISTS.
        returning: the type behind RETURNING, or None.
        wrapper: UNCONDITIONAL, CONDITIONAL or None, for an array around what JSON_QUERY finds.
        empty: what stands before ON EMPTY: a word such as NULL, ERROR or EMPTY ARRAY, or the expression behind DEFAULT.
        error: the same before ON ERROR.
    """

    arg_types = {
        "this": True, "path": True, "kind": True, "returning": False, "wrapper": False, "empty": False, "error": False
    }  # fmt: skip


class JsonConstructor(exp.Expression, exp.Func):
    """JSON_OBJECT or JSON_ARRAY.

    Attributes:
        expressions: the values; each value of an object stands behind its key.
        kind: OBJECT or ARRAY.
        absent: True if NULLs are left out.
    """

    arg_types = {"expressions": True, "kind": True, "absent": True}


def has_more(node: exp.Expr, *known: str) -> bool:
    """True if a node has other parts than some: other clauses of a query, or more behind a table's name."""
    return any(value for name, value in node.args.items() if name not in known)


def is_row(node: exp.Expr | None) -> bool:
    """True if a value is written `ROW(1, 2)`."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"


def row_values(row: exp.Expr) -> list[exp.Expr] | None:
    """The values of `(a, b)` or `ROW(a, b)`; None for anything else."""
    return row.expressions if isinstance(row, exp.Tuple) or is_row(row) else None


def row_pairs(left: exp.Expr, right: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]] | None:
    """Pairs of the values of two rows such as `(a, b)`; None for anything else."""
    one, other = row_values(left), row_values(right)
    if one is None or other is None or len(one) != len(other):
        return None
    return list(zip(one, other, strict=True))


def is_written_by_values(row: exp.Expr) -> bool:
    """True if Spark SQL has the values of a ROW, and no row: in VALUES, and where it is compared with another row."""
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
