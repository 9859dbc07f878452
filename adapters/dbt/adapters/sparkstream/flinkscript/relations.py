"""Names of a Flink script, and their relations in the dbt project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dbt.adapters.sparkstream.flinkscript.escapes import jinja_value
from dbt.adapters.sparkstream.flinkscript.inputs import Input
from dbt.adapters.sparkstream.flinkscript.queries import Text, named, sql
from dbt.adapters.sparkstream.flinkscript.tables import TableDefinition

SOURCE = "inputs"
"""Name of the source with the tables that nothing in the script writes to."""


@dataclass
class Inlining:
    """A streaming query while it is written: views over streams become its CTEs, as in Flink.

    Attributes:
        timed: True if only tables with a watermark are read as streams.
        ctes: name -> query, in the order in which they need each other.
        streams: the relations that are read as streams, by the name that the query has for them.
        tables: the other relations, by the name that the query has for them.
    """

    timed: bool
    ctes: dict[str, Text] = field(default_factory=dict)
    streams: dict[str, Relation] = field(default_factory=dict)
    tables: dict[str, Relation] = field(default_factory=dict)


@dataclass
class Relation:
    """A table or view of the script as a relation of the project.

    Attributes:
        node: the name of the model, seed or source.
        text: the text by which a model reads it.
        columns: column -> Spark type, empty if unknown; None if the columns aren't known.
        stream: the text by which a streaming model reads it; None if it can't.
        event_time: the column with its watermark, if it has one.
        expand: returns its query, for a model that reads streams through it; None if it isn't a view.
        feeds: True if rows of a stream come through it: with a watermark, and at all.
        keys: its primary key, if its rows are versions by this key.
        bounded: True if its rows come to an end, so that all windows over them close.
        disabled: why models that read it can't run; empty if they can.
        still: why it is no stream in a streaming job; empty if it is a stream.
        proctimes: columns of processing time, which it doesn't have here.
        versions: the text by which a join FOR SYSTEM_TIME AS OF reads it; None for `text`.
        changes: True if a record can change or delete a row that it had.
    """

    node: str
    text: Text
    columns: dict[str, str] | None = None
    stream: Text | None = None
    event_time: str | None = None
    expand: Callable[[Inlining], Text] | None = None
    feeds: tuple[bool, bool] = (False, False)
    keys: tuple[str, ...] = ()
    bounded: bool = False
    disabled: str = ""
    still: str = ""
    proctimes: frozenset[str] = frozenset()
    versions: Text | None = None
    changes: bool = False


@dataclass
class Model:
    """A model to be written.

    Attributes:
        node: its name.
        sql: its query, with Jinja.
        config: its configs.
        comment: the script's comments before it.
        description: of the table or view.
        columns: name, Spark type or empty, and comment of each column that the script declares.
        disabled: why it isn't run; empty where it is.
        reason: why it is a table in a streaming job; empty elsewhere.
        notes: differences from Flink in where its rows go.
    """

    node: str
    sql: str
    config: dict[str, object]
    comment: str = ""
    description: str = ""
    columns: tuple[tuple[str, str, str], ...] = ()
    disabled: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass
class Source:
    """A table of the source to be written, or a seed.

    Attributes:
        node: its name.
        table: its definition; None if the script has none.
        input: the origin of its rows; None if it has to exist.
        schema: the schema of a table that the script doesn't define; empty for the schema of the other inputs.
        group: the name of the source that has the table.
    """

    node: str
    table: TableDefinition | None = None
    input: Input | None = None
    schema: str = ""
    group: str = SOURCE


def plain_comment(text: str) -> str:
    """A comment's words, for a description."""
    lines = (line.strip().removeprefix("/*").removesuffix("*/").lstrip("-*").strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def description(table: TableDefinition) -> str:
    """Description of a table, from the comments before it and its COMMENT."""
    return "\n".join(filter(None, (plain_comment(table.remark), table.comment)))


class Names:
    """Names of models and sources, each given once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        """A new name for `name` of the script: in lower case, as Spark's catalog has it."""
        clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower()).strip("_") or "table"
        clean = f"t_{clean}" if clean[0].isdigit() else clean
        node, number = clean, 1
        while node in self._taken:
            number += 1
            node = f"{clean}_{number}"
        self._taken.add(node)
        return node


def streamed(kind: str, node: str, table: TableDefinition | None, event_time: str | None = None) -> Text:
    """Text by which a streaming model reads a table: `stream(source('inputs', 'bid'), watermark='5 seconds')`."""
    watermark = f", watermark='{table.watermark.delay.words()}'" if table and table.watermark else ""
    time = f", event_time={jinja_value(event_time)}" if event_time else ""
    return Text("{{ stream(" + kind + watermark + time + ") }}", f"stream_{node}")


def versions(relation: Relation) -> Text:
    """Query for a join FOR SYSTEM_TIME AS OF: the rows of a table, and by which key and time they are versions."""
    columns = ", ".join(map(named, relation.columns or ()))
    keys = ", ".join(map(named, relation.keys))
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY {named(relation.event_time or '')} DESC) AS rn"
    read = relation.versions or relation.text
    return sql(f"SELECT {columns} FROM (\n  {ranked}\n  FROM ") + read + sql("\n) WHERE rn = 1")
