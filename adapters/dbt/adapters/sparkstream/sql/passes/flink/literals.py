"""Constants of Flink SQL: texts, and numbers such as 0.5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from string import hexdigits

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.flink.calls import cast
from dbt.adapters.sparkstream.sql.passes.flink.functions import record
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, handles

_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.S)


class Literals(Rewriter):
    """Edits constants."""

    @handles(exp.Literal)
    def _literal(self, node: exp.Literal) -> Iterator[Edit]:
        """A backslash is a character like any other, and `''` one quote; to Spark before 4.1, two texts meet there."""
        if not node.is_string:
            yield from self._fraction(node)
        elif set("\\'") & set(node.name):
            for token in self.source.tokens_in(self.source.span(node)):
                if token.token_type == TokenType.STRING and set("\\'") & set(token.text):
                    yield Edit((token.start, token.end + 1), partial(string_literal, token.text))

    def _fraction(self, node: exp.Literal) -> Iterator[Edit]:
        """A constant such as 0.5, alone or beside another exact number: its 0 is a digit, and none to Spark."""
        type_, around = self.type(node), node.parent
        written = self.source.written(node)
        if isinstance(around, exp.Interval) or not written.startswith("0") or not types.is_decimal(type_):
            return
        while isinstance(around, (exp.Paren, exp.Neg)):
            around = around.parent
        if isinstance(around, (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)):
            beside = [around.left, around.right]
        elif isinstance(around, exp.Anonymous) and (function := record(around)) is not None and function.alike:
            beside = around.expressions
        elif isinstance(around.parent if isinstance(around, exp.Alias) else around, exp.Select):
            beside = []
        else:
            return
        if all(types.is_decimal(t) or t in types.INTEGERS for t in map(self.type, beside)):
            yield self.edit(node, lambda: cast(self.text(node), type_ or ""))

    @handles(exp.UnicodeString)
    def _unicode(self, node: exp.UnicodeString) -> Iterator[Edit]:
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

    @handles(exp.ByteString)
    def _escaped(self, node: exp.ByteString) -> Iterator[Edit]:
        r"""`E'a\n'` has a new line behind its a."""
        inner = self.source.written(node)[2:-1].replace("''", "\\'")
        for escape in _ESCAPE.finditer(inner):
            if escape[0][1] not in _ESCAPED and len(escape[0]) == 2:
                self.refuse(node, f"{escape[0]} is no character here", r"write \n, \t, \\ or \u00e9")
        text = _ESCAPE.sub(lambda m: _ESCAPED.get(m[0][1]) or chr(int(m[0][2:], 16)), inner)
        yield self.edit(node, lambda: string_literal(text))

    @handles(exp.National)
    def _national(self, node: exp.National) -> Iterator[Edit]:
        """`N'abc'` is a text like any other."""
        yield self.edit(node, lambda: string_literal(node.name))
