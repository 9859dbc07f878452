"""Two queries for each window of a statement.

The first query gives the rows that the window reads, and runs where the tables are (`Input`). The second query holds a
sample of these rows as literals, and says which row of the sample is in which window (`Use.members`). It writes the
window as the statement does, so a picture shows what Spark makes of the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.types import NTZ
from dbt.adapters.sparkstream.sql.core.windows import Window
from dbt.adapters.sparkstream.sql.passes.windows.lower import WindowCall, lower
from dbt.adapters.sparkstream.sql.translate import translate

TIME, PART, KEY = "__time", "__lane", "__key"
_ID, _SAMPLE, _UNION = "__id", "__sample", "__union"
_FORMAT = (
    "map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS{}', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)
_JSON, _JSON_WITH_ZONE = _FORMAT.format(""), _FORMAT.format("XXX")


@dataclass(frozen=True)
class Input:
    """The rows of one table that a window reads: a query with the columns of the table and some of ours.

    Attributes:
        sql: Spark SQL with the columns `__time`, `__lane_1` ... and `__key_1` ...
        parts: how many expressions tell groups of rows apart.
        keys: how many expressions the rows are ordered by.
        columns: True if the table's own columns are in it.
    """

    sql: str
    parts: int
    keys: int
    columns: bool = True

    @property
    def _ours(self) -> list[str]:
        parts = [f"{PART}_{i}" for i in range(1, self.parts + 1)]
        return [TIME, *parts, *(f"{KEY}_{i}" for i in range(1, self.keys + 1))]

    def counts(self) -> str:
        """Spark SQL for one row of JSON.

        Its fields are `rows` (number of rows), `timed` (number of rows with a time), `first` and `last` (times).
        """
        return (
            f"SELECT to_json(struct(count(*) AS rows, count({TIME}) AS timed, min({TIME}) AS first, "
            f"max({TIME}) AS last), {_JSON})\nFROM (\n{self.sql}\n)"
        )

    def rows(self, most: int, untimed: int, since: str | None = None) -> str:
        """Spark SQL for the first rows in order of time, each as JSON that `SampleRow.read` reads.

        Args:
            most: how many rows with a time.
            untimed: how many without.
            since: leave out rows before this time.
        """
        parts = ", ".join(f"{PART}_{i}" for i in range(1, self.parts + 1))
        keys = [f"{KEY}_{i}" for i in range(1, self.keys + 1)] or [TIME]
        fields = [
            f"to_json(struct({parts}), {_JSON}) AS part" if parts else "CAST(NULL AS STRING) AS part",
            f"CAST({TIME} AS STRING) AS time",
            f"array({', '.join(f'typeof({k})' for k in keys)}) AS types",
            f"array({', '.join(f'CAST({k} AS STRING)' for k in keys)}) AS texts",
            f"struct({', '.join(keys)}) AS keys",
            f"to_json(struct(* EXCEPT ({', '.join(self._ours)})), {_JSON}) AS columns"
            if self.columns
            else "'{}' AS columns",
        ]
        row = f"to_json(struct({', '.join(fields)}), {_JSON_WITH_ZONE}) AS sample"
        later = f" AND {TIME} >= CAST({string_literal(since)} AS TIMESTAMP)" if since else ""
        order = ", ".join([TIME, *keys])
        return (
            f"WITH __input AS (\n{self.sql}\n)\n"
            f"SELECT {row} FROM (SELECT * FROM __input WHERE {TIME} IS NOT NULL{later} ORDER BY {order} LIMIT {most})\n"
            f"UNION ALL\n"
            f"SELECT {row} FROM (SELECT * FROM __input WHERE {TIME} IS NULL LIMIT {untimed})"
        )


@dataclass(frozen=True)
class Key:
    """A value that rows are ordered by, as it can be written in SQL."""

    type: str
    text: str | None

    def sql(self) -> str:
        if self.text is None:
            return f"CAST(NULL AS {self.type})"
        return f"CAST({string_literal(self.text)} AS {self.type})"


@dataclass(frozen=True)
class SampleRow:
    """A row, as far as a window looks at it.

    Attributes:
        id: its number.
        part: number of the group that it is in, such as the rows of one key.
        keys: the values that order it.
    """

    id: int
    part: int
    keys: tuple[Key, ...]


def _relation(rows: Sequence[SampleRow], like: SampleRow, names: Sequence[str]) -> str:
    """A query of rows; of none, with the types of another row."""
    values = ",\n  ".join(f"({row.id}, {row.part}, {', '.join(k.sql() for k in row.keys)})" for row in rows or [like])
    where = "" if rows else "\nWHERE FALSE"
    return f"SELECT * FROM VALUES\n  {values}\n  AS t({_ID}, {PART}, {', '.join(names)}){where}"


@dataclass(frozen=True)
class Use:
    """A window of a statement, where it is used.

    Attributes:
        name: how to call it: `hop`, or the name of a window.
        words: what it is.
        line: in which line of the statement it stands.
        written: its text.
        inputs: the rows that it sees: of its table, and of UNION tables.
        lanes: True if it looks at each group of rows alone.
    """

    name: str
    words: str
    line: int
    written: str
    inputs: tuple[Input, ...]
    lanes: bool

    def members(self, rows: Sequence[Sequence[SampleRow]]) -> str:
        """Spark SQL for the windows of each row; `WindowUse` and `FrameUse` name its columns.

        Args:
            rows: the sample of each input; the first input has at least one row.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class WindowUse(Use):
    """A table function or a group window. `members`: row, window_start, window_end, in microseconds of wall clock.

    Attributes:
        own_gaps: True if the second key is a row's own gap.
        closing: True if the last key says that a row closes its session.
        wall_bounds: True if the statement's windows have TIMESTAMP_NTZ bounds (see `Resolver`).
    """

    window: Window
    own_gaps: bool = False
    closing: bool = False
    wall_bounds: bool = False

    def members(self, rows: Sequence[Sequence[SampleRow]]) -> str:
        main = rows[0]
        time_type = NTZ if main[0].keys[0].type == NTZ else None
        names = [f"{KEY}_{i}" for i in range(1, 2 + self.own_gaps + self.closing)]
        call = WindowCall(
            self.window,
            _SAMPLE,
            names[0],
            time_type,
            (PART,) if self.lanes else (),
            gap=names[1] if self.own_gaps else None,
            close_on=names[-1] if self.closing else None,
            wall_bounds=self.wall_bounds,
        )
        return (
            f"WITH {_SAMPLE} AS (\n{_relation(main, main[0], names)}\n)\n"
            f"SELECT {_ID}, {_micros('window_start')}, {_micros('window_end')}\nFROM {lower(call)}"
        )


