"""Kinds of models to kill, each with the moments to aim at and the rows that its table has to hold in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tools.kill.moments import BATCH, BETWEEN, CORRECTED, DROPPING, RECORDED, REPLACING, STREAM, SWAPPED, Moment

CLOSED = 1_000_000
"""Seconds since the epoch: the rows of the end have this time and a later one, all others have an earlier one."""

STREAMING = "streaming_incremental"
BOUNDS = "window_start, window_end"
BID = "SOURCE(bid)"
ASK = "SOURCE(ask)"


@dataclass(frozen=True)
class Model:
    """A model of dbt.

    Attributes:
        name: its name, and its table's.
        sql: its query. `SOURCE(bid)` and `MODEL(name)` stand for what it reads; a stream for a streaming model.
        closed: the condition of the rows to compare: those that the closing rows can't change any more.
        config: its configs, as Jinja's `config()` takes them.
        python: its text where it is written in Python; `sql` is the query that gives the same rows.
        counted: an aggregate that counts the rows of the source that are in its table, where readers always find those
            of some moment.
    """

    name: str
    sql: str
    closed: str = "TRUE"
    config: Mapping[str, Any] = field(default_factory=dict)
    python: str | None = None
    counted: str | None = None

    @property
    def streams(self) -> bool:
        return self.config.get("materialized") == STREAMING

    @property
    def takes_turns(self) -> bool:
        """Whether it is another model now and then, by the number that dbt is given."""
        return "var('turn'" in self.sql

    def is_refused_in(self, file_format: str) -> bool:
        """Whether no table of a format can be what it asks for."""
        return (self.shows_open and file_format != "parquet") or (
            "compact_every" in self.config and file_format == "iceberg"
        )

    @property
    def shows_open(self) -> bool:
        """Whether a view has its open windows, too: then that is compared with all rows of batch."""
        return self.config.get("emit") == "open"


@dataclass(frozen=True)
class Kind:
    """One or several models that belong together, and where to kill them.

    Attributes:
        name: for `--kinds`.
        models: those that read others last.
        moments: to kill it at.
    """

    name: str
    models: tuple[Model, ...]
    moments: tuple[Moment, ...]


def _stream(name: str, sql: str, closed: str, **config: Any) -> Model:
    first = {"materialized": STREAMING, "event_time": "ts", "watermark": "10 seconds"}
    return Model(name, sql, closed, {**first, **config})


def _windows(name: str, sql: str, **config: Any) -> Kind:
    return Kind(name, (_stream(name, sql, f"window_end <= timestamp_seconds({CLOSED})", **config),), STREAM)


def _rows(name: str, sql: str, **config: Any) -> Kind:
    moments = (*STREAM, RECORDED) if "partition_by" in config else STREAM
    return Kind(name, (_stream(name, sql, f"ts < timestamp_seconds({CLOSED})", **config),), moments)


def _shown(name: str, sql: str) -> Kind:
    return Kind(name, (_stream(name, sql, "TRUE", emit="open"),), STREAM)


def _corrected(name: str, sql: str) -> Kind:
    """Windows that close at once, and are corrected by the rows that come late: up to 9 seconds."""
    config = {"watermark": "1 second", "late_rows": "update", "lateness": "30 seconds"}
    return Kind(name, _windows(name, sql, **config).models, (*STREAM, RECORDED, CORRECTED, CORRECTED))


def _backfilled(name: str, sql: str) -> Kind:
    """Windows that close at once, and get the rows that come late by a backfill after each run."""
    hook = f"{{{{ sparkstream_backfill('{name}', '1970-01-01', '2100-01-01') }}}}"
    config = {"watermark": "1 second", "post_hook": hook}
    return Kind(name, _windows(name, sql, **config).models, (*STREAM, SWAPPED, DROPPING, BETWEEN, BETWEEN))


def _made_anew(kind: Kind, counted: str | None = None) -> Kind:
    """A table that is rebuilt in staging, by some of the runs."""
    [model] = kind.models
    return Kind(kind.name, (replace(model, counted=counted),), (*STREAM, DROPPING, *(BETWEEN, REPLACING) * 2))


def _batch(name: str, sql: str, counted: str, python: str | None = None, **config: Any) -> Kind:
    return Kind(name, (Model(name, sql, config=config, python=python, counted=counted),), BATCH)


def _windowed(function: str, *arguments: str) -> str:
    return "{{ " + f"{function}({', '.join(arguments)})" + " }}"


def _of_bid(function: str, *arguments: str) -> str:
    return _windowed(function, BID, "'ts'", *(f"'{a}'" for a in arguments))


TUMBLE = _of_bid("tumble", "20 seconds")
COUNTS = f"select {BOUNDS}, k, sum(v) as s, count(*) as n from"
GROUPED = f"group by {BOUNDS}, k"
PYTHON = """\
def model(dbt, session):
    dbt.config(materialized="table")
    bid = dbt.source("raw", "bid")
    return bid.groupBy("k").count().withColumnRenamed("count", "n")
