"""A streaming model as a run knows it: its configs as a value, checked before anything runs, and dbt's facts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from dbt.adapters.sparkstream.sql.core.errors import did_you_mean
from dbt.adapters.sparkstream.sql.core.interval import Interval, IntervalError
from dbt.adapters.sparkstream.streaming import settings
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sinks.topic import Topic
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.folders import parent_of
from dbt.adapters.sparkstream.streaming.tables.formats import FILE_FORMATS, LOGGED_FORMATS, Format, format_of

DAY = Interval.parse("1 day")


@dataclass(frozen=True)
class StreamConfig:
    """Configs of a streaming model, as `settings` describes them, except for those below. None: not given.

    Attributes:
        interval: time between two micro-batches (`trigger`) while it is left running; None to end when all is read.
        keep_late: True if late rows go to a table (`late_rows`).
        shows_open: True if views show the windows that are open (`emit`).
        keep_unreadable: True if rows with values that can't be read go to a table (`unreadable_rows`).
        flush: True if a run ends by closing all windows; None if no run ever does.
        topic: the topic that gets the rows, beside the table (`sink`).
    """

    event_time: str | None = None
    watermark: Interval | None = None
    max_future: Interval | None = DAY
    interval: Interval | None = None
    checkpoint_location: str | None = None
    max_files_per_trigger: int | None = None
    on_query_change: str = "fail"
    on_source_change: str = "fail"
    on_full_refresh: str = "rebuild"
    on_foreign_write: str = "fail"
    keep_late: bool = False
    lateness: Interval | None = None
    shows_open: bool = False
    keep_unreadable: bool = True
    flush: bool | None = None
    compact_every: int | None = None
    topic: Topic | None = None
    file_format: str = "parquet"
    location_root: str | None = None
    partition_by: tuple[str, ...] = ()
    liquid_clustered_by: tuple[str, ...] = ()
    tblproperties: tuple[tuple[str, str], ...] = ()

    @property
    def swaps(self) -> str | None:
        """The first setting by which the table is rebuilt in staging; None for none."""
        return next((name for name in settings.SWAPPING if getattr(self, name) == settings.SWAP), None)

    def sidecar_root(self, location: str) -> str:
        """Beginning of the paths of a table's sidecar folders, by the folder of the table."""
        return (self.checkpoint_location or f"{parent_of(location)}/_sparkstream").rstrip("/") + "/"

    @classmethod
    def read(cls, config: Mapping[str, Any], root: Path = Path()) -> StreamConfig:
        """Reads and checks the configs of a model.

        Args:
            config: the model's configs; those that aren't ours, dbt's or dbt-spark's are the user's own.

        Raises:
            StreamingError: one is misspelt, has no meaning here, can't have its value, or contradicts another.
        """
        given = {name: value for name, value in config.items() if value is not None}
        _check_names(given)
        interval = _trigger(given.get("trigger", settings.AVAILABLE_NOW))
        if given.get("output_mode", "append") != "append":
            raise StreamingError(
                f"output_mode can't be {given['output_mode']!r}: a table gets rows when they are final\n"
                "  leave output_mode out, or write 'append'"
            )
        if given.get("on_schema_change", "ignore") != "ignore":
            raise StreamingError(
                "on_schema_change has no meaning here: other columns are another query\n"
                "  write on_query_change='rebuild' to have the table rebuilt then"
            )
        own = [field.name for field in dataclasses.fields(cls) if field.name in given and field.name in settings.NAMED]
        plain: dict[str, Any] = {name: _READERS[settings.NAMED[name].kind](name, given[name]) for name in own}
        words = {name: _word(name, given.get(name)) for name in ("late_rows", "emit", "unreadable_rows")}
        _check_lateness(given, plain.get("lateness"))
        others: dict[str, Any] = {
            "interval": interval,
            "keep_late": words["late_rows"] in ("keep", settings.UPDATE),
            "shows_open": words["emit"] == "open",
            "keep_unreadable": words["unreadable_rows"] == "keep",
            "topic": Topic.read(given["sink"], root) if "sink" in given else None,
            "file_format": plain.get("file_format", cls.file_format).lower(),
        }
        read = cls(**{**plain, **others})
        if why := next(_contradictions(read), None):
            raise StreamingError(why)
        return read