def _micros(time: str) -> str:
    """Wall-clock time of a time, as SQL, in microseconds since 1970."""
    return f"(CAST({time} AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ '1970-01-01 00:00:00') DIV INTERVAL '0.000001' SECOND"


@dataclass(frozen=True)
class FrameUse(Use):
    """A frame. `members`: row, JSON of the list of rows in its frame.

    Attributes:
        over: the specification with `__lane`, `__key_1` ... and `__union_1` ... for what the statement names.
        dialect: the dialect of the query.
        names: the names of its keys in the query.
        by_arrival: True if the last key orders rows of the same time; else the numbers of the rows do.
    """

    over: str
    dialect: str
    names: tuple[str, ...]
    by_arrival: bool = False

    def members(self, rows: Sequence[Sequence[SampleRow]]) -> str:
        like = rows[0][0]
        relations = [
            f"{name} AS (\n{_relation(some, like, self.names)}\n)"
            for name, some in zip(_relation_names(len(rows)), rows, strict=True)
        ]
        types = {_ID: "int", PART: "int"} | {n: k.type for n, k in zip(self.names, like.keys, strict=True)}
        collect = "ARRAY_AGG" if self.dialect == "flink" else "collect_list"  # Flink refuses functions that it hasn't
        found = translate(
            f"SELECT {_ID}, {collect}({_ID}) OVER __w AS members FROM {_SAMPLE} WINDOW __w AS ({self.over})",
            self.dialect,
            arrival=self.names[-1] if self.by_arrival else _ID,
            schema=dict.fromkeys(_relation_names(len(rows)), types),
        )
        return f"WITH {', '.join(relations)}\nSELECT {_ID}, to_json(members)\nFROM (\n{found}\n)"


def _relation_names(count: int) -> list[str]:
    return [_SAMPLE, *(union_name(i) for i in range(1, count))]


def union_name(number: int) -> str:
    """Name of a UNION table in the `over` of a `FrameUse`."""
    return f"{_UNION}_{number}"


def projections(time: str, parts: Iterable[str], keys: Iterable[str]) -> str:
    """Our columns of an `Input`, from expressions as the statement writes them."""
    listed = [f"{time} AS {TIME}"]
    listed += [f"{part} AS {PART}_{i}" for i, part in enumerate(parts, 1)]
    listed += [f"{key} AS {KEY}_{i}" for i, key in enumerate(keys, 1)]
    return ", ".join(listed)
