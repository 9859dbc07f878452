"""Comparison of two engines' rows, in whatever order and with whatever types of the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

TIME, WHOLE, NUMBER, TEXT = "time", "whole", "number", "text"

_NULL = 0x9E3779B97F4A7C15
_MIX = 0x100000001B3
_DIGITS = 6


@dataclass(frozen=True)
class Answer:
    """How many rows there are, and the sum of their hashes.

    Attributes:
        kinds: of its columns: what any answer to the same question is read as.
    """

    rows: int
    checksum: int
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.rows:,} rows, checksum {self.checksum:016x}"


def answer(table: pyarrow.Table, like: Answer | None = None) -> Answer:
    """Adds up the rows of a table. Numbers with a point are rounded to six digits behind it, times to microseconds.

    Args:
        like: an answer whose kinds the columns are of, such as one that they are compared with; texts are read.

    Raises:
        ValueError: a value is not of its kind, or the columns are not as many.
    """
    import numpy
    from pandas.util import hash_array

    kinds = like.kinds if like else tuple(_kind(field.type) for field in table.schema)
    if len(kinds) != table.num_columns:
        raise ValueError(f"{table.num_columns} columns instead of {len(kinds)}")
    hashes = numpy.zeros(table.num_rows, dtype=numpy.uint64)
    for column, kind in zip(table.columns, kinds, strict=True):
        values, missing = _values(column, kind)
        of_column = hash_array(values)
        of_column[missing] = _NULL
        hashes = hashes * numpy.uint64(_MIX) ^ of_column
    return Answer(table.num_rows, int(hash_array(hashes).sum(dtype=numpy.uint64)), kinds)


def _kind(type_: pyarrow.DataType) -> str:
    from pyarrow import types

    if types.is_timestamp(type_):
        return TIME
    if types.is_integer(type_):
        return WHOLE
    return NUMBER if types.is_floating(type_) or types.is_decimal(type_) else TEXT


def _values(column: pyarrow.ChunkedArray, kind: str) -> tuple[Any, Any]:
    """A column's values as numpy has them, and which are NULL."""
    import pyarrow

    if kind == TIME:
        column = column.cast(pyarrow.timestamp("us", getattr(column.type, "tz", None)))
    types = {TIME: pyarrow.int64(), WHOLE: pyarrow.int64(), NUMBER: pyarrow.float64(), TEXT: pyarrow.string()}
    cast = column.cast(types[kind])
    missing = cast.is_null().to_numpy()
    values = cast.fill_null("" if kind == TEXT else 0).to_numpy()
    return (values.round(_DIGITS) + 0.0 if kind == NUMBER else values), missing  # -0.0 becomes 0.0
