"""The order of the rows that a window draws from, as Spark SQL."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.sparkstream.sql.core.types import INTEGERS, NTZ, TIMES
from dbt.adapters.sparkstream.sql.passes.framing.rowsets import PEERS
from dbt.adapters.sparkstream.sql.passes.optimize.timeblocks import BLOCK

KEY_TYPES = (*INTEGERS, *TIMES)

SOURCE = "__source"
ARRIVAL = "__arrival"
MARK = "__request"
"""Column of the main table that is true for a request's row."""


@dataclass(eq=False)
class Stream:
    """Rows with one partition, one order and the same UNION tables.

    Attributes:
        number: 1, 2, ... within the SELECT.
        partition: the expressions of PARTITION BY, as Spark SQL.
        key: the expression of ORDER BY, as Spark SQL, or None.
        key_type: its Spark type, or None where it isn't known.
        ties: expressions that order rows of the same key; UNION tables and arrival come after them.
        sources: numbers of the UNION tables, oldest among equals last.
        all_sources: True if `sources` holds all UNION tables of the SELECT.
        timed: True if the key is a timestamp for sure.
        ordered: True if rows are ordered by a unique number instead of the key.
        running: True if all its aggregates come from running ones, so that rows are ordered by the key as a number.
        arrival: expressions that order rows of the same key and table.
        nullable: True if rows without a key are kept; they come before all others, and no offset reaches them.
        split: True if the rows of a partition are split by time.
    """

    number: int
    partition: tuple[str, ...]
    key: str | None
    key_type: str | None
    ties: tuple[str, ...] = ()
    sources: tuple[int, ...] = ()
    all_sources: bool = True
    timed: bool = False
    ordered: bool = False
    running: bool = False
    arrival: tuple[str, ...] = field(default=())
    nullable: bool = False
    split: bool = False

    @property
    def _suffix(self) -> str:
        return "" if self.number == 1 else f"_{self.number}"

    @property
    def key_column(self) -> str:
        return f"__key{self._suffix}"

    @property
    def order_column(self) -> str:
        return f"__order{self._suffix}"

    @property
    def short_key(self) -> bool:
        """True if an order fits BIGINT for certain; a timestamp's does until 2109 only."""
        return self.key is None or self.key_type in ("tinyint", "smallint", "int")

    def literal(self, distance: int) -> str:
        """A distance between orders; in a BIGINT, one that passes all keys but not the order of rows without a key."""
        return f"{min(distance, 2**54)}L" if self.short_key else f"{distance}BD"

    def key_sql(self) -> str:
        """The key as a number: milliseconds of a timestamp, a number as it is."""
        key = self.key
        if key is None:
            return "0"
        if self.key_type in INTEGERS:
            return key
        if self.key_type == NTZ:
            return f"timestampdiff(MILLISECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', {key})"
        if self.key_type or self.timed:
            return f"unix_millis({key})"
        # The type isn't known here; Spark folds the test away.
        return (
            f"CASE WHEN typeof({key}) LIKE 'timestamp%' THEN unix_millis(CAST({key} AS TIMESTAMP)) "
            f"ELSE CAST(CAST({key} AS STRING) AS BIGINT) END"
        )

    @property
    def measures(self) -> bool:
        """True if the key is known to be a time, or a number to which an offset can be added in a BIGINT."""
        return self.key is not None and (self.timed or self.key_type in (*TIMES, "tinyint", "smallint", "int"))

    @property
    def wide_key(self) -> str:
        """The key of a stream that `measures`, as a BIGINT."""
        return f"CAST({self.key} AS BIGINT)" if self.key_type in INTEGERS else self.key_sql()

    def order_sql(self) -> str:
        """The unique order of a row; see `rowsets`."""
        key = f"CAST({self.key_column} AS {'BIGINT' if self.short_key else 'DECIMAL(20,0)'})"
        if self.nullable and self.key is not None:
            key = f"coalesce({key}, {f'-{2**41}L' if self.short_key else f'-{10**20 - 1}BD'})"
        keys = ", ".join((*self.partition, self.key_column))
        return (
            f"{key} * {2 * PEERS} + row_number() OVER (PARTITION BY {keys} "
            f"ORDER BY {', '.join(self.tie_order)}) AS {self.order_column}"
        )

    @property
    def tie_order(self) -> tuple[str, ...]:
        """The expressions that order rows of the same key."""
        source: tuple[str, ...] = ()
        if self.sources:
            if list(self.sources) == sorted(self.sources):
                source = (f"{SOURCE} DESC",)
            else:
                places = " ".join(f"WHEN {s} THEN {i}" for i, s in enumerate(reversed(self.sources)))
                source = (f"CASE {SOURCE} {places} ELSE {len(self.sources)} END",)
        return (*self.ties, *source, *self.arrival)

    def partition_sql(self) -> str:
        """PARTITION BY; a window sees only the rows of its own tables."""
        parts = [*([BLOCK] if self.split else []), *self.partition]
        if not self.all_sources:
            parts.append(f"{SOURCE} IN ({', '.join(str(s) for s in (0, *sorted(self.sources)))})")
        return f"PARTITION BY {', '.join(parts)} " if parts else ""

    def spec(self, frame: str, *, by_key: bool = False) -> str:
        """A window specification over this stream, without parentheses."""
        if self.ordered:
            order = [self.order_column]
        elif by_key:
            order = [self.wide_key if self.running else self.key_sql()]
        elif self.running:
            order = [self.wide_key, *self.tie_order]
        else:
            order = [*([self.key] if self.key else []), *self.tie_order]
        return f"{self.partition_sql()}ORDER BY {', '.join(order)}{' ' if frame else ''}{frame}"

    def unions_spec(self, frame: str) -> str:
        """A window specification over the rows of UNION tables alone."""
        partition = self.partition_sql() or "PARTITION BY "
        joint = ", " if self.partition_sql() else ""
        return f"{partition.rstrip()}{joint}{SOURCE} > 0 ORDER BY {self.order_column} {frame}"
