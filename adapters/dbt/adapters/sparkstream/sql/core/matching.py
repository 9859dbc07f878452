"""Row patterns as values, and the syntax-tree node of MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.nodes import enclosing

NAVIGATION = ("FIRST", "LAST")
"""Functions that read one row of a pattern variable."""
ROWTIME = "MATCH_ROWTIME"
"""The function that gives the time of a match's last row."""


@dataclass(frozen=True)
class Element:
    """A pattern variable with its quantifier, such as `B{2,3}?`.

    Attributes:
        name: the variable.
        least: how many rows it takes at least.
        most: how many rows it takes at most; None: any number.
        greedy: True if it takes as many rows as it can; False behind `?`.
    """

    name: str
    least: int = 1
    most: int | None = 1
    greedy: bool = True

    def __str__(self) -> str:
        counts = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}
        braces = f"{{{self.least},{'' if self.most is None else self.most}}}"
        quantifier = counts.get((self.least, self.most), f"{{{self.least}}}" if self.least == self.most else braces)
        return self.name + quantifier + ("" if self.greedy else "?")

    @property
    def is_quantified(self) -> bool:
        return (self.least, self.most) != (1, 1)

    @property
    def is_greedy_loop(self) -> bool:
        """True if greedy in Flink's automaton: `A*` and `A{2,3}` are greedy, `A?`, `A*?` and `A{2}` aren't."""
        return self.greedy and self.least != self.most and (self.least, self.most) != (0, 1)

    @property
    def is_optional(self) -> bool:
        return self.least == 0


class After(Enum):
    """Place where the search goes on after a match."""

    PAST_LAST_ROW = "PAST LAST ROW"
    TO_NEXT_ROW = "TO NEXT ROW"
    TO_FIRST = "TO FIRST"
    TO_LAST = "TO LAST"


@dataclass(frozen=True)
class Skip:
    """AFTER MATCH SKIP.

    Attributes:
        variable: the pattern variable of TO FIRST and TO LAST, else empty.
    """

    after: After = After.TO_NEXT_ROW
    variable: str = ""


@dataclass(frozen=True)
class RowPattern:
    """Row pattern: PATTERN, AFTER MATCH SKIP and WITHIN of a MATCH_RECOGNIZE.

    Attributes:
        elements: PATTERN, in order.
        skip: AFTER MATCH SKIP.
        within: a match is shorter than this; None: of any length.
    """

    elements: tuple[Element, ...]
    skip: Skip = Skip()
    within: Interval | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(element.name for element in self.elements)


class Definition(exp.Expression):
    """`B AS B.price > A.price`: the name of a pattern variable (`alias`), and its condition (`this`)."""

    arg_types = {"this": True, "alias": True}


class MatchRecognize(exp.Expression):
    """`relation MATCH_RECOGNIZE (...) AS alias`.

    `measures` are aliases, `order` is of exp.Ordered, `define` of Definition, `pattern_value` is a RowPattern.
    """

    arg_types = {
        "this": True,
        "pattern_value": True,
        **dict.fromkeys(("partition_by", "order", "measures", "define", "alias"), False),
    }

    @property
    def pattern(self) -> RowPattern:
        return self.args["pattern_value"]

    @property
    def keys(self) -> list[exp.Column]:
        return self.args.get("partition_by") or []

    @property
    def order(self) -> list[exp.Ordered]:
        return self.args.get("order") or []

    @property
    def measures(self) -> list[exp.Alias]:
        return self.args.get("measures") or []

    @property
    def definitions(self) -> list[Definition]:
        """The conditions of the pattern's variables; Flink takes one for a variable that isn't there, and drops it."""
        return [d for d in self.args.get("define") or [] if d.alias in self.pattern.variables]

    def named(self) -> Iterator[exp.Column]:
        """The columns that MEASURES and DEFINE read."""
        for part in (*self.measures, *self.definitions):
            yield from part.this.find_all(exp.Column)


def match_of(node: exp.Expr) -> MatchRecognize | None:
    """The MATCH_RECOGNIZE in whose MEASURES, DEFINE, PARTITION BY or ORDER BY an expression stands."""
    found = enclosing(node, MatchRecognize, exp.Query)
    return found if isinstance(found, MatchRecognize) else None
