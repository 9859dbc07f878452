"""Ledger of a streaming table: all that is recorded in its properties, as one value.

The properties are in the catalog under `sparkstream.` and the key of a field: `sparkstream.batch = '41'`. A field
that isn't recorded has no property, or an empty one.
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

from dbt.adapters.sparkstream.server.process import birth, boot_id

PREFIX = "sparkstream."

GRACE = 3600.0
"""Seconds that queries may go on reading files that a table has left."""


class Stage(Enum):
    """A kind of staging table: the suffix of its name, and the keys of its properties."""

    COMPACTION = "__compacted", "compaction_of", "whole"
    REBUILD = "__rebuilt", "rebuilt_of", "rebuilt_whole"
    BACKFILL = "__backfilled", "backfill_of", "backfill_whole"

    def __init__(self, suffix: str, of: str, whole: str) -> None:
        self.suffix = suffix
        self.keys = {"of": of, "whole": whole}


@dataclass(frozen=True)
class Holder:
    """A run of a model.

    Attributes:
        id: tells it from all other runs.
        alive: time of its last sign of life, in seconds since the epoch by its own clock.
        place: scope of its pid: the machine since its last start, and the container.
        born: when its process began, as the system says it; tells it from a later process with the same pid.
        java: pid and start of its Spark's process, if that ends with the run's; None for a server.
        session: its session on a server, which may go on without it: user and id; None for a Spark of its own.
    """

    id: str
    host: str
    pid: int
    alive: float
    place: str = ""
    born: str = ""
    java: tuple[int, str] | None = None
    session: tuple[str, str] | None = None

    @classmethod
    def mine(cls, java: int | None = None, session: tuple[str, str] | None = None) -> Holder:
        """A run of this process, as of now."""
        pid = os.getpid()
        return cls(
            id=uuid.uuid4().hex,
            host=socket.gethostname(),
            pid=pid,
            alive=time.time(),
            place=place(),
            born=birth(pid) or "",
            java=None if java is None else (java, birth(java) or ""),
            session=session,
        )

    @classmethod
    def read(cls, text: str) -> Holder | None:
        """A holder of JSON text; None for another text."""
        try:
            found = json.loads(text)
            known = {field.name: found[field.name] for field in fields(cls) if field.name in found}
            pairs = {name: tuple(known[name]) for name in ("java", "session") if known.get(name)}
            return cls(**{**known, **pairs})
        except (ValueError, TypeError, AttributeError):
            return None

    def text(self) -> str:
        """JSON text that `read` reads."""
        return json.dumps(asdict(self))

    def is_here(self) -> bool:
        """True if the run is on this machine and in this container, so that its pid can be looked up."""
        return bool(self.place) and self.place == place()

    def is_alive(self) -> bool | None:
        """True if the run is still going: on this machine, if its process is; None if only its signs of life tell."""
        return birth(self.pid) == self.born if self.is_here() else None

    def java_runs(self) -> bool:
        """True if the Spark of a run of this machine and container still runs."""
        return self.java is not None and self.is_here() and birth(self.java[0]) == self.java[1]


def place() -> str:
    """Scope of a pid: the machine since its last start, and the container, as containers may share a machine's name."""
    try:
        return f"{boot_id()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:  # no Linux, no containers
        return f"{socket.gethostname()}/{uuid.getnode():x}"


def _number(text: str) -> int | None:
    return int(text) if text.removeprefix("-").isdecimal() else None


def _key(key: str, read: Callable[[str], Any] = str, write: Callable[[Any], str] = str) -> dict[str, Any]:
    return {"key": key, "read": read, "write": write}


