"""Casts of Flink SQL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.nested import nested_type
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from dbt.adapters.sparkstream.sql.passes.flink import clocks, timetexts
from dbt.adapters.sparkstream.sql.passes.flink.casttexts import text_of
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles

_SPARK_DIGITS = 6
"""Digits behind the second that Spark keeps."""
_MICROS = 6
"""Digits behind the second of a TIMESTAMP that says nothing, and the most that Spark keeps."""
_WORD = r"^(?!\s*[+-]?(Infinity|NaN)\s*$).*[INin].*$"
"""A text that Spark may take for an infinity, such as `inf`, and Java doesn't."""
_DATE = r"^\s*(\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?)(?: .*)?$"
"""A date of Flink's; behind a space, anything may stand."""


class Casts(Rewriter):
    """Edits `CAST(x AS type)`, TRY_CAST and `TIMESTAMP '...'`."""

    @handles(exp.Cast, exp.TryCast)
    def _cast(self, node: exp.Cast | exp.TryCast) -> Iterator[Edit]:
        span = self.source.span(node)
        if node.args.get("format"):  # it would be dropped
            self.refuse(span, "Flink's CAST takes no FORMAT", "write DATE_FORMAT or TO_TIMESTAMP")
        to = nested_type(node.to)
        tokens = self.source.tokens_in(span)
        called = self._called(node)
        if to is None:
            written = self._target(node)[0] if called else tokens[0].text
            self.refuse(span, f"the type {written} has no counterpart in Spark")
        if not called:
            if to == "timestamp_ntz":  # TIMESTAMP '...' has no zone in Flink
                yield Edit((span[0], tokens[0].end + 1), lambda: "TIMESTAMP_NTZ")
            elif types.is_clock(to):  # TIME '...' has six digits behind the second in Spark
                yield Edit(span, lambda: clocks.cast_to(self.text(node.this), to))
            return
        from_ = self.type(node.this)
        function = "CAST" if self.source.span(node.this)[0] == span[0] else tokens[0].text  # x::INT
        yield Edit(span, lambda: self._cast_text(function, node, from_, to))

    def _cast_text(self, function: str, node: exp.Cast | exp.TryCast, from_: str | None, to: str) -> str:
        inner = self.text(node.this)
        name, size = self._target(node)
        if to == "string":
            text = text_of(inner, from_, self._digits(node.this), function=function)
            if name in ("CHAR", "CHARACTER"):
                return f"RPAD({text}, {1 if size is None else size}, ' ')"
            if size is not None and size < 2**31 - 1:
                return f"LEFT({text}, {size})"
            return text if text != inner else f"{function}({inner} AS STRING)"
        if to == "binary" and name in ("BINARY", "VARBINARY"):
            bytes_ = inner if from_ == "binary" else f"{function}({inner} AS BINARY)"
            size = 1 if size is None else size
            return f"RPAD({bytes_}, {size}, X'00')" if name == "BINARY" else f"LEFT({bytes_}, {size})"
        if types.is_decimal(to) and types.is_numeric(from_):
            function = "TRY_CAST"  # an overflow is NULL
        elif to in types.INTEGERS and types.is_numeric(from_):
            function = "CAST"  # an overflow wraps, in TRY_CAST too
        elif types.is_string(from_) and function.upper() == "TRY_CAST":
            inner = _tried_text(inner, self._constant(node.this), to, self._target(node)[1])
        elif types.is_clock(to) and types.is_string(from_):
            inner = clocks.read(inner, self._constant(node.this))
        elif to in types.TIMES and types.is_clock(from_):
            inner = clocks.on_a_day(inner)
            if to == types.NTZ:
                return inner
        elif to in types.TIMES:
            inner = self._cut(node, inner, from_)
        return f"{function}({inner} AS {to if '<' in to else to.upper()})"

    def _cut(self, node: exp.Cast | exp.TryCast, inner: str, from_: str | None) -> str:
        """A time, or a text that holds one, with the digits behind the second that the type keeps."""
        _, digits = self._target(node)
        if digits is None or digits >= _SPARK_DIGITS:
            return inner
        if types.is_string(from_):
            return timetexts.cut_text(inner, self._constant(node.this), digits)
        known = self._digits(node.this)
        return (
            timetexts.cut_time(inner, digits) if from_ in types.TIMES and (known is None or digits < known) else inner
        )

    def _constant(self, node: exp.Expr) -> str | None:
        """The text of a constant text."""
        return node.name if isinstance(node, exp.Literal) and node.is_string else None

    def _target(self, node: exp.Expr) -> tuple[str, int | None]:
        """Name and size of a cast's type as written: CHAR and 5 of `CHAR(5)`, which is a TEXT to sqlglot."""
        name, *size = [token.text for token in self.source.tokens_in(self.source.span(node.args["to"]))[:3]]
        is_size = len(size) == 2 and size[0] == "(" and size[1].isdecimal() and len(size[1]) < 10
        return name.upper(), int(size[1]) if is_size else None

    def _digits(self, time: exp.Expr) -> int | None:
        """The digits behind the second that a time has, as far as its text says: None for a column."""
        while isinstance(time, exp.Paren):
            time = time.this
        if isinstance(time, exp.Column):
            return 3 if time.name in WINDOW_COLUMNS else None
        if isinstance(time, (exp.Cast, exp.TryCast)):
            if not self._called(time):
                return len(time.this.name.partition(".")[2])
            name, size = self._target(time)
            return size if size is not None else 6 if name.startswith("TIMESTAMP") else 3
        return None

    def _called(self, node: exp.Expr) -> bool:
        """Whether a cast is written `CAST(x AS type)`, and not `type 'x'`."""
        return self.source.span(node.args["to"])[0] > self.source.span(node.this)[0]


def _tried_text(text: str, literal: str | None, to: str, digits: int | None) -> str:
    """Spark SQL of the text that TRY_CAST converts: the whole text, or the part of it that Flink reads.

    Args:
        text: Spark SQL of the text.
        literal: the text itself, if it is a constant.
        to: the Spark type of the value.
        digits: the digits behind the second that a time keeps; None if its type doesn't say.
    """
    if to in types.INTEGERS:
        # Flink reads 12 in '12.7', and 0 in '.5' and '.': group 1 is the sign, and a 0 stands behind it.
        return _replaced(text, r"^(\s*[+-]?)(\d*)[.]\d*\s*$", "$10$2")
    if to in ("double", "float"):
        return _replaced(text, _WORD, "")
    if to == "boolean":
        return _replaced(text, r"\s", "?")  # Spark leaves white space out
    if to == "date":
        return f"REGEXP_EXTRACT({text}, {string_literal(_DATE)})"
    if to in types.TIMES:
        return timetexts.read_time(text, literal, min(_MICROS, _MICROS if digits is None else digits)) or "NULL"
    return clocks.read(text, literal, tried=True) if types.is_clock(to) else text


def _replaced(text: str, pattern: str, replacement: str) -> str:
    return f"REGEXP_REPLACE({text}, {string_literal(pattern)}, '{replacement}')"
