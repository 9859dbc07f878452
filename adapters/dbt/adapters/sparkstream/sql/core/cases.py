"""`CASE x WHEN 1, 2 THEN y`: several values behind one WHEN, which neither sqlglot nor Spark reads."""

from __future__ import annotations

from sqlglot import exp


class WhenValues(exp.Expression):
    """The values `1, 2` of `WHEN 1, 2 THEN y`."""

    arg_types = {"expressions": True}


def compared(case: exp.Expr) -> list[exp.Expr]:
    """What stands behind each WHEN of a CASE: `1`, `2` and `3` of `CASE x WHEN 1, 2 THEN y WHEN 3 THEN z END`."""
    found = [branch.this for branch in case.args.get("ifs") or []]
    return [value for each in found for value in (each.expressions if isinstance(each, WhenValues) else [each])]
