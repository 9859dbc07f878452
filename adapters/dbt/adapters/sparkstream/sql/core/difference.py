"""The difference of two times in a unit as a node of a syntax tree; sqlglot has none."""

from __future__ import annotations

from sqlglot import exp


class Difference(exp.Expression):
    """`(a - b) DAY`.

    Attributes:
        this: the subtraction.
        unit: the unit in upper case; the first one of DAY TO SECOND.
    """

    arg_types = {"this": True, "unit": True}


UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
"""Units of a difference."""
