"""Formats of the tables that are killed: files in Parquet, or a table format with a log of what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tests.functional.adapter.project import PARAMETERS
from tests.parts.parameters import delta_parameters, iceberg_parameters

from tools.kill.moments import BETWEEN, COMMITTED, REPLACING, Moment


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: its name in the configs of models.
        parameters: settings of Spark that it needs.
        numbered: True if a streaming model's table has a column with the number of the micro-batch.
        moments: to kill at, beside those of a kind.
        swaps: True if a table goes for a moment when another one takes its place; else one commit replaces it.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=lambda: PARAMETERS)
    numbered: bool = True
    moments: tuple[Moment, ...] = ()
    swaps: bool = False

    def moments_of(self, moments: Iterable[Moment]) -> tuple[Moment, ...]:
        """The moments to kill at, of those of a kind, and the format's own."""
        never = REPLACING if self.swaps else BETWEEN
        return (*(moment for moment in moments if moment is not never), *self.moments)


PARQUET = Format("parquet", swaps=True)

FORMATS: Mapping[str, Callable[[], Format]] = {
    "parquet": lambda: PARQUET,
    "delta": lambda: Format("delta", delta_parameters(), numbered=False, moments=(COMMITTED,) * 3),
    "iceberg": lambda: Format("iceberg", iceberg_parameters(), moments=(COMMITTED,) * 3),
}
"""Name -> the format; its jars are looked up when it is asked for."""
