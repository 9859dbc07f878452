"""The models that the views, queries and INSERTs of a job become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.sparkstream.flinkscript.escapes import markdown_text
from dbt.adapters.sparkstream.flinkscript.fitting import fitted, with_ctes
from dbt.adapters.sparkstream.flinkscript.job import Insert, Job, Query, ViewDefinition
from dbt.adapters.sparkstream.flinkscript.kafka import KAFKA, UPSERT, sent_to
from dbt.adapters.sparkstream.flinkscript.leftovers import SINK, UNDEFINED
from dbt.adapters.sparkstream.flinkscript.queries import Parsed, Text, Use, named, sql
from dbt.adapters.sparkstream.flinkscript.relations import Inlining, Model, Relation, streamed
from dbt.adapters.sparkstream.flinkscript.tablemodels import Tables
from dbt.adapters.sparkstream.flinkscript.tables import Name, TableDefinition
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.names.scope import Columns
from dbt.adapters.sparkstream.sql.streaming import plan
from dbt.adapters.sparkstream.sql.translate import translate


class Models(Tables):
    """Models of a job's views, queries and INSERTs.

    Args:
        job: the script.
        folder: the script's folder.
        file: its name, for messages.
    """

    def __init__(self, job: Job, folder: Path, file: str) -> None:
        super().__init__(job, folder, file)
        self._relations: dict[Name, Relation] = {}
        self._making: list[Name] = []
        for name in (*job.tables, *job.views, *self._written):
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

    # -- views -------------------------------------------------------------------------------------
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
        """Records in a relation its query's columns, as far as they are known, and the streams that come through it."""
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
                fault = self._line(error)
        relation.disabled = model.disabled = fault
        model.sql = body.jinja
        self.models.append(self._declared(model, table))
        if table is not None and table.connector in (KAFKA, UPSERT):
            self._send(model, table)
        elif table is not None and table.connector and insert.place != table.span and not model.disabled:
            sink = markdown_text(table.connector)
            model.notes = (f"nothing is written to the script's {sink}: the rows are in this table",)
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
        """A query with the columns of the table that it writes to; the relation gets the columns, too."""
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
        relation.event_time = table.watermark.column if table and table.watermark else None
        # A stream only adds rows, so its table has all versions of what the key names.
        relation.keys = table.keys if table and table.watermark else ()
        relation.stream = streamed(f"ref('{model.node}')", model.node, table, relation.event_time)
        relation.feeds = (relation.event_time is not None, True)
        return body

    def _send(self, model: Model, table: TableDefinition) -> None:
        """Gives a model the topic of its table as a sink, or records why its rows don't go there."""
        topic = sent_to(table)
        if not topic.fault and model.config["materialized"] == "streaming_incremental":
            model.config["sink"] = topic.stream
            model.notes = topic.notes
        elif not model.disabled:
            fault = topic.fault or f"{model.node} is a table, and only streaming models send rows on"
            self._leave_out(table.span, (f"its rows don't go to Kafka: {fault}", SINK))
