"""The models and sources that a job becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dbt.adapters.sparkstream.flinkscript.fitting import fitted, with_ctes
from dbt.adapters.sparkstream.flinkscript.inputs import FILE_COLUMNS, input_of
from dbt.adapters.sparkstream.flinkscript.job import Insert, Job, Query, ViewDefinition
from dbt.adapters.sparkstream.flinkscript.kafka import DELETED, KAFKA, OFFSET, UPSERT, sent_to
from dbt.adapters.sparkstream.flinkscript.leftovers import PROCTIME, SINK, UNDEFINED
from dbt.adapters.sparkstream.flinkscript.queries import Parsed, Text, Use, computed, named, sql
from dbt.adapters.sparkstream.flinkscript.relations import (
    SOURCE,
    Inlining,
    Model,
    Names,
    Relation,
    Source,
    plain_comment,
    streamed,
)
from dbt.adapters.sparkstream.flinkscript.tables import ColumnDefinition, Name, TableDefinition
from dbt.adapters.sparkstream.flinkscript.texts import Texts
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.scope import Columns
from dbt.adapters.sparkstream.sql.core.tokens import Span
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.translate import translate


class Models(Texts):
    """Makes models and sources of a job.

    Attributes:
        models: in the order of the script, as far as they don't need each other.
        sources: tables that nothing in the script writes to.
        seeds: the sources that are small files.

    Args:
        job: the script.
        folder: that the script lies in.
        file: its name, for messages.
    """

    def __init__(self, job: Job, folder: Path, file: str) -> None:
        super().__init__(job, file)
        self.models: list[Model] = []
        self.sources: list[Source] = []
        self.seeds: list[Source] = []
        self._folder = folder
        self._relations: dict[Name, Relation] = {}
        self._making: list[Name] = []
        self._node = Names().new
        self._written = written = {insert.table for insert in job.inserts}
        self._nodes = {
            name: self._node(name[2]) for name in (*job.tables, *job.views, *sorted(written - {*job.tables}))
        }
        for name in (*job.tables, *job.views, *written):
            self._relation(name)
        for number, query in enumerate(job.queries, 1):
            self._alone(query, self._node(f"query_{number}"))

    # -- relations ---------------------------------------------------------------------------------
    def _relation(self, name: Name, use: Use | None = None, parsed: Parsed | None = None) -> Relation:
        if name in self._relations:
            return self._relations[name]
        if name in self._making:
            assert use is not None and parsed is not None
            raise parsed.source.error(
                use.span,
                f"{use.written} is written from its own rows, and a model can't read itself",
                "write an incremental model, which reads {{ this }}",
            )
        self._making.append(name)
        try:
            if name in self._written:
                relation = self._sink(name)
            elif name in self._job.views:
                relation = self._view(self._job.views[name])
            elif name in self._job.tables:
                relation = self._input(self._job.tables[name])
            else:
                relation = self._elsewhere(name)
        finally:
            self._making.pop()
        self._relations[name] = relation
        return relation

    def _elsewhere(self, name: Name) -> Relation:
        """A table that the script doesn't define."""
        node = self._node(name[2])
        schema = "" if name[1] == "default_database" else name[1]
        self.sources.append(Source(node, schema=schema))
        return Relation(node, Text("{{ source('" + (schema or SOURCE) + f"', '{node}') }}}}", node))

    def _input(self, table: TableDefinition) -> Relation:
        node = self._nodes[table.name]
        found = input_of(table, self._folder)
        (self.sources if found.seed is None else self.seeds).append(Source(node, table, found))
        columns = {name: type_ for name, type_, _ in found.columns}
        if found.stream:
            return self._landed(node, table, columns, found.changes)
        kind = "source('" + SOURCE + f"', '{node}')" if found.seed is None else f"ref('{node}')"
        time = table.watermark.column if table.watermark else None
        relation = Relation(node, Text("{{ " + kind + " }}", node), columns, event_time=time)
        relation.keys = table.keys if time else ()
        streams = True
        if list(columns) != [c.name for c in table.columns] or found.partitions_moved(table):
            kind = f"ref('{node}')"
            streams = self._over(relation, table)
        if streams and not relation.disabled:
            relation.stream = streamed(kind, node, table)
            relation.feeds = (table.watermark is not None, True)
            relation.bounded = found.is_bounded(table)
        return relation

    def _landed(self, node: str, table: TableDefinition, columns: dict[str, str], changes: bool) -> Relation:
        """The model that reads a topic into a table: models that stream, and such as don't, read the table."""
        source = Text("{{ stream(source('" + SOURCE + f"', '{node}')) }}}}", node)
        if changes:
            return self._upserted(node, table, Relation(self._node(f"{node}_changes"), source, columns))
        relation = Relation(node, source, columns)
        self._over(relation, table, "streaming_incremental")
        relation.event_time = table.watermark.column if table.watermark else None
        if not relation.disabled:
            relation.stream = streamed(f"ref('{node}')", node, table, relation.event_time)
            relation.feeds = (table.watermark is not None, True)
            relation.keys = table.keys if table.watermark else ()
        return relation

    def _upserted(self, node: str, table: TableDefinition, changes: Relation) -> Relation:
        """The view with the newest row of each key, over the model that reads all changes from the topic."""
        self._over(changes, table, "streaming_incremental", (OFFSET, DELETED))
        relation = Relation(node, Text("{{ ref('" + node + "') }}", node), changes.columns, changes=True)
        relation.proctimes = changes.proctimes
        relation.event_time = table.watermark.column if table.watermark else None
        relation.keys = table.keys if table.watermark else ()
        relation.versions = changes.text + sql(f" WHERE NOT {DELETED}")
        relation.still = "its rows change"
        if changes.disabled:
            relation.disabled = f"it reads {changes.node}, which is disabled"
        names = ",\n  ".join(map(named, changes.columns or ()))
        number = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(map(named, table.keys))} ORDER BY {OFFSET} DESC)"
        newest = f"SELECT *, {number} AS kafka_newest\n  FROM "
        body = sql(f"SELECT\n  {names}\nFROM (\n  {newest}") + changes.text
        body += sql(f"\n)\nWHERE kafka_newest = 1 AND NOT {DELETED}")
        self.models.append(self._declared(Model(node, body.jinja, {"materialized": "view"}), table))
        self.models[-1].disabled = relation.disabled
        return relation

    def _over(
        self, relation: Relation, table: TableDefinition, materialized: str = "view", more: Sequence[str] = ()
    ) -> bool:
        """Makes the model with the columns that the rows of a table don't have; whether that can be streamed.

        `relation`, the table, becomes the model.

        Args:
            more: columns of the rows that the table doesn't name.
        """
        of_rows = {c.name for c in table.columns if c.expression is not None}
        stored = dict(relation.columns or {})
        of_files = [c for c in table.columns if c.expression is None and c.name not in stored]
        if of_files:
            self._with_files(relation, of_files, self._node(f"{relation.node}_files") if of_rows else relation.node)
            stored |= {c.name: c.type or "" for c in of_files}
            relation.columns = stored
            relation.still = "a stream of files doesn't know their names and sizes"
            if not of_rows:
                return False
        columns: dict[str, str] = {}
        items: list[str] = []
        gone: list[str] = []
        fault = ""
        try:
            for column in table.columns:
                item, columns[column.name] = named(column.name), stored.get(column.name, "")
                if column.expression is not None:
                    text = self._text[slice(*column.expression)]
                    if text.replace(" ", "").upper() == "PROCTIME()":
                        gone.append(column.name)
                        self._leave_out(column.expression, PROCTIME)
                        del columns[column.name]
                        continue
                    text, columns[column.name] = self._computed(column.expression, table, stored)
                    item = f"{text} AS {item}"
                items.append(item)
            items += more
        except TranslationError as error:
            fault = self._told(error)
        body = sql("SELECT\n  " + ",\n  ".join(items) + "\nFROM ") + relation.text
        config: dict[str, object] = {"materialized": materialized, "sql_dialect": "flink"}
        if table.watermark and materialized == "view":
            config["event_time"] = table.watermark.column
        self.models.append(Model(relation.node, body.jinja, config, disabled=fault))
        relation.text = Text("{{ ref('" + relation.node + "') }}", relation.node)
        relation.columns, relation.proctimes, relation.disabled = columns, frozenset(gone), fault
        return not of_files

    def _with_files(self, relation: Relation, columns: Sequence[ColumnDefinition], node: str) -> None:
        """Makes the view with what Spark knows of the files of a table; `relation`, the table, becomes the view."""
        items = "".join(f", {FILE_COLUMNS[c.metadata or '']} AS {named(c.name)}" for c in columns)
        body = sql(f"SELECT *{items}\nFROM ") + relation.text
        self.models.append(Model(node, body.jinja, {"materialized": "view"}))
        relation.text = Text("{{ ref('" + node + "') }}", node)

    def _computed(self, expression: Span, table: TableDefinition, stored: Mapping[str, str]) -> tuple[str, str]:
        """The expression of a computed column, and its type; empty where that isn't known.

        Raises:
            TranslationError: its expression can't be translated.
        """
        parsed = computed(self._text, expression, "t")
        parsed.refuse_functions(self._job.functions)
        translate(parsed.whole, "flink", schema={"t": stored}, warn=lambda _: None)
        found = parsed.columns({"t": stored}).items
        return parsed.first_item, (found[0].type or "") if found else ""

    def _view(self, view: ViewDefinition) -> Relation:
        node = self._nodes[view.name]
        relation = Relation(node, Text("{{ ref('" + node + "') }}", node))
        config: dict[str, object] = {"materialized": "view", "sql_dialect": "flink"}
        named = TableDefinition(view.name, view.query.span)

        def shaped(body: Text, parsed: Parsed) -> Text:
            return fitted(body, parsed, Columns(complete=False), named, view.columns) if view.columns else body

        body, fault, parsed = self._checked(view.query, outermost=not view.columns)
        if parsed is not None:
            body = shaped(body, parsed)
            if not fault:
                self._describe(relation, parsed, view.columns)
                one = parsed

                def expand(inlining: Inlining) -> Text:
                    return shaped(self._streamed(one, inlining), one)

                relation.expand = expand
        relation.disabled = fault
        self.models.append(Model(node, body.jinja, config, view.query.comment, view.comment, disabled=fault))
        return relation

    def _alone(self, query: Query, node: str) -> None:
        body, fault, _ = self._checked(query)
        config: dict[str, object] = {"materialized": "view", "sql_dialect": "flink"}
        self.models.append(Model(node, body.jinja, config, query.comment, disabled=fault))

    def _describe(self, relation: Relation, parsed: Parsed, names: Sequence[str] = ()) -> None:
        """What is known of the columns of a query, and whether streams come through it."""
        found = parsed.columns(self._schema(parsed)).renamed(list(names))
        if found.complete:
            relation.columns = {column.name: column.type or "" for column in found.items}
        read = [self._relation(use.name) for use in parsed.uses]
        if not any(use.versioned for use in parsed.uses):
            relation.feeds = any(r.feeds[0] for r in read), any(r.feeds[1] for r in read)
        if parsed.has_star:
            relation.proctimes = frozenset(name for r in read for name in r.proctimes)
        relation.proctimes |= parsed.proctimes
        relation.changes = any(r.changes for r in read)

    # -- INSERT ------------------------------------------------------------------------------------
    def _sink(self, name: Name) -> Relation:
        node = self._nodes[name]
        table = self._job.tables.get(name)
        inserts = [insert for insert in self._job.inserts if insert.table == name]
        if table is None:
            self._leave_out(inserts[0].place, UNDEFINED)
        parts: list[Relation] = []
        for number, insert in enumerate(inserts, 1):
            parts.append(self._insert(insert, table, node if len(inserts) == 1 else self._node(f"{node}_{number}")))
        if len(parts) == 1:
            return parts[0]
        return self._united(node, parts, inserts, table)

    def _united(
        self, node: str, parts: list[Relation], inserts: list[Insert], table: TableDefinition | None
    ) -> Relation:
        """The view over the models of several INSERTs into one table."""
        relation = Relation(node, Text("{{ ref('" + node + "') }}", node), parts[0].columns)
        columns = list(relation.columns or ())
        chosen = ", ".join(map(named, columns)) or "*"

        def union(inlining: Inlining | None = None) -> Text:
            body = Text()
            for part in parts:
                body += sql("\nUNION ALL\n") if body.plain else sql("")
                body += sql(f"SELECT {chosen} FROM ") + (self._read(part, inlining) if inlining else part.text)
            return body

        relation.expand = union
        relation.feeds = any(p.feeds[0] for p in parts), any(p.feeds[1] for p in parts)
        lame = next((part.node for part in parts if part.disabled), None)
        relation.disabled = f"it reads {lame}, which is disabled" if lame else ""
        comment = f"-- The rows of {len(inserts)} INSERTs."
        config: dict[str, object] = {"materialized": "view", "sql_dialect": "flink"}
        self.models.append(
            self._declared(Model(node, union().jinja, config, comment, disabled=relation.disabled), table)
        )
        return relation

    def _insert(self, insert: Insert, table: TableDefinition | None, node: str) -> Relation:
        relation = Relation(node, Text("{{ ref('" + node + "') }}", node))
        config: dict[str, object] = {"materialized": "table", "sql_dialect": "flink"}
        if table is not None and table.partitions:
            config["partition_by"] = list(table.partitions)
        model = Model(node, "", config, insert.query.comment)
        body, fault, parsed = self._checked(insert.query)
        if parsed is not None and not fault:
            try:
                body = self._shaped(insert, table, parsed, relation, body)
                translate(body.plain, "flink", warn=lambda _: None)
                if insert.streaming:
                    body = self._as_stream(insert, table, parsed, relation, model) or body
            except TranslationError as error:
                fault = self._told(error)
        relation.disabled = model.disabled = fault
        model.sql = body.jinja
        self.models.append(self._declared(model, table))
        if table is not None and table.connector in (KAFKA, UPSERT):
            self._send(model, table)
        return relation

    def _shaped(
        self,
        insert: Insert,
        table: TableDefinition | None,
        parsed: Parsed,
        relation: Relation,
        body: Text,
        streamed: bool = False,
    ) -> Text:
        """A query with the columns of the table that it writes to, which the relation gets, too."""
        outputs = parsed.columns(self._schema(parsed))
        made = table is None or insert.place == table.span  # CREATE TABLE ... AS
        if table is None or made:
            if outputs.complete:
                relation.columns = {c.name: c.type or "" for c in outputs.items}
            if not insert.columns:
                return body
            items = ", ".join(map(named, insert.columns))
            return sql(f"SELECT {items} FROM (\n") + body + sql("\n)")
        relation.columns = {c.name: c.type or "" for c in table.columns if not c.virtual}
        constants = dict(insert.constants)
        given = insert.columns or tuple(c.name for c in table.writable if c.name not in constants)
        return fitted(body, parsed, outputs, table, given, constants, streamed=streamed)

    def _as_stream(
        self, insert: Insert, table: TableDefinition | None, parsed: Parsed, relation: Relation, model: Model
    ) -> Text | None:
        """The query as a streaming model; None, with a reason, where it can't be one."""
        read = [self._relation(use.name) for use in parsed.uses]
        if any(use.versioned for use in parsed.uses):
            model.reason = relation.still = "a join FOR SYSTEM_TIME AS OF reads all versions"
            return None
        inlining = Inlining(timed=any(r.feeds[0] for r in read))
        body = self._streamed(parsed, inlining)
        if not inlining.streams:
            still = [f"{r.node}: {r.still}" for r in read if r.still]
            model.reason = relation.still = "; ".join(["it reads no stream", *still])
            return None
        changing = [r.node for r in inlining.tables.values() if r.changes]
        if changing:
            model.reason = f"rows of {', '.join(changing)} change, and those that a stream has joined with them don't"
            relation.still = "it is a table itself"
            return None
        body = self._shaped(insert, table, parsed, relation, body, streamed=True)
        body = with_ctes(body, inlining.ctes)
        schema = {name: dict(r.columns or {}) for name, r in (inlining.streams | inlining.tables).items() if r.columns}
        for name, read_one in inlining.streams.items():
            if read_one.event_time and name in schema:
                schema[name][read_one.event_time] = "timestamp"
        try:
            planned = plan(body.plain, "flink", streams=list(inlining.streams), schema=schema)
        except TranslationError as error:
            model.reason = error.message + (f" ({error.hint})" if error.hint else "")
            relation.still = "it is a table itself"
            return None
        without = [r.node for r in inlining.streams.values() if r.event_time is None]
        if planned.waits and without:
            model.reason = f"it waits for a watermark, and {', '.join(without)} has none"
            relation.still = "it is a table itself"
            return None
        model.config = {**model.config, "materialized": "streaming_incremental"}
        relation.bounded = all(r.bounded for r in inlining.streams.values())
        if relation.bounded and planned.waits:
            model.config["flush"] = True
        target = replace(table, options={}) if table is not None else None
        relation.event_time = table.watermark.column if table and table.watermark else None
        relation.stream = streamed(f"ref('{model.node}')", model.node, target, relation.event_time)
        relation.feeds = (relation.event_time is not None, True)
        return body

    def _send(self, model: Model, table: TableDefinition) -> None:
        """Has a model send its rows to the topic of its table, or says why it doesn't."""
        topic = sent_to(table)
        if not topic.fault and model.config["materialized"] == "streaming_incremental":
            model.config["sink"] = topic.stream
            model.notes = topic.notes
        elif not model.disabled:
            fault = topic.fault or f"{model.node} is a table, and only streaming models send rows on"
            self._leave_out(table.span, (f"its rows don't go to Kafka: {fault}", SINK))

    def _declared(self, model: Model, table: TableDefinition | None) -> Model:
        """A model with what the script says of its table."""
        if table is not None:
            model.description = plain_comment(table.comment)
            model.columns = tuple((c.name, c.type or "", c.comment) for c in table.columns)
        return model
