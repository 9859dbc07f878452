"""Sources of a streaming model: their tables, and changes of the files that were read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dbt.adapters.sparkstream.sql import TranslationError
from dbt.adapters.sparkstream.sql.core.literals import exactly
from dbt.adapters.sparkstream.sql.streaming import RowView
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import ONLY_ADDED, REBUILD, SourceChanged, StreamingError
from dbt.adapters.sparkstream.streaming.sources.copies import Copies
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource, View
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Portions, ReadFiles, Recorded
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import Stored, parent_of, path_of, within
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts, ledger_of
from dbt.adapters.sparkstream.streaming.tables.formats import Format, format_of


@dataclass(frozen=True)
class Change:
    """Changes of a source's files that were read.

    Attributes:
        lost: files that were deleted after their rows were appended.
        pending: files that were deleted before, of the micro-batch that was interrupted.
        rewritten: files that were changed after their rows were appended, as `path of time`.
        mended: files that were changed before, in the same form: they are read once more.
        new: files that haven't been read.
    """

    source: StreamSource
    lost: frozenset[str]
    pending: frozenset[str]
    rewritten: frozenset[str]
    mended: frozenset[str]
    new: frozenset[str]

    @property
    def doubtful(self) -> list[str]:
        """New files in the folders of lost files, or with their names: after a compaction they have the lost rows."""
        folders = {parent_of(name) for name in self.lost}
        names = {name.rpartition("/")[2] for name in self.lost}
        return sorted(name for name in self.new if parent_of(name) in folders or name.rpartition("/")[2] in names)


@dataclass
class Sources:
    """The sources of one run of a model."""

    engine: Engine
    config: StreamConfig
    warn: Callable[[str], None] = lambda text: None
    _facts: dict[str, Facts] = field(default_factory=dict, init=False)
    _files: dict[tuple[Any, ...], dict[str, Stored]] = field(default_factory=dict, init=False)

    @property
    def _accepts(self) -> bool:
        """True if the model goes on after its sources have changed."""
        return self.config.on_source_change == "accept"

    def look_again(self) -> None:
        """Forgets the list of the sources' files, so that they are listed again."""
        self._files.clear()

    def facts_of(self, relation: str) -> Facts:
        """Description of a table in the catalog, read once."""
        if relation not in self._facts:
            self._facts[relation] = Facts.of(self.engine, relation)
        return self._facts[relation]

    def seen(self, source: StreamSource) -> StreamSource:
        """A source as it can be streamed: for a view, the table below it, read through the view's query.

        Raises:
            StreamingError: no stream can follow it.
        """
        if source.reader:
            return source
        view = source.relation
        query: RowView | None = None
        facts = self.facts_of(view)
        while facts.kind == "VIEW":
            try:
                below = RowView.read(facts.query)
            except TranslationError as error:
                raise StreamingError(
                    f"{view} is a view that doesn't stream: {error.message}\n"
                    "  read the table below it with stream(), and put what the view does into this model"
                ) from error
            query = below if query is None else below.below(query)
            table = query.table if "." in query.table else f"{facts.namespace}.{query.table}"
            facts = self.facts_of(table)
        if query is not None:
            source = replace(source, relation=table, seen=View(query, tuple(self.engine.columns(view))))
        ledger = ledger_of(self.engine, source.relation) if facts.may_have_ledger else None
        if ledger is not None and ledger.updates:
            raise StreamingError(
                f"late rows correct windows of {source.relation} (late_rows='update'), and a stream would read rows of "
                "corrected windows again, or never\n"
                "  read it without stream(), as a table or an incremental model does, or write late_rows='keep' there"
            )
        if ledger is not None and ledger.compacts:
            raise StreamingError(
                f"{source.relation} is compacted (compact_every), and a stream would read its rows again in new files\n"
                "  leave compact_every out there and run it with --full-refresh, or write file_format='delta', whose "
                "compactions a stream passes over"
            )
        return source

    def can_be_read_again(self, source: StreamSource) -> bool:
        """True if the checkpoint has the files of a stream that a micro-batch has read."""
        return self._format(source).is_files

    def _format(self, source: StreamSource) -> Format:
        return format_of(source.name if source.reader else self.facts_of(source.relation).provider)

    def options(self, source: StreamSource) -> dict[str, str]:
        """Spark's options for a changed source under on_source_change='accept', such as `skipChangeCommits`."""
        return dict(self._format(source).passes_changes) if self._accepts else {}

    def check_beginning(self, sources: Sequence[StreamSource]) -> None:
        """Checks that a stream that begins now gets all rows of its sources."""
        for source in sources:
            if not source.reader:
                self._format(source).check_beginning(self.engine.sql, source.relation, self._accepts)

    def identity(self, source: StreamSource) -> str:
        """Identity of a source, which a new source of its name lacks: place and time of a table's creation, for one."""
        if source.reader:
            return source.identities[0]
        facts = self.facts_of(source.relation)
        if source.checksum is not None and not self._format(source).has_log:
            return f"seed {source.checksum}"
        return f"{facts.location} of {facts.created}"

    def is_another(self, source: StreamSource, before: str) -> str | None:
        """Change of a source, in words, if it isn't the source that was read; None if it is."""
        # Up to version 0.2.0, it had a relative path as it is written.
        if before == self.identity(source) or (source.reader and before in source.identities):
            return None
        if source.path is not None:
            folder = source.reader["path"]
            return f"lies in another folder than before, {folder}, where Spark would read all files again"
        return "is not the table that it was: it was created again, and its rows would be processed again"

    def has_rows_to_read(self, sources: Sequence[StreamSource], checkpoint: str, recorded: Recorded) -> bool:
        """Compares the files of the sources with the files that were read; True if there may be rows to read.

        Spark knows a file by its path. It reads no path twice, so it never sees what is written into a file later. It
        reads each new path, though the rows there may be rows of files that are gone. Nothing is to be read where seeds
        were loaded again with the rows that they had.

        Raises:
            SourceChanged: files or topics that were read are gone or changed, so the table has to be rebuilt.
            StreamingError: going on would lose rows or double them.
        """
        for relation, topic in Portions(self.engine, sources, checkpoint, self.folder).remade_topics():
            what = f"is not what it was: the topic {topic} was deleted and created again, and counts its records from 0"
            raise SourceChanged.of(relation, what)
        read = recorded.files
        if strays := self._strays(sources, checkpoint, read):
            sources_ = ", ".join(source.relation for source in sources)
            what = f"lies in another folder than before: {len(strays)} files were read elsewhere, such as {min(strays)}"
            raise SourceChanged.of(sources_, what)
        changes = [change for source in sources if (change := self._change(source, read, checkpoint))]
        # The rows of files that an interrupted run had begun to read aren't in the model, so they aren't nothing new.
        reloaded = [c for c in changes if c.source.checksum is not None and c.lost and not c.pending]
        if reloaded and len(reloaded) == len(sources):
            return False
        folder = f"{checkpoint}_accepted"
        accepted = set(self.engine.folders.lines(folder)) if changes else set()
        changes = [replace(c, lost=c.lost - accepted, rewritten=c.rewritten - accepted) for c in changes]
        for change in changes:
            self._judge(change)
        if any(change.pending for change in changes):
            self.engine.sql("SET spark.sql.files.ignoreMissingFiles = true")
        new = {n for change in changes for n in change.lost | change.pending | change.rewritten | change.mended}
        if not new <= accepted:
            self.engine.folders.write_lines(folder, sorted(accepted | new))
        return True

    def are_as_read(self, sources: Sequence[StreamSource], recorded: Recorded) -> bool:
        """True if all sources are files, and the files are the files that were read, all and no others.

        Of two sources with the same files, each has read them by itself: files may have come between.
        """
        if not all(self.folder(source) for source in sources):
            return False
        current = [{name: file.time for name, file in self._stored(source).items()} for source in sources]
        read = recorded.files.of_sources
        # Which number a source has, Spark doesn't say, and a stream that is joined with itself has two.
        is_all_there = all(files in current for files in read) and all(files in read for files in current if files)
        return is_all_there and sum(not files for files in read) <= sum(not files for files in current)

    def all_read(self, sources: Sequence[StreamSource], recorded: Recorded) -> Mapping[str, int]:
        """The files of the sources: path -> time of the last change, in milliseconds. All of them have been read."""
        self.look_again()
        found: dict[str, int] = {}
        read = recorded.files
        for source in sources:
            folder = self.folder(source)
            if folder is None:
                raise StreamingError(
                    f"nobody can tell which rows of {source.relation} the model has, and which it will append yet: it "
                    f"is stored as {self._format(source).name}\n  run the model with --full-refresh"
                )
            files = {name: file.time for name, file in self._stored(source).items()}
            lies_there = within(folder)
            if source.is_archived and (gone := [n for n in read.done if n not in files and lies_there(n)]):
                raise StreamingError(
                    f"{source.relation} lacks {len(gone)} files that were read, such as {min(gone)}, "
                    "and may need their rows\n  put them back from the archive for as long as this takes"
                )
            if unread := sorted(files.keys() - read.done):
                raise StreamingError(
                    f"{source.relation} has files that the model hasn't read, such as {unread[0]}: the next run would "
                    "append their rows once more\n  run the model first"
                )
            found |= files
        return found

    def _change(self, source: StreamSource, read: ReadFiles, checkpoint: str) -> Change | None:
        """Changes of a source's files that were read; None if there are none."""
        folder = self.folder(source)
        if folder is None or not read.all:
            return None
        stored = self._stored(source)
        current = {name: file.time for name, file in stored.items()}
        again = {name for name, time in current.items() if read.all.get(name, time) != time}
        lies_there = within(folder)
        gone = [name for name in read.all if name not in current and lies_there(name)]
        lost = frozenset(name for name in gone if name in read.done)
        pending = frozenset(gone) - lost
        if source.reader:
            copies = Copies(self.engine, source, checkpoint)
            if text := copies.report(stored, [name for name in read.done if lies_there(name)]):
                self.warn(text)
        if source.is_archived:
            lost = frozenset()
        if not lost and not pending and not again:
            return None
        rewritten = frozenset(f"{name} of {current[name]}" for name in again if name in read.done)
        mended = frozenset(f"{name} of {current[name]}" for name in again if name not in read.done)
        new = frozenset(current.keys() - read.all.keys())
        return Change(source, lost, pending, rewritten, mended, new)

    def _strays(self, sources: Sequence[StreamSource], checkpoint: str, read: ReadFiles) -> list[str]:
        """Files that were read and lie outside of all sources: the project has moved, for one."""
        folders = [self.folder(source) for source in sources]
        if any(folder is None and "path" in source.reader for folder, source in zip(folders, sources, strict=True)):
            return []
        places = [within(folder) for folder in folders if folder is not None]
        flush = f"/{path_of(checkpoint).rpartition('/')[2]}_flush/"
        return [name for name in read.done if flush not in name and not any(place(name) for place in places)]

    def record(self, sources: Sequence[StreamSource], checkpoint: str) -> None:
        """Records size and hash of the files that were read, for sources whose files go."""
        archived = [source for source in sources if source.is_archived and source.folder]
        if not archived:
            return
        self.look_again()
        read = Recorded.of(self.engine, checkpoint, -1).files
        for source in archived:
            stored = {name: file for name, file in self._stored(source).items() if name in read.done}
            Copies(self.engine, source, checkpoint).record(stored)

    def _stored(self, source: StreamSource) -> dict[str, Stored]:
        """The files of a source that has a folder, listed once until `look_again`."""
        folder, listing = str(self.folder(source)), source.listing
        key = folder, *sorted(listing.items())
        if key not in self._files:
            self._files[key] = self.engine.folders.stored_files(folder, listing)
        return self._files[key]

    def folder(self, source: StreamSource) -> str | None:
        """Folder of the files of a source, for `within`; None for a source without files, such as Kafka."""
        if source.reader:
            return source.folder
        location = self.facts_of(source.relation).location.rstrip("/") if self.can_be_read_again(source) else ""
        return exactly(location) or None

    def _judge(self, change: Change) -> None:
        """Checks that a run can go on after a change."""
        relation, is_seed = change.source.relation, change.source.checksum is not None
        accepts = self._accepts and not is_seed
        if change.rewritten and not accepts:
            raise SourceChanged.of(
                relation,
                f"has changed: {len(change.rewritten)} of its files were written again after they were read, such as "
                f"{min(change.rewritten).rpartition(' of ')[0]}, and Spark reads no file twice",
                None if is_seed else "if what was written into them may be left out",
            )
        if change.pending and not accepts:
            raise SourceChanged.of(
                relation,
                f"lacks {len(change.pending)} files that an interrupted run has begun to read, such as "
                f"{min(change.pending)}: put them back",
                None if is_seed else "or, if the rows in them may be left out",
            )
        if not change.lost:
            return
        is_folder = bool(change.source.reader)
        what = f"{len(change.lost)} of the files that were read are gone"
        what = f"lacks files: {what}, such as {min(change.lost)}" if is_folder else f"was overwritten: {what}"
        if not accepts:
            accepting = "if old rows were removed, and nothing else"
            if is_folder:
                accepting = f"if files go once they were read, write archived: true in the source's meta\n  {accepting}"
            again = "and rows processed before may be processed again"
            raise SourceChanged.of(relation, f"{what}, {again}", None if is_seed else accepting)
        if change.doubtful:
            cause, advice = "after a compaction", "remove whole partitions, or run"
            if is_folder:
                cause, advice = "of files that were renamed", "give files that stay no other names, and run"
            raise StreamingError(
                f"{relation} {what}, and new ones lie beside them, such as {change.doubtful[0]}: {cause} "
                f"they hold the same rows\n  {ONLY_ADDED}; {REBUILD}\n"
                f"  to remove old rows, {advice} the model after that and before new rows come"
            )