@dataclass(frozen=True)
class Ledger:
    """Facts recorded about a streaming model's table.

    Attributes:
        generation: tells the table from earlier tables of the model.
        query: a hash of all that its state depends on.
        sidecars: the name of the folder with its checkpoint.
        sources: name of a stream -> what tells its source from a new source of the same name.
        batch: the last micro-batch that is recorded; -1 for none.
        files: text by which the table's format finds rows of other writers.
        ended: the last micro-batch of a run that has ended by itself: none is due until rows come.
        told_to_end: the id of a run that is told to end when its micro-batch has ended.
        staging: the folder of a staged rebuild, recorded before that is made. Where the catalog chooses the folder, a
            name is recorded for it, without a slash.
        left: folders of earlier tables -> since when only running queries may read their files, in seconds since the
            epoch; 0 for a folder that nobody reads.
        files_left: when a compaction, or the first of several corrections, has left the files from before; seconds
            since the epoch.
        updates: True if late rows correct windows.
        compacts: True if a table in plain files is made for compaction.
        swaps: True if a table in plain files may give way to a staged rebuild.
        of: of a staging table, the name of the table whose place it is to take. For a backfill, it stays.
        whole: of a staging table that has all rows, the generation of that table. For a rebuild, it stays until the
            sidecar folders of the table before are gone, and the staging table.
    """

    generation: str = field(metadata=_key("table"))
    query: str = field(metadata=_key("query"))
    sidecars: str = field(metadata=_key("kept"))
    sources: Mapping[str, str] = field(metadata=_key("sources", json.loads, json.dumps))
    batch: int = field(metadata=_key("batch", int))
    files: str = field(metadata=_key("files"))
    ended: int | None = field(metadata=_key("ended", _number), default=None)
    holder: Holder | None = field(metadata=_key("run", Holder.read, Holder.text), default=None)
    told_to_end: str = field(metadata=_key("stop"), default="")
    staging: str = field(metadata=_key("aside"), default="")
    left: Mapping[str, int] = field(metadata=_key("leaves", json.loads, json.dumps), default_factory=dict)
    files_left: float | None = field(metadata=_key("left_files", float, "{:.0f}".format), default=None)
    updates: bool = field(metadata=_key("updates", bool, lambda _: "true"), default=False)
    compacts: bool = field(metadata=_key("compacts", bool, lambda _: "true"), default=False)
    swaps: bool = field(metadata=_key("swaps", bool, lambda _: "true"), default=False)
    of: Mapping[Stage, str] = field(default_factory=dict)
    whole: Mapping[Stage, str] = field(default_factory=dict)

    @classmethod
    def read(cls, properties: Mapping[str, str]) -> Ledger | None:
        """The ledger by properties, whose keys lack `PREFIX`; None for a table that no streaming model has made."""
        if not all(properties.get(key) for key in ("table", "query", "kept")):
            return None
        values: dict[str, Any] = {"sources": {}, "batch": -1, "files": ""}
        for each in fields(cls):
            if text := properties.get(each.metadata.get("key", "")):
                values[each.name] = each.metadata["read"](text)
        for name in ("of", "whole"):
            values[name] = {stage: text for stage in Stage if (text := properties.get(stage.keys[name]))}
        return cls(**values)

    def is_held_by(self, run: Holder | None) -> bool:
        """True if a run has the table; for None, if no run has it."""
        return (self.holder and self.holder.id) == (run and run.id)

    def properties(self) -> dict[str, str]:
        """Properties of a table with this ledger, by keys without `PREFIX`."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        empty = {each.name for each in fields(self) if given[each.name] in (each.default, {})}
        return properties(**{name: value for name, value in given.items() if name not in empty or name == "sources"})


_FIELDS = {each.name: each.metadata for each in fields(Ledger)}


def properties(**changes: Any) -> dict[str, str]:
    """Values of the ledger's fields as properties, by keys without `PREFIX`; None and False are an empty text."""
    found: dict[str, str] = {}
    for name, value in changes.items():
        if name in ("of", "whole"):
            found |= {stage.keys[name]: text for stage, text in value.items()}
        else:
            metadata = _FIELDS[name]
            found[metadata["key"]] = "" if value is None or value is False else metadata["write"](value)
    return found


def is_over(since: float | None) -> bool:
    """True if files that were left at a time, in seconds since the epoch, have no readers any more; False for None."""
    return since is not None and time.time() - since >= GRACE
