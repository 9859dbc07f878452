"""UNKNOWN as a node of a syntax tree; sqlglot takes it for a column."""

from __future__ import annotations

from sqlglot import exp


class Unknown(exp.Expression):
    """`UNKNOWN`, the BOOLEAN that is neither TRUE nor FALSE; behind IS it is a word of the grammar."""

    arg_types = {}
