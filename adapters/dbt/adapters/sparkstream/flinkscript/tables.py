"""Tables of a Flink script: columns, event time, watermark, options."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dbt.adapters.sparkstream.flinkscript.escapes import Variable
from dbt.adapters.sparkstream.flinkscript.script import Cursor
from dbt.adapters.sparkstream.flinkscript.types import nullability, read_type
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.interval import ZERO, Interval, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import Span, Tokens

Name = tuple[str, str, str]
"""Catalog, database and name of a table or view."""


@dataclass(frozen=True)
class ColumnDefinition:
    """A column of a table.

    Attributes:
        name: as it is written.
        type: Spark's type; None for a computed column, which has the type of its expression.
        expression: the place of a computed column's expression in the script; None for other columns.
        metadata: the connector's key of a metadata column; None for other columns.
        virtual: True if a metadata column can't be written.
        written: the type as the script has it.
        comment: the text of COMMENT.
    """

    name: str
    type: str | None = None
    expression: Span | None = None
    metadata: str | None = None
    virtual: bool = False
    written: str = ""
    comment: str = ""


@dataclass(frozen=True)
class WatermarkDefinition:
    """A time column, and the delay of its watermark.

    Attributes:
        column: the time column.
        delay: longest time by which a row may be late.
    """

    column: str
    delay: Interval


@dataclass(frozen=True)
class TableDefinition:
    """A CREATE TABLE.

    Attributes:
        name: its full name.
        span: the place of its name.
        columns: in order.
        watermark: None if it has none, or another expression than a time less an interval.
        watermark_fault: why the watermark isn't known, and its place.
        options: of WITH. Once the script is read, those that are known to hold no secret.
        secrets: the other ones, once the script is read.
        partitions: of PARTITIONED BY.
        keys: of PRIMARY KEY.
        comment: the text of COMMENT.
        remark: the comments before the statement.
    """

    name: Name
    span: Span
    columns: tuple[ColumnDefinition, ...] = ()
    watermark: WatermarkDefinition | None = None
    watermark_fault: tuple[str, Span] | None = None
    options: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, Variable] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    comment: str = ""
    remark: str = ""

    def value(self, option: str) -> str | Variable | None:
        """The value of an option, whether it is a secret or not; None where WITH hasn't the option."""
        return self.options.get(option, self.secrets.get(option))

    @property
    def connector(self) -> str:
        """The name of its connector; empty where WITH has none."""
        return self.options.get("connector", "")

    @property
    def writable(self) -> tuple[ColumnDefinition, ...]:
        """The columns that an INSERT gives."""
        return tuple(c for c in self.columns if c.expression is None and not c.virtual)


def read_columns(cursor: Cursor, table: TableDefinition) -> TableDefinition:
    """A table with the columns, the key and the watermark in the parentheses of CREATE TABLE."""
    columns = list(table.columns)
    for piece in cursor.group():
        if piece.takes("WATERMARK", "FOR"):
            table = _watermark(piece, table)
        elif piece.sees("PRIMARY") or piece.sees("CONSTRAINT") or piece.sees("UNIQUE"):
            if piece.takes("CONSTRAINT"):
                piece.name()
            if piece.takes("PRIMARY", "KEY"):
                table = replace(table, keys=tuple(k.name() for k in piece.group()))
        elif piece.sees("PERIOD", "FOR"):
            raise piece.error("Flink has no PERIOD FOR", "leave it out")
        elif piece.tokens:
            column, is_key = _column(piece)
            if any(c.name == column.name for c in columns):
                raise piece.error(f"{column.name} is a column of this table already")
            columns.append(column)
            if is_key:
                table = replace(table, keys=(column.name,))
    return replace(table, columns=tuple(columns))


