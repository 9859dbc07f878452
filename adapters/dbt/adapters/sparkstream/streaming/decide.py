"""Decision of a run, such as MORE or REBUILD, from the ledger, the checkpoint and the sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from dbt.adapters.sparkstream.streaming.fingerprint import Definition
from dbt.adapters.sparkstream.streaming.job import Job
from dbt.adapters.sparkstream.streaming.ledger import Ledger
from dbt.adapters.sparkstream.streaming.model import StreamConfig
from dbt.adapters.sparkstream.streaming.refusals import REBUILD, SourceChanged, StreamingError
from dbt.adapters.sparkstream.streaming.reports.late_rows import side_tables
from dbt.adapters.sparkstream.streaming.settings import CONTINUE, SWAP
from dbt.adapters.sparkstream.streaming.sidecars import definition_folder
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.checkpoint import Recorded
from dbt.adapters.sparkstream.streaming.tables.formats import BATCH


class Due(Enum):
    """Work that a run has to do."""

    MAKE = auto()
    """The table doesn't exist, and is made."""
    NOTHING = auto()
    """There is nothing to read."""
    MORE = auto()
    """New rows go into the table."""
    REBUILD = auto()
    """The table is rebuilt, in its place."""
    SWAP = auto()
    """The table is rebuilt in staging."""
    LEASE = auto()
    """Only a run that has the table to itself can decide: it takes the lease, and decides then."""

    @classmethod
    def of(cls, choice: str) -> Due:
        """Kind of rebuild, in place or in staging, by the value of a setting."""
        return cls.SWAP if choice == SWAP else cls.REBUILD


@dataclass(frozen=True)
class Decision:
    """Work of a run, and a line to report about it."""

    due: Due
    told: str = ""


@dataclass(frozen=True)
class Wanted:
    """Wanted state of a table, which a decision compares with its ledger.

    Attributes:
        identities: name of a stream -> identity of its source, which a new source of the same name doesn't have.
        order: kind of rebuild that the run was told to do; None if it wasn't.
        is_empty: True if the table is only made, and no rows are read.
    """

    relation: str
    definition: Definition
    identities: Mapping[str, str]
    has_state: bool
    order: Due | None = None
    is_empty: bool = False


class Standing:
    """Facts for a decision; each costs a query in Spark, so it is read only if the decision depends on it."""

    def __init__(self, job: Job, ledger: Ledger, wanted: Wanted) -> None:
        self._job = job
        self._ledger = ledger
        self._wanted = wanted
        self._checkpoint = job.sidecars.checkpoint(ledger)
        job.sources.look_again()

    @cached_property
    def recorded(self) -> Recorded:
        """Micro-batches, offsets and files that the checkpoint and the sink have recorded."""
        return Recorded.of(self._job.engine, self._checkpoint, self._ledger.batch)

    @cached_property
    def made_for(self) -> Sequence[str]:
        """The lines that `Definition.recorded` gave for the table; none for a table of an earlier version."""
        return self._job.engine.folders.lines(definition_folder(self._checkpoint))

    def another(self, source: StreamSource, before: str) -> str | None:
        """Change of a source, in words, if it isn't the source that was read; None if it is."""
        return self._job.sources.is_another(source, before)

    def has_rows_to_read(self) -> bool:
        """True if the sources may have rows that weren't read; raises errors as `Sources.has_rows_to_read`."""
        return self._job.sources.has_rows_to_read(self._wanted.definition.sources, self._checkpoint, self.recorded)

    def are_sources_as_read(self) -> bool:
        """True if all sources are files, and the files are the files that were read."""
        return self._job.sources.are_as_read(self._wanted.definition.sources, self.recorded)

    def is_table_as_left(self) -> bool:
        """True if the table is as the run before has left it, with nothing to clear, compact or make."""
        model, table, ledger = self._job.model, self._job.table, self._ledger
        if not table.is_tidy(ledger) or (model.config.keep_late and not self._job.engine.exists(side_tables(model)[0])):
            return False
        try:
            table.check_foreign(ledger, self.recorded.begun)
        except StreamingError:
            return False  # a run that has the table to itself will tell, unless one that began meanwhile has written
        return table.is_recorded(ledger) and not table.is_scattered(ledger, model.compact_every)

    def has_kept_state(self) -> bool:
        """True if the checkpoint has state of the earlier query."""
        return bool(self._job.engine.folders.stored_files(f"{self._checkpoint}/state"))

    def columns(self) -> Sequence[tuple[str, str]]:
        """Names and types of the table's columns, without the number of the micro-batch."""
        described = self._job.engine.described(self._job.model.relation)
        return [(name, type_) for name, type_ in described if name.casefold() != BATCH]

    def has_staging(self) -> bool:
        """True if an earlier run has begun a staged rebuild that this run can go on with."""
        return self._job.sidecars.staging(self._ledger, self._wanted.definition) is not None


def check_replaceable(wanted: Wanted) -> None:
    """Refuses to replace a table that no streaming model has made, unless a full refresh does."""
    if wanted.order is Due.REBUILD:
        return
    way = REBUILD if wanted.order is None else "drop it, or write config(on_full_refresh='rebuild')"
    raise StreamingError(f"{wanted.relation} is there already, and no streaming model has made it\n  {way}")


