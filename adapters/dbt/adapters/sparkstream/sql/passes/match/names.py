"""Names of a match and its events in Spark SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.literals import is_column

EVENT = "r"
"""The event that an aggregate reads."""
WAYS_MATCH = "t.m"
"""The unfinished match of a way to read the rows."""


@dataclass(frozen=True)
class MatchNames:
    """Names for the events of a partition and for the fields of a match.

    Attributes:
        events: the array of a partition's events.
        labels: variable -> the prefix of its fields' names.
    """

    events: str
    labels: dict[str, str]

    @classmethod
    def of(cls, variables: Sequence[str], keys: Collection[str]) -> MatchNames:
        """Names of pattern variables; none is a column of PARTITION BY."""
        taken = {key.casefold() for key in keys}
        events = next(name for n in range(len(taken) + 1) if (name := f"events{n or ''}") not in taken)
        folded = [variable.casefold() for variable in variables]
        labels = {
            variable: variable if is_column(variable) and folded.count(fold) == 1 else f"v{n}"
            for n, (variable, fold) in enumerate(zip(variables, folded, strict=True))
        }
        return cls(events, labels)

    def fields(self, variable: str) -> tuple[str, str]:
        """Fields of a match with the numbers of a variable's first and last event; of all events without a variable."""
        return (f"{self.labels[variable]}_first", f"{self.labels[variable]}_last") if variable else ("s", "e")

    def event(self, variable: str, first: bool = False, offset: int = 0) -> str:
        """The event that FIRST or LAST means, as Spark SQL; NULL where there is none.

        Args:
            offset: how many events after the first, or before the last.
        """
        low, high = self.ends(variable)
        number = low if first else high
        if offset:
            number = f"{low} + {offset}" if first else f"{high} - {offset}"
            held = f"{number} <= {high}" if first else f"{number} >= {low}"
            number = f"CASE WHEN {held} THEN {number} END"
        return f"get({self.events}, {number})"

    def ends(self, variable: str, match: str = "m") -> tuple[str, str]:
        """The numbers of a variable's first and last event, as Spark SQL."""
        first, last = self.fields(variable)
        return f"{match}.{first}", f"{match}.{last}"

    def depends_on(self, variable: str, first: bool = False, offset: int = 0) -> set[str]:
        """Numbers in the match of a way that determine the event of FIRST or LAST, as Spark SQL."""
        low, high = self.ends(variable, WAYS_MATCH)
        if not offset:
            return {low if first else high}
        return {low, f"least({low} + {offset}, {high})"} if first else {high, f"greatest({low}, {high} - {offset})"}

    def all(self, variable: str) -> str:
        """The array of a variable's events, NULL if it has none."""
        low, high = self.ends(variable)
        return f"slice({self.events}, {low} + 1, {high} - {low} + 1)"
