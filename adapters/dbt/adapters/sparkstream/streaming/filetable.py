"""The table of a streaming model in plain files, whose folders tell who has written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt.adapters.sparkstream.streaming.errors import REBUILD, StreamingError
from dbt.adapters.sparkstream.streaming.fingerprint import digest
from dbt.adapters.sparkstream.streaming.paths import path_of
from dbt.adapters.sparkstream.streaming.table import BATCH, StreamTable, up_to


class FileTable(StreamTable):
    """A table that is the files in a folder, with no list of their own."""

    _seen: Sequence[str] = ()

    def check_foreign(self, known: Mapping[str, str], last: int, begun: int, accepts: bool) -> None:
        self._seen = self.files()
        own = set(up_to(self._seen, begun))
        strange = [name for name in self._seen if name not in own]
        if strange:
            # Rows of a micro-batch to come would be taken for those of an interrupted one.
            raise StreamingError(
                f"something else has written to {self.name}: {len(strange)} of its files are of no "
                f"micro-batch, such as {strange[0]}\n"
                f"  remove them with ALTER TABLE {self.name} DROP PARTITION ({BATCH} = ...), or {REBUILD}"
            )
        if accepts:
            return
        noted, own_files = known.get("files"), up_to(self._seen, last)
        # Version 0.1.0 has noted whole paths.
        if noted and noted not in (self._digest(own_files), digest(own_files)):
            raise StreamingError(
                f"something else has written to {self.name}: its files are not those of the last run\n"
                f"  {REBUILD}; or, if the table is right as it is, write config(on_foreign_write='accept')"
            )

    def is_noted(self, known: Mapping[str, str]) -> bool:
        return known["files"] == self._digest(self._seen)

    def settled(
        self, after: int, finished: int, windows: Sequence[str]
    ) -> tuple[dict[int, tuple[int, int | None]], str]:
        files = self.files()
        found = self._appended(after, windows, files)
        return {n: counts for n, counts in found.items() if n <= finished}, self._digest(up_to(files, finished))

    def _digest(self, files: Sequence[str]) -> str:
        """A hash of files of the table, the same when the table has got another name and folder."""
        folder = f"{path_of(self.facts().location)}/"
        return digest(path_of(name).removeprefix(folder) for name in files)
