"""The types of columns in CREATE TABLE, as Flink names them, and Spark's for them."""

from __future__ import annotations

import re

from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.flinkscript.script import Cursor
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.dialects.flink import TIME_DIGITS

_PLAIN = {
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "FLOAT": "float",
    "DATE": "date",
    "STRING": "string",
    "VARCHAR": "string",
    "CHAR": "string",
    "BYTES": "binary",
    "BINARY": "binary",
    "VARBINARY": "binary",
    "TIMESTAMP_LTZ": "timestamp",
    "VARIANT": "variant",
}
_SIZE = re.compile(r"[0-9]{1,9}")
_DECIMAL = ("DECIMAL", "DEC", "NUMERIC")


def read_type(cursor: Cursor) -> str:
    """Reads a type and returns Spark's type, such as `array<struct<a:int>>`; goes past NOT NULL within it.

    Raises:
        TranslationError: Spark has no such type.
    """
    type_ = _read(cursor)
    while cursor.sees("ARRAY") or cursor.sees("MULTISET"):  # INT ARRAY
        type_ = f"array<{type_}>" if cursor.takes("ARRAY") else f"map<{type_},int>"
        cursor.takes("MULTISET")
    return type_


def _read(cursor: Cursor) -> str:
    token = cursor.current
    word = token.text.upper() if token else ""
    if word in _PLAIN:
        cursor.at += 1
        _sizes(cursor)
        return _PLAIN[word]
    if word in _DECIMAL:
        cursor.at += 1
        sizes = _sizes(cursor)
        return f"decimal({sizes[0] if sizes else 10},{sizes[1] if len(sizes) > 1 else 0})"
    if cursor.takes("TIME"):
        sizes = _sizes(cursor)
        cursor.takes("WITHOUT", "TIME", "ZONE")
        return f"time({min(int(sizes[0]), TIME_DIGITS) if sizes else 0})"
    if cursor.takes("DOUBLE"):
        cursor.takes("PRECISION")
        return "double"
    if cursor.takes("TIMESTAMP"):
        _sizes(cursor)
        if cursor.takes("WITH", "LOCAL", "TIME", "ZONE"):
            return "timestamp"
        if cursor.sees("WITH"):
            raise cursor.error("Spark has no time with a zone of its own", "write TIMESTAMP_LTZ(3)")
        cursor.takes("WITHOUT", "TIME", "ZONE")
        return "timestamp_ntz"
    if cursor.takes("ARRAY"):
        return f"array<{_inner(cursor, 1)[0]}>"
    if cursor.takes("MULTISET"):
        return f"map<{_inner(cursor, 1)[0]},int>"
    if cursor.takes("MAP"):
        return f"map<{','.join(_inner(cursor, 2))}>"
    if cursor.takes("ROW"):
        return f"struct<{_fields(cursor)}>"
    raise cursor.error(
        f"Spark has no type {word}" if word else "a type is missing here", "write STRING, and cast it in a view"
    )


def _sizes(cursor: Cursor) -> list[str]:
    """The numbers after a type's name, if there are any."""
    if not cursor.sees("("):
        return []
    sizes = []
    for piece in cursor.group():
        token = piece.current
        if token is None or token.token_type is not TokenType.NUMBER or not _SIZE.fullmatch(token.text):
            raise (piece if token else cursor).error("a number is missing here")
        piece.at += 1
        if piece.current:
            raise piece.error("this isn't expected behind a number")
        sizes.append(token.text)
    return sizes


def _inner(cursor: Cursor, count: int) -> list[str]:
    """The types between < and >."""
    cursor.expects("<")
    found = []
    for i in range(count):
        if i:
            cursor.expects(",")
        found.append(read_type(cursor))
        nullability(cursor)
    cursor.expects(">")
    return found


def _fields(cursor: Cursor) -> str:
    """The fields of ROW<a INT, b STRING>, or of ROW(...)."""
    closing = ">" if cursor.takes("<") else ")"
    if closing == ")":
        cursor.expects("(")
    fields: list[str] = []
    while not cursor.takes(closing):
        if fields:
            cursor.expects(",")
        name = cursor.name()
        fields.append(f"{quoted(name)}:{read_type(cursor)}")
        nullability(cursor)
        if cursor.current and cursor.current.token_type is TokenType.STRING:
            cursor.at += 1  # the field's comment
    return ",".join(fields)


def nullability(cursor: Cursor) -> None:
    """Goes past NULL or NOT NULL."""
    if not cursor.takes("NOT", "NULL"):
        cursor.takes("NULL")
