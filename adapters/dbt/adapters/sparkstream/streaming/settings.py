"""Configs of the adapter: one list for reading and refusing them, for editors, and for the docs table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dbt.adapters.sparkstream.streaming import MATERIALIZATION

WINDOW_REPLACE = "window_replace"
ANY = "any"
"""Values of `Setting.of` other than the materialization: a strategy of incremental models, and every model."""

UPDATE = "update"
"""Value of `late_rows` with which late rows correct windows that are closed."""

SWAP = "swap"
"""Value of a setting with which the table is rebuilt in staging, and the new table takes its place."""

CONTINUE = "continue"
"""Value of `on_query_change` with which a changed query goes on with the rows that come from now on."""

OFF = "off"
"""Value of `max_future` with which times may be ahead of the clock without limit."""

PROCESSING_TIME = "processing_time"
AVAILABLE_NOW = "available_now"


def read_flag(value: Any) -> bool | None:
    """True or False, also as the text that Jinja gives; None for anything else."""
    return {"true": True, "false": False}.get(str(value).lower())


class Kind(Enum):
    """Kind of a config's value, with words for people."""

    LENGTH = "a length of time"
    WORD = "one of some words"
    TEXT = "a text"
    COUNT = "a number from 1"
    FLAG = "true or false"
    NAMES = "a column, or a list of columns"
    MAPPING = "a mapping"


@dataclass(frozen=True)
class Setting:
    """A config.

    Attributes:
        about: what it does, in Markdown whose links begin in docs/.
        words: its values, for `Kind.WORD`; the first is the default.
        default: its value if it isn't given, as it would be written; None for no such value.
        of: the models that read it.
        is_ours: True if dbt and dbt-spark don't know it.
    """

    name: str
    kind: Kind
    about: str
    words: tuple[str, ...] = ()
    default: str | None = None
    of: tuple[str, ...] = (MATERIALIZATION,)
    is_ours: bool = True


