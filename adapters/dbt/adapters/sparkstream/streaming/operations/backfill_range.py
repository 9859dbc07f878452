"""Range of a backfill: the rows of the table that it replaces, and the rows of the batch query that replace them.

Rows go and come by one condition, on columns that both have. So what is outside of it stays as it is, and what is
within is what batch gives: no row is lost between the two, and none comes twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.sparkstream.sql.core.literals import backticked, string_literal
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine


@dataclass(frozen=True)
class Range:
    """A range of time, on the clock of the session's zone.

    Attributes:
        until: its end, which isn't in it.
    """

    since: datetime
    until: datetime

    @classmethod
    def read(cls, since: str, until: str) -> Range:
        """Reads its edges, such as `2026-11-17 00:00` or `2026-11-17`."""
        edges = []
        for option, text in (("--from", since), ("--to", until)):
            try:
                edges.append(datetime.fromisoformat(str(text)))
            except ValueError as error:
                raise DbtRuntimeError(f"{option} is no time: {text}\n  write it such as 2026-11-17 08:00") from error
            if edges[-1].tzinfo is not None:
                raise DbtRuntimeError(
                    f"{option} has an offset: {text}\n  write the time that the clock of the session's zone shows"
                )
        return cls(*edges)

    def __str__(self) -> str:
        return " to ".join(edge.isoformat(" ").removesuffix(":00") for edge in (self.since, self.until))

    def literals(self, type_: str) -> tuple[str, str]:
        """Its edges as SQL, in a type of Spark's times."""
        since, until = (f"{type_.upper()} {string_literal(edge.isoformat(' '))}" for edge in (self.since, self.until))
        return since, until


@dataclass(frozen=True)
class OfRows:
    """The rows of which a column has a time in the range.

    Attributes:
        since: the begin, as SQL.
    """

    key: str
    since: str
    until: str

    def __call__(self, prefix: str = "") -> str:
        time = f"{prefix}{backticked(self.key)}"
        return f"{time} >= {self.since} AND {time} < {self.until}"


@dataclass(frozen=True)
class OfWindows:
    """The rows of windows that lie in the range, wholly or partly, and that the stream has closed.

    Attributes:
        start: the column with the begin of a window.
        key: the column with its end.
        since: the begin of the range, as SQL.
        closed: the time up to which windows are closed, as SQL.
    """

    start: str
    key: str
    since: str
    until: str
    closed: str

    def overlapping(self, prefix: str = "") -> str:
        """The same, closed or not."""
        start, end = f"{prefix}{backticked(self.start)}", f"{prefix}{backticked(self.key)}"
        return f"{start} < {self.until} AND {end} > {self.since}"

    def __call__(self, prefix: str = "") -> str:
        return f"{self.overlapping(prefix)} AND {prefix}{backticked(self.key)} <= {self.closed}"


@dataclass(frozen=True)
class OfSessions:
    """The rows of sessions that lie wholly between two times, in microseconds since the epoch.

    Attributes:
        start: the column with the begin of a session.
        key: the column with its end.
    """

    start: str
    key: str
    since: int
    until: int

    def __call__(self, prefix: str = "") -> str:
        return (
            f"{prefix}{backticked(self.start)} >= timestamp_micros({self.since}) AND "
            f"{prefix}{backticked(self.key)} <= timestamp_micros({self.until})"
        )


Goes = OfRows | OfWindows | OfSessions


def sessions(engine: Engine, table: str, rows: str, windows: OfWindows, columns: list[str]) -> OfSessions:
    """The sessions that a backfill replaces, each as a whole.

    A session in the table and a session of the recomputed rows may share source rows and have different bounds. So the
    range grows until each session that lies in it partly, in the table or recomputed, lies in it wholly; only a session
    that is the same in both may cross the range's edge.

    Args:
        rows: a view of all sessions that batch gives, closed or not.
        columns: the columns that both have.
    """
    start, end = backticked(windows.start), backticked(windows.key)
    whole = f"to_json(struct({', '.join(map(backticked, columns))}), map('ignoreNullFields', 'false'))"
    both = [f"SELECT {start} AS a, {end} AS b, {whole} AS x FROM {name}" for name in (table, rows)]
    everything = "\nUNION ALL\n".join(both)
    [(since, until, closed, shortest)] = engine.sql(
        f"SELECT unix_micros({windows.since}), unix_micros(least({windows.until}, {windows.closed})), "
        f"unix_micros({windows.closed}), (SELECT min(unix_micros(b) - unix_micros(a)) FROM (\n{everything}\n))"
    )
    condition = f"a < {_at(until)} AND b > {_at(since)}"
    found = everything
    while True:
        [(first, last)] = engine.sql(
            f"SELECT unix_micros(min(a)), unix_micros(max(b)) FROM (\n{found}\n) WHERE {condition}"
        )
        if first is None:
            break
        since, until = min(since, first), max(until, last)
        crossing = " OR ".join(f"(a < {_at(edge)} AND b > {_at(edge)})" for edge in (since, until))
        old, new = (f"(SELECT * FROM ({one}) WHERE {crossing})" for one in both)
        found = f"({old} EXCEPT ALL {new}) UNION ALL ({new} EXCEPT ALL {old})"
        condition = "TRUE"
    open_ = f"SELECT a, unix_micros(b) - unix_micros(a) AS n FROM ({both[1]}) WHERE b > {windows.closed}"
    [(near,)] = engine.sql(
        f"SELECT CAST(timestamp_micros(min(unix_micros(a) - n)) AS STRING) FROM ({open_}) "
        f"WHERE unix_micros(a) - n < {until}"
    )
    last = closed - (shortest or 0)
    if near is not None or until > last:
        [(limit,)] = engine.sql(f"SELECT CAST(timestamp_micros({last}) AS STRING)")
        raise StreamingError(
            "sessions in the range may go on in one that the stream has open\n"
            f"  write a --to before {min(near or limit, limit)} that no session reaches across, or wait until the "
            "watermark has passed them"
        )
    return OfSessions(windows.start, windows.key, since, until)


def _at(micros: int) -> str:
    return f"timestamp_micros({micros})"
