"""Comparison of a streaming table with its model, and the decision of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.lease import KEY
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import REBUILD, StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import tables_beside
from dbt.adapters.sparkstream.streaming.settings import CONTINUE, SWAP
from dbt.adapters.sparkstream.streaming.sidecars import Places
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import NOTHING_YET, Noted
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.table import BATCH, StreamTable

ENDED = "ended"
"""The property with the last micro-batch of a run that has ended by itself, so that none is due until rows come."""


class Due(Enum):
    """What a run has to do."""

    NOTHING = auto()
    """There is nothing to read."""
    MORE = auto()
    """What is new goes into the table."""
    REBUILD = auto()
    """The table is rebuilt, in its place."""
    SWAP = auto()
    """The table is rebuilt in staging."""

    @classmethod
    def of(cls, choice: str) -> Due:
        """How a table is rebuilt, by the setting that says so."""
        return cls.SWAP if choice == SWAP else cls.REBUILD


@dataclass(frozen=True)
class Wanted:
    """What the table has to be made for.

    Attributes:
        definition: the query, with all that state depends on.
        sources: the streams.
        identities: for each source, what tells it from a new source of the same name.
        has_state: whether the query has any.
    """

    definition: Definition
    sources: Sequence[StreamSource]
    identities: Mapping[str, str]
    has_state: bool


class Standing:
    """Compares what is recorded of the table that is there with the model.

    Args:
        engine: the run's session.
        model: the model.
        table: its table.
        sources: its sources.
        places: where its checkpoint lies.
        report: told, in a line, what is worth telling.

    Attributes:
        noted: what the checkpoint said when `due` compared it.
    """

    def __init__(
        self,
        engine: Engine,
        model: Model,
        table: StreamTable,
        sources: Sources,
        places: Places,
        report: Callable[[str], None],
    ) -> None:
        self._engine = engine
        self._model = model
        self._table = table
        self._sources = sources
        self._places = places
        self._report = report
        self.noted = Noted(-1, -1, NOTHING_YET, ())

    def has_nothing_new(self, known: Mapping[str, str], wanted: Wanted) -> bool:
        """Whether it is certain that a run would find nothing to do, without taking the right to the table.

        It is where the run before has ended by itself, nothing has changed since, and all sources are files, which are
        the files that were read. Then no rows are to be read, and no window waits for a micro-batch that closes or
        corrects it.
        """
        config, table, last = self._model.config, self._table, known.get("batch", "-1")
        if config.interval is not None or config.flush is not None or known.get(KEY) or known.get(ENDED) != last:
            return False
        is_same = known["query"] == wanted.definition.fingerprint and json.loads(known["sources"]) == wanted.identities
        if not is_same or not table.is_tidy(known):
            return False
        noted = Noted.of(self._engine, self._places.checkpoint(known), int(last))
        if not noted.begun == noted.done == int(last) or not self._sources.are_as_read(wanted.sources, noted):
            return False
        if config.keep_late and not self._engine.exists(tables_beside(self._model)[0]):
            return False
        try:
            table.check_foreign(known, int(last), noted.begun, config.on_foreign_write == "accept")
        except StreamingError:
            return False  # a run that has the table to itself will tell, unless one that began meanwhile has written
        return table.is_recorded(known) and not table.is_scattered(known, self._model.compact_every)

    def due(self, known: Mapping[str, str], wanted: Wanted) -> Due:
        """What is due, going by what is recorded of the table.

        Raises:
            StreamingError: the table would have to be rebuilt, and nobody has said that it may.
        """
        config = self._model.config
        if not wanted.definition.is_of(known["query"]):
            if config.on_query_change == CONTINUE:
                self._check_goes_on(known, wanted)
                self._report("the query has changed: going on, with rows of the new one")
            elif config.on_query_change == "fail":
                raise StreamingError(self._what_changed(known, wanted))
            else:
                due = Due.of(config.on_query_change)
                self._report(f"the query has changed: making the table anew{' aside' if due is Due.SWAP else ''}")
                return due
        anew = Due.of(config.on_source_change)
        before = json.loads(known.get("sources") or "{}")
        for source in wanted.sources:
            what = self._sources.is_another(source, str(before.get(source.view)))
            if source.view in wanted.identities and what is not None:
                self._sources.must_rebuild(source.relation, what)
                return anew
        checkpoint = self._places.checkpoint(known)
        self.noted = Noted.of(self._engine, checkpoint, int(known["batch"]))
        must_make = self._sources.follow(wanted.sources, checkpoint, self.noted)
        return Due.NOTHING if must_make is None else anew if must_make else Due.MORE

    def _recorded(self, known: Mapping[str, str]) -> list[str]:
        return self._engine.folders.lines(definition_folder(self._places.checkpoint(known)))

    def _what_changed(self, known: Mapping[str, str], wanted: Wanted) -> str:
        """Another query, in words."""
        changes = wanted.definition.changes(self._recorded(known))
        cause = (
            "these have changed"
            if changes
            else ("the query, its columns, its sources, its watermark or the time zone have changed")
        )
        way = f"{REBUILD}, or write config(on_query_change='rebuild')"
        if not wanted.has_state:
            return (
                f"{cause} since the table was made, which has rows of the old query\n"
                + "".join(f"  {change}\n" for change in changes)
                + f"  {way}\n  for rows of the new query from now on, write config(on_query_change='{CONTINUE}')"
            )
        return (
            f"{cause} since the table was made, and windows half done by the old query can't be ended by the new one\n"
            + "".join(f"  {change}\n" for change in changes)
            + f"  {way}"
        )

    def _check_goes_on(self, known: Mapping[str, str], wanted: Wanted) -> None:
        """Looks whether another query can go on where the old one was.

        Raises:
            StreamingError: it can't, and why.
        """
        checkpoint, definition = self._places.checkpoint(known), wanted.definition
        if why := self._why_not(known, wanted, checkpoint):
            changes = "".join(f"  {change}\n" for change in definition.changes(self._recorded(known)))
            raise StreamingError(
                f"the query has changed, and on_query_change='{CONTINUE}' can't go on with it: {why}\n{changes}"
                f"  {REBUILD}, or write config(on_query_change='rebuild')"
            )

    def _why_not(self, known: Mapping[str, str], wanted: Wanted, checkpoint: str) -> str | None:
        definition, recorded = wanted.definition, self._recorded(known)
        if wanted.has_state or definition.flush:
            return "the new query keeps rows or windows from one run to the next, and has none of those before"
        if self._engine.folders.stored_files(f"{checkpoint}/state"):
            return "the old query has kept rows or windows, which the new one can't end"
        noted = Noted.of(self._engine, checkpoint, int(known["batch"]))
        if len(wanted.sources) != 1 or len(noted.offsets.sources) > 1:
            return "several streams are read, and Spark doesn't say which it has read how far"
        before = [*json.loads(known.get("sources") or "{}").values()]
        [source] = wanted.sources
        if len(before) != 1 or self._sources.is_another(source, str(before[0])) is not None:
            return "it reads another source"
        if source.reader and not recorded:
            return "an earlier version has made the table, and has recorded nothing of its source"
        if other := definition.other_rows(recorded):
            return other[0]
        new = {name.casefold(): type_ for name, type_ in definition.columns}
        for name, type_ in self._engine.described(self._model.relation):
            if name.casefold() == BATCH:
                continue
            if name.casefold() not in new:
                return f"the table has a column {name}, and the new query hasn't (select NULL under this name)"
            if new[name.casefold()].casefold() != type_.casefold():
                return f"the column {name} is {type_} in the table, and {new[name.casefold()]} in the new query"
        return None


def definition_folder(checkpoint: str) -> str:
    """Where it is recorded what a table was made for."""
    return f"{checkpoint}_query"
