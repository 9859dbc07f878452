"""Casts and literals of Flink SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from string import hexdigits

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.nested import nested_type
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.windows import WINDOW_COLUMNS
from dbt.adapters.sparkstream.sql.passes.flink import clocks, timetexts
from dbt.adapters.sparkstream.sql.passes.flink.casttexts import text_of
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter
from dbt.adapters.sparkstream.sql.passes.flink.trycasts import tried_text

_SPARK_DIGITS = 6
"""Digits behind the second that Spark keeps."""
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.S)


class Casts(Rewriter):
    """Edits casts and texts with a backslash."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers = {
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
            exp.Literal: self._literal,
            exp.UnicodeString: self._unicode,
            exp.ByteString: self._escaped,
            exp.National: self._plain,
        }

    def _cast(self, node: exp.Expr) -> Iterator[Edit]:
        assert isinstance(node, (exp.Cast, exp.TryCast))
        span = self.source.span(node)
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
        function = tokens[0].text
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
            inner = tried_text(inner, self._constant(node.this), to, self._target(node)[1])
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
        tokens = self.source.tokens_in(self.source.span(node))
        at = max(i for i, token in enumerate(tokens) if token.token_type == TokenType.ALIAS) + 1
        name, *size = [token.text for token in tokens[at : at + 3]] or [""]
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
        tokens = self.source.tokens_in(self.source.span(node))
        return len(tokens) > 1 and tokens[1].token_type == TokenType.L_PAREN and tokens[0].text.upper().endswith("CAST")

    def _unicode(self, node: exp.Expr) -> Iterator[Edit]:
        r"""`U&'\00e9'` is a text in which four hexadecimal digits behind a backslash are a character."""
        escape = node.args["escape"].name if node.args.get("escape") else "\\"
        first, *rest = node.name.replace(2 * escape, "\0").split(escape)
        for piece in rest:
            if len(piece) < 4 or not set(piece[:4]) <= set(hexdigits):
                self.refuse(
                    node,
                    f"{escape} stands before four hexadecimal digits here",
                    f"write {escape}00e9, or {2 * escape} for {escape} itself",
                )
        text = first + "".join(chr(int(piece[:4], 16)) + piece[4:] for piece in rest)
        # Characters outside Unicode's first plane are written as two of four digits each.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", escape)
        yield self.edit(node, lambda: string_literal(text))

    def _escaped(self, node: exp.Expr) -> Iterator[Edit]:
        r"""`E'a\n'` has a new line behind its a."""
        inner = self.source.written(node)[2:-1].replace("''", "\\'")
        found = list(_ESCAPE.finditer(inner))
        for escape in found:
            if escape[0][1] not in _ESCAPED and len(escape[0]) == 2:
                self.refuse(node, f"{escape[0]} is no character here", r"write \n, \t, \\ or \u00e9")
        text = _ESCAPE.sub(lambda m: _ESCAPED.get(m[0][1]) or chr(int(m[0][2:], 16)), inner)
        yield self.edit(node, lambda: string_literal(text))

    def _plain(self, node: exp.Expr) -> Iterator[Edit]:
        """`N'abc'` is a text like any other."""
        yield self.edit(node, lambda: string_literal(node.name))

    def _literal(self, node: exp.Expr) -> Iterator[Edit]:
        """A backslash is a character like any other, and `''` one quote; to Spark before 4.1, two texts meet there."""
        if not (isinstance(node, exp.Literal) and node.is_string and set("\\'") & set(node.name)):
            return
        for token in self.source.tokens_in(self.source.span(node)):
            if token.token_type == TokenType.STRING and set("\\'") & set(token.text):
                yield Edit((token.start, token.end + 1), partial(string_literal, token.text))