def decide(ledger: Ledger, wanted: Wanted, config: StreamConfig, facts: Standing, *, has_lease: bool) -> Decision:
    """Decision about the work of a run on an existing table.

    Args:
        has_lease: True if the run has the table to itself. If not, `NOTHING` is certain, and `LEASE` leaves it open.

    Raises:
        SourceChanged: the table would have to be rebuilt, as a source has changed.
        StreamingError: the run can't go on, or the model's config doesn't let it rebuild the table.
    """
    if not has_lease:
        return Decision(Due.NOTHING if _rests(ledger, wanted, config, facts) else Due.LEASE)
    decision = Decision(wanted.order) if wanted.order else _compared(ledger, wanted, config, facts)
    # An earlier run has left an unfinished staged rebuild.
    is_swapping = decision.due in (Due.MORE, Due.NOTHING) and config.swaps is not None and facts.has_staging()
    return Decision(Due.SWAP, decision.told) if is_swapping else decision


def _rests(ledger: Ledger, wanted: Wanted, config: StreamConfig, facts: Standing) -> bool:
    """True if it is certain that a run would find nothing to do.

    It is certain if the run before has ended by itself, nothing has changed since, and all sources are files, which are
    the files that were read. Then no rows are to be read, and no window waits for a micro-batch that closes or
    corrects it.
    """
    is_looked_at = wanted.order is None and not wanted.is_empty and config.interval is None and config.flush is None
    has_ended = ledger.holder is None and ledger.ended == ledger.batch
    is_same = ledger.query == wanted.definition.fingerprint and ledger.sources == wanted.identities
    if not (is_looked_at and has_ended and is_same):
        return False
    recorded = facts.recorded
    return recorded.begun == recorded.done == ledger.batch and facts.are_sources_as_read() and facts.is_table_as_left()


def _compared(ledger: Ledger, wanted: Wanted, config: StreamConfig, facts: Standing) -> Decision:
    """Decision by the query and the sources, for a run that has the table to itself."""
    told, is_other = "", not wanted.definition.is_of(ledger.query)
    changes = (
        (source, what)
        for source in wanted.definition.sources
        if (what := facts.another(source, str(ledger.sources.get(source.view)))) is not None
    )
    changed = next(changes, None)
    if (is_other or changed) and ledger.batch < 0 and facts.recorded.begun < 0:
        # No run has begun to read rows, as after `dbt run --empty`: another table loses nothing.
        return Decision(Due.REBUILD, "the query or a source has changed before any row was read: making it anew")
    if is_other:
        if config.on_query_change == CONTINUE:
            if why := _why_not(ledger, wanted, facts):
                raise StreamingError(
                    f"the query has changed, and on_query_change='{CONTINUE}' can't go on with it: {why}\n"
                    f"{_changes(wanted, facts)}  {REBUILD}, or write config(on_query_change='rebuild')"
                )
            told = "the query has changed: going on, with rows of the new one"
        elif config.on_query_change == "fail":
            raise StreamingError(_what_changed(ledger, wanted, facts))
        else:
            due = Due.of(config.on_query_change)
            where = " in staging" if due is Due.SWAP else ""
            return Decision(due, f"the query has changed: rebuilding the table{where}")
    if changed:
        source, what = changed
        raise SourceChanged.of(source.relation, what)
    return Decision(Due.MORE if facts.has_rows_to_read() else Due.NOTHING, told)


def _what_changed(ledger: Ledger, wanted: Wanted, facts: Standing) -> str:
    """Error message about a changed query: its changes, and what to do."""
    listed = _changes(wanted, facts)
    cause = (
        "these have changed"
        if listed
        else "the query, its columns, its sources, its watermark or the time zone have changed"
    )
    harm = (
        "and windows half done by the old query can't be ended by the new one"
        if wanted.has_state
        else "which has rows of the old query"
    )
    way = f"{REBUILD}, or write config(on_query_change='rebuild')"
    if _why_not(ledger, wanted, facts) is None:
        way += f"\n  for rows of the new query from now on, write config(on_query_change='{CONTINUE}')"
    return f"{cause} since the table was made, {harm}\n{listed}  {way}"


def _changes(wanted: Wanted, facts: Standing) -> str:
    """Lines of a message with the changes of the query; empty if they aren't known."""
    return "".join(f"  {change}\n" for change in wanted.definition.changes(facts.made_for))


def _why_not(ledger: Ledger, wanted: Wanted, facts: Standing) -> str | None:
    """Reason why the new query can't go on with the table; None if it can."""
    definition, recorded = wanted.definition, facts.made_for
    if wanted.has_state or definition.flush:
        return "the new query keeps rows or windows from one run to the next, and has none of those before"
    if facts.has_kept_state():
        return "the old query has kept rows or windows, which the new one can't end"
    if len(wanted.definition.sources) != 1 or len(facts.recorded.offsets.sources) > 1:
        return "several streams are read, and Spark doesn't say which it has read how far"
    before, [source] = [*ledger.sources.values()], wanted.definition.sources
    if len(before) != 1 or facts.another(source, str(before[0])) is not None:
        return "it reads another source"
    if source.reader and not recorded:
        return "an earlier version has made the table, and has recorded nothing of its source"
    if other := definition.other_rows(recorded):
        return other[0]
    new = {name.casefold(): type_ for name, type_ in definition.columns}
    for name, type_ in facts.columns():
        if name.casefold() not in new:
            return f"the table has a column {name}, and the new query hasn't (select NULL under this name)"
        if new[name.casefold()].casefold() != type_.casefold():
            return f"the column {name} is {type_} in the table, and {new[name.casefold()]} in the new query"
    return None
