"""The texts of queries, whose inputs are read as tables or as streams."""

from __future__ import annotations

from dbt.adapters.sparkstream.flinkscript.fitting import with_ctes
from dbt.adapters.sparkstream.flinkscript.job import Job, Query
from dbt.adapters.sparkstream.flinkscript.kafka import KAFKA, UPSERT
from dbt.adapters.sparkstream.flinkscript.leftovers import HINT, LOOKUP, PROCTIME, Leftover
from dbt.adapters.sparkstream.flinkscript.queries import Parsed, Text, Use, hints_behind, named, sql
from dbt.adapters.sparkstream.flinkscript.relations import Inlining, Relation, versions
from dbt.adapters.sparkstream.flinkscript.tables import Name
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.tokens import Span
from dbt.adapters.sparkstream.sql.translate import translate


class Texts:
    """Texts of a job's queries; a subclass knows the relations that their names mean.

    Attributes:
        leftovers: parts of tables and queries without a counterpart.

    Args:
        job: the script.
        file: its name, for messages.
    """

    def __init__(self, job: Job, file: str) -> None:
        self.leftovers: list[Leftover] = []
        self._job = job
        self._text = job.script.text
        self._file = file

    def _relation(self, name: Name, use: Use | None = None, parsed: Parsed | None = None) -> Relation:
        """The relation of the project that a name means.

        Args:
            use: its place in a query.
            parsed: the query that reads it.

        Raises:
            TranslationError: it reads itself.
        """
        raise NotImplementedError

    def _checked(self, query: Query, outermost: bool = False) -> tuple[Text, str, Parsed | None]:
        """A query's text for a model, its fault or nothing, and the parsed query; None if it can't be parsed.

        Args:
            query: the query.
            outermost: True if columns of processing time may be left out of its outermost SELECT.
        """
        try:
            parsed = Parsed(self._text, query)
        except TranslationError as error:
            return sql(self._text[slice(*query.span)]), self._line(error), None
        fault = ""
        for hint in (*parsed.hints, *hints_behind(self._text, query.span[1])):
            self._leave_out(hint, HINT)
        try:
            read = self._uses(parsed)
            rowtimes = self._rowtimes(parsed)
            proctimes = {name for _, relation in read for name in relation.proctimes}
            times = parsed.processing_times(proctimes, outermost)
            proctimes |= {time.name for time in times}
            lookups = self._lookups(read, proctimes)
            if lookups or times or rowtimes:
                for span in lookups:
                    self._leave_out(span, LOOKUP)
                for time in times:
                    self._leave_out(time.span, PROCTIME)
                given = frozenset(time.name for time in times if time.outermost)
                parsed = Parsed(self._text, query, [*lookups, *(time.cut for time in times)], given, rowtimes)
                read = self._uses(parsed)
            parsed.refuse_functions(self._job.functions)
            parsed.refuse_columns(proctimes)
            whole = self._versioned(parsed).plain if any(u.versioned for u in parsed.uses) else parsed.whole
            translate(whole, "flink", schema=self._schema(parsed), warn=lambda _: None)
        except TranslationError as error:
            fault = self._line(error)
            read = []
        lame = next((r.node for _, r in read if r.disabled), None)
        if lame is not None:
            fault = f"it reads {lame}, which is disabled"
        if fault and not read:
            return sql(self._text[slice(*query.span)]), fault, parsed
        return self._versioned(parsed), fault, parsed

    def _uses(self, parsed: Parsed) -> list[tuple[Use, Relation]]:
        return [(use, self._relation(use.name, use, parsed)) for use in parsed.uses]

    def _rowtimes(self, parsed: Parsed) -> dict[Span, str]:
        """Place of `$rowtime` -> the event time that it means; a `$rowtime` that may mean several is left out."""
        found = {}
        for span, names in parsed.rowtimes:
            times = {time for name in names if (time := self._time_of(name))}
            if len(times) == 1:
                found[span] = times.pop()
        return found

    def _time_of(self, name: Name) -> str | None:
        """The event time of a table; if its watermark isn't a time less an interval, its only time, or None."""
        relation, table = self._relation(name), self._job.tables.get(name)
        if relation.event_time or table is None or table.watermark_fault is None:
            return relation.event_time
        times = [
            column for column, type_ in (relation.columns or {}).items() if type_ in ("timestamp", "timestamp_ntz")
        ]
        return times[0] if len(times) == 1 else None

    def _lookups(self, read: list[tuple[Use, Relation]], proctimes: set[str]) -> list[Span]:
        """Places of FOR SYSTEM_TIME AS OF with processing time: the join reads a table as it is when a row comes.

        A table of Kafka has all versions of its rows, and a processing time chooses none of them.
        """
        names = {name.casefold() for name in proctimes}
        tables = self._job.tables
        return [
            use.as_of
            for use, _ in read
            if use.time.casefold() in names and use.name in tables and tables[use.name].connector not in (KAFKA, UPSERT)
        ]

    def _versioned(self, parsed: Parsed) -> Text:
        """Query's text with a CTE for each table of a temporal join, which gives the table's versions."""
        ctes: dict[str, Text] = {}

        def read(use: Use) -> Text:
            relation = self._relation(use.name)
            if not (use.versioned and relation.keys):
                return relation.text
            ctes[use.name[2]] = versions(relation)
            return sql(named(use.name[2]))

        return with_ctes(parsed.rendered(read), ctes)

    def _streamed(self, parsed: Parsed, inlining: Inlining) -> Text:
        return parsed.rendered(lambda use: self._read(self._relation(use.name), inlining))

    def _read(self, relation: Relation, inlining: Inlining) -> Text:
        """Text by which a streaming model reads a relation; adds it to the query's CTEs, streams or tables."""
        feeds = relation.feeds[0 if inlining.timed else 1]
        if relation.expand is not None and feeds:
            if relation.node not in inlining.ctes:
                inlining.ctes[relation.node] = relation.expand(inlining)
            return sql(named(relation.node))
        if relation.stream is not None and feeds:
            inlining.streams[relation.stream.plain] = relation
            return relation.stream
        inlining.tables[relation.text.plain] = relation
        return relation.text

    def _schema(self, parsed: Parsed) -> dict[str, dict[str, str]]:
        found = ((use.written, self._relation(use.name).columns) for use in parsed.uses)
        return {written: columns for written, columns in found if columns}

    def _leave_out(self, span: Span, said: tuple[str, str]) -> None:
        """Collects a part of the script that isn't in the project."""
        line = self._text.count("\n", 0, span[0]) + 1
        self.leftovers.append(Leftover(self._text[slice(*span)], line, *said))

    def _line(self, error: TranslationError) -> str:
        """An error in a line, with its place in the script."""
        hint = f"; {error.hint}" if error.hint else ""
        return f"{error.message} ({self._file}:{error.line}:{error.column}){hint}"
