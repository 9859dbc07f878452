"""JSON functions of the SQL standard as nodes of a syntax tree; they have a grammar of their own."""

from __future__ import annotations

from sqlglot import exp


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
        absent: whether NULLs are left out.
    """

    arg_types = {"expressions": True, "kind": True, "absent": True}
