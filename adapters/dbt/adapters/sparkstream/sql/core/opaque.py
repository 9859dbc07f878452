"""A query that is Spark's alone: nothing of it is known but where it stands."""

from __future__ import annotations

from sqlglot import exp


class Opaque(exp.Select):
    """A query that sqlglot can't parse and that holds no construct of ours itself, so it stays as it is.

    It is a Select, as a query is where it stands. `queries` are the queries within it, in parentheses of its text, as
    far as they can be parsed: they may hold constructs of ours.
    """

    arg_types = {**exp.Select.arg_types, "queries": False}
