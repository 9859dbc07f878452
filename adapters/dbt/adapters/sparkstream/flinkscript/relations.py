"""Names of a Flink script, and their relations in the dbt project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dbt.adapters.sparkstream.flinkscript.escapes import jinja_value
from dbt.adapters.sparkstream.flinkscript.inputs import Input
from dbt.adapters.sparkstream.flinkscript.queries import Text, named, sql
from dbt.adapters.sparkstream.flinkscript.tables import TableDefinition

SOURCE = "inputs"
"""The source that holds the tables which nothing in the script writes to."""


@dataclass
class Inlining:
    """A streaming query in the making: views over streams become its CTEs, as Flink has it.

    Attributes:
        timed: whether only tables with a watermark are read as streams.
        ctes: name -> query, in the order in which they need each other.
        streams: the relations that are read as streams, by the name that the query has for them.
        tables: the other tables, likewise.
    """

    timed: bool
    ctes: dict[str, Text] = field(default_factory=dict)
    streams: dict[str, Relation] = field(default_factory=dict)
    tables: dict[str, Relation] = field(default_factory=dict)


@dataclass
class Relation:
    """What a name of the script is in the project.

    Attributes:
        node: the name of the model, seed or source.
        text: how a model reads it.
        columns: column -> Spark type, empty where it isn't known; None where the columns aren't known.
        stream: how a streaming model reads it; None where it can't.
        event_time: the column with its watermark, if it has one.
        expand: gives its query, for a model that reads streams through it; None of what isn't a view.
        feeds: whether rows of a stream come through it: with a watermark, and at all.
        keys: its primary key, where its rows are versions of what the key names.
        bounded: whether its rows come to an end, so that all windows over them close.
        disabled: why models that read it can't run; empty where they can.
        still: why it is no stream in a streaming job; empty where it is one.
        proctimes: columns of processing time, which it doesn't have here.
        versions: what a join FOR SYSTEM_TIME AS OF reads; None where that is the relation itself.
        changes: whether a record can change or delete a row that it had.
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
        notes: what is different from Flink in where its rows go.
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
        table: what the script says of it; None where it doesn't define it.
        input: where its rows come from; None where it has to be there.
        schema: where a table that the script doesn't define has to be; empty where the other inputs are.
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
    """What the script says of a table: in comments before it, and by COMMENT."""
    return "\n".join(filter(None, (plain_comment(table.remark), table.comment)))


class Names:
    """Names of models and sources, each given once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        """A name for what the script calls `name`: in lower case, as Spark's catalog has it."""
        clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower()).strip("_") or "table"
        clean = f"t_{clean}" if clean[0].isdigit() else clean
        node, number = clean, 1
        while node in self._taken:
            number += 1
            node = f"{clean}_{number}"
        self._taken.add(node)
        return node


def streamed(kind: str, node: str, table: TableDefinition | None, event_time: str | None = None) -> Text:
    """How a streaming model reads a table: `stream(source('inputs', 'bid'), watermark='5 seconds')`."""
    watermark = f", watermark='{table.watermark.delay.words()}'" if table and table.watermark else ""
    time = f", event_time={jinja_value(event_time)}" if event_time else ""
    return Text("{{ stream(" + kind + watermark + time + ") }}", f"stream_{node}")


def versions(relation: Relation) -> Text:
    """What a join FOR SYSTEM_TIME AS OF reads: the rows of a table, and by which key and time they are versions."""
    columns = ", ".join(map(named, relation.columns or ()))
    keys = ", ".join(map(named, relation.keys))
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY {named(relation.event_time or '')} DESC) AS rn"
    read = relation.versions or relation.text
    return sql(f"SELECT {columns} FROM (\n  {ranked}\n  FROM ") + read + sql("\n) WHERE rn = 1")
