"""Values of CSV and JSON, in files and in Kafka's records, in the types of a table's columns, by Flink's rules.

Spark makes a JSON `"2"` of a BIGINT column NULL, and Flink makes it 2. So Spark reads such values as they are written,
and a view converts them. An INT or BIGINT of JSON is read as VARIANT: Flink makes a number `7.9` 7, and a text `"7.9"`
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.flinkscript.queries import named
from dbt.adapters.sparkstream.flinkscript.tables import TableDefinition
from dbt.adapters.sparkstream.sql.core.literals import quoted, string_literal

BROKEN = "json_broken"
"""Name of the column with the lines that aren't JSON of the columns."""

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{0,9})?"
_ISO_TIME = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"

_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}

Converted = Callable[[str], str]
"""SQL of a value as it is read -> SQL of the value in its type."""


@dataclass(frozen=True)
class Reading:
    """Conversion of values in CSV or JSON to the types of columns.

    Attributes:
        format: `csv` or `json`.
        lenient: True if a value that isn't of its column's type is NULL, False if it is an error.
        iso: True if a time is written with a T.
        in_files: True if the values are in files, and not in records.
    """

    format: str
    lenient: bool
    iso: bool = False
    in_files: bool = True

    def stored(self, type_: str) -> str:
        """The type that Spark's table has for a column of a type."""
        return self._stored(exp.DataType.build(type_, dialect="spark"))

    def item(self, name: str, type_: str) -> str:
        """A column in its type, as an item of SELECT."""
        column = named(name)
        converted = self.converted(column, name, type_)
        return column if converted == column else f"{converted} AS {column}"

    def converted(self, value: str, name: str, type_: str) -> str:
        """A value of a column in its type."""
        fails = _fails(f"{name}: a value that isn't {type_.upper()}", "TO_JSON(STRUCT(*))", in_files=self.in_files)
        convert = self._convert(exp.DataType.build(type_, dialect="spark"), "" if self.lenient else fails)
        return value if convert is None else convert(value)

    def condition(self, column: str) -> str:
        """WHERE for the lines of JSON that hold rows; it reads a column, too, as Spark can't read `BROKEN` alone."""
        if self.format != "json":
            return ""
        broken = _fails("a line isn't the JSON of the columns", BROKEN)
        if self.lenient:  # of a line that is JSON, only the fields of other kinds are NULL
            broken = f"IF(SCHEMA_OF_VARIANT(TRY_PARSE_JSON({BROKEN})) LIKE 'OBJECT%', 0, -1)"
        return f"\nWHERE IF({BROKEN} IS NULL, CAST({named(column)} IS NULL AS INT), {broken}) >= 0"

    def _stored(self, type_: exp.DataType) -> str:
        if type_.is_type("array"):
            return f"array<{self._stored(type_.expressions[0])}>"
        if type_.is_type("map"):
            return f"map<string,{self._stored(type_.expressions[1])}>"
        if type_.is_type("struct"):
            fields = ((each.name, self._stored(each.args["kind"])) for each in type_.expressions)
            return f"struct<{','.join(f'{quoted(name)}:{kind}' for name, kind in fields)}>"
        if type_.is_type("variant") or (self.format == "json" and type_.is_type("int", "bigint")):
            return "variant"
        return "string"

    def _convert(self, type_: exp.DataType, fails: str, depth: int = 0) -> Converted | None:
        """The conversion to a type; None where the value is of the type as it is read."""
        if type_.is_type("array", "map"):
            inner = self._convert(type_.expressions[-1], fails, depth + 1)
            if inner is None:
                return None
            element = f"e{depth}"
            if type_.is_type("array"):
                return lambda value: f"TRANSFORM({value}, {element} -> {inner(element)})"
            return lambda value: f"TRANSFORM_VALUES({value}, (k{depth}, {element}) -> {inner(element)})"
        if type_.is_type("struct"):
            return self._struct(type_, fails, depth)
        return None if type_.is_type("string", "text", "variant") else lambda value: self._scalar(value, type_, fails)

    def _struct(self, type_: exp.DataType, fails: str, depth: int) -> Converted | None:
        fields = [(each.name, self._convert(each.args["kind"], fails, depth)) for each in type_.expressions]
        if not any(convert for _, convert in fields):
            return None

        def struct(value: str) -> str:
            values = []
            for name, convert in fields:
                field = f"{value}.{quoted(name)}"
                values += [string_literal(name), convert(field) if convert else field]
            return f"IF({value} IS NULL, NULL, NAMED_STRUCT({', '.join(values)}))"

        return struct

    def _scalar(self, value: str, type_: exp.DataType, fails: str) -> str:
        variant = self.format == "json" and type_.is_type("int", "bigint")
        text = f"CAST({value} AS STRING)" if variant else value
        name = f"TIME({type_.expressions[0].name})" if type_.is_type("time") else type_.sql("spark")
        found = [f"TRY_CAST({text} AS {name})"]
        if type_.is_type("boolean"):
            return f"LOWER(TRIM({text})) = 'true'"  # Flink makes all others FALSE
        if variant:
            number = f"TRY_CAST(TRY_CAST({text} AS DOUBLE) AS {name})"
            found.append(f"IF(SCHEMA_OF_VARIANT({value}) <> 'STRING', {number}, NULL)")
        elif type_.is_type("binary"):
            # Spark reads a text that is too short, too.
            found = [f"IF(LENGTH({text}) % 4 = 0, TRY_TO_BINARY({text}, 'base64'), NULL)"]
        elif pattern := self._pattern(type_):
            found = [f"IF({text} RLIKE '^ *{pattern} *$', {found[0]}, NULL)"]
        if fails:
            # Flink makes a number with more digits than a DECIMAL has NULL.
            more = f" OR TRY_CAST({text} AS DOUBLE) IS NOT NULL" if type_.is_type("decimal") else ""
            found.append(f"IF({text} IS NULL{more}, NULL, {fails})")
        return f"COALESCE({', '.join(found)})" if found[1:] else found[0]

    def is_plain(self, text: str, type_: str) -> bool:
        """True if Spark reads a text of CSV as a value of a type just as Flink does."""
        kind = exp.DataType.build(type_, dialect="spark")
        if bits := _BITS.get(type_):
            return bool(re.fullmatch("[+-]?[0-9]{1,19}", text)) and -(2**bits) <= int(text) < 2**bits
        if kind.is_type("boolean"):
            return text.lower() in ("true", "false")
        if kind.is_type("float", "double", "decimal"):
            return bool(re.fullmatch("[+-]?[0-9]+([.][0-9]+)?", text))
        return not (pattern := self._pattern(kind)) or bool(re.fullmatch(pattern, text))

    def _pattern(self, type_: exp.DataType) -> str:
        """Pattern of a day or a time in Flink, as Spark's casts read more; empty for other types."""
        if type_.is_type("date"):
            return _DAY if self.format == "json" else "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
        time = f"{_DAY}T{_ISO_TIME}" if self.iso else f"{_DAY} {_TIME}"
        if type_.is_type("timestampntz"):
            return time
        return f"{time}Z" if type_.is_type("timestamptz") else ""


def _fails(words: str, row: str, *, in_files: bool = True) -> str:
    """Call of `raise_error` with the row, and its file for a row in a file."""
    place = ", ' in ', INPUT_FILE_NAME()" if in_files else ""
    return f"RAISE_ERROR(CONCAT({string_literal(words)}, ': ', {row}{place}))"


def reading_of(table: TableDefinition) -> Reading | None:
    """Reading of the columns of a table's CSV or JSON files; None if all are texts in CSV."""
    name = table.options["format"]
    if name == "csv" and all(column.type in ("string", "variant") for column in table.columns):
        return None
    return reading(name, table.options)


def reading(name: str, options: Mapping[str, str], *, of: str = "", in_files: bool = True) -> Reading:
    """Reading of values in CSV or JSON, by a table's options.

    Args:
        name: `csv` or `json`.
        options: the table's.
        of: prefix of the format's options, if it isn't the format's name.
    """
    lenient = options.get(f"{of or name}.ignore-parse-errors", "").lower() == "true"
    iso = options.get(f"{of or name}.timestamp-format.standard", "").upper() == "ISO-8601"
    return Reading(name, lenient, iso, in_files)
