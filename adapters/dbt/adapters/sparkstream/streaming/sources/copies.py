"""Files of a folder that equal files which were read: delivered twice, or moved back under another name."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.literals import exactly
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import Stored

PARTS = 50
"""Number of text files of records that are put into one."""


@dataclass
class Copies:
    """Search for new files of a source that equal files which were read.

    A file's size comes with the listing; only files of one size are read, for a hash of their lines. Of files that go,
    size and hash are recorded in a sidecar folder of the checkpoint once they were read.
    """

    engine: Engine
    source: StreamSource
    checkpoint: str

    def __post_init__(self) -> None:
        self._records = f"{self.checkpoint}_read"

    def report(self, stored: Mapping[str, Stored], done: Collection[str]) -> str | None:
        """The new files that equal files which were read, in words; None for none."""
        read = set(done)
        new = {name: file for name, file in stored.items() if name not in read}
        if not new:
            return None
        old = {name: stored[name] for name in read & stored.keys()}
        equal = self._by_name(new, read) | self._by_content(new, old, read)
        if not equal:
            return None
        first = min(equal)
        return (
            f"{self.source.relation}: {len(equal)} of {len(new)} new files may be copies of files that were read, "
            f"such as {first}, which has {equal[first]}\n"
            "  the rows of a copy count twice: remove it, and run the model with --full-refresh"
        )

    def record(self, stored: Mapping[str, Stored]) -> None:
        """Records size and hash of files that were read."""
        records = self.engine.folders.named_lines(exactly(self._records))
        known = {json.loads(line)[0] for _, line in records}
        digests = self._digests({name: file for name, file in stored.items() if name not in known})
        lines = [json.dumps([name, stored[name].size, digest]) for name, digest in sorted(digests.items())]
        if not lines:
            return
        is_merged = len({file for file, _ in records}) >= PARTS
        before = [line for _, line in records] if is_merged else []
        self.engine.folders.write_lines(self._records, [*before, *lines], "overwrite" if is_merged else "append")

    @staticmethod
    def _by_name(new: Collection[str], read: Set[str]) -> dict[str, str]:
        """New file with the name of a read file -> words about it; none if names recur in this folder as a rule."""
        names = {_name(name): name for name in read}
        if len(names) < len(read):
            return {}
        return {name: f"the name of {names[_name(name)]}" for name in new if _name(name) in names}

    def _by_content(
        self, new: Mapping[str, Stored], old: Mapping[str, Stored], read: Collection[str]
    ) -> dict[str, str]:
        """New file with the lines of a read file -> words about it."""
        records = map(json.loads, self.engine.folders.lines(self._records))
        recorded = {(size, digest): name for name, size, digest in records if name in read}
        sizes = {size for size, _ in recorded} | {file.size for file in old.values()}
        alike = {name: file for name, file in new.items() if file.size and file.size in sizes}
        of_size = {file.size for file in alike.values()}
        others = {name: file for name, file in old.items() if file.size in of_size}
        digests = self._digests({**alike, **others})
        known = {(file.size, digests[name]): name for name, file in others.items() if name in digests} | recorded
        found = {name: known.get((file.size, digests.get(name, ""))) for name, file in alike.items()}
        return {name: f"the lines of {other}" for name, other in found.items() if other is not None}

    def _digests(self, files: Mapping[str, Stored]) -> dict[str, str]:
        try:
            uris = [file.uri for file in files.values()]
            return self.engine.folders.digests(str(self.source.folder), self.source.listing, uris)
        except StreamingError:  # a file goes just now, or can't be read: the stream will say so
            return {}


def _name(path: str) -> tuple[str, ...]:
    """A file's name, with the partitions that it is in."""
    *folders, name = path.split("/")
    return name, *(folder for folder in folders if "=" in folder)