def _contradictions(read: StreamConfig) -> Iterator[str]:
    """Errors for configs that can't be given together, each with what to write."""
    format_ = format_of(read.file_format)
    if read.flush and read.interval:
        yield (
            "flush closes all windows at the end of a run, and a run with trigger processing_time has none\n"
            "  leave one of them out"
        )
    if read.swaps:
        excluded = {
            f"file_format='{format_.name}'": not format_.is_files and not format_.has_log,
            f"late_rows='{settings.UPDATE if read.lateness else 'keep'}'": read.keep_late,
            "emit='open'": read.shows_open,
            "sink": read.topic is not None,
            "flush": read.flush is not None,
        }
        for name in (name for name, is_given in excluded.items() if is_given):
            yield (
                f"{read.swaps}='{settings.SWAP}' can't be with {name}: a table takes the place of another one where "
                f"it is in {', '.join(LOGGED_FORMATS)} or plain files ({', '.join(FILE_FORMATS)}), with nothing beside "
                f"it\n  write {read.swaps}='rebuild', or leave the other one out"
            )
    if read.liquid_clustered_by and (not format_.clusters or read.partition_by):
        yield (
            "only a table in Delta without partitions is clustered by liquid_clustered_by\n"
            "  write file_format='delta' and no partition_by, or leave liquid_clustered_by out"
        )
    if read.shows_open and format_.has_log:
        yield (
            "emit='open' needs a table of files, with a partition for each micro-batch, and this one is in "
            f"{format_.name.capitalize()}\n  write another file_format, such as parquet, or leave emit out"
        )
    if read.compact_every is not None and not format_.compacts:
        yield (
            f"a table in {format_.name} takes no compact_every: its partitions, one for each micro-batch, stay as "
            "they are in a compaction\n  leave compact_every out, or write file_format='delta'"
        )
    if read.lateness is not None:
        yield from _against_corrections(read, format_)


def _against_corrections(read: StreamConfig, format_: Format) -> Iterator[str]:
    """Errors for configs that can't be given together with corrections of closed windows."""
    if read.topic is not None:
        yield (
            "late_rows='update' doesn't go with a sink: what a topic has got can't be corrected\n"
            "  write late_rows='keep', or send the rows to the topic from a model of its own"
        )
    if not format_.is_files and not format_.has_log:
        yield (
            f"late_rows='update' is for tables in Delta, Iceberg and files, and this one is in {format_.name}\n"
            "  write another file_format, or late_rows='keep'"
        )
    whys = {
        "partition_by": "a window's rows would lie in several partitions, which change one by one",
        "compact_every": "a compaction puts all rows into one partition, to be written again each time",
    }
    for name, why in whys.items():
        if format_.is_files and getattr(read, name):
            yield (
                f"late_rows='update' doesn't go with {name} in a table of files: {why}\n"
                f"  write file_format='delta', or leave {name} out"
            )


def _check_names(given: Mapping[str, Any]) -> None:
    for name, why in settings.MEANINGLESS.items():
        if given.get(name):
            raise StreamingError(f"a streaming model takes no {name}: {why}\n  leave it out")
    known = settings.NAMED.keys() | _of_dbt()  # any other name may be the user's own
    for name in given:
        if name not in known and (hint := did_you_mean(name, settings.OURS, cutoff=0.8)):
            raise StreamingError(f"a streaming model has no config {name!r}\n  {hint}")


@cache
def _of_dbt() -> frozenset[str]:
    """The configs that dbt has for every model."""
    from dbt.artifacts.resources.v1.model import ModelConfig

    return frozenset(field.name for field in dataclasses.fields(ModelConfig))