def _column(piece: Cursor) -> tuple[ColumnDefinition, bool]:
    """A column, and True if it is the primary key."""
    column = ColumnDefinition(piece.name())
    if piece.takes("AS"):
        start = piece.at
        last = next((i for i in piece.tokens.level(start) if piece.tokens[i].text.upper() == "COMMENT"), None)
        end = len(piece.tokens) if last is None or last + 2 < len(piece.tokens) else last
        if end == start:
            raise piece.error("the expression of the column is missing here")
        column = replace(column, expression=piece.tokens.span(range(start, end)))
        piece.at = end
        if piece.takes("COMMENT"):
            column = replace(column, comment=piece.string())
        return column, False
    start = piece.at
    type_ = read_type(piece)
    first, last = piece.tokens.span(range(start, piece.at))
    column = replace(column, type=type_, written=piece.text[first:last])
    is_key = False
    while piece.current:
        if piece.takes("METADATA"):
            column = replace(column, metadata=piece.string() if piece.takes("FROM") else column.name)
            column = replace(column, virtual=piece.takes("VIRTUAL"))
        elif piece.takes("COMMENT"):
            column = replace(column, comment=piece.string())
        elif piece.takes("PRIMARY", "KEY"):
            is_key = True
        elif piece.sees("NOT", "NULL") or piece.sees("NULL"):
            nullability(piece)
        elif not (piece.takes("NOT", "ENFORCED") or piece.takes("ENFORCED") or piece.takes("UNIQUE")):
            raise piece.error("this isn't expected in the definition of a column")
    return column, is_key


def _watermark(piece: Cursor, table: TableDefinition) -> TableDefinition:
    """A table with `WATERMARK FOR ts AS ts - INTERVAL '5' SECOND`; another expression is kept as its fault."""
    names = piece.names()
    piece.expects("AS")
    if not piece.current:
        raise piece.error("the expression of the watermark is missing here")
    start = piece.at
    whole = piece.tokens.span(range(start, len(piece.tokens)))
    table = replace(table, watermark=None, watermark_fault=None)
    if len(names) > 1:
        return replace(table, watermark_fault=("its event time is a field of a row", whole))
    try:
        column = piece.name()
        delay = _delay(piece)
    except TranslationError:
        column, delay = "", None
    if column != names[0] or delay is None or piece.current:
        return replace(table, watermark_fault=("it isn't the event time less an interval", whole))
    return replace(table, watermark=WatermarkDefinition(names[0], delay))


def _delay(piece: Cursor) -> Interval | None:
    """Delay of a watermark: `5 seconds` of `ts - INTERVAL '5' SECOND`; None for another expression."""
    if not piece.current:
        return ZERO
    if not piece.takes("-"):
        return None
    first, piece.at = piece.at, len(piece.tokens)
    try:
        delay = read_interval(piece.tokens[first:], flink=True)
    except IntervalError:
        return None
    return delay if delay >= ZERO else None


def read_options(cursor: Cursor) -> dict[str, str]:
    """The options in `('connector' = 'kafka', ...)`."""
    options = {}
    for piece in cursor.group():
        key = piece.string()
        piece.expects("=")
        options[key] = piece.string()
    return options


def like(cursor: Cursor, table: TableDefinition, base: TableDefinition) -> TableDefinition:
    """A table with `LIKE base (...)`: columns and clauses of the base, and its own.

    Source: Flink, CREATE TABLE, LIKE: INCLUDING ALL and OVERWRITING OPTIONS unless said otherwise.
    """
    kept = {"CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS", "DISTRIBUTION"}
    if cursor.sees("("):
        opening = cursor.at
        cursor.group()
        inner = Cursor(cursor.text, Tokens(cursor.tokens[opening + 1 : cursor.at - 1]))
        while inner.current:
            what = next((w for w in ("INCLUDING", "EXCLUDING", "OVERWRITING") if inner.takes(w)), None)
            if what is None:
                raise inner.error("INCLUDING, EXCLUDING or OVERWRITING is missing here")
            kind = inner.name().upper()
            if what == "EXCLUDING":
                kept = set() if kind == "ALL" else kept - {kind}
            elif kind != "ALL":
                kept |= {kind}
    columns = tuple(
        c
        for c in base.columns
        if (c.expression is None or "GENERATED" in kept) and (c.metadata is None or "METADATA" in kept)
    )
    own = {c.name for c in table.columns}
    twice = next((c.name for c in columns if c.name in own), None)
    if twice is not None:
        raise error_at(
            cursor.text, table.span, f"{twice} is a column of {base.name[2]} already", "give it another name"
        )
    timed = table.watermark or table.watermark_fault
    return replace(
        table,
        columns=columns + table.columns,
        watermark=table.watermark if timed or "WATERMARKS" not in kept else base.watermark,
        watermark_fault=table.watermark_fault if timed or "WATERMARKS" not in kept else base.watermark_fault,
        options={**(base.options if "OPTIONS" in kept else {}), **table.options},
        partitions=table.partitions or (base.partitions if "PARTITIONS" in kept else ()),
        keys=table.keys or (base.keys if "CONSTRAINTS" in kept else ()),
    )