SETTINGS = (
    Setting(
        "event_time",
        Kind.TEXT,
        "the column with the time of the event; a source's or upstream model's own `event_time` goes before it",
        is_ours=False,
    ),
    Setting(
        "watermark",
        Kind.LENGTH,
        "the delay by which a row may trail the latest event time and still count, such as `10 minutes`; "
        "`stream(ref('x'), watermark='1 hour')` for one source",
    ),
    Setting(
        "max_future",
        Kind.LENGTH,
        "how far an event time may be ahead of the clock; `off` for no limit",
        default="1 day",
    ),
    Setting("output_mode", Kind.WORD, "the only mode: rows are appended when they are final", words=("append",)),
    Setting(
        "trigger",
        Kind.MAPPING,
        "`available_now` ends when all is processed; `{'processing_time': '10 seconds'}` is for `sparkstream stream`",
        default=AVAILABLE_NOW,
    ),
    Setting(
        "max_files_per_trigger",
        Kind.COUNT,
        "the number of new files of each source in a micro-batch; all where it isn't given",
    ),
    Setting(
        "checkpoint_location",
        Kind.TEXT,
        "folder for offsets and state of all models that name it; `_sparkstream` beside the table's own folder where "
        "it isn't given",
    ),
    Setting(
        "on_query_change",
        Kind.WORD,
        "what a run does when query, sources, watermark, columns or time zone have changed: [`swap`]"
        "(streaming_rebuilding.md#staged-rebuild), [`continue`](streaming_rebuilding.md#a-changed-query)",
        words=("fail", "rebuild", SWAP, CONTINUE),
    ),
    Setting(
        "on_source_change",
        Kind.WORD,
        "what a run does when [files of a source](streaming_rebuilding.md#a-changed-source) that were read are gone "
        "or were written again",
        words=("fail", "rebuild", SWAP, "accept"),
    ),
    Setting(
        "on_full_refresh",
        Kind.WORD,
        "how `--full-refresh` rebuilds the table: in place, or [staged](streaming_rebuilding.md#staged-rebuild)",
        words=("rebuild", SWAP),
    ),
    Setting(
        "on_foreign_write", Kind.WORD, "what a run does when others have written to the table", words=("fail", "accept")
    ),
    Setting(
        "late_rows",
        Kind.WORD,
        "`keep` puts them into `<model>__late`; with `update` they [correct windows]"
        "(streaming_late.md#late-rows-that-correct-windows) that are closed",
        words=("drop", "keep", UPDATE),
    ),
    Setting(
        "lateness",
        Kind.LENGTH,
        "of a streaming model: how long, in event time, late rows correct windows that are closed, with "
        "`late_rows: update`. Of `window_replace`: the delay by which a row may trail the latest one, "
        "`0 seconds` where it isn't given",
        of=(MATERIALIZATION, WINDOW_REPLACE),
    ),
    Setting(
        "emit",
        Kind.WORD,
        "with `open`, views show the windows that are still open ([early results](streaming_late.md#early-results))",
        words=("on_close", "open"),
    ),
    Setting(
        "unreadable_rows",
        Kind.WORD,
        "what becomes of rows with [values that can't be read](kafka.md#values-that-cant-be-read)",
        words=("keep", "drop"),
    ),
    Setting(
        "compact_every",
        Kind.COUNT,
        "after so many micro-batches, [the table's rows are put into few files](operations.md#few-files)",
    ),
    Setting("flush", Kind.FLAG, "`true` closes all windows at the end of the run"),
    Setting(
        "sink", Kind.MAPPING, "a topic of Kafka that gets the rows, too, [at least once](kafka.md#rows-into-a-topic)"
    ),
    Setting("file_format", Kind.TEXT, "as for a table", default="parquet", is_ours=False),
    Setting("location_root", Kind.TEXT, "as for a table", is_ours=False),
    Setting("partition_by", Kind.NAMES, "as for a table", is_ours=False),
    Setting("tblproperties", Kind.MAPPING, "as for a table", is_ours=False),
    Setting(
        "liquid_clustered_by",
        Kind.NAMES,
        "columns that a table in Delta [is clustered by](delta.md#settings-of-tables)",
        is_ours=False,
    ),
    Setting(
        "optimize",
        Kind.FLAG,
        "`false` translates windows plainly; a streaming model keeps windows as state then, and no "
        "[slices](streaming_inside.md#slices)",
        default="true",
        of=(MATERIALIZATION, ANY),
    ),
    Setting(
        "skewed",
        Kind.FLAG,
        "`true` where one key has most of the rows: its frames are "
        "[split by time](optimizer.md#one-key-with-most-rows)",
        of=(ANY,),
    ),
    Setting(
        "max_windows",
        Kind.COUNT,
        "in how many windows of `hop` or `cumulate` a row may be ([why](security.md#time-and-memory))",
        default="1000000",
        of=(MATERIALIZATION, ANY),
    ),
    Setting(
        "max_partial_matches",
        Kind.COUNT,
        "how many partial matches a `MATCH_RECOGNIZE` may hold at once ([why](security.md#time-and-memory))",
        default="10000",
        of=(MATERIALIZATION, ANY),
    ),
    Setting(
        "sql_dialect",
        Kind.WORD,
        "what the model's SQL is written in",
        words=("spark", "flink", "openmldb", "sqlstream"),
        of=(MATERIALIZATION, ANY),
    ),
    Setting("arrival", Kind.TEXT, "the column that numbers rows in order of arrival; it decides ties", of=(ANY,)),
    Setting(
        "window_columns",
        Kind.NAMES,
        "the two columns with a window's bounds",
        default="['window_start', 'window_end']",
        of=(WINDOW_REPLACE,),
    ),
)
"""All configs, in the order of the docs table."""

NAMED = {setting.name: setting for setting in SETTINGS}

OURS = frozenset(setting.name for setting in SETTINGS if setting.is_ours)
"""The configs that dbt and dbt-spark don't know."""

SWAPPING = tuple(setting.name for setting in SETTINGS if SWAP in setting.words)
"""Configs that can have the value `swap`."""

MEANINGLESS = {
    "unique_key": "rows are appended when they are final, each once, so there is none to update",
    "incremental_strategy": "rows are appended when they are final",
    "batch_size": "the new files of the sources make the batches; set max_files_per_trigger",
    "begin": "the sources are read from their beginning",
    "clustered_by": "the rows of a micro-batch go to files of their own",
    "buckets": "the rows of a micro-batch go to files of their own",
    "options": "write the settings of the table as tblproperties",
    "merge_update_columns": "rows are appended when they are final",
    "skewed": "it splits the rows that a batch reads, and the windows of a stream are kept as state",
}
"""Configs that a streaming model can't have, and why."""