"""

TURN = "{{ var('turn', 0) }}"
"""A number that dbt is given, another one now and then."""
REFRESHES = "{{ config(full_refresh=(var('turn', 0) % 2 == 1)) }}\n"

KINDS = {
    kind.name: kind
    for kind in (
        _rows("rows", f"select id, ts, k, v from {{{{ {BID} }}}}"),
        _rows(
            "rows_partitioned",
            f"select id, ts, v, p from {{{{ {BID} }}}} cross join (select explode(sequence(0, 299)) as p) "
            "where id % 20 = 0",
            partition_by="p",
        ),
        Kind(
            "tumble_compacted",
            _windows("tumble_compacted", f"{COUNTS} {TUMBLE} {GROUPED}", compact_every=1).models,
            (*STREAM, SWAPPED, SWAPPED),
        ),
        _made_anew(
            _rows(
                "swapped",
                f"select id, ts, k, v, {TURN} as turn from {{{{ {BID} }}}}",
                on_query_change="swap",
                max_files_per_trigger=1,
            ),
            "count(*)",
        ),
        _made_anew(
            _windows(
                "swapped_compacted",
                f"select *, {TURN} as turn from ({COUNTS} {TUMBLE} {GROUPED})",
                on_query_change="swap",
                compact_every=1,
            )
        ),
        _made_anew(
            _rows("refreshed", f"{REFRESHES}select id, ts, k, v from {{{{ {BID} }}}}", on_full_refresh="swap"),
            "count(*)",
        ),
        _windows("tumble", f"{COUNTS} {TUMBLE} {GROUPED}"),
        _windows("hop", f"{COUNTS} {_of_bid('hop', '1 second', '30 seconds')} {GROUPED}"),
        _shown("open", f"{COUNTS} {TUMBLE} {GROUPED}"),
        _shown("open_hop", f"{COUNTS} {_of_bid('hop', '1 second', '30 seconds')} {GROUPED}"),
        _corrected("corrected", f"{COUNTS} {TUMBLE} {GROUPED}"),
        _corrected("corrected_hop", f"{COUNTS} {_of_bid('hop', '1 second', '30 seconds')} {GROUPED}"),
        _backfilled("backfilled", f"{COUNTS} {TUMBLE} {GROUPED}"),
        _backfilled("backfilled_hop", f"{COUNTS} {_of_bid('hop', '1 second', '30 seconds')} {GROUPED}"),
        _windows("hop_windows", f"{COUNTS} {_of_bid('hop', '5 seconds', '30 seconds')} {GROUPED}", optimize=False),
        _windows("cumulate", f"{COUNTS} {_of_bid('cumulate', '5 seconds', '1 minute')} {GROUPED}"),
        _windows("session", f"{COUNTS} {_of_bid('session', '7 seconds', 'k')} {GROUPED}"),
        _windows(
            "session_rows",
            "select * from " + _windowed("session", BID, "'ts'", "'7 seconds'", "'k'", "max_duration='20 seconds'"),
        ),
        _rows(
            "over",
            "select id, ts, k, sum(v) over (partition by k order by ts range between interval 30 seconds preceding "
            f"and current row) as s, lag(v) over (partition by k order by ts, id) as l from {{{{ {BID} }}}}",
        ),
        _windows(
            "over_windows",
            f"select *, s - lag(s) over (partition by k order by window_end) as change from ({COUNTS} {TUMBLE} "
            f"{GROUPED})",
        ),
        _windows(
            "join",
            f"select l.window_start, l.window_end, l.id as a, r.id as b from (select * from {TUMBLE}) l left join "
            f"(select * from {_windowed('tumble', ASK, repr('ts'), repr('20 seconds'))}) r on "
            "l.window_start = r.window_start and l.window_end = r.window_end and l.k = r.k",
        ),
        _rows(
            "as_of",
            "select * from "
            + _windowed("asof_join", BID, ASK, "'k'", "'ts'", "'ts'", "ties=['v', 'id']", "columns={'id': 'b'}"),
        ),
        _windows(
            "top_n",
            f"select * from (select *, row_number() over (partition by {BOUNDS} order by s desc, k) as rn from "
            f"({COUNTS} {TUMBLE} {GROUPED})) where rn <= 2",
        ),
        _windows(
            "dedup",
            f"select * from (select *, row_number() over (partition by {BOUNDS}, k order by v desc, id) as rn from "
            f"{TUMBLE}) where rn = 1",
        ),
        Kind(
            "cascade",
            (
                *_windows("cascade_first", f"{COUNTS} {TUMBLE} {GROUPED}").models,
                *_windows(
                    "cascade",
                    f"select {BOUNDS}, max(s) as best, count(*) as n from "
                    + _windowed(
                        "hop",
                        '"(select window_end as t, s from " ~ MODEL(cascade_first) ~ ")"',
                        "'t'",
                        "'20 seconds'",
                        "'1 minute'",
                    )
                    + f" group by {BOUNDS}",
                    event_time="window_end",
                    watermark="0 seconds",
                ).models,
            ),
            STREAM,
        ),
        _batch("table", f"select k, count(*) as n, sum(v) as s from {{{{ {BID} }}}} group by k", "sum(n)"),
        _batch(
            "insert_overwrite",
            "select * from (select id, ts, k, v, cast(unix_seconds(ts) div 100 as bigint) as part from "
            f"{{{{ {BID} }}}}) {{% if is_incremental() %}} where part >= (select max(part) - 1 from "
            "{{ this }}) {% endif %}",
            "count(*)",
            materialized="incremental",
            incremental_strategy="insert_overwrite",
            partition_by="part",
        ),
        _batch(
            "window_replace",
            f"select *, cast(unix_seconds(window_start) div 100 as bigint) as part from ({COUNTS} {TUMBLE} {GROUPED})",
            "sum(n)",
            materialized="incremental",
            incremental_strategy="window_replace",
            partition_by="part",
            lateness="10 seconds",
        ),
        _batch("python", f"select k, count(*) as n from {{{{ {BID} }}}} group by k", "sum(n)", PYTHON),
    )
}
"""By name."""
