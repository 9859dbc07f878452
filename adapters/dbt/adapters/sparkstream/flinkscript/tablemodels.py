"""The sources and models that the tables of a job become: a source or a seed, and a model over it where needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from dbt.adapters.sparkstream.flinkscript.inputs import FILE_COLUMNS, Input, input_of
from dbt.adapters.sparkstream.flinkscript.job import Job
from dbt.adapters.sparkstream.flinkscript.kafka import DELETED, OFFSET
from dbt.adapters.sparkstream.flinkscript.leftovers import PROCTIME
from dbt.adapters.sparkstream.flinkscript.queries import Text, computed, named, sql
from dbt.adapters.sparkstream.flinkscript.relations import (
    SOURCE,
    Model,
    Names,
    Relation,
    Source,
    description,
    streamed,
)
from dbt.adapters.sparkstream.flinkscript.tables import Name, TableDefinition
from dbt.adapters.sparkstream.flinkscript.texts import Texts
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.tokens import Span
from dbt.adapters.sparkstream.sql.translate import translate


class Tables(Texts):
    """Sources of a job, and models that add the columns to a table that its rows don't have.

    Attributes:
        models: in the order of the script, as far as they don't need each other.
        sources: tables that nothing in the script writes to.
        seeds: the sources that are small files.

    Args:
        job: the script.
        folder: the script's folder.
        file: its name, for messages.
    """

    def __init__(self, job: Job, folder: Path, file: str) -> None:
        super().__init__(job, file)
        self.models: list[Model] = []
        self.sources: list[Source] = []
        self.seeds: list[Source] = []
        self._folder = folder
        self._node = Names().new
        groups = Names()
        groups.new(SOURCE)
        self._group = lru_cache(maxsize=None)(groups.new)
        self._written = written = {insert.table for insert in job.inserts}
        self._nodes = {
            name: self._node(name[2]) for name in (*job.tables, *job.views, *sorted(written - {*job.tables}))
        }

    def _elsewhere(self, name: Name) -> Relation:
        """A table that the script doesn't define."""
        node = self._node(name[2])
        schema = "" if name[1] == "default_database" else name[1]
        group = self._group(schema) if schema else SOURCE
        self.sources.append(Source(node, schema=schema, group=group))
        return Relation(node, Text("{{ source('" + group + f"', '{node}') }}}}", node))

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
        if found.reading or list(columns) != [c.name for c in table.columns] or found.partitions_moved(table):
            kind = f"ref('{node}')"
            streams = self._over(relation, table, found=found)
        if streams and not relation.disabled:
            relation.stream = streamed(kind, node, table)
            relation.feeds = (table.watermark is not None, True)
            relation.bounded = found.is_bounded(table)
        return relation

    def _landed(self, node: str, table: TableDefinition, columns: dict[str, str], changes: bool) -> Relation:
        """The model that reads a topic into a table, which streaming models and other models read."""
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
        self,
        relation: Relation,
        table: TableDefinition,
        materialized: str = "view",
        more: Sequence[str] = (),
        found: Input | None = None,
    ) -> bool:
        """Makes the model with the columns that the rows of a table don't have; True if it can be streamed.

        `relation`, the table, becomes the model.

        Args:
            more: columns of the rows that the table doesn't name.
            found: the origin of its rows, for a table of files.
        """
        of_rows = {c.name for c in table.columns if c.expression is not None}
        stored = dict(relation.columns or {})
        of_files = [c for c in table.columns if c.expression is None and c.name not in stored]
        if found is not None and (of_files or found.reading):
            self._with_files(relation, table, found, self._node(f"{relation.node}_files") if of_rows else relation.node)
            stored = relation.columns or {}
            if of_files:
                relation.still = "a stream of files doesn't know their names and sizes"
            if not of_rows:
                return not of_files
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
            fault = self._line(error)
        body = sql("SELECT\n  " + ",\n  ".join(items) + "\nFROM ") + relation.text
        config: dict[str, object] = {"materialized": materialized, "sql_dialect": "flink"}
        if table.watermark and materialized == "view":
            config["event_time"] = table.watermark.column
        self.models.append(Model(relation.node, body.jinja, config, disabled=fault))
        relation.text = Text("{{ ref('" + relation.node + "') }}", relation.node)
        relation.columns, relation.proctimes, relation.disabled = columns, frozenset(gone), fault
        return not of_files

    def _with_files(self, relation: Relation, table: TableDefinition, found: Input, node: str) -> None:
        """Makes the view with the columns of files in their types, and with metadata of the files.

        `relation`, the table, becomes the view.
        """
        types = {name: type_ for name, type_, _ in found.of_files}
        items: list[str] = []
        for column in (c for c in table.columns if c.expression is None):
            item = named(column.name)
            if column.name in types:
                item = found.reading.item(column.name, types[column.name]) if found.reading else item
            elif column.metadata in FILE_COLUMNS:
                item = f"{FILE_COLUMNS[column.metadata]} AS {item}"
            items.append(item)
        body = sql("SELECT\n  " + ",\n  ".join(items) + "\nFROM ") + relation.text
        if found.reading:
            body += sql(found.reading.condition(next(iter(types))))
        config: dict[str, object] = {"materialized": "view"}
        if node == relation.node and table.watermark:
            config["event_time"] = table.watermark.column
        self.models.append(Model(node, body.jinja, config))
        relation.columns = {c.name: c.type or "string" for c in table.columns if c.expression is None}
        relation.text = Text("{{ ref('" + node + "') }}", node)

    def _computed(self, expression: Span, table: TableDefinition, stored: Mapping[str, str]) -> tuple[str, str]:
        """The expression of a computed column, and its type; empty if the type isn't known.

        Raises:
            TranslationError: its expression can't be translated.
        """
        parsed = computed(self._text, expression, "t")
        parsed.refuse_functions(self._job.functions)
        translate(parsed.whole, "flink", schema={"t": stored}, warn=lambda _: None)
        found = parsed.columns({"t": stored}).items
        return parsed.first_item, (found[0].type or "") if found else ""

    def _declared(self, model: Model, table: TableDefinition | None) -> Model:
        """A model with the description and the columns of its table."""
        if table is not None:
            model.description = description(table)
            model.columns = tuple((c.name, c.type or "", c.comment) for c in table.columns)
        return model