def _check_lateness(given: Mapping[str, Any], lateness: Interval | None) -> None:
    updates = given.get("late_rows") == settings.UPDATE
    if updates != (lateness is not None):
        raise StreamingError(
            "late_rows='update' needs to know how long closed windows can be corrected: their state is kept so long\n"
            "  write lateness='1 hour'"
            if updates
            else "lateness says how long late rows correct closed windows\n"
            "  write late_rows='update' with it, or leave it out"
        )
    if lateness is not None and (lateness.micros <= 0 or lateness.micros % 1000):
        raise StreamingError(
            f"lateness is no whole number of milliseconds above 0: {given['lateness']}\n  write it such as '1 hour'"
        )


def _trigger(value: Any) -> Interval | None:
    if value == settings.AVAILABLE_NOW:
        return None
    if isinstance(value, Mapping) and list(value) == [settings.PROCESSING_TIME]:
        return read_interval(f"trigger's {settings.PROCESSING_TIME}", value[settings.PROCESSING_TIME])
    raise StreamingError(
        f"trigger can't be {value!r}\n"
        f"  write '{settings.AVAILABLE_NOW}', or {{'{settings.PROCESSING_TIME}': '10 seconds'}}"
    )


def read_interval(name: str, value: Any) -> Interval:
    """A length of time, such as `'10 minutes'`, that is the value of a config."""
    try:
        read = Interval.parse(str(value))
    except IntervalError as error:
        raise StreamingError(f"{name}: {error}\n  {error.hint or 'write it such as 10 minutes'}") from error
    if read.micros < 0:
        raise StreamingError(f"{name} can't be negative: {value}\n  write it such as '10 minutes', or '0 seconds'")
    return read


def _length(name: str, value: Any) -> Interval | None:
    # YAML reads an `off` without quotes as false.
    is_off = name == "max_future" and (value is False or value == settings.OFF)
    return None if is_off else read_interval(name, value)


def _text(name: str, value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise StreamingError(f"{name} is not a text: {value!r}")


def _names(name: str, value: Any) -> tuple[str, ...]:
    value = value or []
    if not isinstance(value, str | list | tuple):
        raise StreamingError(f"{name} is no column and no list of columns: {value!r}\n  write it such as ['day']")
    return (value,) if isinstance(value, str) else tuple(map(str, value))


def _mapping(name: str, value: Any) -> tuple[tuple[str, str], ...]:
    value = value or {}
    if not isinstance(value, Mapping):
        raise StreamingError(f"{name} is no mapping: {value!r}\n  write it such as {{'owner': 'sales'}}")
    return tuple((str(key), str(text)) for key, text in value.items())


def _count(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise StreamingError(f"{name} is no positive whole number: {value!r}\n  write it such as 100")


def _word(name: str, value: Any) -> str:
    words = settings.NAMED[name].words
    if value is None:
        return words[0]
    if value not in words:
        raise StreamingError(f"{name} can't be {value!r}\n  write one of {', '.join(words)}")
    return str(value)


def _flag(name: str, value: Any) -> bool:
    flag = settings.read_flag(value)
    if flag is None:
        raise StreamingError(f"{name} can't be {value!r}\n  write true or false")
    return flag


_READERS: Mapping[settings.Kind, Callable[[str, Any], Any]] = {
    settings.Kind.LENGTH: _length,
    settings.Kind.TEXT: _text,
    settings.Kind.COUNT: _count,
    settings.Kind.WORD: _word,
    settings.Kind.FLAG: _flag,
    settings.Kind.NAMES: _names,
    settings.Kind.MAPPING: _mapping,
}
"""Kind of a config's value -> its reader."""


@dataclass(frozen=True)
class Model:
    """A streaming model as dbt knows it.

    Attributes:
        identifier: the last part of its table's name.
        contract: column -> type, where the model has a contract.
        comments: column -> description, and the table's under an empty name, where the model persists them.
        staging_of: the model's own table, where `relation` is a staged rebuild; else empty.
    """

    unique_id: str
    identifier: str
    relation: str
    runs: str
    sql: str
    dialect: str
    config: StreamConfig
    sources: tuple[StreamSource, ...]
    contract: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    run_id: str = ""
    staging_of: str = ""

    @property
    def compact_every(self) -> int | None:
        """Number of micro-batches after which the rows are put into few files; None for never or a staging table."""
        return None if self.staging_of else self.config.compact_every
